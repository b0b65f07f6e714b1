internal import CSQLCipher
internal import Glibc
internal import Synchronization

/// What lies beside a database file, and what the engine may put in the place of its pages.
package enum SideFile: Sendable {
    /// A rollback journal that the engine is about to play back.
    case journal
    /// A write-ahead log.
    case log
}

/// Says whether the engine may use a side file, from the bytes that the engine itself has open: those are
/// what it plays, whatever becomes of the name. Returns false to refuse it. It is called in the middle of a
/// call of the engine, on the thread that uses the connection, and must not use the connection.
package typealias SideFileJudge =
    @Sendable (_ kind: SideFile, _ side: any StoredBytes, _ database: any StoredBytes) -> Bool

/// Learns the path of a side file that was refused because it belongs to another user, who can change it at
/// any time.
package typealias ForeignOwnerReport = @Sendable (_ path: String) -> Void

/// The file systems of all connections: the standard ones, but for the moment in which the engine opens what
/// lies beside a database file.
///
/// The engine opens a rollback journal without the permission to create it only where it takes it for hot:
/// there is one, nobody has reserved the file, and the file is not empty. A write-ahead log it opens wherever
/// there is one. Nothing else passes through code of ours, but for logs of engines with a fault
/// (``LogCalls``).
package enum SideFiles {
    /// What SQLite has no words for.
    static let refusal =
        "A rollback journal or write-ahead log beside the database file does not belong to it, or to its "
        + "owner, and was not used. Open the file again to learn which"

    static let change =
        "Another process has opened or changed the database, which is in a folder that this one cannot "
        + "write to. Close the connection, and open it again"

    static let lackOfFolder =
        "The folder of the database cannot be written to, and SQLite needs to make a log or a journal in it. "
        + "Open the database for reading only, copy it to another folder, or give this user the right to "
        + "write to the folder"

    private struct Watch {
        let judge: SideFileJudge
        /// The owner of the keys: what one of its connections has found good, the others need not look at.
        let owner: ObjectIdentifier
        let isReadOnly: Bool
        let database: FileIdentity?
        /// The log that was found good, as long as the connection has it open.
        var log: FileIdentity?
        /// The address of the log that the engine has opened.
        var logAddress: UInt?
        let report: ForeignOwnerReport
    }

    /// By the address of the engine's open database file, which lives as long as its connection does.
    private static let watches = Mutex<[UInt: Watch]>([:])

    static func watch(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ connection: ConnectionHandle, owner: AnyObject,
        _ judge: @escaping SideFileJudge,
        _ report: @escaping ForeignOwnerReport
    ) {
        let watch = Watch(
            judge: judge, owner: ObjectIdentifier(owner), isReadOnly: connection.isReadOnly(schema: "main"),
            database: connection.fileIdentity(schema: "main"), report: report)
        watches.withLock { $0[UInt(bitPattern: file)] = watch }
    }

    /// Returns what puts the watch back, for a connection that could not be closed.
    static func unwatch(_ file: UnsafeMutablePointer<sqlite3_file>) -> () -> Void {
        let key = UInt(bitPattern: file)
        let watch = watches.withLock { $0.removeValue(forKey: key) }
        return { if let watch { watches.withLock { $0[key] = watch } } }
    }

    /// Whether the log that a connection has open has lost its name.
    ///
    /// - Parameters:
    ///   - database: the open database file of the connection.
    ///   - journal: the log or the journal that it has open.
    ///   - path: the path of the log, as a string of C.
    static func hasLogMoved(
        _ database: UnsafeMutablePointer<sqlite3_file>, _ journal: UnsafeMutablePointer<sqlite3_file>,
        _ path: UnsafePointer<CChar>
    ) -> Bool {
        let (key, address) = (UInt(bitPattern: database), UInt(bitPattern: journal))
        guard let watch = watches.withLock({ $0[key] }), watch.logAddress == address, let log = watch.log
        else {
            return false
        }
        return unsafe FileIdentity(named: path) != log
    }

    // MARK: - Owners

    /// What is asked of the files beside a database.
    private struct Place {
        /// Nil where no other user can make files.
        let owners: SideFileOwners?
        /// Where the engine has the index of the log, as a string of C: names of files are bytes, and need
        /// not be text.
        let indexPath: [CChar]
        /// Why the file has no log: see ``OtherName``. Nil for one that may have a log.
        let otherName: OtherName?
        let path: [CChar]
        /// Whether the database file is open for reading only.
        let isReadOnly: Bool
    }

    /// Like ``watches``, but for every open database file: attached ones too, and those without a key.
    private static let places = Mutex<[UInt: Place]>([:])

    /// - Parameter isReadOnly: whether the file was opened for reading only.
    /// - Returns: whether the file may have a log.
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

    /// Whether the engine may open a log of this name. With the locking mode EXCLUSIVE it would do so without
    /// the calls that a file without a log does not have.
    fileprivate static func mayHaveLog(_ name: UnsafePointer<CChar>) -> Bool {
        let key = unsafe UInt(bitPattern: sqlite3_database_file_object(name))
        return places.withLock { $0[key]?.otherName } == nil
    }

    /// Whether the engine may open a side file, as far as its kind and its owner show.
    fileprivate static func mayOpen(_ name: UnsafePointer<CChar>, creates: Bool) -> Bool {
        let key = unsafe UInt(bitPattern: sqlite3_database_file_object(name))
        let isAllowed =
            if let owners = places.withLock({ $0[key]?.owners }) {
                unsafe creates ? owners.reserve(name) : owners.mayUse(name)
            } else {
                // To open a pipe for reading is to wait for its other end, and who may not write to it opens
                // it for reading.
                unsafe SideFileOwners.isFileOrNothing(name)
            }
        if !isAllowed { unsafe watches.withLock { $0[key]?.report }?(String(cString: name)) }
        return isAllowed
    }

    /// Whether what was opened is still what its owner makes it: the name may have been given to another file
    /// in between.
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
        // To open a pipe for reading is to wait for its other end here as well.
        if unsafe place.owners?.reserve(place.indexPath) ?? SideFileOwners.isFileOrNothing(place.indexPath) {
            return true
        }
        watches.withLock { $0[key]?.report }?(
            String(decoding: place.indexPath.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        return false
    }

    // MARK: - Folders that cannot be written to

    /// What becomes of the log, or of its index, that the engine could not open.
    enum Substitute {
        /// None: the code of the engine stands.
        case none
        /// Nothing can be made in the folder, and the connection is one that writes.
        case refusal
        /// A log without content, or an index in memory.
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

    /// Puts an index in memory in the place of the file that cannot be made.
    static func beginPrivateIndex(of database: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        guard let path = places.withLock({ $0[UInt(bitPattern: database)]?.path }) else { return false }
        return unsafe PrivateLogIndex.begin(for: database, path)
    }

    /// Whether a database may come to have an index in memory, so that reads of its log are looked after.
    fileprivate static func watchesLog(of database: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        guard let place = places.withLock({ $0[UInt(bitPattern: database)] }), place.isReadOnly else {
            return false
        }
        return PrivateLogIndex.isNeeded(for: place.path)
    }

    /// The address of the path of an empty log, which the engine keeps as long as the file is open.
    fileprivate static let emptyLog = unsafe UInt(bitPattern: strdup("/dev/null"))

    /// Whether a journal or a log with some content lies where the engine looks for it: beside the file
    /// itself, wherever links lead.
    package static func lie(beside path: String) -> Bool {
        let resolved = unsafe realpath(path, nil)
        defer { unsafe free(resolved) }
        // As bytes: where links lead need not be text.
        let file =
            unsafe resolved.map { unsafe Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
            ?? Array(path.utf8CString.dropLast())
        return ["-journal", "-wal"].contains { suffix in
            var status = stat()
            return unsafe stat(file + suffix.utf8CString, &status) == 0 && status.st_size > 0
        }
    }

    /// Whether SQLite finds a journal at a path that several files have in common: any file but an empty one.
    package static func isThere(_ path: [UInt8]) -> Bool {
        var status = stat()
        let isFound = unsafe (path.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { name in
            guard let start = name.baseAddress else { return false }
            return unsafe stat(start, &status) == 0
        }
        return isFound && (status.st_mode & S_IFMT != S_IFREG || status.st_size > 0)
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
            // The engine looks at it first, and opens it again to play it back if it can write.
            guard isOpenForWriting || watch.isReadOnly else { return true }
            return unsafe watch.judge(.journal, EngineFile(file), EngineFile(database))
        case .log:
            let log = unsafe FileIdentity(named: name)
            let (isKnown, isOfFormerFile) = watches.withLock { watches in
                let others = log == nil ? [] : watches.values.filter { $0.log == log }
                let ofThisFile = others.filter { $0.database == watch.database }
                return (ofThisFile.contains { $0.owner == watch.owner }, ofThisFile.count < others.count)
            }
            // A connection of this process goes on with the file that had the name before: its log is not of
            // this one.
            if isOfFormerFile { return false }
            guard unsafe isKnown || watch.judge(.log, EngineFile(file), EngineFile(database)) else {
                return false
            }
            let address = UInt(bitPattern: file)
            watches.withLock {
                $0[key]?.log = log
                $0[key]?.logAddress = address
            }
            return true
        }
    }

    /// The names of the file systems, one for each way to lock files. They are registered once, and stay for
    /// the life of the process; one that could not be registered is missing.
    static let systems: [FileLocking: String] = {
        var systems: [FileLocking: String] = [:]
        for (locking, name) in [(FileLocking.shared, "coffer-files"), (.thisProcessOnly, "coffer-own-files")]
        {
            // What a name leads to can change between a look at it and the opening.
            guard let standard = unsafe locking.system, unsafe coffer_wait_for_no_pipe(standard) == SQLITE_OK
            else { continue }
            let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
            unsafe system.initialize(to: standard.pointee)
            unsafe system.pointee.pNext = nil
            unsafe system.pointee.zName = UnsafePointer(strdup(name))
            unsafe system.pointee.szOsFile += LogCalls.memorySize
            switch locking {
            case .shared: unsafe system.pointee.xOpen = openShared
            case .thisProcessOnly: unsafe system.pointee.xOpen = openForThisProcess
            }
            if unsafe sqlite3_vfs_register(system, 0) == SQLITE_OK { systems[locking] = name }
        }
        return systems
    }()
}

/// Which file it is, whatever its names are. Valid as long as the file is open or has a name: then the system
/// uses the number again.
package struct FileIdentity: Codable, Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// - Returns: nil when there is no file at the path.
    package init?(_ path: String) {
        unsafe self.init(named: path)
    }

    /// Whether a connection of this process has the file open as a database.
    package var isOpenInThisProcess: Bool { OpenFiles.isOpen(self) }

    /// - Parameter name: a path as a string of C, which need not be text.
    init?(named name: UnsafePointer<CChar>) {
        var status = stat()
        guard unsafe stat(name, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

private func openShared(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: CInt, _ resultFlags: UnsafeMutablePointer<CInt>?
) -> CInt { unsafe open(name, file, flags, resultFlags, locking: .shared) }

private func openForThisProcess(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: CInt, _ resultFlags: UnsafeMutablePointer<CInt>?
) -> CInt { unsafe open(name, file, flags, resultFlags, locking: .thisProcessOnly) }

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
    if isLog { unsafe LogCalls.watch(file) }
    return SQLITE_OK
}

/// Closes a file that must not be used.
private func refuse(_ file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
    if let calls = unsafe file?.pointee.pMethods { _ = unsafe calls.pointee.xClose(file) }
    unsafe file?.pointee.pMethods = nil
    return EngineCode.refusedSideFile
}

/// A file that the engine has open, for the time of one call.
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
        // The file may end before; what is not there was filled with zeros.
        guard code == SQLITE_IOERR | 2 << 8 else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return Int(max(0, min(Int64(target.count), size - offset)))
    }
}
