internal import CSQLCipher
internal import Synchronization

/// The I/O methods of open WAL files: the system's methods, except for the one that closes the file and, for
/// engines with the bug that Coffer works around, the two that ``LogSealing`` needs.
///
/// SQLite calls the two for each page that it reads or writes in the WAL file. The data of all of them is
/// therefore stored after SQLite's own structure of the file, and needs no lock.
enum LogCalls {
    @unsafe fileprivate struct Notes {
        /// The system's I/O methods.
        let standard: UnsafePointer<sqlite3_io_methods>
        /// SQLite's open database file.
        let database: UnsafeMutablePointer<sqlite3_file>
        /// The offset of the last frame header that SQLite has written.
        var lastHeader: Int64 = 0
    }

    /// The number of bytes that a file system must add to SQLite's memory for each open file.
    static let memorySize = unsafe CInt(MemoryLayout<Notes>.stride)

    /// The number of bytes of that memory that the standard file systems use, all of which have the same
    /// structure of files.
    private static let standardSize = unsafe Int(sqlite3_vfs_find(nil)?.pointee.szOsFile ?? 0)

    /// The address of each copy by the address of the system's I/O methods. Copies are kept for the rest of
    /// the process.
    private static let copies = Mutex<[UInt: UInt]>([:])

    /// Intercepts the calls on a WAL file that SQLite has opened.
    static func watch(
        _ file: UnsafeMutablePointer<sqlite3_file>, of database: UnsafeMutablePointer<sqlite3_file>
    ) {
        guard let standard = unsafe file.pointee.pMethods else { return }
        let key = UInt(bitPattern: standard)
        let address = copies.withLock { copies -> UInt in
            if let known = copies[key] { return known }
            let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            unsafe copy.initialize(to: standard.pointee)
            unsafe copy.pointee.xClose = closeTrampoline
            if EngineMend.logChecksums.isOn {
                unsafe copy.pointee.xRead = readTrampoline
                unsafe copy.pointee.xWrite = writeTrampoline
            }
            copies[key] = UInt(bitPattern: copy)
            return UInt(bitPattern: copy)
        }
        unsafe notes(of: file).initialize(to: Notes(standard: standard, database: database))
        unsafe file.pointee.pMethods = UnsafePointer(bitPattern: address)
    }

    fileprivate static func notes(of file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Notes>
    {
        unsafe (UnsafeMutableRawPointer(file) + standardSize).assumingMemoryBound(to: Notes.self)
    }

    /// Writes the missing checksums before the one at an offset.
    ///
    /// - Returns: the bytes that SQLite must read instead of the stored ones, or nil for the stored ones.
    fileprivate static func seal(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ notes: Notes, checksumAt offset: Int64
    ) throws(EngineError) -> [UInt8]? {
        guard let read = unsafe notes.standard.pointee.xRead, let write = unsafe notes.standard.pointee.xWrite
        else { return nil }
        let sealing = LogSealing { offset, count throws(EngineError) in
            var bytes = [UInt8](repeating: 0, count: count)
            let code = unsafe read(file, &bytes, CInt(count), offset)
            if code == SQLITE_IOERR | 2 << 8 { return nil }
            guard code == SQLITE_OK else { throw EngineError(code: code, message: nil) }
            return bytes
        } write: { bytes, offset throws(EngineError) in
            let code = unsafe write(file, bytes, CInt(bytes.count), offset)
            guard code == SQLITE_OK else { throw EngineError(code: code, message: nil) }
        }
        return try sealing.seal(beforeChecksumAt: offset, lastHeader: unsafe notes.lastHeader)
    }
}

private func closeTrampoline(_ file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
    guard let file = unsafe file else { return SQLITE_IOERR }
    let notes = unsafe LogCalls.notes(of: file).pointee
    unsafe SideFiles.willCloseLog(of: notes.database)
    return unsafe notes.standard.pointee.xClose?(file) ?? SQLITE_IOERR
}

private func readTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ target: UnsafeMutableRawPointer?, _ count: CInt,
    _ offset: sqlite3_int64
) -> CInt {
    guard let file = unsafe file else { return SQLITE_IOERR }
    let notes = unsafe LogCalls.notes(of: file).pointee
    if count == LogSealing.checksumSize, let target = unsafe target {
        do throws(EngineError) {
            if let bytes = try unsafe LogCalls.seal(file, notes, checksumAt: offset) {
                unsafe target.copyMemory(from: bytes, byteCount: bytes.count)
                return SQLITE_OK
            }
        } catch {
            // The commit fails, and the transaction is rolled back.
            return error.code
        }
    }
    return unsafe notes.standard.pointee.xRead?(file, target, count, offset) ?? SQLITE_IOERR
}

private func writeTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: CInt,
    _ offset: sqlite3_int64
) -> CInt {
    guard let file = unsafe file else { return SQLITE_IOERR }
    let notes = unsafe LogCalls.notes(of: file)
    if count == LogSealing.frameHeaderSize { unsafe notes.pointee.lastHeader = offset }
    return unsafe notes.pointee.standard.pointee.xWrite?(file, bytes, count, offset) ?? SQLITE_IOERR
}
