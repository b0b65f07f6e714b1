public import Foundation
internal import SQLCipherBridge

extension DatabaseKeyring {
    /// Copies the keyring into a new file, to be kept elsewhere. The copy opens the database for who has a
    /// secret of it, also of slots that are removed later.
    ///
    /// - Parameter exportPath: a path where nothing is.
    public func exportHeader(to exportPath: String) throws {
        try translated {
            let bytes = try file.bytes()
            _ = try file.document(of: bytes)
            try KeyringFile(path: exportPath).make(bytes)
        }
    }

    /// Puts an exported keyring in the place of the present one, whatever is left of that one, or where there
    /// is none. What has the name of the keyring and is no regular file has to be moved away first.
    ///
    /// - Parameters:
    ///   - exportPath: what ``exportHeader(to:)`` has made.
    ///   - secret: what opens a slot of it: so it is proved, and that it is that of the database.
    ///   - allowsOlder: whether it may be older than the present keyring. Slots that were removed since are
    ///     back then.
    ///   - lockTimeout: how long to wait for others who change the keyring, in seconds.
    /// - Throws: `olderKeyring`, `ofAnotherFile` and other problems; `ofAnotherUser` where there is no
    ///   database to confirm an export of another user. Nothing is changed then.
    public func restoreHeader(
        from exportPath: String, unlockedBy secret: Secret, allowsOlder: Bool = false,
        lockTimeout: TimeInterval = 0
    ) throws {
        try translated {
            let export = KeyringFile(path: exportPath)
            let bytes = try export.bytes()
            try secret.check(export)
            let exported = try export.document(of: bytes).document
            let unlocked = try UnlockedKeyring.unlock(exported, by: secret, export)
            func checkIsOfDatabase() throws {
                guard let salt = try databaseSalt() else { return try export.checkIsTrusted(exported) }
                _ = try unlocked.epoch(ofSalt: salt, export)
            }
            let content = try KeyringText.file(of: unlocked.document)
            guard try SystemFile.status(path) != nil else {
                try checkIsOfDatabase()
                return try file.make(content, waiting: lockTimeout)
            }
            try file.replace(waiting: lockTimeout, isCut: true) { present in
                // Not before: a rotation gives the database a new data key, which only the present keyring
                // has, until it lets go of the keyring.
                try checkIsOfDatabase()
                if !allowsOlder, let present = try? file.document(of: present).document,
                    present.id == unlocked.document.id,
                    present.generation > unlocked.document.generation
                {
                    throw file.problem(
                        .olderKeyring(generation: unlocked.document.generation, present: present.generation))
                }
                return (content, ())
            }
        }
    }

    /// Destroys the keyring: without a copy of it, or the exported raw key, nobody opens the database any
    /// more, whatever the passphrases.
    ///
    /// The content is overwritten before the file is removed. Not reached are copies: backups of the keyring,
    /// exported headers, snapshots, the old blocks of file systems and flash memory that write elsewhere, and
    /// processes that have the database open.
    ///
    /// - Parameters:
    ///   - name: the name of the database without its directory, to say that it is meant.
    ///   - lockTimeout: how long to wait for others who change the keyring, in seconds.
    /// - Throws: `unsupported` where the name is another one, or the file is no keyring; `notAFile` where it
    ///   is no regular file. Nothing is destroyed then: move it away.
    public func destroy(confirming name: String, lockTimeout: TimeInterval = 0) throws {
        try translated {
            guard name == SystemFile.name(of: databasePath) else {
                throw DatabaseFileError(
                    .unsupported(
                        "The name that confirms is not that of the database. Nothing was destroyed."),
                    path: databasePath)
            }
            try file.destroy(waiting: lockTimeout)
        }
    }

    /// Whether ``destroy(confirming:lockTimeout:)`` would take what has the name of the keyring.
    package func checkCanBeDestroyed() throws {
        try translated { try file.checkCanBeDestroyed(file.bytes(isCut: true)) }
    }
}
