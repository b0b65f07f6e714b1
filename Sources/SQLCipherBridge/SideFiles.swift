internal import CSQLCipher
internal import Glibc
internal import Synchronization
package import SystemCalls

/// A file next to a database file, whose content SQLite may use instead of the database's own pages.
package enum SideFile: Sendable {
    /// A rollback journal that SQLite is about to roll back.
    case journal
    /// A WAL file.
    case log
}

/// A function that returns true if SQLite may use a side file, or false to reject it. It examines the bytes
/// that SQLite itself has opened, which SQLite will use even if the path changes. It is called in the middle
/// of a call to SQLite, on the thread that uses the connection, and must not use the connection.
package typealias SideFileJudge =
    @Sendable (_ kind: SideFile, _ side: any StoredBytes, _ database: any StoredBytes) -> Bool

/// A function that is called with the path of a side file that was rejected because it belongs to another
/// user, who could change it at any time.
package typealias ForeignOwnerReport = @Sendable (_ path: String) -> Void

/// The file systems of all connections. They add checks to the standard file systems when SQLite opens a side
/// file of a database.
///
/// SQLite opens a rollback journal without permission to create it only if it considers the journal hot: it
/// exists, no connection has reserved the file, and the file is not empty. SQLite opens a WAL file whenever
/// there is one. All other calls go directly to the standard file systems, except for the calls in
/// ``GuardedCalls``, and in ``LogCalls``.
package enum SideFiles {
    /// Messages for errors that SQLite does not describe.
    static let refusal =
        "A rollback journal or write-ahead log next to the database file belongs to another file or another "
        + "owner, and was not used. Open the file again to find out which"

    static let change =
        "Another process has opened or changed the database, whose folder this process cannot write to. "
        + "Close the connection, and open it again"

    static let lackOfFolder =
        "The folder of the database is not writable, and SQLite needs to create a log or a journal in it. "
        + "Open the database read-only, copy it to another folder, or give this user write permission "
        + "for the folder"

    private static let watches = Mutex(SideFileWatches())

    static func watch(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ connection: ConnectionHandle, owner: AnyObject,
        _ judge: @escaping SideFileJudge,
        _ report: @escaping ForeignOwnerReport
    ) {
        let watch = SideFileWatch(
            judge: judge, owner: ObjectIdentifier(owner), isReadOnly: connection.isReadOnly(schema: "main"),
            database: connection.fileIdentity(schema: "main"), report: report)
        watches.withLock { $0.insert(watch, UInt(bitPattern: file)) }
    }

    /// Removes a watch. Returns a function that restores it, for a connection that could not be closed.
    static func unwatch(_ file: UnsafeMutablePointer<sqlite3_file>) -> () -> Void {
        let key = UInt(bitPattern: file)
        let watch = watches.withLock { $0.remove(key) }
        return { if let watch { watches.withLock { $0.insert(watch, key) } } }
    }

    /// Forgets the WAL file of a database that leaves the WAL mode: once the file is closed and removed, the
    /// system may give its identity to the WAL file of another database.
    static func willCloseLog(of database: UnsafeMutablePointer<sqlite3_file>) {
        watches.withLock { $0.setLog(nil, of: UInt(bitPattern: database)) }
    }

    /// Returns true if the path of an open WAL file no longer leads to it.
    ///
    /// - Parameters:
    ///   - database: the open database file of the connection.
    ///   - journal: its open WAL file or journal.
    ///   - path: the path of the WAL file, as a C string.
    static func hasLogMoved(
        _ database: UnsafeMutablePointer<sqlite3_file>, _ journal: UnsafeMutablePointer<sqlite3_file>,
        _ path: UnsafePointer<CChar>
    ) -> Bool {
        let (key, address) = (UInt(bitPattern: database), UInt(bitPattern: journal))
        guard let log = watches.withLock({ $0[key]?.log }), log.address == address else { return false }
        return unsafe FileIdentity(named: path) != log.file
    }

    /// Returns true if the path of an open database file leads to another file.
    fileprivate static func hasMoved(_ database: UnsafeMutablePointer<sqlite3_file>?) -> Bool {
        guard let database = unsafe database, let methods = unsafe database.pointee.pMethods else {
            return false
        }
        var answer: CInt = 0
        let code = unsafe methods.pointee.xFileControl(database, SQLITE_FCNTL_HAS_MOVED, &answer)
        return code == SQLITE_OK && answer != 0
    }

    // MARK: - Owners

    /// The requirements for the side files of a database.
    private struct Place {
        /// The trusted owners; nil if no other user can create files.
        let owners: SideFileOwners?
        /// The path of SQLite's WAL index, as a C string: file names are bytes, and need not be valid UTF-8.
        let indexPath: [CChar]
        /// The reason why the database must not have a WAL file: see ``OtherName``. Nil if it may have one.
        let otherName: OtherName?
        let path: [CChar]
        /// True if the database file is open for reading only.
        let isReadOnly: Bool
    }

    /// The places of all open database files, including attached ones and those without a key, with the same
    /// keys as ``watches``.
    private static let places = Mutex<[UInt: Place]>([:])

    /// - Parameter isReadOnly: true if the file was opened for reading only.
    /// - Returns: true if the database may have a WAL file.
    fileprivate static func didOpen(
        _ database: UnsafeMutablePointer<sqlite3_file>, _ path: UnsafePointer<CChar>, isReadOnly: Bool
    ) -> Bool {
        let name = unsafe Array(UnsafeBufferPointer(start: path, count: strlen(path)))
        let otherName = unsafe isReadOnly ? nil : OtherName.find(path)
        let place = unsafe Place(
            owners: SideFileOwners(ofDatabase: path), indexPath: name + "-shm".utf8CString,
            otherName: otherName, path: name + [0], isReadOnly: isReadOnly)
        places.withLock { $0[UInt(bitPattern: database)] = place }
        return otherName == nil
    }

    static func otherName(of database: UnsafeMutablePointer<sqlite3_file>) -> OtherName? {
        places.withLock { $0[UInt(bitPattern: database)]?.otherName }
    }

    static func willClose(_ database: UnsafeMutablePointer<sqlite3_file>) {
        _ = places.withLock { $0.removeValue(forKey: UInt(bitPattern: database)) }
    }

    /// Returns true if SQLite may open a WAL file with this name. In the locking mode EXCLUSIVE, SQLite would
    /// open one even if the database file lacks the methods for it.
    fileprivate static func mayHaveLog(_ name: UnsafePointer<CChar>) -> Bool {
        let key = unsafe UInt(bitPattern: sqlite3_database_file_object(name))
        return places.withLock { $0[key]?.otherName } == nil
    }

    /// Returns true if the kind and the owner of a side file allow SQLite to open it.
    fileprivate static func mayOpen(_ name: UnsafePointer<CChar>, creates: Bool) -> Bool {
        let key = unsafe UInt(bitPattern: sqlite3_database_file_object(name))
        let isAllowed =
            if let owners = places.withLock({ $0[key]?.owners }) {
                unsafe creates ? owners.reserve(name) : owners.mayUse(name)
            } else {
                // Opening a named pipe for reading waits for its other end. SQLite opens a file for reading
                // if it cannot write to it.
                unsafe SideFileOwners.isFileOrNothing(name)
            }
        if !isAllowed { unsafe watches.withLock { $0[key]?.report }?(String(cString: name)) }
        return isAllowed
    }

    /// Returns true if a side file that was just opened still has a trusted owner: its path may have been
    /// given to another file in between.
    fileprivate static func mayKeepOpen(_ name: UnsafePointer<CChar>) -> Bool {
        let key = unsafe UInt(bitPattern: sqlite3_database_file_object(name))
        guard let owners = places.withLock({ $0[key]?.owners }), unsafe !owners.mayUse(name) else {
            return true
        }
        unsafe watches.withLock { $0[key]?.report }?(String(cString: name))
        return false
    }

    static func mayMapIndex(of database: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        let key = UInt(bitPattern: database)
        guard let place = places.withLock({ $0[key] }) else { return true }
        // Opening a named pipe for reading would wait for its other end here, too.
        if unsafe place.owners?.reserve(place.indexPath) ?? SideFileOwners.isFileOrNothing(place.indexPath) {
            return true
        }
        watches.withLock { $0[key]?.report }?(
            String(decoding: place.indexPath.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        return false
    }

    // MARK: - Directories without write permission

    /// The replacement for a WAL file or a WAL index that SQLite could not open.
    enum Substitute {
        /// No replacement. SQLite's result code remains.
        case none
        /// No file can be created in the directory, and the connection is not read-only.
        case refusal
        /// An empty WAL file, or an index in memory.
        case made
    }

    static func substitute(
        for suffix: String, of database: UnsafeMutablePointer<sqlite3_file>
    ) -> Substitute {
        guard let place = places.withLock({ $0[UInt(bitPattern: database)] }),
            !FileStamps.exists(place.path, suffix), PrivateLogIndex.isNeeded(for: place.path)
        else { return .none }
        return place.isReadOnly ? .made : .refusal
    }

    /// Replaces an index file that cannot be created with an index in memory.
    static func beginPrivateIndex(of database: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        guard let path = places.withLock({ $0[UInt(bitPattern: database)]?.path }) else { return false }
        return unsafe PrivateLogIndex.begin(for: database, path)
    }

    /// Returns true if a database may get an index in memory, so that reads of its WAL file are checked.
    fileprivate static func watchesLog(of database: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        guard let place = places.withLock({ $0[UInt(bitPattern: database)] }), place.isReadOnly else {
            return false
        }
        return PrivateLogIndex.isNeeded(for: place.path)
    }

    /// The address of the path of an empty WAL file. SQLite keeps the path while the file is open.
    fileprivate static let emptyLog = unsafe UInt(bitPattern: strdup("/dev/null"))

    /// Returns true if there is a nonempty journal or WAL file where SQLite looks for it: next to the file
    /// itself, after all symbolic links.
    package static func lie(beside path: String) -> Bool {
        let resolved = unsafe realpath(path, nil)
        defer { unsafe free(resolved) }
        // Use bytes, because the target of a link need not be valid UTF-8.
        let file =
            unsafe resolved.map { unsafe Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
            ?? Array(path.utf8CString.dropLast())
        return ["-journal", "-wal"].contains { suffix in
            let status = unsafe try? FileStatus(named: file + suffix.utf8CString, followsLinks: true)
            return (status?.size ?? 0) > 0
        }
    }

    /// Returns true if SQLite finds a super-journal at a path: any file except an empty regular one.
    package static func isThere(_ path: [UInt8]) -> Bool {
        let name = path.map { CChar(bitPattern: $0) } + [0]
        guard let status = unsafe try? FileStatus(named: name, followsLinks: true) else { return false }
        return !status.isRegular || status.size > 0
    }

    fileprivate static func mayUse(
        _ kind: SideFile, named name: UnsafePointer<CChar>, _ file: UnsafeMutablePointer<sqlite3_file>,
        isOpenForWriting: Bool
    ) -> Bool {
        guard let database = unsafe sqlite3_database_file_object(name) else { return true }
        let key = UInt(bitPattern: database)
        guard let watch = watches.withLock({ $0[key] }) else { return true }
        switch kind {
        case .journal:
            // SQLite first reads the journal, and then opens it again to roll it back if it can write.
            guard isOpenForWriting || watch.isReadOnly else { return true }
            return unsafe watch.judge(.journal, EngineFile(file), EngineFile(database))
        case .log:
            let log = unsafe FileIdentity(named: name)
            let (isKnown, isOfFormerFile) = watches.withLock { watches in
                let others = log.map { watches.users(ofLog: $0) } ?? []
                let ofThisFile = others.filter { $0.database == watch.database }
                return (ofThisFile.contains { $0.owner == watch.owner }, ofThisFile.count < others.count)
            }
            // A connection of this process still uses the file that had this name before. The WAL file
            // belongs to that file, not to this one.
            if isOfFormerFile { return false }
            guard unsafe isKnown || watch.judge(.log, EngineFile(file), EngineFile(database)) else {
                return false
            }
            let address = UInt(bitPattern: file)
            watches.withLock { $0.setLog(log.map { ($0, address) }, of: key) }
            return true
        }
    }

    /// The names of the file systems, one for each kind of file locking. They are registered once, for the
    /// rest of the process. File systems that could not be registered are missing.
    static let systems: [FileLocking: String] = {
        var systems: [FileLocking: String] = [:]
        for (locking, name) in [(FileLocking.shared, "coffer-files"), (.thisProcessOnly, "coffer-own-files")]
        {
            // The path may lead to a pipe after the check, so the `open` call itself must not wait for one.
            guard let standard = unsafe locking.system, unsafe coffer_wait_for_no_pipe(standard) == SQLITE_OK
            else { continue }
            let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
            unsafe system.initialize(to: standard.pointee)
            unsafe system.pointee.pNext = nil
            unsafe system.pointee.zName = UnsafePointer(strdup(name))
            unsafe system.pointee.szOsFile += LogCalls.memorySize
            switch locking {
            case .shared:
                unsafe system.pointee.xOpen = { _, name, file, flags, resultFlags in
                    unsafe open(name, file, flags, resultFlags, locking: .shared)
                }
            case .thisProcessOnly:
                unsafe system.pointee.xOpen = { _, name, file, flags, resultFlags in
                    unsafe open(name, file, flags, resultFlags, locking: .thisProcessOnly)
                }
            }
            unsafe LockWait.watch(system)
            if unsafe sqlite3_vfs_register(system, 0) == SQLITE_OK { systems[locking] = name }
        }
        return systems
    }()
}

extension FileIdentity {
    /// - Returns: nil if there is no file at the path.
    package init?(_ path: String) {
        unsafe self.init(named: path)
    }

    /// True if a connection of this process has the file open as a database.
    package var isOpenInThisProcess: Bool { OpenFiles.isOpen(self) }

    /// The number of connections to the file, if it is open with ``FileLocking/thisProcessOnly``; nil
    /// otherwise.
    package var connectionCountIfUnshared: Int? { OpenFiles.connectionCountIfUnshared(self) }

    /// - Parameter name: a path as a C string, which need not be valid UTF-8.
    init?(named name: UnsafePointer<CChar>) {
        guard let status = unsafe try? FileStatus(named: name, followsLinks: true) else { return nil }
        self = status.identity
    }
}

private func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: CInt,
    _ resultFlags: UnsafeMutablePointer<CInt>?,
    locking: FileLocking
) -> CInt {
    if flags & SQLITE_OPEN_MAIN_DB != 0, let name = unsafe name, let file = unsafe file {
        let code = unsafe OpenFiles.open(file, name, flags, resultFlags, locking: locking)
        guard code == SQLITE_OK, let calls = unsafe file.pointee.pMethods else { return code }
        let given = unsafe resultFlags?.pointee ?? flags
        let hasLog = unsafe SideFiles.didOpen(file, name, isReadOnly: given & SQLITE_OPEN_READONLY != 0)
        unsafe file.pointee.pMethods = GuardedCalls.guarding(calls, hasLog: hasLog)
        return SQLITE_OK
    }
    guard let standard = unsafe locking.system, let open = unsafe standard.pointee.xOpen else {
        return SQLITE_CANTOPEN
    }
    if flags & SQLITE_OPEN_WAL != 0, let name = unsafe name, unsafe !SideFiles.mayHaveLog(name) {
        unsafe file?.pointee.pMethods = nil
        return SQLITE_CANTOPEN
    }
    let isSideFile = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL) != 0
    let creates = flags & SQLITE_OPEN_CREATE != 0
    if isSideFile, let name = unsafe name, unsafe !SideFiles.mayOpen(name, creates: creates) {
        unsafe file?.pointee.pMethods = nil
        return EngineCode.refusedSideFile
    }
    var code = unsafe open(standard, name, file, flags, resultFlags)
    if flags & SQLITE_OPEN_WAL != 0, let name = unsafe name, let file = unsafe file,
        let database = unsafe sqlite3_database_file_object(name)
    {
        if code != SQLITE_OK {
            switch unsafe SideFiles.substitute(for: "-wal", of: database) {
            case .none: break
            case .refusal: return EngineCode.readOnlyDirectory
            case .made:
                let reading = SQLITE_OPEN_READONLY | SQLITE_OPEN_WAL
                code = unsafe open(
                    standard, UnsafePointer(bitPattern: SideFiles.emptyLog), file, reading, resultFlags)
            }
        }
        if code == SQLITE_OK, unsafe SideFiles.watchesLog(of: database),
            let calls = unsafe file.pointee.pMethods
        {
            unsafe PrivateLogIndex.didOpenLog(file, of: database, calls)
        }
    }
    if code == SQLITE_OK, isSideFile, let name = unsafe name, unsafe !SideFiles.mayKeepOpen(name) {
        return unsafe refuse(file)
    }
    if code == SQLITE_OK, flags & SQLITE_OPEN_WAL != 0, let name = unsafe name,
        unsafe SideFiles.hasMoved(sqlite3_database_file_object(name))
    {
        // The WAL file may belong to the new file. SQLite opens one next to any file.
        _ = unsafe refuse(file)
        return EngineCode.databaseMoved
    }
    let isHotJournal = flags & SQLITE_OPEN_MAIN_JOURNAL != 0 && !creates
    let isLog = flags & SQLITE_OPEN_WAL != 0
    guard code == SQLITE_OK, isHotJournal || isLog, let name = unsafe name, let file = unsafe file else {
        return code
    }
    let isOpenForWriting = flags & SQLITE_OPEN_READWRITE != 0
    guard
        unsafe SideFiles.mayUse(
            isHotJournal ? .journal : .log, named: name, file, isOpenForWriting: isOpenForWriting)
    else { return unsafe refuse(file) }
    if isLog, let database = unsafe sqlite3_database_file_object(name) {
        unsafe LogCalls.watch(file, of: database)
    }
    return SQLITE_OK
}

/// Closes a file that was rejected.
private func refuse(_ file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
    if let calls = unsafe file?.pointee.pMethods { _ = unsafe calls.pointee.xClose(file) }
    unsafe file?.pointee.pMethods = nil
    return EngineCode.refusedSideFile
}

/// A file that SQLite has open, for the duration of one call.
@safe
private final class EngineFile: StoredBytes {
    private let file: UnsafeMutablePointer<sqlite3_file>

    init(_ file: UnsafeMutablePointer<sqlite3_file>) {
        unsafe self.file = file
    }

    var size: Int64 {
        var size: Int64 = 0
        guard let methods = unsafe file.pointee.pMethods,
            unsafe methods.pointee.xFileSize(file, &size) == SQLITE_OK
        else { return 0 }
        return size
    }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        guard let methods = unsafe file.pointee.pMethods, target.count > 0 else { return 0 }
        let code = unsafe target.withUnsafeMutableBytes {
            unsafe methods.pointee.xRead(file, $0.baseAddress, CInt($0.count), offset)
        }
        if code == SQLITE_OK { return target.count }
        // The file may end before the end of `target`, whose remainder was filled with zeros.
        guard code == SQLITE_IOERR | 2 << 8 else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return Int(max(0, min(Int64(target.count), size - offset)))
    }
}
