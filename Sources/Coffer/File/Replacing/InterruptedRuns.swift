internal import SQLCipherBridge
internal import SystemCalls

/// The files that interrupted runs of any operation left next to a database, as named by their notes.
struct InterruptedRuns {
    let path: String

    /// Removes notes, copies and second names.
    ///
    /// Each note is locked first, as the next run of its operation would do: a lock that is granted shows
    /// that the note's own run has ended.
    ///
    /// - Parameter restore: restores the journal mode that an interrupted run left.
    /// - Returns: the paths that were removed.
    /// - Throws: `busy` while a run works on the file, `missing`.
    @discardableResult
    func remove(restore: (JournalMode) throws -> Void) throws -> [String] {
        let status = try SystemFile.regularFile(path)
        let found = try ReplacementNames.leftovers(of: path)
        guard !found.isEmpty else { return [] }
        for names in try operations() {
            let note = try names.takeNote().cleared(of: status, at: path)
            try restore(JournalMode(note.previous?.journalMode))
            try note.remove()
        }
        try NewDatabaseFile.removeLeftovers(of: path)
        try SystemFile.synchronize(directoryOf: path)
        return try found.filter { try SystemFile.status($0) == nil }
    }

    /// Removes the second name that a run gave to the file if the run ended before the copy took its place: a
    /// file with two names could not be opened in WAL mode. The notes stay.
    ///
    /// An active run keeps its name, and so does a run whose note cannot be locked.
    func removeSecondNames() {
        guard let status = try? SystemFile.regularFile(path), status.linkCount > 1 else { return }
        for names in (try? operations()) ?? [] {
            try? names.takeNote().removeLeftovers { try $0.removeSecondName(of: status, at: path) }
        }
        try? NewDatabaseFile.removeSecondNames(of: path)
    }

    /// Removes the copies that interrupted runs left. The notes stay, because the next runs restore the
    /// journal modes in them.
    ///
    /// The copy of an active run is kept, and a file that is not a note of ours is ignored.
    ///
    /// - Parameter isIncluded: returns true for the operations of the runs.
    func removeCopies(of isIncluded: (ReplacementOperation) -> Bool) throws {
        for names in try operations() where isIncluded(names.operation) {
            let status = try SystemFile.status(path) == nil ? nil : SystemFile.regularFile(path)
            do {
                try names.takeNote().removeLeftovers { note in
                    if let status { try note.removeSecondName(of: status, at: path) }
                }
            } catch let error as DatabaseFileError {
                switch error.reason {
                case .busy, .unsafeFile(.foreignNote): continue
                default: throw error
                }
            }
        }
    }

    /// Returns the operations that left files.
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
    /// Returns the files that interrupted operations left next to the file: their notes, and the copies that
    /// the notes name. A copy may be as large as the file.
    ///
    /// An operation in progress is listed as well. Nothing is changed, and no key is needed.
    ///
    /// ```swift
    /// if try !file.leftovers().isEmpty {
    ///     print(try file.removeLeftovers(key: key))
    /// }
    /// ```
    /// - Throws: a ``DatabaseFileError`` if the directory cannot be read.
    public func leftovers() throws -> [String] { try ReplacementNames.leftovers(of: path) }

    /// Removes the files that interrupted operations left next to the file, as the next run of each operation
    /// would.
    ///
    /// A file is removed only if a note of this user names it, and the run that made the note has ended. The
    /// database keeps its content and its key, which is the old or the new one of the interrupted operation.
    ///
    /// - Parameters:
    ///   - key: the key that opens the file now. With it, a database that an interrupted operation took out
    ///     of the WAL mode returns to it. Without it, the database stays in its current mode.
    ///   - cipher: the cipher settings of the file.
    /// - Returns: the paths that were removed.
    /// - Throws: a ``DatabaseFileError``: `busy` while an operation works on the file, `key` if the key does
    ///   not open it, `missing`. On an error, the notes stay.
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
    /// Removes the files that interrupted operations left next to the database, if the configuration enables
    /// it. Opening does not depend on it: files that cannot be removed now stay for later.
    func removeInterruptedRuns() {
        guard configuration.removesInterruptedRuns, purpose == .writer, !configuration.readonly,
            let file = handle.filename(schema: "main"), !file.isEmpty
        else { return }
        _ = try? InterruptedRuns(path: file).remove { mode in
            if mode == .wal { try handle.changeJournalMode(to: mode, knownProtection()) }
        }
    }

    /// Removes the extra names that an interrupted operation gave to the file, because a file with several
    /// names cannot be opened in WAL mode.
    static func removeSecondNames(ofFileAt path: String) { InterruptedRuns(path: path).removeSecondNames() }
}
