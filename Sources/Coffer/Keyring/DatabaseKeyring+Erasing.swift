public import Foundation

extension DatabaseKeyring {
    /// Destroys the keyring. Without a copy of it, or the exported raw key, the database can never be opened
    /// again, even with the right passphrase.
    ///
    /// The content is overwritten before the file is removed. This does not reach copies: backups of the
    /// keyring, exported headers, snapshots, old blocks on file systems and flash memory that do not
    /// overwrite in place, and processes that have the database open.
    ///
    /// - Parameters:
    ///   - name: the name of the database without its directory, as a confirmation.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    /// - Throws: `unsupported` if the name does not match, or the file is not a keyring; `notAFile` if it is
    ///   not a regular file. Nothing is destroyed then: move the file away.
    public func destroy(confirming name: String, lockTimeout: TimeInterval = 0) throws {
        try located { place in
            try checkConfirmation(name)
            do {
                try place.file.destroy(waiting: lockTimeout)
            } catch let error as KeyError {
                // An interrupted run may have removed the keyring, but not its note.
                if case .keyring(_, .missing) = error.failure {
                    try LeftKeyrings.removeNotes(ofKeyring: place.file.path)
                }
                throw error
            }
        }
    }

    /// Erases the database as ``DatabaseFile/erase(confirming:)`` does, and destroys its keyring; or
    /// completes an interrupted run.
    ///
    /// The keyring and the database are locked together, and the keyring is destroyed first. So it is never
    /// the keyring of another database that was created at the path in the meantime. An interrupted run
    /// leaves the database as it was, or unreadable.
    ///
    /// - Returns: the paths of the removed files.
    /// - Throws: the errors of ``DatabaseFile/erase(confirming:)`` and ``destroy(confirming:lockTimeout:)``,
    ///   before anything is changed.
    package func eraseDatabase(confirming name: String, lockTimeout: TimeInterval) throws -> [String] {
        try located { place in
            let file = place.file
            try checkConfirmation(name)
            guard try file.isThere() else {
                let left = try LeftKeyrings.removedNotes(ofKeyring: file.path)
                if !left.isEmpty, try SystemFile.status(databasePath) == nil { return left }
                return try DatabaseFile(path: databasePath).erase(confirming: name).removedPaths + left
            }
            var erased: [String] = []
            try file.changing(waiting: lockTimeout, isCut: true) { content, _ in
                try file.checkCanBeDestroyed(content)
                if try SystemFile.status(databasePath) == nil {
                    try place.whileNameIsTaken { try file.destroy(content) }
                } else {
                    erased = try DatabaseFile(path: databasePath).erase(
                        confirming: name, beforehand: { try file.destroy(content) }
                    ).removedPaths
                }
            }
            return erased + [file.path]
        }
    }

    /// Returns the paths of the files that ``eraseDatabase(confirming:lockTimeout:)`` would remove. Nothing
    /// is changed.
    package func erasurePlan() throws -> [String] {
        try located { place in
            let file = place.file
            let beside = try (file.isThere() ? [file.path] : []) + NewFileNames.leftovers(of: file.path)
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
