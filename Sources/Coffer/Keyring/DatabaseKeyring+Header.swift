public import Foundation

extension DatabaseKeyring {
    /// Copies the keyring into a new file, to be kept elsewhere. Any secret of the copied slots opens the
    /// database with it, even if the slot is later removed from the keyring.
    ///
    /// - Parameter exportPath: a path where there is no file, and that is not the path of the keyring of an
    ///   existing database.
    public func exportHeader(to exportPath: String) throws {
        try located { place in
            // If one copy is damaged, the exported file has two of the other one.
            let content = try KeyringText.file(of: place.file.document().document)
            try ReplacementNames.checkIsNoCompanion(exportPath)
            try KeyringFile(path: exportPath).make(content)
        }
    }

    /// Replaces the keyring with an exported one, whether the present keyring is intact, damaged or missing.
    /// If the path has a file that is neither a keyring nor the remains of one, move it away first.
    ///
    /// - Parameters:
    ///   - exportPath: the path of a file written by ``exportHeader(to:)``.
    ///   - secret: a secret that opens a slot of the export. It verifies the export, and that it belongs to
    ///     the database.
    ///   - allowsOlder: true to accept an export older than the present keyring. Slots that were removed
    ///     since then are restored.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    /// - Throws: `unsupported` if the path has another file than a keyring, or the keyring of another
    ///   database, or if the database does not confirm the export, and a present keyring would be lost;
    ///   `olderKeyring`, `ofAnotherFile` and other problems; `ofAnotherUser` if no database confirms an
    ///   export that belongs to another user. Nothing is changed then.
    public func restoreHeader(
        from exportPath: String, unlockedBy secret: Secret, allowsOlder: Bool = false,
        lockTimeout: TimeInterval = 0
    ) throws {
        try located { place in
            let file = place.file
            let export = KeyringFile(path: exportPath)
            let bytes = try export.bytes()
            try secret.check(export)
            let exported = try export.document(of: bytes).document
            let unlocked = try UnlockedKeyring.unlock(exported, by: secret, export)
            func checkIsOfDatabase() throws {
                guard let salt = try place.databaseSalt() else { return try export.checkIsTrusted(exported) }
                _ = try unlocked.epoch(ofSalt: salt, export)
            }
            let content = try KeyringText.file(of: unlocked.document)
            guard try SystemFile.status(file.path) != nil else {
                try checkIsOfDatabase()
                try file.make(content, waiting: lockTimeout)
                return place.giveOwnerOfDatabase(to: unlocked)
            }
            try file.replace(waiting: lockTimeout, isCut: true) { present in
                guard KeyringFile.isKeyringOrRemains(present) else {
                    throw DatabaseFileError(
                        .unsupported(
                            "This is not a keyring, and is not replaced. Move it away, and restore the "
                                + "header again."), path: file.path)
                }
                // Check only while holding the lock: a rotation holds it as long as only the present keyring
                // has the new data key of the database.
                try checkIsOfDatabase()
                guard let present = try? file.document(of: present).document else { return (content, ()) }
                guard try present.id == unlocked.document.id || place.isOfDatabase(present) == true else {
                    throw DatabaseFileError(
                        .unsupported(
                            "The present keyring belongs to another database, and may be the only one that "
                                + "opens it. Move it away, and restore the header again."), path: file.path)
                }
                if !allowsOlder, present.id == unlocked.document.id,
                    present.generation > unlocked.document.generation
                {
                    throw file.problem(
                        .olderKeyring(generation: unlocked.document.generation, present: present.generation))
                }
                // The present keyring may be the only one with the data key.
                let known = (try? UnlockedKeyring.unlock(present, by: secret, file))?.hasDataKeys(
                    of: unlocked)
                guard try known == true || place.databaseSalt() != nil && place.isProved(unlocked) else {
                    throw DatabaseFileError(
                        .unsupported(
                            "No page of the database confirms the keyring to restore, and the present "
                                + "keyring may be the only one that opens the database. If it does not, "
                                + "move it away, and restore the header again."), path: file.path)
                }
                return (content, ())
            }
        }
    }
}
