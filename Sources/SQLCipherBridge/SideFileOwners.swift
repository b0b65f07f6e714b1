internal import CSQLCipher
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The owners whose files may be used next to a database, in a directory in which users other than the
/// database's owner can create files.
///
/// The owner of a journal, a WAL file or a WAL index can change it after it was checked: between two calls of
/// SQLite, or while it is being written. The index (`-shm`) has no MACs at all, and determines the frames of
/// a WAL file that SQLite checkpoints. Therefore, side files of other users are rejected before SQLite opens
/// them, and missing ones are created first, by a call that replaces nothing: in a sticky directory, no other
/// user can remove them afterwards.
struct SideFileOwners: Sendable {
    private let trusted: Set<uid_t>
    /// Other users who may write to the database, and therefore to its side files.
    private let writers: FileWriters

    /// - Parameter path: a C string. If the path is not valid UTF-8, a `String` would name another file.
    /// - Returns: nil if no other user can create files, or if everyone may write to the database itself, so
    ///   that no check is needed.
    init?(ofDatabase path: UnsafePointer<CChar>) {
        let name = unsafe Array(UnsafeBufferPointer(start: path, count: strlen(path)))
        let slash = name.lastIndex(of: CChar(UInt8(ascii: "/")))
        let parent: [CChar] = slash.map { name[..<max($0, 1)] + [0] } ?? Array(".".utf8CString)
        guard let file = unsafe try? FileStatus(named: path, followsLinks: true),
            let folder = unsafe try? FileStatus(named: parent, followsLinks: true)
        else { return nil }
        trusted = [0, geteuid(), file.userID]
        // With an access control list, the bits of the group are the list's mask.
        let othersWrite: UInt32 = 0o022
        let isShared = !trusted.contains(folder.userID) || folder.mode & othersWrite != 0
        guard isShared, file.mode & 0o002 == 0 else { return nil }
        writers = unsafe FileWriters(of: path, file)
    }

    /// Creates an empty file unless one exists, and returns true if the file at the path belongs to a trusted
    /// user.
    func reserve(_ path: UnsafePointer<CChar>) -> Bool {
        // Another connection may be removing its own file at the same moment.
        for _ in 0..<100 {
            // Use `mknod`, which does not open the file: closing it would drop locks that this process may
            // hold on it by then.
            if unsafe mknod(path, S_IFREG | 0o600, 0) == 0 { return true }
            guard errno == EEXIST else { return unsafe mayUse(path) }
            if let status = unsafe try? FileStatus(named: path) { return isTrusted(status) }
        }
        return false
    }

    /// Returns true if the path leads to a file of a trusted user, or if it does not exist.
    func mayUse(_ path: UnsafePointer<CChar>) -> Bool {
        unsafe (try? FileStatus(named: path)).map(isTrusted) ?? true
    }

    /// Returns true if the path leads to a regular file, or if it does not exist.
    static func isFileOrNothing(_ path: UnsafePointer<CChar>) -> Bool {
        unsafe (try? FileStatus(named: path))?.isRegular ?? true
    }

    private func isTrusted(_ status: FileStatus) -> Bool {
        status.isRegular && status.linkCount == 1
            && (trusted.contains(status.userID) || writers.contains(status.userID))
    }
}

/// The users who may write to a file because of its group or its access control list.
private struct FileWriters: Sendable {
    private var users: Set<uid_t> = []
    /// Users whom the access control list denies writing. Their groups do not matter.
    private var refusedUsers: Set<uid_t> = []
    private var groups: Set<gid_t> = []

    init(of path: UnsafePointer<CChar>, _ status: FileStatus) {
        // With an access control list, these bits are its mask.
        guard status.mode & 0o020 != 0 else { return }
        guard let list = unsafe try? ExtendedAttributes.value(of: "system.posix_acl_access", named: path)
        else {
            groups = [status.groupID]
            return
        }
        // The list has a version and entries of 8 bytes: kind, permissions, ID. See
        // <linux/posix_acl_xattr.h>.
        for offset in stride(from: 4, through: list.count - 8, by: 8) {
            let number = (4..<8).reduce(UInt32(0)) { $0 | UInt32(list[offset + $1]) << (8 * UInt32($1 - 4)) }
            switch (list[offset], list[offset + 2] & 2 != 0) {
            case (0x02, true): users.insert(number)
            case (0x02, false): refusedUsers.insert(number)
            case (0x04, true): groups.insert(status.groupID)
            case (0x08, true): groups.insert(number)
            default: break
            }
        }
    }

    func contains(_ user: uid_t) -> Bool {
        if refusedUsers.contains(user) { return false }
        return users.contains(user)
            || !groups.isEmpty && !groups.isDisjoint(with: FileWriters.groups(of: user))
    }

    private static func groups(of user: uid_t) -> Set<gid_t> {
        guard let account = UserAccount(user) else { return [] }
        var count: CInt = 64
        while true {
            var groups = [gid_t](repeating: 0, count: Int(count))
            let room = count
            if unsafe getgrouplist(account.name, account.groupID, &groups, &count) >= 0 {
                return Set(groups.prefix(Int(count)))
            }
            guard count > room else { return [account.groupID] }
        }
    }
}

// MARK: - Calls on open files

/// The I/O methods of open files: the system's methods, except for those that Coffer has no other way to
/// intercept.
enum GuardedCalls {
    /// The purpose of a copy of the system's I/O methods.
    enum Use {
        /// A database file. The copy intercepts closing the file, and opening and closing its WAL index
        /// (`-shm`).
        case database
        /// A database file whose WAL index was closed since the last shared lock: see
        /// ``EngineMend/staleCache``.
        case databaseAfterLog
        /// A database that must not have a WAL file. Without the methods of version 2, SQLite neither opens a
        /// file in WAL mode nor sets WAL mode.
        case databaseWithoutLog
        /// A database whose WAL index is in memory, or its WAL file.
        case privateIndex, logOfPrivateIndex
    }

    private struct Copy {
        let standard: UInt
        let use: Use
    }

    /// The copies by their address. They are kept for the rest of the process. There is one for each use,
    /// because the system has one kind of locks.
    private static let copies = Mutex<[UInt: Copy]>([:])

    /// - Parameter hasLog: true if SQLite may use a WAL file.
    static func guarding(_ standard: UnsafePointer<sqlite3_io_methods>, hasLog: Bool) -> UnsafePointer<
        sqlite3_io_methods
    > { unsafe copy(of: standard, hasLog ? .database : .databaseWithoutLog) }

    /// Returns the copy of the system's own I/O methods for a purpose.
    static func copy(of standard: UnsafePointer<sqlite3_io_methods>, _ use: Use) -> UnsafePointer<
        sqlite3_io_methods
    > {
        let address = UInt(bitPattern: standard)
        let guarded = copies.withLock { copies -> UInt in
            if let known = copies.first(where: { $0.value.standard == address && $0.value.use == use })?.key {
                return known
            }
            let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            unsafe copy.initialize(to: standard.pointee)
            if use != .logOfPrivateIndex {
                unsafe copy.pointee.xShmMap = mapIndexTrampoline
                unsafe copy.pointee.xClose = closeTrampoline
            }
            switch use {
            case .database: if EngineMend.staleCache.isOn { unsafe StaleCacheCalls.install(in: copy) }
            case .databaseAfterLog: unsafe StaleCacheCalls.installAfterLog(in: copy)
            case .databaseWithoutLog: unsafe copy.pointee.iVersion = 1
            case .privateIndex: unsafe PrivateIndexCalls.install(in: copy)
            case .logOfPrivateIndex: unsafe PrivateIndexCalls.installForLog(in: copy)
            }
            copies[UInt(bitPattern: copy)] = Copy(standard: address, use: use)
            return UInt(bitPattern: copy)
        }
        return unsafe UnsafePointer(bitPattern: guarded) ?? standard
    }

    static func standard(of file: UnsafeMutablePointer<sqlite3_file>) -> UnsafePointer<sqlite3_io_methods>? {
        let address = unsafe UInt(bitPattern: file.pointee.pMethods)
        let standard = copies.withLock { $0[address]?.standard } ?? 0
        return unsafe UnsafePointer(bitPattern: standard)
    }
}

private func closeTrampoline(_ file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
    guard let file = unsafe file, let standard = unsafe GuardedCalls.standard(of: file),
        let close = unsafe standard.pointee.xClose
    else {
        return SQLITE_IOERR
    }
    unsafe PrivateLogIndex.end(for: file)
    unsafe SideFiles.willClose(file)
    return unsafe OpenFiles.close(file) { unsafe close(file) }
}

private func mapIndexTrampoline(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ region: CInt, _ size: CInt, _ isExtended: CInt,
    _ target: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> CInt {
    guard let file = unsafe file, let standard = unsafe GuardedCalls.standard(of: file),
        let map = unsafe standard.pointee.xShmMap
    else {
        return SQLITE_IOERR
    }
    if unsafe PrivateLogIndex.isInUse(by: file) {
        let mapped = unsafe PrivateLogIndex.region(
            Int(region), size: Int(size), isExtended: isExtended != 0, of: file)
        unsafe target?.pointee = mapped
        return unsafe mapped == nil && isExtended != 0 ? SQLITE_NOMEM : SQLITE_OK
    }
    // SQLite maps the first region first, which opens the file.
    guard unsafe region > 0 || SideFiles.mayMapIndex(of: file) else { return EngineCode.refusedSideFile }
    let code = unsafe map(file, region, size, isExtended, target)
    guard code & 0xff == SQLITE_CANTOPEN, region == 0 else { return code }
    switch unsafe SideFiles.substitute(for: "-shm", of: file) {
    case .none: return code
    case .refusal: return EngineCode.readOnlyDirectory
    case .made:
        guard unsafe SideFiles.beginPrivateIndex(of: file) else { return code }
        unsafe file.pointee.pMethods = GuardedCalls.copy(of: standard, .privateIndex)
        return unsafe mapIndexTrampoline(file, region, size, isExtended, target)
    }
}
