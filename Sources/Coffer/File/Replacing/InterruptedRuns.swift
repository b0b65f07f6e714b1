internal import SQLCipherBridge

/// The files that interrupted runs of any operation have left next to a database, as their notes name them.
struct InterruptedRuns {
    let path: String

    /// Removes notes, copies and second names.
    ///
    /// Each note is locked first, as the next run of its operation does it: its own run has ended then.
    ///
    /// - Parameter restore: brings the database into the journal mode that an interrupted run has left.
    /// - Returns: the paths that are gone.
    /// - Throws: `busy` while a run works on the file, `missing`.
    @discardableResult
    func remove(restore: (JournalMode) throws -> Void) throws -> [String] {
        let status = try SystemFile.regularFile(path)
        let found = try ReplacementNames.leftovers(of: path)
        guard !found.isEmpty else { return [] }
        for names in try operations() {
            let note = try NoteFile.take(names.note, next: names.nextNote)
            try note.removeLeftovers(names, of: status, at: path)
            try restore(JournalMode(note.previous?.journalMode))
            try note.remove()
        }
        try NewDatabaseFile.removeLeftovers(of: path)
        try SystemFile.synchronize(directoryOf: path)
        return try found.filter { try SystemFile.status($0) == nil }
    }

    /// Takes back the second name that a run has given to the file, where it ended before the copy had its
    /// place: with two names, the file could not be opened in WAL mode. The notes stay.
    ///
    /// A run that works keeps its name, and so does one whose note cannot be taken.
    func removeSecondNames() {
        guard let status = try? SystemFile.regularFile(path), status.linkCount > 1 else { return }
        for names in (try? operations()) ?? [] {
            guard let note = try? NoteFile.take(names.note, next: names.nextNote) else { continue }
            try? note.removeLeftovers(names, of: status, at: path)
            // Its run has come to its end right now.
            if !note.wasLeft { try? note.remove() }
        }
        try? NewDatabaseFile.removeKeptNames(of: path)
    }

    /// The operations that have left something.
    private func operations() throws(DatabaseFileError) -> [ReplacementNames] {
        var result: [ReplacementNames] = []
        for operation in ReplacementOperation.allCases
        where try !ReplacementNames.leftovers(of: path, operation: operation).isEmpty {
            result.append(ReplacementNames(path: path, operation: operation))
        }
        return result
    }
}

extension DatabaseFile {
    /// The files that interrupted operations have left next to the file: their notes, and the copies that
    /// these name. A copy may be as large as the file.
    ///
    /// An operation that works at this moment is listed as well. Nothing is changed, and no key is needed.
    ///
    /// ```swift
    /// if try !file.leftovers().isEmpty {
    ///     print(try file.removeLeftovers(key: key))
    /// }
    /// ```
    /// - Throws: a ``DatabaseFileError`` when the directory cannot be read.
    public func leftovers() throws -> [String] { try ReplacementNames.leftovers(of: path) }

    /// Removes what interrupted operations have left next to the file, as the next run of each would do it.
    ///
    /// A file is removed only if a note of this user names it, and the run that made the note has ended. The
    /// database keeps its content and its key, which is the old or the new one of the interrupted operation.
    ///
    /// - Parameters:
    ///   - key: the key that opens the file now. With it, a database that an interrupted operation has taken
    ///     out of the WAL mode is brought into it again. Without it, the database stays in the mode that it
    ///     has.
    ///   - cipher: the cipher settings of the file.
    /// - Returns: the paths that were removed.
    /// - Throws: a ``DatabaseFileError``: `busy` while an operation works on the file, `key` when the key
    ///   does not open it, `missing`. Then the notes stay.
    @discardableResult
    public func removeLeftovers(key: DatabaseKey? = nil, cipher: CipherSettings = CipherSettings()) throws
        -> [String]
    {
        try DatabaseFileError.translated(path) {
            let protection = try key.map {
                try FileProtection.encrypted($0.stayingInPlace(path), cipher: cipher)
            }
            return try InterruptedRuns(path: path).remove { mode in
                guard let protection, mode == .wal else { return }
                var connection = try protection.openForWriting(path)
                connection.checkpointsAtEnd = true
                try connection.handle.restore(mode, protection)
            }
        }
    }
}

extension Database {
    /// Removes what interrupted operations have left next to the file, where the configuration asks for it.
    /// The opening does not depend on it: what cannot be removed now stays for later.
    func removeInterruptedRuns() {
        guard configuration.removesInterruptedRuns, purpose == .writer, !configuration.readonly,
            let file = handle.filename(schema: "main"), !file.isEmpty
        else { return }
        _ = try? InterruptedRuns(path: file).remove { mode in
            if mode == .wal { try handle.changeJournalMode(to: mode, knownProtection()) }
        }
    }

    /// Makes a file of several names one that can be opened in WAL mode, if the others are those that an
    /// interrupted operation has given to it.
    static func removeSecondNames(ofFileAt path: String) { InterruptedRuns(path: path).removeSecondNames() }
}
