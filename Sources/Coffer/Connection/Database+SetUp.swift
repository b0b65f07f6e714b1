internal import SQLCipherBridge

// What a connection does between its opening and its first use: I3.

extension Database {
    /// How a connection protects what it writes.
    enum Protection {
        /// The file, or the memory database, is encrypted.
        case encrypted

        /// The file is not encrypted, because the configuration allows it.
        case plaintext

        /// A database in memory or in a temporary file of SQLite, without a key.
        case memory

        /// A passphrase is expected from the configuration's preparation, before anything else.
        case awaitingKey
    }

    func didReceiveKey() throws {
        protection = .encrypted
        authorizer.isKeyed = true
        try setUpPageStorage()
    }

    /// Sets everything that does not depend on the file, and what must not be said before the key.
    func setUp() throws {
        authorizer.isKeyed = false
        authorizer.cipher = configuration.cipher
        try handle.set(.foreignKeys, configuration.foreignKeysEnabled)
        try handle.set(.doubleQuotedStringsInDML, configuration.acceptsDoubleQuotedStringLiterals)
        try handle.set(.doubleQuotedStringsInDDL, configuration.acceptsDoubleQuotedStringLiterals)
        try addStandardFunctionsAndCollations()
        try addAttachFunctions()

        if protection == .awaitingKey {
            try runPreparations()
            try checkProtection()
        } else {
            try setUpPageStorage()
            authorizer.isKeyed = protection == .encrypted
            try runPreparations()
        }
        try claimFile()
        try setUpJournalMode()
    }

    private func runPreparations() throws {
        try withAccess {
            for preparation in configuration.preparations {
                try preparation(self)
            }
        }
        isPrepared = true
    }

    /// Decides what a file is that got no key before its first use: refused, or plaintext where that is allowed.
    func checkProtection() throws {
        guard protection == .awaitingKey else { return }
        guard configuration.allowsPlaintext else { throw DatabaseError(encryptionFailure: .noKey) }
        do {
            try handle.verifyPlaintext()
            protection = .plaintext
            try setUpPageStorage()
        } catch {
            throw DatabaseError.publicError(error)
        }
    }

    /// The page cache, and temporary tables in memory: they would be plaintext on the disk.
    ///
    /// It comes as soon as the protection is known, so that the preparations have the last word.
    private func setUpPageStorage() throws {
        if protection == .encrypted {
            try handle.execute("PRAGMA temp_store = MEMORY")
        }
        if configuration.pageCacheSize > 0 {
            let kibibytes = max(1, configuration.pageCacheSize / 1024)
            try handle.execute(trusted: "PRAGMA cache_size = -\(kibibytes)")
        }
        authorizer.isKeyed = protection == .encrypted
    }

    /// Gives a new encrypted file its salt, before others find it empty and make one of their own.
    ///
    /// It comes after the preparations, so that these can say `PRAGMA auto_vacuum`, which a file with content takes no more.
    private func claimFile() throws {
        guard isFileEmpty, protection == .encrypted, purpose == .writer, !configuration.readonly else { return }
        try handle.claimEmptyFile()
        keys.didClaimEmptyFile()
        isFileEmpty = false
    }

    private func setUpJournalMode() throws {
        guard purpose == .writer, configuration.journalMode == .wal, !configuration.readonly, protection != .memory else { return }
        // Without the WAL mode, what follows would not be safe against a loss of power.
        do {
            try handle.changeJournalMode(to: .wal, knownProtection())
        } catch let error as EngineError where error.code == EngineCode.busy && handle.lastExtendedErrorCode == EngineCode.ok {
            throw DatabaseError(message: "could not activate WAL mode at path: \(path)")
        } catch {
            throw DatabaseError.publicError(error)
        }
        try handle.execute("PRAGMA synchronous = NORMAL")
        // The first read makes the log and its index, which others need before they can open the file without writing.
        try handle.execute("SELECT 1 FROM main.sqlite_master LIMIT 1")
    }
}
