internal import Glibc
internal import SQLCipherBridge
internal import SystemCalls

extension Database {
    struct Opened: ~Copyable {
        var connection: EngineConnection
        var protection: Keying.Protection
        var busyHandler: BusyHandler?
        var isFileEmpty = false
    }

    /// Opens a connection in the order of the invariant "Key first": open, busy handling, key, cipher
    /// settings, and a read that verifies the key.
    static func open(
        _ location: DatabaseLocation, configuration: Configuration, purpose: Purpose, keys: ConnectionKeys
    ) throws -> Opened {
        var busyHandler: BusyHandler?
        let open: KeyRing.Open = { () throws(EngineError) in
            let connection = try EngineConnection(
                path: location.engineName, flags: flags(for: location, configuration: configuration),
                locking: configuration.engineLocking)
            busyHandler = installBusyMode(
                on: connection.handle, configuration: configuration, purpose: purpose)
            return connection
        }
        do {
            switch location {
            case .file(let file):
                let path = file.absolute
                guard keys.configured != nil || configuration.mayOpenFiles else {
                    throw DatabaseError(encryptionFailure: .noKey)
                }
                if keys.configured != nil || !configuration.allowsPlaintext,
                    !configuration.readonly || FileIdentity(path) != nil
                {
                    try EmptyFilePlace.check(path)
                }
                try prepareFile(at: path, configuration: configuration)
                var opened: Opened
                if let ring = keys.configured {
                    let keyed = try ring.openKeyed(work: keys.pageWork, open: open)
                    let isFileEmpty = keyed.isFileEmpty
                    opened = Opened(
                        connection: keyed.connection, protection: .encrypted, busyHandler: busyHandler,
                        isFileEmpty: isFileEmpty)
                } else {
                    opened = Opened(
                        connection: try open(), protection: .awaitingKey, busyHandler: busyHandler)
                }
                opened.connection.checkpointsAtEnd = true
                try keys.checkFile(at: path, isDecisive: purpose == .writer)
                if keys.configured != nil { warnOfUnlockedKeyMemory() }
                return opened

            case .memory, .temporary:
                let connection = try open()
                // Connections to the same named database share its pages, which would be impossible with
                // different keys.
                guard keys.configured != nil, location.isPrivate else {
                    return Opened(connection: connection, protection: .memory, busyHandler: busyHandler)
                }
                try connection.handle.setRandomKey(configuration.cipher)
                return Opened(connection: connection, protection: .encrypted, busyHandler: busyHandler)
            }
        } catch let error as EngineError {
            throw DatabaseError(openingError: error, path: location.path, configuration)
        } catch KeyError.engine(let error) {
            throw DatabaseError(openingError: error, path: location.path, configuration)
        } catch {
            throw DatabaseError.publicError(error)
        }
    }

    private static func flags(for location: DatabaseLocation, configuration: Configuration)
        -> EngineConnection.OpenFlags
    {
        switch location {
        case .file: configuration.readonly ? .readOnly : .readWrite
        // The flags also apply to attached files, so only the name may say that the database is in memory.
        case .memory(nil): [.readWrite, .create]
        case .memory: [.readWrite, .create, .uri]
        case .temporary: [.readWrite, .create]
        }
    }

    /// Rejects a path that does not lead to a regular file, and creates a missing file that only its owner
    /// can access: SQLite would make it readable by others.
    ///
    /// - Parameter isWritten: true if the file is written even if the configuration is read-only.
    static func prepareFile(at path: String, configuration: Configuration, isWritten: Bool = false) throws {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "unable to open database file: the path has a NUL character: \(path)")
        }
        if let status = try? FileStatus(path, followsLinks: true) {
            // SQLite would wait for a writer of a named pipe, and would leave a journal next to a device.
            guard status.isRegular else {
                let kind = status.isDirectory ? "a directory" : "not a regular file"
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN,
                    message: "unable to open database file: \(path) is \(kind). Give the path of a file.")
            }
            if status.linkCount > 1, isWritten || !configuration.readonly {
                removeSecondNames(ofFileAt: path)
            }
            return
        }
        guard isWritten || !configuration.readonly else { return }
        _ = try makeFile(at: path)
    }

    /// Makes an empty file that only its owner can access. Returns nil if the path is taken.
    static func makeFile(at path: String) throws(DatabaseError) -> FileIdentity? {
        do throws(Errno) {
            // A umask may also remove permissions of the owner. Closing the descriptor drops no locks,
            // because no other connection has opened the file yet.
            let file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try? file.setPermissions(0o600)
            return try file.status().identity
        } catch {
            guard error.code != EEXIST else { return nil }
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "unable to create the database file \(path): \(error.words)"
            )
        }
    }
}

extension Database {
    /// Returns true if a file is empty or missing, so that its first writer determines its format.
    static func isEmptyOrMissing(_ path: String) -> Bool {
        ((try? FileStatus(path, followsLinks: true))?.size ?? 0) == 0
    }
}

// MARK: - Setup between opening and first use (invariant "Key first")

extension Database {
    /// The protection of the data that the connection writes.
    var protection: Keying.Protection { keying.protection }

    /// True if a key was set.
    var isEncrypted: Bool { protection == .encrypted }

    /// Continues the setup of a connection that has just received its key.
    func didReceiveKey(of ring: KeyRing, isFileEmpty: Bool?) throws {
        let wasAwaited = protection == .awaitingKey
        keying.didReceiveKey(of: ring, isFileEmpty: isFileEmpty)
        inspector.pragmas.isKeyed = true
        try setUpPageStorage()
        if wasAwaited { installAwaitingKey() }
    }

    private func installAwaitingKey() {
        let added = additions
        added.installAwaitingKey(on: self)
    }

    /// Applies all settings, runs the preparations, and gives a new file its salt and journal mode.
    ///
    /// - Parameter reopening: nil for the first connection.
    func setUp(_ reopening: Reopening? = nil) throws {
        inspector.pragmas.isKeyed = false
        inspector.pragmas.cipher = configuration.cipher
        inspector.pragmas.keepsTemporaryTablesInMemory = keepsTemporaryTablesInMemory
        try handle.set(.foreignKeys, configuration.foreignKeysEnabled)
        try handle.set(.doubleQuotedStringsInDML, configuration.acceptsDoubleQuotedStringLiterals)
        try handle.set(.doubleQuotedStringsInDDL, configuration.acceptsDoubleQuotedStringLiterals)
        try DatabaseError.converting { try handle.install([], []) }
        try addAttachFunctions()

        if protection == .awaitingKey {
            try runPreparations()
            try checkProtection()
        } else {
            try setUpPageStorage()
            inspector.pragmas.isKeyed = protection == .encrypted
            try runPreparations()
        }
        try claimFile()
        removeInterruptedRuns()
        try setUpJournalMode(reopening)
    }

    private func runPreparations() throws {
        try withAccess {
            for preparation in configuration.preparations {
                try preparation(self)
            }
        }
        keying.preparationsDidRun()
    }

    /// Sets the default key of a file that got no key before its first use, or rejects the file, unless
    /// plaintext is allowed.
    func checkProtection() throws {
        guard protection == .awaitingKey else { return }
        guard configuration.allowsPlaintext else {
            guard let key = configuration.defaultKeyOfFile() else {
                throw DatabaseError(encryptionFailure: .noKey)
            }
            return try setDefaultKey(key)
        }
        try DatabaseError.converting {
            try handle.verifyPlaintext()
            keying.didReadPlaintext()
            try setUpPageStorage()
            installAwaitingKey()
        }
    }

    /// Sets the page cache size, and keeps temporary tables in memory, because they would be plaintext on
    /// disk.
    ///
    /// It runs as soon as the protection is known, so that preparations can override the settings.
    private func setUpPageStorage() throws {
        if keepsTemporaryTablesInMemory {
            try handle.execute("PRAGMA temp_store = MEMORY")
        }
        if configuration.pageCacheSize > 0 {
            let kibibytes = max(1, configuration.pageCacheSize / 1024)
            try handle.execute(trusted: "PRAGMA cache_size = -\(kibibytes)")
        }
        inspector.pragmas.isKeyed = protection == .encrypted
        inspector.pragmas.keepsTemporaryTablesInMemory = keepsTemporaryTablesInMemory
    }

    private var keepsTemporaryTablesInMemory: Bool {
        protection == .encrypted || !configuration.allowsPlaintext
    }

    /// Gives a new encrypted file its salt, before another connection finds the file empty and chooses its
    /// own.
    ///
    /// It runs after the preparations, so that they can execute `PRAGMA auto_vacuum`, which has no effect on
    /// a file with content.
    private func claimFile() throws {
        guard keying.isFileEmpty, protection == .encrypted, purpose == .writer, !configuration.readonly else {
            return
        }
        try handle.claimEmptyFile()
        keying.keys.didClaimEmptyFile()
        keying.didClaimFile()
    }
}

extension DatabaseLocation {
    /// The name for `sqlite3_open_v2`. An in-memory database can only be shared by a URI. Bytes of its name
    /// with a special meaning in URIs are percent-encoded.
    fileprivate var engineName: String {
        guard case .memory(let name?) = self else { return place }
        return "file:\(name.percentEncoded)?mode=memory&cache=shared"
    }
}

extension Configuration {
    /// True if a file can be opened without a key in the configuration, because a preparation may set one, or
    /// plaintext is allowed.
    fileprivate var mayOpenFiles: Bool { allowsPlaintext || !preparations.isEmpty }
}

extension DatabaseError {
    fileprivate init(openingError error: EngineError, path: String, _ configuration: Configuration) {
        var message = "\(error.words) - while opening \(path)"
        if error.primaryCode == EngineCode.busy,
            let holder = LockHolder(
                ofFile: path, countsReaders: configuration.fileLocking == .thisProcessOnly)
        {
            message += ", \(holder)"
        }
        self.init(resultCode: ResultCode(rawValue: error.code), message: message, encryptionFailure: nil)
    }
}

extension String {
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            byte.isASCIIAlphanumeric ? String(UnicodeScalar(byte)) : "%" + [byte].hexadecimal
        }.joined()
    }
}
