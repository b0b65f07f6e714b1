internal import CPageProvider
internal import CSQLCipher
internal import Glibc

/// A connection of the C library, which closes itself at the end of its life.
///
/// What uses it gets a ``ConnectionHandle``, which cannot close it and must not be used afterwards.
@safe
package struct EngineConnection: ~Copyable {
    package let handle: ConnectionHandle

    /// Whether the connection, if it is the last one to its file, brings the write-ahead log into the file
    /// when it is closed.
    ///
    /// A connection that was opened to find out something does not: it may not understand the log.
    package var checkpointsAtEnd = false

    private var isOpen = true

    // `sqlite3_close_v2`, which never fails: the connection ends with its last statement.
    deinit {
        guard isOpen else { return }
        if !checkpointsAtEnd { handle.leaveLogAtEnd() }
        _ = handle.unwatchSideFiles()
        unsafe sqlite3_close_v2(handle.pointer)
    }

    /// Closes the connection, or leaves it as it is and answers `SQLITE_BUSY` while statements or backups
    /// live.
    package mutating func close() -> CInt {
        guard isOpen else { return SQLITE_OK }
        let watchAgain = handle.unwatchSideFiles()
        let code = unsafe sqlite3_close(handle.pointer)
        if code == SQLITE_OK { isOpen = false } else { watchAgain() }
        return code
    }

    /// Leaves the connection open for the life of the process.
    consuming func stayOpen() { isOpen = false }

    /// Ends the connection as one that may bring a write-ahead log into the file.
    package consuming func closeWithCheckpoint() { checkpointsAtEnd = true }
}

// MARK: - Opening

extension EngineConnection {
    /// How a connection is opened. Connections are always opened with extended result codes and without
    /// SQLite's own mutex (I3).
    package struct OpenFlags: OptionSet, Sendable {
        package let rawValue: CInt
        package init(rawValue: CInt) { self.rawValue = rawValue }

        package static let readOnly = OpenFlags(rawValue: SQLITE_OPEN_READONLY)
        package static let readWrite = OpenFlags(rawValue: SQLITE_OPEN_READWRITE)
        package static let create = OpenFlags(rawValue: SQLITE_OPEN_CREATE)

        /// The path is a URI, and so are those that the connection attaches: for a name that no user gives.
        package static let uri = OpenFlags(rawValue: SQLITE_OPEN_URI)
    }

    /// Opens a connection. URI handling is never enabled for the path of a user: `key=` in a file name must
    /// not become a key.
    ///
    /// - Parameter locking: who else may have the files open. It holds for attached files as well.
    /// - Throws: the error of `sqlite3_open_v2`, after the half-open connection is closed.
    package init(path: String, flags: OpenFlags, locking: FileLocking = .shared) throws(EngineError) {
        try Engine.prove()
        guard let system = SideFiles.systems[locking] else {
            throw EngineError(
                code: SQLITE_ERROR, message: "The file system of connections could not be registered")
        }
        // Builds of the engine with SQLITE_USE_URI take such a path for a URI without the flag, and open
        // another file, or memory.
        let name = path.hasPrefix("file:") && !flags.contains(.uri) ? "./\(path)" : path
        handle = try EngineConnection.open(name, flags.rawValue, system)
    }

    /// Opens a connection on a file system of the engine.
    init(name: String, flags: CInt, fileSystem: String?) throws(EngineError) {
        handle = try EngineConnection.open(name, flags, fileSystem)
    }

    private static func open(_ name: String, _ flags: CInt, _ fileSystem: String?) throws(EngineError)
        -> ConnectionHandle
    {
        guard process_exit_allows() != 0 else {
            throw EngineError(code: SQLITE_ABORT, message: "the process is exiting")
        }
        var pointer: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            name, &pointer, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, fileSystem)
        if code == SQLITE_OK, let pointer = unsafe pointer {
            if EngineMend.countOfView.isOn { _ = unsafe coffer_stop_counting_views_by_parts(pointer) }
            return unsafe ConnectionHandle(pointer)
        }
        if code == EngineCode.lockedOtherwise {
            unsafe sqlite3_close_v2(pointer)
            throw EngineError(
                code: code,
                message: "database is locked: connections of this process share it with other processes")
        }
        // The C library hands out a connection even when it fails, to carry the message.
        let message = unsafe pointer.flatMap { unsafe ConnectionHandle($0).lastErrorMessage }
        unsafe sqlite3_close_v2(pointer)
        throw EngineError(code: code, message: message ?? ConnectionHandle.describe(code))
    }
}

// MARK: - The proof of the engine

extension EngineError {
    /// The code that answers to `sqlite3_*` is not the SQLCipher that this package was compiled for.
    package static let withoutCipher = EngineError(
        code: SQLITE_ERROR,
        message: "The SQLite library that answers in this process is not SQLCipher, or not the linked one")
}

extension Engine {
    /// Fails unless the linked engine is the SQLCipher of the headers. Checked once in a process, at the
    /// first connection (I2).
    ///
    /// A memory database lends itself, so that no file is touched before the proof. Two libraries can mix in
    /// one process: a foreign `sqlite3_open` with SQLCipher's `sqlite3_key` would corrupt memory, hence the
    /// order.
    package static func prove() throws(EngineError) {
        _ = try proof.get()
    }

    /// Who does the cryptographic work of connections that do not insist on the engine.
    package static var pageProvider: PageProvider { get throws(EngineError) { try proof.get() } }

    private static let proof: Result<PageProvider, EngineError> = {
        do throws(EngineError) {
            return .success(try proveOnce())
        } catch {
            return .failure(error)
        }
    }()

    /// Fails unless the code that answers is of the version that this package was compiled for: structures
    /// and constants of another one may differ.
    ///
    /// - Parameters:
    ///   - linked: the version that answers, as in 3046001.
    ///   - hasCipher: whether the code that answers was built as SQLCipher.
    package static func checkVersion(_ linked: CInt, compiledFor compiled: CInt, hasCipher: Bool)
        throws(EngineError)
    {
        guard linked != compiled else { return }
        guard hasCipher else { throw EngineError.withoutCipher }
        throw EngineError(
            code: SQLITE_ERROR,
            message: """
                This program is linked with an SQLCipher on SQLite \(words(for: linked)), but was compiled \
                with the headers of SQLite \(words(for: compiled)). Build it again from a clean folder, with \
                the headers and libsqlcipher.a of one version
                """)
    }

    /// A version number of SQLite as words: 3046001 is 3.46.1.
    private static func words(for version: CInt) -> String {
        "\(version / 1_000_000).\(version / 1000 % 1000).\(version % 1000)"
    }

    private static func proveOnce() throws(EngineError) -> PageProvider {
        // SQLite would count its memory under one lock for all connections of the process, in each
        // allocation, for nobody. Where the program has initialized it before, it goes on counting.
        _ = coffer_config_memory_statistics(0)
        try checkVersion(
            sqliteVersionNumber, compiledFor: compiledSQLiteVersionNumber,
            hasCipher: hasCompileOption("HAS_CODEC"))
        let connection: EngineConnection
        do throws(EngineError) {
            connection = try EngineConnection(
                name: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, fileSystem: nil)
        } catch {
            throw EngineError(code: error.code, message: "SQLCipher could not be initialized")
        }
        process_exit_hold_engine()
        let handle = connection.handle
        guard let version = try handle.firstText(trusted: "PRAGMA cipher_version"), !version.isEmpty else {
            throw EngineError.withoutCipher
        }
        let text = "x'\(String(repeating: "00", count: 32))'"
        guard unsafe sqlite3_key(handle.pointer, text, CInt(text.utf8.count)) == SQLITE_OK,
            let provider = try handle.firstText(trusted: "PRAGMA cipher_provider"), !provider.isEmpty
        else { throw EngineError.withoutCipher }
        // The level is global, and the first key resets it, so that it is set after one: a wrong key would
        // print to the standard error.
        try handle.execute("PRAGMA cipher_log_level = NONE")
        let allowed = unsafe getenv("COFFER_PAGE_PROVIDER").map { unsafe String(cString: $0) }
        let pageProvider = PageProvider.install(cipherVersion: version, allowed: allowed)
        // The engine frees its provider with the last connection that has a key.
        if case .kept = pageProvider { connection.stayOpen() }
        return pageProvider
    }
}
