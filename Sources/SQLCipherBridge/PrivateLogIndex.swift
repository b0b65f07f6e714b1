internal import CSQLCipher
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// A WAL index in the memory of one read-only connection, for a database in a directory without write
/// permission: a snapshot, a read-only volume, or a directory of another user.
///
/// SQLite stores the index in a file (`-shm`). If there is none, and none can be created, it refuses to open
/// the database. Without an index, no other process has the database open in WAL mode. Therefore, the
/// connection builds the index by itself, from the WAL file, or from nothing if there is no WAL file.
///
/// Other users may be able to write to the directory, and such a connection does not participate in their
/// locks. Each read of the database or WAL file is therefore followed by a check: if another process has
/// opened or changed the files, the read fails with ``EngineCode/changedElsewhere``, so that no result mixes
/// two states. File systems that show the changes of other machines with a delay, such as NFS, can hide them.
struct PrivateLogIndex: Sendable {
    private let database: [CChar]
    private let expected: FileStamps
    /// The addresses of the regions, each with the size that SQLite requests.
    private var regions: [UInt] = []

    /// The indexes by the address of SQLite's open database file.
    private static let indexes = Mutex<[UInt: PrivateLogIndex]>([:])

    /// A WAL file whose reads are checked.
    private struct Log {
        let database: UInt
        /// The address of the system's I/O methods. The methods of the file itself may be a copy made
        /// elsewhere.
        let standard: UInt
    }

    /// The WAL files by the address of SQLite's open file.
    private static let logs = Mutex<[UInt: Log]>([:])

    // MARK: - Necessity

    /// Returns true if no file can be created next to a database, because the file system is mounted
    /// read-only, or because this user cannot write to the directory.
    static func canMakeNoFile(nextTo database: [CChar]) -> Bool {
        let end = database.lastIndex(of: CChar(UInt8(ascii: "/"))) ?? 0
        let folder = end == 0 ? Array("/".utf8CString) : Array(database[..<end]) + [0]
        guard unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 else { return false }
        return errno == EROFS || errno == EACCES
    }

    /// Returns true if a database has no WAL index, and none can be created.
    ///
    /// - Parameter database: the path, terminated by a zero byte.
    static func isNeeded(for database: [CChar]) -> Bool {
        !FileStamps.exists(database, "-shm") && canMakeNoFile(nextTo: database)
    }

    // MARK: - Lifetime

    /// Creates an index for an open database file.
    ///
    /// - Returns: false if the file is constantly changing.
    static func begin(for file: UnsafeMutablePointer<sqlite3_file>, _ database: [CChar]) -> Bool {
        for _ in 0..<20 {
            let stamps = FileStamps(database)
            guard stamps.areRecent else {
                indexes.withLock {
                    $0[UInt(bitPattern: file)] = PrivateLogIndex(database: database, expected: stamps)
                }
                return true
            }
            // A second change in the same clock tick would be invisible.
            usleep(FileStamps.tick)
        }
        return false
    }

    static func isInUse(by file: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        indexes.withLock { $0[UInt(bitPattern: file)] != nil }
    }

    /// Returns a region of an index; nil if it does not exist and must not be created, or if memory runs out.
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

    /// Frees the index of a file, if any.
    static func end(for file: UnsafeMutablePointer<sqlite3_file>) {
        let index = indexes.withLock { $0.removeValue(forKey: UInt(bitPattern: file)) }
        for region in index?.regions ?? [] { unsafe free(UnsafeMutableRawPointer(bitPattern: region)) }
    }

    /// Adds checks to the reads of an open WAL file.
    static func didOpenLog(
        _ log: UnsafeMutablePointer<sqlite3_file>, of database: UnsafeMutablePointer<sqlite3_file>,
        _ standard: UnsafePointer<sqlite3_io_methods>
    ) {
        let entry = Log(database: UInt(bitPattern: database), standard: UInt(bitPattern: standard))
        logs.withLock { $0[UInt(bitPattern: log)] = entry }
        unsafe log.pointee.pMethods = GuardedCalls.copy(of: standard, .logOfPrivateIndex)
    }

    /// Returns the system's I/O methods of a file whose methods are replaced here.
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

    /// Returns true if a database file and its WAL file are the same as when the index was created; true for
    /// files without an index.
    static func isUnchanged(_ file: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        let address = UInt(bitPattern: file)
        let database = logs.withLock { $0[address]?.database } ?? address
        guard let index = indexes.withLock({ $0[database] }) else { return true }
        return FileStamps(index.database) == index.expected
    }
}

/// The metadata of a database file, its WAL file and its index, which changes with each change of them.
struct FileStamps: Equatable, Sendable {
    private let database: FileStatus?
    private let log: FileStatus?
    private let index: FileStatus?

    init(_ path: [CChar]) {
        database = unsafe try? FileStatus(named: path, followsLinks: true)
        log = unsafe try? FileStatus(named: FileStamps.path(path, "-wal"), followsLinks: true)
        index = unsafe try? FileStatus(named: FileStamps.path(path, "-shm"), followsLinks: true)
    }

    /// The time in microseconds after which the clock of any file system has advanced.
    static let tick: UInt32 = 20_000

    /// True if one of the files was changed so recently that another change could have the same timestamp.
    var areRecent: Bool {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let seconds = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
        return [database, log].contains { stamp in
            stamp.map { abs(seconds - Double($0.modified) / 1e9) < Double(FileStamps.tick) / 1e6 } ?? false
        }
    }

    static func exists(_ database: [CChar], _ suffix: String) -> Bool {
        unsafe (try? FileStatus(named: path(database, suffix))) != nil
    }

    private static func path(_ database: [CChar], _ suffix: String) -> [CChar] {
        Array(database.dropLast()) + suffix.utf8CString
    }
}

// MARK: - I/O methods

/// The I/O methods of a file with a private WAL index. They replace those that use an index file.
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

/// Disables memory mapping, because reads of mapped memory could not be followed by a check.
private func fetchTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: sqlite3_int64, _ count: CInt,
    _ target: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> CInt {
    unsafe target?.pointee = nil
    return SQLITE_OK
}

/// Grants every lock on the index, which no other connection uses. Each read begins with a lock, so the files
/// are checked here.
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
