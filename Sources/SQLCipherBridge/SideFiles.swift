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

/// Says whether the engine may use a side file, from the bytes that the engine itself has open: those are what it plays, whatever becomes of the
/// name. Returns false to refuse it. It is called in the middle of a call of the engine, on the thread that uses the connection, and must not use
/// the connection.
package typealias SideFileJudge = @Sendable (_ kind: SideFile, _ side: any StoredBytes, _ database: any StoredBytes) -> Bool

/// The file system of all connections: the standard one, but for the moment in which the engine opens what lies beside a database file.
///
/// The engine opens a rollback journal without the permission to create it only where it takes it for hot: there is one, nobody has reserved
/// the file, and the file is not empty. A write-ahead log it opens wherever there is one. Nothing else passes through code of ours.
package enum SideFiles {
    static let systemName = "coffer-files"

    /// What SQLite has no words for.
    static let refusal =
        "A rollback journal or write-ahead log beside the database file does not belong to it, and was not used. Open the file again to "
        + "learn which"

    private struct Watch {
        let judge: SideFileJudge
        /// The owner of the keys: what one of its connections has found good, the others need not look at.
        let owner: ObjectIdentifier
        let isReadOnly: Bool
        let database: FileIdentity?
        /// The log that was found good, as long as the connection has it open.
        var log: FileIdentity?
    }

    /// By the address of the engine's open database file, which lives as long as its connection does.
    private static let watches = Mutex<[UInt: Watch]>([:])

    static func watch(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ connection: ConnectionHandle, owner: AnyObject, _ judge: @escaping SideFileJudge
    ) {
        let watch = Watch(
            judge: judge, owner: ObjectIdentifier(owner), isReadOnly: connection.isReadOnly(schema: "main"),
            database: connection.filename(schema: "main").flatMap(FileIdentity.init))
        watches.withLock { $0[UInt(bitPattern: file)] = watch }
    }

    /// Returns what puts the watch back, for a connection that could not be closed.
    static func unwatch(_ file: UnsafeMutablePointer<sqlite3_file>) -> () -> Void {
        let key = UInt(bitPattern: file)
        let watch = watches.withLock { $0.removeValue(forKey: key) }
        return { if let watch { watches.withLock { $0[key] = watch } } }
    }

    fileprivate static func mayUse(
        _ kind: SideFile, named name: UnsafePointer<CChar>, _ file: UnsafeMutablePointer<sqlite3_file>, isOpenForWriting: Bool
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
            let log = unsafe FileIdentity(String(cString: name))
            let (isKnown, isOfFormerFile) = watches.withLock { watches in
                let others = log == nil ? [] : watches.values.filter { $0.log == log }
                let ofThisFile = others.filter { $0.database == watch.database }
                return (ofThisFile.contains { $0.owner == watch.owner }, ofThisFile.count < others.count)
            }
            // A connection of this process goes on with the file that had the name before: its log is not of this one.
            if isOfFormerFile { return false }
            guard unsafe isKnown || watch.judge(.log, EngineFile(file), EngineFile(database)) else { return false }
            watches.withLock { $0[key]?.log = log }
            return true
        }
    }

    /// Registers the file system, once; it stays for the life of the process.
    static let registration: CInt = {
        guard let standard = unsafe sqlite3_vfs_find(nil) else { return SQLITE_ERROR }
        let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe system.initialize(to: standard.pointee)
        unsafe system.pointee.pNext = nil
        unsafe system.pointee.zName = UnsafePointer(strdup(systemName))
        unsafe standardSystem = standard
        unsafe system.pointee.xOpen = openTrampoline
        return unsafe sqlite3_vfs_register(system, 0)
    }()
}

/// Which file it is, whatever its names are. Valid as long as the file is open or has a name: then the system uses the number again.
package struct FileIdentity: Codable, Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// - Returns: nil when there is no file at the path.
    package init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

// Written once, before the file system that uses it is registered.
private nonisolated(unsafe) var standardSystem: UnsafeMutablePointer<sqlite3_vfs>?

private func openTrampoline(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: CInt, _ resultFlags: UnsafeMutablePointer<CInt>?
) -> CInt {
    guard let standard = unsafe standardSystem, let open = unsafe standard.pointee.xOpen else { return SQLITE_CANTOPEN }
    let code = unsafe open(standard, name, file, flags, resultFlags)
    let isHotJournal = flags & SQLITE_OPEN_MAIN_JOURNAL != 0 && flags & SQLITE_OPEN_CREATE == 0
    guard code == SQLITE_OK, isHotJournal || flags & SQLITE_OPEN_WAL != 0, let name = unsafe name, let file = unsafe file else {
        return code
    }
    let isOpenForWriting = flags & SQLITE_OPEN_READWRITE != 0
    if unsafe SideFiles.mayUse(isHotJournal ? .journal : .log, named: name, file, isOpenForWriting: isOpenForWriting) { return SQLITE_OK }
    _ = unsafe file.pointee.pMethods?.pointee.xClose(file)
    unsafe file.pointee.pMethods = nil
    return EngineCode.refusedSideFile
}

/// A file that the engine has open, for the time of one call.
// @unchecked: only the thread that uses the connection uses it, inside of one call of the engine.
@safe
private final class EngineFile: StoredBytes, @unchecked Sendable {
    private let file: UnsafeMutablePointer<sqlite3_file>

    init(_ file: UnsafeMutablePointer<sqlite3_file>) {
        unsafe self.file = file
    }

    var size: Int64 {
        var size: Int64 = 0
        guard let methods = unsafe file.pointee.pMethods, unsafe methods.pointee.xFileSize(file, &size) == SQLITE_OK else { return 0 }
        return size
    }

    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let methods = unsafe file.pointee.pMethods, target.count > 0 else { return 0 }
        let code = unsafe methods.pointee.xRead(file, target.baseAddress, CInt(target.count), offset)
        if code == SQLITE_OK { return target.count }
        // The file may end before; what is not there was filled with zeros.
        guard code == SQLITE_IOERR | 2 << 8 else { throw EngineError(code: code, message: ConnectionHandle.describe(code)) }
        return Int(max(0, min(Int64(target.count), size - offset)))
    }
}
