internal import CSQLCipher

/// The I/O methods of a database file that make SQLite empty its page cache after it has left WAL mode.
///
/// A connection that leaves WAL mode checkpoints the commits of all connections, and then forgets the WAL
/// file, but not its page cache, which may be older than the last commits. From then on, SQLite compares
/// bytes 24 to 39 of the file with those that it has seen before. A commit in WAL mode need not change page
/// 1, so SQLite can take old pages for current ones, and write them back. Commits of other processes are lost
/// then, and no check notices it. All versions of SQLite up to 3.54.1 do this.
///
/// The connection holds the exclusive lock when it closes the WAL index, and compares the bytes right
/// afterwards. These methods change the bytes of that one comparison, so that it fails.
enum StaleCacheCalls {
    static func install(in calls: UnsafeMutablePointer<sqlite3_io_methods>) {
        unsafe calls.pointee.xShmUnmap = unmapTrampoline
    }

    static func installAfterLog(in calls: UnsafeMutablePointer<sqlite3_io_methods>) {
        unsafe calls.pointee.xShmUnmap = unmapTrampoline
        unsafe calls.pointee.xRead = readTrampoline
    }

    /// The bytes of page 1 that change with each commit in rollback mode:
    /// <https://www.sqlite.org/fileformat2.html#file_change_counter>.
    fileprivate static let comparedBytes = (offset: sqlite3_int64(24), count: CInt(16))
}

private func unmapTrampoline(_ file: UnsafeMutablePointer<sqlite3_file>?, _ deletes: CInt) -> CInt {
    guard let file = unsafe file, let standard = unsafe GuardedCalls.standard(of: file),
        let unmap = unsafe standard.pointee.xShmUnmap
    else { return SQLITE_IOERR }
    unsafe file.pointee.pMethods = GuardedCalls.copy(of: standard, .databaseAfterLog)
    return unsafe unmap(file, deletes)
}

private func readTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ target: UnsafeMutableRawPointer?, _ count: CInt,
    _ offset: sqlite3_int64
) -> CInt {
    guard let file = unsafe file, let standard = unsafe GuardedCalls.standard(of: file),
        let read = unsafe standard.pointee.xRead
    else { return SQLITE_IOERR }
    let code = unsafe read(file, target, count, offset)
    guard (offset, count) == StaleCacheCalls.comparedBytes, let target = unsafe target else { return code }
    // After any other error SQLite compares nothing, and keeps its cache.
    guard code == SQLITE_OK || code == SQLITE_IOERR | 2 << 8 else { return code }
    unsafe file.pointee.pMethods = GuardedCalls.copy(of: standard, .database)
    guard code == SQLITE_OK else { return code }
    for index in 0..<Int(count) {
        let byte = unsafe target.load(fromByteOffset: index, as: UInt8.self)
        unsafe target.storeBytes(of: ~byte, toByteOffset: index, as: UInt8.self)
    }
    return code
}
