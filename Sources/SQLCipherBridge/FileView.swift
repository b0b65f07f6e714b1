internal import CSQLCipher
internal import Glibc
internal import Synchronization

/// Stored bytes of a database, wherever they are, that can be read as one file.
package protocol StoredBytes: AnyObject {
    /// In bytes.
    var size: Int64 { get }

    /// Fills the target with the bytes from an offset on, and returns how many there were.
    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int
}

/// Stored bytes that the engine may write to.
package protocol WritableBytes: StoredBytes {
    /// Writes bytes at an offset, all of them. Returns 0, or an `errno`.
    func write(_ bytes: Span<UInt8>, at offset: Int64) -> CInt

    /// Cuts the bytes, or fills them up with zeros. Returns 0, or an `errno`.
    func truncate(to size: Int64) -> CInt
}

/// A file system of the engine that has nothing but such bytes: no locks, no names. Its temporary
/// files are encrypted, and journals are such files.
///
/// The engine treats what it reads there as a file that never changes, so that looking into a database leaves
/// no trace. What it writes goes to the bytes that it was given and nowhere else: there is no name that could
/// lead to another file by now.
package enum FileView {
    /// Opens a connection that can only read, to bytes that are kept until it is closed.
    ///
    /// The file may be one of others: its schema cannot call functions with side effects, nor have the engine
    /// write to its own tables.
    package static func open(_ bytes: any StoredBytes) throws(EngineError) -> EngineConnection {
        let connection = try open(bytes, flags: SQLITE_OPEN_READONLY)
        try connection.handle.set(.trustedSchema, false)
        try connection.handle.set(.defensive, true)
        return connection
    }

    /// Opens a connection that can write, to bytes that are kept until it is closed.
    ///
    /// A journal is a temporary file as others, and gone with the connection: what a process leaves that
    /// ends in the middle is of no use.
    package static func open(writing bytes: any WritableBytes) throws(EngineError) -> EngineConnection {
        try open(bytes, flags: SQLITE_OPEN_READWRITE)
    }

    /// Has a connection that was opened here read a database without encryption as well, from bytes that are
    /// kept until it is closed.
    ///
    /// - Parameter schema: the name of the database in statements.
    package static func attach(_ bytes: any StoredBytes, as schema: String, to connection: ConnectionHandle)
        throws(EngineError)
    {
        // It has the file system of the connection. Without a key of its own, it would have that one's key.
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

    /// Calls `body` with the name under which the engine finds some bytes.
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
        // The open file has its own hold on the bytes.
        defer { state.withLock { $0.views[name] = nil } }
        return try body(name)
    }

    private static let systemName = "coffer-view"

    /// Bytes that the engine is about to open.
    // @unchecked: the thread that asks for them is the one that has brought them.
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

    /// Registers the file system, once; it stays for the life of the process.
    private static let registration: CInt = {
        guard let standard = unsafe sqlite3_vfs_find(nil) else { return SQLITE_ERROR }
        let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        // Randomness, sleep and time are those of the standard file system.
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

/// What the engine keeps of an open file: its part must come first.
@safe
private struct ViewedFile {
    var base: sqlite3_file
    /// A retained `ViewedBytes`.
    var bytes: UnsafeMutableRawPointer?
}

/// Extended result codes, which are macros of an expression.
private enum IOError {
    static let read = SQLITE_IOERR | 1 << 8
    static let shortRead = SQLITE_IOERR | 2 << 8
    static let write = SQLITE_IOERR | 3 << 8
    static let truncate = SQLITE_IOERR | 6 << 8

    /// The code of the engine for an `errno`.
    static func code(_ error: CInt, _ code: CInt) -> CInt {
        error == 0 ? SQLITE_OK : [ENOSPC, EDQUOT, EFBIG].contains(error) ? SQLITE_FULL : code
    }
}

private final class ViewedBytes {
    let bytes: any StoredBytes

    init(_ bytes: any StoredBytes) {
        self.bytes = bytes
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
        // Of a sort that does not fit into memory, a table that is not kept, or a journal, which is of use
        // only as long as its connection.
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
    // A connection that writes may read others.
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

// Written once, before the engine sees it, and only read afterwards.
private nonisolated(unsafe) let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: sqlite3_io_methods())
    unsafe methods.pointee.iVersion = 1
    unsafe methods.pointee.xClose = { file in
        unsafe viewed(file)?.release()
        return SQLITE_OK
    }
    unsafe methods.pointee.xRead = { file, target, count, offset in
        guard let target = unsafe target, let bytes = unsafe viewed(file)?.takeUnretainedValue().bytes else {
            return IOError.read
        }
        var span = unsafe MutableSpan<UInt8>(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
        guard let done = try? bytes.read(at: offset, into: &span) else { return IOError.read }
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

// Written once, before the engine sees it, and only read afterwards.
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
    // Not `SQLITE_IOCAP_IMMUTABLE`, with which the engine would only read.
    unsafe writable.pointee.xDeviceCharacteristics = { _ in 0 }
    return unsafe writable
}()
