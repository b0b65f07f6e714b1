internal import Glibc
internal import SQLCipherBridge

extension Database {
    struct Opened: ~Copyable {
        var connection: EngineConnection
        var protection: Keying.Protection
        var busyHandler: BusyHandler?
        var isFileEmpty = false
    }

    /// Opens a connection in the order of I3: open, busy handling, key, cipher settings, one read that checks
    /// the key.
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
            case .file(let path):
                guard keys.configured != nil || configuration.mayOpenFiles else {
                    throw DatabaseError(encryptionFailure: .noKey)
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
                // Connections to one named database share its pages, and could not do so with different keys.
                guard keys.configured != nil, location.isPrivate else {
                    return Opened(connection: connection, protection: .memory, busyHandler: busyHandler)
                }
                try KeyRing.keyMemoryConnection(connection.handle, settings: configuration.cipher)
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
        // The flags hold for attached files as well: that the database is in memory is said by its name
        // alone.
        case .memory(nil): [.readWrite, .create]
        case .memory: [.readWrite, .create, .uri]
        case .temporary: [.readWrite, .create]
        }
    }

    static func installBusyMode(
        on handle: ConnectionHandle, configuration: Configuration, purpose: Purpose
    ) -> BusyHandler? {
        switch purpose == .reader ? configuration.readerBusyMode : configuration.busyMode {
        case .immediateError:
            handle.busyTimeout(seconds: configuration.hasReadersBesideWriter && purpose == .writer ? 0.05 : 0)
            return nil
        case .timeout(let seconds):
            handle.busyTimeout(seconds: seconds)
            return nil
        case .callback(let callback):
            return BusyHandler(handle, callback)
        }
    }

    /// Refuses what is no database file, and creates a missing file with access for its owner only: SQLite
    /// would let others read it.
    ///
    /// - Parameter isWritten: whether the file is written whatever the configuration says of the main file.
    static func prepareFile(at path: String, configuration: Configuration, isWritten: Bool = false) throws {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "unable to open database file: the path has a NUL character: \(path)")
        }
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            // SQLite would wait for a writer at a pipe, and leave a journal beside a device.
            guard status.st_mode & S_IFMT == S_IFREG else {
                let kind = status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "no regular file"
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN,
                    message: "unable to open database file: \(path) is \(kind). Give the path of a file.")
            }
            if status.st_nlink > 1, isWritten || !configuration.readonly { removeSecondNames(ofFileAt: path) }
            return
        }
        guard isWritten || !configuration.readonly else { return }
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            // A umask may take rights from the owner, too. Closing a file that no other connection has opened
            // yet drops no locks.
            _ = fchmod(descriptor, 0o600)
            Glibc.close(descriptor)
        } else if errno != EEXIST {
            let reason = unsafe String(cString: strerror(errno))
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "unable to create the database file \(path): \(reason)"
            )
        }
    }
}

extension Database {
    /// Whether a file has no content, so that the first to write decides what it is.
    static func isEmptyOrMissing(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) != 0 || status.st_size == 0
    }
}

// MARK: - Between the opening and the first use (I3)

extension Database {
    /// How the connection protects what it writes.
    var protection: Keying.Protection { keying.protection }

    /// Whether a key was set.
    var isEncrypted: Bool { protection == .encrypted }

    /// Goes on with the preparation of a connection that has a key by now.
    func didReceiveKey(of ring: KeyRing, isFileEmpty: Bool?) throws {
        keying.didReceiveKey(of: ring, isFileEmpty: isFileEmpty)
        inspector.isKeyed = true
        try setUpPageStorage()
    }

    /// Sets everything that does not depend on the file, and what must not be said before the key.
    func setUp() throws {
        inspector.isKeyed = false
        inspector.cipher = configuration.cipher
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
            inspector.isKeyed = protection == .encrypted
            try runPreparations()
        }
        try claimFile()
        removeInterruptedRuns()
        try setUpJournalMode()
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
        inspector.isKeyed = protection == .encrypted
    }

    /// Gives a new encrypted file its salt, before others find it empty and make one of their own.
    ///
    /// It comes after the preparations, so that these can say `PRAGMA auto_vacuum`, which a file with content
    /// takes no more.
    private func claimFile() throws {
        guard keying.isFileEmpty, protection == .encrypted, purpose == .writer, !configuration.readonly else {
            return
        }
        try handle.claimEmptyFile()
        keying.keys.didClaimEmptyFile()
        keying.didClaimFile()
    }

    private func setUpJournalMode() throws {
        guard purpose == .writer, configuration.journalMode == .wal, !configuration.readonly,
            protection != .memory
        else { return }
        if let failure = EncryptionFailure(otherNameOf: handle) {
            throw DatabaseError(encryptionFailure: failure)
        }
        // Without the WAL mode, what follows would not be safe against a loss of power.
        do {
            try handle.changeJournalMode(to: .wal, knownProtection())
        } catch let error as EngineError
            where error.code == EngineCode.busy && handle.lastExtendedErrorCode == EngineCode.ok
        {
            throw DatabaseError(message: "could not activate WAL mode at path: \(path)")
        } catch {
            throw DatabaseError.publicError(error)
        }
        try handle.execute("PRAGMA synchronous = NORMAL")
        // The first read makes the log and its index, which others need before they can open the file without
        // writing.
        try handle.execute("SELECT 1 FROM main.sqlite_master LIMIT 1")
    }
}

extension DatabaseLocation {
    /// The name given to `sqlite3_open_v2`. A URI is the only way to share a database in memory; each byte of
    /// its name that could mean something in a URI is written as a number.
    fileprivate var engineName: String {
        switch self {
        case .file(let path): path
        case .memory(nil): ":memory:"
        case .memory(let name?): "file:\(name.percentEncoded)?mode=memory&cache=shared"
        case .temporary: ""
        }
    }
}

extension Configuration {
    /// True if a file can be opened without a key in the configuration: a preparation may set one, or
    /// plaintext is allowed.
    fileprivate var mayOpenFiles: Bool { allowsPlaintext || !preparations.isEmpty }
}

extension DatabaseError {
    fileprivate init(openingError error: EngineError, path: String, _ configuration: Configuration) {
        var message = "\(error.message ?? ConnectionHandle.describe(error.code)) - while opening \(path)"
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
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}
