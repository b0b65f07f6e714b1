internal import CPageProvider
internal import CSQLCipher
internal import Glibc
internal import SystemCalls

/// An SQLite connection, which is closed when this value is destroyed.
///
/// Other code uses a ``ConnectionHandle``, which cannot close the connection and must not be used after it is
/// closed.
@safe
package struct EngineConnection: ~Copyable {
    package let handle: ConnectionHandle

    /// True if closing the last connection to a file checkpoints the WAL file.
    ///
    /// Connections that only inspect a file leave this false: they may not be able to decrypt the WAL file.
    package var checkpointsAtEnd = false

    private var isOpen = true

    // `sqlite3_close_v2` never fails: SQLite frees the connection with its last statement.
    deinit {
        guard isOpen else { return }
        if !checkpointsAtEnd { handle.leaveLogAtEnd() }
        _ = handle.unwatchSideFiles()
        unsafe sqlite3_close_v2(handle.pointer)
    }

    /// Closes the connection, or leaves it unchanged and returns `SQLITE_BUSY` if statements or backups are
    /// still alive.
    package mutating func close() -> CInt {
        guard isOpen else { return SQLITE_OK }
        let watchAgain = handle.unwatchSideFiles()
        let code = unsafe sqlite3_close(handle.pointer)
        if code == SQLITE_OK { isOpen = false } else { watchAgain() }
        return code
    }

    /// Leaves the connection open until the process ends.
    consuming func stayOpen() { isOpen = false }

    /// Closes the connection, and checkpoints the WAL file if it is the last connection.
    package consuming func closeWithCheckpoint() { checkpointsAtEnd = true }
}

// MARK: - Opening

extension EngineConnection {
    /// The flags for opening a connection. Connections are always opened with extended result codes and
    /// without SQLite's own mutex (invariant "Key first").
    package struct OpenFlags: OptionSet, Sendable {
        package let rawValue: CInt
        package init(rawValue: CInt) { self.rawValue = rawValue }

        package static let readOnly = OpenFlags(rawValue: SQLITE_OPEN_READONLY)
        package static let readWrite = OpenFlags(rawValue: SQLITE_OPEN_READWRITE)
        package static let create = OpenFlags(rawValue: SQLITE_OPEN_CREATE)

        /// The path is a URI, and so are the paths of attached files. Only for names that do not come from
        /// users.
        package static let uri = OpenFlags(rawValue: SQLITE_OPEN_URI)
    }

    /// Opens a connection. URIs are never enabled for a path from a user: `key=` in a file name must not
    /// become a key.
    ///
    /// - Parameter locking: the processes that may have the files open. It also applies to attached files.
    /// - Throws: the error of `sqlite3_open_v2`, after the partially opened connection is closed.
    package init(path: String, flags: OpenFlags, locking: FileLocking = .shared) throws(EngineError) {
        try Engine.prove()
        guard let system = SideFiles.systems[locking] else {
            throw EngineError(
                code: SQLITE_ERROR, message: "The file system for connections could not be registered")
        }
        // Engines built with SQLITE_USE_URI treat such a path as a URI even without the flag, and would open
        // another file, or an in-memory database.
        let name = path.hasPrefix("file:") && !flags.contains(.uri) ? "./\(path)" : path
        handle = try EngineConnection.open(name, flags.rawValue, system)
    }

    /// Opens a connection on one of SQLite's virtual file systems.
    init(name: String, flags: CInt, fileSystem: String?) throws(EngineError) {
        handle = try EngineConnection.open(name, flags, fileSystem)
    }

    private static func open(_ name: String, _ flags: CInt, _ fileSystem: String?) throws(EngineError)
        -> ConnectionHandle
    {
        guard process_exit_allows() != 0 else {
            throw EngineError(code: SQLITE_ABORT, message: "the process is exiting")
        }
        // A failure that the engine has never reported has nothing to do with this connection.
        _ = ReadFailure.take()
        var pointer: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            name, &pointer, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, fileSystem)
        if code == SQLITE_OK, let pointer = unsafe pointer {
            let handle = unsafe ConnectionHandle(pointer)
            guard handle.hasFile(at: name) else {
                unsafe sqlite3_close_v2(pointer)
                throw EngineError.otherFile
            }
            if EngineMend.countOfView.isOn { _ = unsafe coffer_stop_counting_views_by_parts(pointer) }
            return handle
        }
        if code == EngineCode.lockedOtherwise {
            unsafe sqlite3_close_v2(pointer)
            throw EngineError(
                code: code,
                message:
                    "database is locked: other connections of this process share it with other processes")
        }
        // SQLite returns a connection even if opening fails, to provide the message.
        let error = unsafe pointer.map { unsafe ConnectionHandle($0).error(code) }
        unsafe sqlite3_close_v2(pointer)
        throw error ?? EngineError(code: code, message: ConnectionHandle.describe(code))
    }
}

extension ConnectionHandle {
    /// Returns true if a name leads to the main database file, or is not the path of a file.
    ///
    /// SQLite replaces symbolic links by their texts, and puts the path of the working directory before a
    /// relative path. The system does not: the texts of `/proc/PID/root` and `/proc/PID/cwd` are paths of
    /// another mount namespace, and the path of a working directory leads elsewhere once a file system is
    /// mounted there. A replacement would then read one file, and replace another.
    fileprivate func hasFile(at path: String) -> Bool {
        guard let file = filename(schema: "main"), !file.isEmpty, file != path else { return true }
        // The file may be replaced between the two looks.
        return (0..<3).contains { _ in
            guard let found = FileIdentity(path) else { return true }
            return found == fileIdentity(schema: "main")
        }
    }
}

extension EngineError {
    fileprivate static let otherFile = EngineError(
        code: SQLITE_CANTOPEN,
        message: """
            The path leads to another file than its text, as below /proc/PID/root, or in a working directory \
            over which a file system was mounted. Give the absolute path of the file
            """)
}

// MARK: - Verification of the engine

extension EngineError {
    /// The `sqlite3_*` functions in this process are not those of the SQLCipher that this package was
    /// compiled for.
    package static let withoutCipher = EngineError(
        code: SQLITE_ERROR,
        message: "The SQLite library that this process uses is not SQLCipher, or not the linked one")
}

extension Engine {
    /// Throws an error unless the linked engine is the SQLCipher of the headers. The check runs once per
    /// process, before the first connection (invariant "Verified engine").
    ///
    /// The check uses an in-memory database, so no file is touched before it passes. Two libraries can be
    /// mixed in one process: `sqlite3_open` of another SQLite with `sqlite3_key` of SQLCipher would corrupt
    /// memory, so the version is checked before any key is set.
    package static func prove() throws(EngineError) {
        _ = try proof.get()
    }

    /// The implementation of the cryptographic work for connections that do not require the engine's own.
    package static var pageProvider: PageProvider { get throws(EngineError) { try proof.get() } }

    private static let proof: Result<PageProvider, EngineError> = {
        do throws(EngineError) {
            return .success(try proveOnce())
        } catch {
            return .failure(error)
        }
    }()

    /// Throws an error unless the linked engine has the version that this package was compiled for:
    /// structures and constants of other versions may differ.
    ///
    /// - Parameters:
    ///   - linked: the version of the linked engine, as in 3046001.
    ///   - hasCipher: true if the linked engine was built as SQLCipher.
    package static func checkVersion(_ linked: CInt, compiledFor compiled: CInt, hasCipher: Bool)
        throws(EngineError)
    {
        guard linked != compiled else { return }
        guard hasCipher else { throw EngineError.withoutCipher }
        throw EngineError(
            code: SQLITE_ERROR,
            message: """
                This program is linked with an SQLCipher that contains SQLite \(words(for: linked)), but was \
                compiled with the headers of SQLite \(words(for: compiled)). Build it again from a clean \
                folder, with the headers and libsqlcipher.a of one version
                """)
    }

    /// Returns a version number of SQLite as text: 3046001 is 3.46.1.
    private static func words(for version: CInt) -> String {
        "\(version / 1_000_000).\(version / 1000 % 1000).\(version % 1000)"
    }

    private static func proveOnce() throws(EngineError) -> PageProvider {
        // Memory statistics take a lock shared by all connections of the process on every allocation, and
        // nothing reads them. They stay on if the program has initialized SQLite before.
        _ = coffer_config_memory_statistics(0)
        // An idle connection has read two or three pages: 20 would be a third of its memory.
        _ = coffer_config_single_pages()
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
        ReadFailure.watch()
        let handle = connection.handle
        guard let version = try handle.firstText(trusted: "PRAGMA cipher_version"), !version.isEmpty else {
            throw EngineError.withoutCipher
        }
        let text = "x'\(String(repeating: "00", count: 32))'"
        guard unsafe sqlite3_key(handle.pointer, text, CInt(text.utf8.count)) == SQLITE_OK,
            let provider = try handle.firstText(trusted: "PRAGMA cipher_provider"), !provider.isEmpty
        else { throw EngineError.withoutCipher }
        // The log level is global. Set it after the first key, which resets it: otherwise, a wrong key would
        // print to standard error.
        try handle.execute("PRAGMA cipher_log_level = NONE")
        let allowed = unsafe getenv("COFFER_PAGE_PROVIDER").map { unsafe String(cString: $0) }
        let pageProvider = PageProvider.install(cipherVersion: version, allowed: allowed)
        // The engine frees its provider with the last keyed connection, so keep one open.
        if case .kept = pageProvider { connection.stayOpen() }
        return pageProvider
    }
}
