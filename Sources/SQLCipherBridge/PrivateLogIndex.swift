internal import CSQLCipher
internal import Glibc
internal import Synchronization

/// The index of a write-ahead log in the memory of one connection, which only reads a database in a folder
/// that cannot be written to: a snapshot, a volume that is mounted for reading, or a folder of another user.
///
/// The engine keeps the index in a file (`-shm`). If there is none, and none can be made, it refuses to open
/// the database. While there is none, no other process has the database open in WAL mode. So the connection
/// makes the index by itself, from the log, or from nothing if there is no log.
///
/// The folder may be writable for others, and such a connection takes no part in their locks. Each read of
/// the file and of its log is therefore followed by a look at them: if another process has opened or changed
/// them, the read fails with ``EngineCode/changedElsewhere``, so that no result is of two states. A file
/// system that shows the changes of another machine late, such as NFS, can hide them.
struct PrivateLogIndex: Sendable {
    private let database: [CChar]
    private let expected: FileStamps
    /// The addresses of the parts, each of the size that the engine asks for.
    private var regions: [UInt] = []

    /// By the address of the engine's open database file.
    private static let indexes = Mutex<[UInt: PrivateLogIndex]>([:])

    /// A log whose reads are looked after.
    private struct Log {
        let database: UInt
        /// The address of the system's calls: those of the file may be a copy that was made by others.
        let standard: UInt
    }

    /// By the address of the engine's open log.
    private static let logs = Mutex<[UInt: Log]>([:])

    // MARK: - Whether it is needed

    /// Whether no file can be made next to a database, because the file system is mounted for reading or the
    /// folder gives this user no right to write.
    static func canMakeNoFile(nextTo database: [CChar]) -> Bool {
        let end = database.lastIndex(of: CChar(UInt8(ascii: "/"))) ?? 0
        let folder = end == 0 ? Array("/".utf8CString) : Array(database[..<end]) + [0]
        guard unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 else { return false }
        return errno == EROFS || errno == EACCES
    }

    /// Whether a database has no index of its log, and none can be made.
    ///
    /// - Parameter database: the path, terminated by a zero byte.
    static func isNeeded(for database: [CChar]) -> Bool {
        !FileStamps.exists(database, "-shm") && canMakeNoFile(nextTo: database)
    }

    // MARK: - Its life

    /// Makes an index for an open database file.
    ///
    /// - Returns: false if the file changes all the time.
    static func begin(for file: UnsafeMutablePointer<sqlite3_file>, _ database: [CChar]) -> Bool {
        for _ in 0..<20 {
            let stamps = FileStamps(database)
            guard stamps.areRecent else {
                indexes.withLock {
                    $0[UInt(bitPattern: file)] = PrivateLogIndex(database: database, expected: stamps)
                }
                return true
            }
            // A second change in the same tick of the clock would not show.
            usleep(FileStamps.tick)
        }
        return false
    }

    static func isInUse(by file: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        indexes.withLock { $0[UInt(bitPattern: file)] != nil }
    }

    /// The part of an index of this number; nil if it is not there and not to be made, or there is no memory.
    static func region(
        _ number: Int, size: Int, isExtended: Bool, of file: UnsafeMutablePointer<sqlite3_file>
    ) -> UnsafeMutableRawPointer? {
        let address = indexes.withLock { indexes -> UInt? in
            guard var index = indexes[UInt(bitPattern: file)] else { return nil }
            while isExtended, index.regions.count <= number {
                guard let made = unsafe calloc(1, size) else { return nil }
                index.regions.append(UInt(bitPattern: made))
            }
            indexes[UInt(bitPattern: file)] = index
            return number < index.regions.count ? index.regions[number] : nil
        }
        guard let address else { return nil }
        return unsafe UnsafeMutableRawPointer(bitPattern: address)
    }

    /// Frees the index of a file that has one.
    static func end(for file: UnsafeMutablePointer<sqlite3_file>) {
        let index = indexes.withLock { $0.removeValue(forKey: UInt(bitPattern: file)) }
        for region in index?.regions ?? [] { unsafe free(UnsafeMutableRawPointer(bitPattern: region)) }
    }

    /// Looks after the reads of a log that was opened.
    static func didOpenLog(
        _ log: UnsafeMutablePointer<sqlite3_file>, of database: UnsafeMutablePointer<sqlite3_file>,
        _ standard: UnsafePointer<sqlite3_io_methods>
    ) {
        let entry = Log(database: UInt(bitPattern: database), standard: UInt(bitPattern: standard))
        logs.withLock { $0[UInt(bitPattern: log)] = entry }
        unsafe log.pointee.pMethods = GuardedCalls.copy(of: standard, .logOfPrivateIndex)
    }

    /// The system's calls on a file that has calls of this one.
    fileprivate static func standard(
        of file: UnsafeMutablePointer<sqlite3_file>
    ) -> UnsafePointer<sqlite3_io_methods>? {
        if let log = logs.withLock({ $0[UInt(bitPattern: file)] }) {
            return unsafe UnsafePointer(bitPattern: log.standard)
        }
        return unsafe GuardedCalls.standard(of: file)
    }

    static func willCloseLog(_ log: UnsafeMutablePointer<sqlite3_file>) {
        _ = logs.withLock { $0.removeValue(forKey: UInt(bitPattern: log)) }
    }

    // MARK: - Changes

    /// Whether a file, or the log of one, is as it was when the index was made; true for files without one.
    static func isUnchanged(_ file: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        let address = UInt(bitPattern: file)
        let database = logs.withLock { $0[address]?.database } ?? address
        guard let index = indexes.withLock({ $0[database] }) else { return true }
        return FileStamps(index.database) == index.expected
    }
}

/// What the system says of a database file, its log and its index, which changes with each change of them.
struct FileStamps: Equatable, Sendable {
    private struct Stamp: Equatable, Sendable {
        let identity: FileIdentity
        let size: Int64
        let times: [Int]
        let seconds: Double

        init?(_ path: [CChar]) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
            size = Int64(status.st_size)
            times = [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
            seconds = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
        }
    }

    private let database: Stamp?
    private let log: Stamp?
    private let index: Stamp?

    init(_ path: [CChar]) {
        database = Stamp(path)
        log = Stamp(FileStamps.path(path, "-wal"))
        index = Stamp(FileStamps.path(path, "-shm"))
    }

    /// In microseconds: longer than the clock of any file system needs for its next time.
    static let tick: UInt32 = 20_000

    /// Whether one of the files was changed so lately that another change would have the same time.
    var areRecent: Bool {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let seconds = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
        return [database, log].contains { stamp in
            stamp.map { abs(seconds - $0.seconds) < Double(FileStamps.tick) / 1e6 } ?? false
        }
    }

    static func exists(_ database: [CChar], _ suffix: String) -> Bool {
        var status = stat()
        return unsafe lstat(path(database, suffix), &status) == 0
    }

    private static func path(_ database: [CChar], _ suffix: String) -> [CChar] {
        Array(database.dropLast()) + suffix.utf8CString
    }
}

// MARK: - The calls of the engine

/// The calls on a file whose log has a private index, in place of those that use the file of an index.
enum PrivateIndexCalls {
    static func install(in calls: UnsafeMutablePointer<sqlite3_io_methods>) {
        unsafe calls.pointee.xRead = readTrampoline
        unsafe calls.pointee.xFetch = fetchTrampoline
        unsafe calls.pointee.xShmLock = lockTrampoline
        unsafe calls.pointee.xShmBarrier = { _ in }
        unsafe calls.pointee.xShmUnmap = unmapTrampoline
    }

    static func installForLog(in calls: UnsafeMutablePointer<sqlite3_io_methods>) {
        unsafe calls.pointee.xRead = readTrampoline
        unsafe calls.pointee.xClose = closeLogTrampoline
    }
}

private func readTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ target: UnsafeMutableRawPointer?, _ count: CInt,
    _ offset: sqlite3_int64
) -> CInt {
    guard let file = unsafe file, let standard = unsafe PrivateLogIndex.standard(of: file),
        let read = unsafe standard.pointee.xRead
    else { return SQLITE_IOERR }
    let code = unsafe read(file, target, count, offset)
    return unsafe PrivateLogIndex.isUnchanged(file) ? code : EngineCode.changedElsewhere
}

/// Maps no memory: nothing could look at the file after a read.
private func fetchTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: sqlite3_int64, _ count: CInt,
    _ target: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> CInt {
    unsafe target?.pointee = nil
    return SQLITE_OK
}

/// Grants every lock on the index, which no other connection has; a reader begins with one.
private func lockTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: CInt, _ count: CInt, _ flags: CInt
) -> CInt {
    guard let file = unsafe file, flags & SQLITE_SHM_LOCK != 0 else { return SQLITE_OK }
    return unsafe PrivateLogIndex.isUnchanged(file) ? SQLITE_OK : EngineCode.changedElsewhere
}

private func unmapTrampoline(_ file: UnsafeMutablePointer<sqlite3_file>?, _ deletes: CInt) -> CInt {
    if let file = unsafe file { unsafe PrivateLogIndex.end(for: file) }
    return SQLITE_OK
}

private func closeLogTrampoline(_ file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
    guard let file = unsafe file, let standard = unsafe PrivateLogIndex.standard(of: file),
        let close = unsafe standard.pointee.xClose
    else { return SQLITE_IOERR }
    unsafe PrivateLogIndex.willCloseLog(file)
    return unsafe close(file)
}
