internal import CSQLCipher
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The stored bytes of a database, from any source, which can be read as one file.
package protocol StoredBytes: AnyObject {
    /// The number of bytes.
    var size: Int64 { get }

    /// Reads bytes from an offset into `target`, and returns their number.
    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int
}

/// An error of ``StoredBytes`` that a system call may have caused.
package protocol SystemCallFailure: Error {
    /// The `errno`; nil if the error has another cause.
    var systemError: CInt? { get }
}

/// Stored bytes that SQLite may write to.
package protocol WritableBytes: StoredBytes {
    /// Writes all bytes at an offset. Returns 0, or an `errno`.
    func write(_ bytes: Span<UInt8>, at offset: Int64) -> CInt

    /// Truncates the bytes, or extends them with zeros. Returns 0, or an `errno`.
    func truncate(to size: Int64) -> CInt
}

/// A virtual file system of SQLite that serves only such bytes, without locks or names. Its temporary files
/// and journals are encrypted.
///
/// SQLite treats a file that it only reads as immutable, so inspecting a database leaves no traces. It writes
/// only to the bytes that it was given: there is no path that could lead to another file in the meantime.
package enum FileView {
    /// Opens a read-only connection to bytes, which are retained until it is closed.
    ///
    /// The file may come from others: its schema cannot call functions with side effects, nor make SQLite
    /// write to its internal tables.
    package static func open(_ bytes: any StoredBytes) throws(EngineError) -> EngineConnection {
        let connection = try open(bytes, flags: SQLITE_OPEN_READONLY)
        try connection.handle.set(.trustedSchema, false)
        try connection.handle.set(.defensive, true)
        return connection
    }

    /// Opens a writable connection to bytes, which are retained until it is closed.
    ///
    /// The journal is a temporary file, and disappears with the connection. If the process ends in the middle
    /// of a transaction, the remaining bytes are unusable.
    package static func open(writing bytes: any WritableBytes) throws(EngineError) -> EngineConnection {
        try open(bytes, flags: SQLITE_OPEN_READWRITE)
    }

    /// Attaches a database without encryption to a connection that was opened here. The bytes are retained
    /// until the connection is closed.
    ///
    /// - Parameter schema: the name of the database in statements.
    package static func attach(_ bytes: any StoredBytes, as schema: String, to connection: ConnectionHandle)
        throws(EngineError)
    {
        // It uses the file system of the connection. Without `KEY ''`, it would get the connection's key.
        try naming(bytes) { name throws(EngineError) in
            try connection.execute(trusted: "ATTACH DATABASE '\(name)' AS \(schema) KEY ''")
        }
    }

    private static func open(_ bytes: any StoredBytes, flags: CInt) throws(EngineError) -> EngineConnection {
        try Engine.prove()
        let code = registration
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: "The view of files could not be registered")
        }
        return try naming(bytes) { name throws(EngineError) in
            try EngineConnection(name: name, flags: flags, fileSystem: systemName)
        }
    }

    /// Calls `body` with the name by which SQLite finds some bytes.
    private static func naming<Result: ~Copyable>(
        _ bytes: any StoredBytes, _ body: (String) throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        let waiting = WaitingBytes(bytes: bytes)
        let name = state.withLock { state in
            state.count += 1
            let name = "/coffer-view/\(state.count)"
            state.views[name] = waiting
            return name
        }
        // The open file retains the bytes itself.
        defer { state.withLock { $0.views[name] = nil } }
        return try body(name)
    }

    private static let systemName = "coffer-view"

    /// Bytes that SQLite is about to open.
    // @unchecked: only the thread that has provided the bytes requests them.
    fileprivate struct WaitingBytes: @unchecked Sendable {
        let bytes: any StoredBytes
    }

    private struct State {
        var count = 0
        var views: [String: WaitingBytes] = [:]
    }

    private static let state = Mutex(State())

    fileprivate static func bytes(named name: String) -> (any StoredBytes)? {
        state.withLock { $0.views[name] }?.bytes
    }

    /// Registers the file system once, for the rest of the process.
    private static let registration: CInt = {
        guard let standard = unsafe sqlite3_vfs_find(nil) else { return SQLITE_ERROR }
        let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        // Randomness, sleep and time come from the standard file system.
        unsafe system.initialize(to: standard.pointee)
        unsafe system.pointee.pNext = nil
        unsafe system.pointee.szOsFile = CInt(MemoryLayout<ViewedFile>.size)
        unsafe system.pointee.zName = UnsafePointer(strdup(systemName))
        unsafe system.pointee.xOpen = openTrampoline
        unsafe system.pointee.xDelete = { _, _, _ in SQLITE_OK }
        unsafe system.pointee.xAccess = { _, _, _, answer in
            unsafe answer?.pointee = 0
            return SQLITE_OK
        }
        unsafe system.pointee.xFullPathname = { _, name, size, result in
            guard let name = unsafe name, let result = unsafe result else { return SQLITE_CANTOPEN }
            let length = unsafe strlen(name)
            guard length < Int(size) else { return SQLITE_CANTOPEN }
            unsafe result.update(from: name, count: length + 1)
            return SQLITE_OK
        }
        return unsafe sqlite3_vfs_register(system, 0)
    }()
}

/// SQLite's memory for an open file. SQLite's own part must come first.
@safe
private struct ViewedFile {
    var base: sqlite3_file
    /// A retained `ViewedBytes`.
    var bytes: UnsafeMutableRawPointer?
}

/// Extended result codes, which C defines as macros with expressions.
private enum IOError {
    static let read = SQLITE_IOERR | 1 << 8
    static let shortRead = SQLITE_IOERR | 2 << 8
    static let write = SQLITE_IOERR | 3 << 8
    static let truncate = SQLITE_IOERR | 6 << 8

    /// Returns SQLite's code for an `errno`.
    static func code(_ error: CInt, _ code: CInt) -> CInt {
        error == 0 ? SQLITE_OK : Errno(error).isOutOfSpace ? SQLITE_FULL : code
    }
}

private final class ViewedBytes {
    let bytes: any StoredBytes

    init(_ bytes: any StoredBytes) {
        self.bytes = bytes
    }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) -> Int? {
        do {
            return try bytes.read(at: offset, into: &target)
        } catch {
            if let code = (error as? any SystemCallFailure)?.systemError { ReadFailure.note(Errno(code)) }
            return nil
        }
    }
}

private func openTrampoline(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: CInt, _ resultFlags: UnsafeMutablePointer<CInt>?
) -> CInt {
    guard let file = unsafe file else { return SQLITE_CANTOPEN }
    unsafe file.pointee.pMethods = nil
    let bytes: any StoredBytes
    let isJournal = flags & SQLITE_OPEN_MAIN_JOURNAL != 0
    if let name = unsafe name, !isJournal {
        guard flags & SQLITE_OPEN_MAIN_DB != 0,
            let known = FileView.bytes(named: unsafe String(cString: name))
        else { return SQLITE_CANTOPEN }
        bytes = known
    } else {
        // A sort that does not fit into memory, a temporary table, or a journal. All of them are only used
        // during the lifetime of the connection.
        do throws(EngineError) {
            bytes = try ScratchBytes(
                flags: isJournal
                    ? SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                        | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_DELETEONCLOSE
                    : flags)
        } catch {
            return error.code
        }
    }
    // A writable connection may also read from read-only bytes.
    let isWritable = flags & SQLITE_OPEN_READWRITE != 0 && bytes is any WritableBytes
    unsafe file.withMemoryRebound(to: ViewedFile.self, capacity: 1) { file in
        unsafe file.pointee.bytes = Unmanaged.passRetained(ViewedBytes(bytes)).toOpaque()
        unsafe file.pointee.base.pMethods = UnsafePointer(isWritable ? writableMethods : methods)
    }
    unsafe resultFlags?.pointee = isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    return SQLITE_OK
}

private func viewed(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Unmanaged<ViewedBytes>? {
    unsafe file?.withMemoryRebound(to: ViewedFile.self, capacity: 1) { unsafe $0.pointee.bytes }
        .map { unsafe Unmanaged<ViewedBytes>.fromOpaque($0) }
}

// Written once, before SQLite receives it, and only read afterwards.
private nonisolated(unsafe) let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: sqlite3_io_methods())
    unsafe methods.pointee.iVersion = 1
    unsafe methods.pointee.xClose = { file in
        unsafe viewed(file)?.release()
        return SQLITE_OK
    }
    unsafe methods.pointee.xRead = { file, target, count, offset in
        guard let target = unsafe target, let file = unsafe viewed(file)?.takeUnretainedValue() else {
            return IOError.read
        }
        var span = unsafe MutableSpan<UInt8>(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
        guard let done = file.read(at: offset, into: &span) else { return IOError.read }
        guard done < span.count else { return SQLITE_OK }
        span.clear(done..<span.count)
        return IOError.shortRead
    }
    unsafe methods.pointee.xWrite = { _, _, _, _ in SQLITE_READONLY }
    unsafe methods.pointee.xTruncate = { _, _ in SQLITE_READONLY }
    unsafe methods.pointee.xSync = { _, _ in SQLITE_OK }
    unsafe methods.pointee.xFileSize = { file, size in
        guard let bytes = unsafe viewed(file)?.takeUnretainedValue().bytes else { return SQLITE_IOERR }
        unsafe size?.pointee = bytes.size
        return SQLITE_OK
    }
    unsafe methods.pointee.xLock = { _, _ in SQLITE_OK }
    unsafe methods.pointee.xUnlock = { _, _ in SQLITE_OK }
    unsafe methods.pointee.xCheckReservedLock = { _, answer in
        unsafe answer?.pointee = 0
        return SQLITE_OK
    }
    unsafe methods.pointee.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    unsafe methods.pointee.xSectorSize = { _ in 4096 }
    unsafe methods.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_IMMUTABLE }
    return unsafe methods
}()

// Written once, before SQLite receives it, and only read afterwards.
private nonisolated(unsafe) let writableMethods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let writable = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe writable.initialize(to: methods.pointee)
    unsafe writable.pointee.xWrite = { file, source, count, offset in
        guard let source = unsafe source,
            let bytes = unsafe viewed(file)?.takeUnretainedValue().bytes as? any WritableBytes
        else {
            return IOError.write
        }
        let span = unsafe Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(start: source, count: Int(count)))
        return IOError.code(bytes.write(span, at: offset), IOError.write)
    }
    unsafe writable.pointee.xTruncate = { file, size in
        guard let bytes = unsafe viewed(file)?.takeUnretainedValue().bytes as? any WritableBytes else {
            return IOError.truncate
        }
        return IOError.code(bytes.truncate(to: size), IOError.truncate)
    }
    // Not `SQLITE_IOCAP_IMMUTABLE`, which would make SQLite open the file as read-only.
    unsafe writable.pointee.xDeviceCharacteristics = { _ in 0 }
    return unsafe writable
}()
