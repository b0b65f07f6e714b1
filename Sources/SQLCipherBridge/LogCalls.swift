internal import CSQLCipher
internal import Synchronization

/// The calls of the engine on open write-ahead logs, where it has a fault that is mended there: those of the
/// system, but for the two that ``LogSealing`` is about.
///
/// They are called for each page that the engine reads or writes in the log: what they need is behind the
/// engine's own structure of the file, without a lock.
enum LogCalls {
    @unsafe fileprivate struct Notes {
        /// The calls of the system.
        let standard: UnsafePointer<sqlite3_io_methods>
        /// Where the engine has written the header of a frame last.
        var lastHeader: Int64 = 0
    }

    /// What a file system has to add to the memory that the engine gives to each open file.
    static let memorySize = unsafe CInt(MemoryLayout<Notes>.stride)

    /// How much of that memory the standard file systems use, which are all of one kind of file.
    private static let standardSize = unsafe Int(sqlite3_vfs_find(nil)?.pointee.szOsFile ?? 0)

    /// By the address of the system's calls, that of the copy that was made of them. Copies stay for the life
    /// of the process.
    private static let copies = Mutex<[UInt: UInt]>([:])

    /// Goes between the engine and a log that it has opened.
    static func watch(_ file: UnsafeMutablePointer<sqlite3_file>) {
        guard EngineMend.logChecksums.isOn, let standard = unsafe file.pointee.pMethods else { return }
        let key = UInt(bitPattern: standard)
        let address = copies.withLock { copies -> UInt in
            if let known = copies[key] { return known }
            let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            unsafe copy.initialize(to: standard.pointee)
            unsafe copy.pointee.xRead = readTrampoline
            unsafe copy.pointee.xWrite = writeTrampoline
            copies[key] = UInt(bitPattern: copy)
            return UInt(bitPattern: copy)
        }
        unsafe notes(of: file).initialize(to: Notes(standard: standard))
        unsafe file.pointee.pMethods = UnsafePointer(bitPattern: address)
    }

    fileprivate static func notes(of file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Notes>
    {
        unsafe (UnsafeMutableRawPointer(file) + standardSize).assumingMemoryBound(to: Notes.self)
    }

    /// Writes the checksums that are missing before the one at an offset.
    ///
    /// - Returns: what the engine is to read there instead of what is stored; nil for that.
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
