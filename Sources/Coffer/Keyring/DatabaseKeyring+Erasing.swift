public import Foundation
internal import SystemCalls

extension DatabaseKeyring {
    /// Destroys the keyring. Without a copy of it, or the exported raw key, the database can never be opened
    /// again, even with the right passphrase.
    ///
    /// The content is overwritten before the file is removed. This does not reach copies: backups of the
    /// keyring, exported headers, snapshots, old blocks on file systems and flash memory that do not
    /// overwrite in place, and processes that have the database open. The copy that a killed restore made for
    /// the file that it was about to keep is destroyed too.
    ///
    /// - Parameters:
    ///   - name: the name of the database without its directory, as a confirmation. The name of the keyring
    ///     confirms that it may also belong to another database.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    /// - Throws: `unsupported` if the name does not match, or the file is not a keyring, or is one of another
    ///   database than the one at the path; `notAFile` if it is not a regular file. Nothing is destroyed
    ///   then.
    public func destroy(confirming name: String, lockTimeout: TimeInterval = 0) throws {
        try located { place in
            let isForAny = name == SystemFile.name(of: place.file.path)
            if !isForAny { try checkConfirmation(name) }
            do {
                try place.file.changing(waiting: lockTimeout, isCut: true) { content, _ in
                    try place.file.checkCanBeDestroyed(content)
                    if !isForAny { try place.checkIsNotOfAnotherDatabase(content) }
                    _ = try place.removeKeptCopy()
                    try place.file.destroy(content)
                }
            } catch let error as KeyError {
                // An interrupted run may have removed the keyring, but not its note.
                if case .keyring(_, .missing) = error.failure {
                    try LeftKeyrings.removeNotes(ofKeyring: place.file.path)
                }
                throw error
            }
        }
    }

    /// Erases the database as ``DatabaseFile/erase(confirming:lockTimeout:)`` does, and destroys its keyring;
    /// or completes an interrupted run.
    ///
    /// The keyring and the database are locked together, and the keyring is destroyed first. So it is never
    /// the keyring of another database that was created at the path in the meantime. An interrupted run
    /// leaves the database as it was, or unreadable. The copy of the keyring that a killed restore made for
    /// the file that it was about to keep is destroyed before.
    ///
    /// - Returns: the paths of the removed files.
    /// - Throws: the errors of ``DatabaseFile/erase(confirming:lockTimeout:)`` and
    ///   ``destroy(confirming:lockTimeout:)``, before anything is changed.
    package func eraseDatabase(confirming name: String, lockTimeout: TimeInterval) throws -> [String] {
        try located { place in
            let file = place.file
            try checkConfirmation(name)
            guard try file.isThere() else {
                let left =
                    try place.removeKeptCopy() + LeftKeyrings.removedNotes(ofKeyring: file.path)
                if !left.isEmpty, try SystemFile.status(databasePath) == nil { return left }
                return try DatabaseFile(path: databasePath).erase(confirming: name, lockTimeout: lockTimeout)
                    .removedPaths + left
            }
            var erased: [String] = []
            try file.changing(waiting: lockTimeout, isCut: true) { content, _ in
                try file.checkCanBeDestroyed(content)
                try place.checkIsNotOfAnotherDatabase(content)
                erased = try place.removeKeptCopy()
                if try SystemFile.status(databasePath) == nil {
                    try HeldFile.whilePlaceholderHasName(databasePath) { try file.destroy(content) }
                } else {
                    erased += try DatabaseFile(path: databasePath).erase(
                        confirming: name, lockTimeout: lockTimeout, beforehand: { try file.destroy(content) }
                    ).removedPaths
                }
            }
            return erased + [file.path]
        }
    }

    /// Returns the paths of the files that ``eraseDatabase(confirming:lockTimeout:)`` would remove. Nothing
    /// is changed.
    ///
    /// - Throws: `unsupported` if the file with the name of the keyring is not one, or belongs to another
    ///   database.
    package func erasurePlan() throws -> [String] {
        try located { place in
            let file = place.file
            let hasKeyring = try file.isThere()
            if hasKeyring {
                let content = try file.bytes(isCut: true)
                try file.checkCanBeDestroyed(content)
                try place.checkIsNotOfAnotherDatabase(content)
            }
            let beside =
                try [place.keptCopy()?.path, hasKeyring ? file.path : nil]
                .compactMap(\.self) + NewFileNames.leftovers(of: file.path)
            if !beside.isEmpty, try SystemFile.status(databasePath) == nil { return beside }
            return try DatabaseFile(path: databasePath).erasurePlan() + beside
        }
    }

    private func checkConfirmation(_ name: String) throws(DatabaseFileError) {
        guard name == SystemFile.name(of: databasePath) else {
            throw DatabaseFileError(
                .unsupported(
                    "The confirmation does not match the name of the database. Nothing was destroyed."),
                path: databasePath)
        }
    }
}

extension KeyringPlace {
    /// Throws if the keyring certainly does not belong to the database at its place: it may be the only one
    /// that opens another database, which was moved. One that cannot be read opens nothing.
    fileprivate func checkIsNotOfAnotherDatabase(_ content: [UInt8]) throws {
        guard let document = try? file.document(of: content).document else { return }
        guard (try? isOfDatabase(document)) == false else { return }
        throw DatabaseFileError(
            .unsupported(
                "This keyring belongs to another database, or the first page of this one is damaged. Nothing "
                    + "was destroyed. Move the keyring away, or destroy only the keyring, with its own name, "
                    + "'\(SystemFile.name(of: file.path))', as the confirmation."), path: file.path)
    }

    /// Destroys the copy of this keyring that a killed restore made for the old file, and removes the second
    /// name that the old file may have got, or the old file if a merged copy has its place. Called while the
    /// keyring is locked, if it is there.
    ///
    /// - Returns: the paths of the copy and the old file, if there were any.
    fileprivate func removeKeptCopy() throws -> [String] {
        let path = ownPath
        var removed: [String] = []
        try NewDatabaseFile.removeSecondNames(of: path) { note in
            // The run may have been killed before the copy lost its temporary name.
            if let id = note.flatMap({ RunIdentifier($0.id) }) {
                try KeyringFile(path: NewFileNames(path: path).keyring(id)).destroyIfOnlyName()
            }
            let copy = try LeftKeptKeyring(note, of: path)
            removed = try (copy.map { [$0.path] } ?? []) + (LeftOldFile(note, of: path)?.paths ?? [])
            if let copy { try KeyringFile(path: copy.path).destroy(copy.content) }
        }
        return removed
    }

    /// Does the same if a restore was killed after it noted the name for the old file. Called before a secret
    /// loses its slot, because that secret opens the copy, and before the data key is rotated.
    ///
    /// - Throws: `busy` while the restore is active.
    func removeNotedCopy() throws {
        guard NoteFile.read(NewFileNames(path: ownPath).lock)?.keepOldPath != nil else { return }
        _ = try removeKeptCopy()
    }

    /// The copy of this keyring that a killed restore made for the old file, if the database is still the old
    /// file. The copy of a restored database belongs to the kept file, and stays.
    fileprivate func keptCopy() throws(DatabaseFileError) -> LeftKeptKeyring? {
        let path = ownPath
        return try LeftKeptKeyring(NoteFile.read(NewFileNames(path: path).lock), of: path)
    }

    /// The path of the database with symbolic links resolved.
    var ownPath: String { file.path.without(ending: ".keys") ?? file.path }
}

extension KeyringFile {
    /// Removes this name of a file, and destroys the file if it has no other name.
    fileprivate func destroyIfOnlyName() throws {
        guard let status = try SystemFile.status(path) else { return }
        guard status.linkCount == 1 else { return try SystemFile.remove(path) }
        try destroy(bytes(isCut: true))
    }
}
