internal import CSQLCipher
internal import Glibc
internal import Synchronization

/// Stored bytes of a database that are put together from several files, for the engine to read as one file.
package protocol StoredBytes: AnyObject, Sendable {
    /// In bytes.
    var size: Int64 { get }

    /// Fills the target with the bytes from an offset on, and returns how many there were.
    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws -> Int
}

/// A file system of the engine that has nothing but such bytes: no locks, no journals, no way to write.
///
/// The engine treats what it reads there as a file that never changes, so that looking into a database leaves no trace.
package enum FileView {
    /// Opens a connection to bytes, which are kept until it is closed.
    package static func open(_ bytes: any StoredBytes) throws(EngineError) -> ConnectionHandle {
        try Engine.prove()
        let code = registration
        guard code == SQLITE_OK else { throw EngineError(code: code, message: "The view of files could not be registered") }
        let name = state.withLock { state in
            state.count += 1
            let name = "/coffer-view/\(state.count)"
            state.views[name] = bytes
            return name
        }
        var pointer: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = unsafe sqlite3_open_v2(name, &pointer, flags, systemName)
        // The open file has its own hold on the bytes.
        state.withLock { $0.views[name] = nil }
        guard result == SQLITE_OK, let opened = unsafe pointer else {
            unsafe sqlite3_close_v2(pointer)
            throw EngineError(code: result, message: ConnectionHandle.describe(result))
        }
        return unsafe ConnectionHandle(opened)
    }

    private static let systemName = "coffer-view"

    private struct State {
        var count = 0
        var views: [String: any StoredBytes] = [:]
    }

    private static let state = Mutex(State())

    fileprivate static func bytes(named name: String) -> (any StoredBytes)? { state.withLock { $0.views[name] } }

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
}

private final class ViewedBytes {
    let bytes: any StoredBytes

    init(_ bytes: any StoredBytes) {
        self.bytes = bytes
    }
}

private func openTrampoline(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: CInt, _ resultFlags: UnsafeMutablePointer<CInt>?
) -> CInt {
    guard let file = unsafe file else { return SQLITE_CANTOPEN }
    unsafe file.pointee.pMethods = nil
    guard flags & SQLITE_OPEN_MAIN_DB != 0, let name = unsafe name, let bytes = FileView.bytes(named: unsafe String(cString: name))
    else { return SQLITE_CANTOPEN }
    unsafe file.withMemoryRebound(to: ViewedFile.self, capacity: 1) { file in
        unsafe file.pointee.bytes = Unmanaged.passRetained(ViewedBytes(bytes)).toOpaque()
        unsafe file.pointee.base.pMethods = UnsafePointer(methods)
    }
    unsafe resultFlags?.pointee = SQLITE_OPEN_READONLY
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
        guard let target = unsafe target, let bytes = unsafe viewed(file)?.takeUnretainedValue().bytes else { return IOError.read }
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: target, count: Int(count))
        guard let done = unsafe try? bytes.read(at: offset, into: buffer) else { return IOError.read }
        guard done < buffer.count else { return SQLITE_OK }
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).initializeMemory(as: UInt8.self, repeating: 0)
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
