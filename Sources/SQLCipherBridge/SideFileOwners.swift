internal import CSQLCipher
internal import Glibc
internal import Synchronization

/// Whose files may lie beside a database, where others than its owner can make files.
///
/// Who owns a journal, a log or the index of a log can change it after it was looked at: between two calls of
/// the engine, or while it is written. The index (`-shm`) has no codes at all, and by it the engine finds in
/// a log what it brings into the file. So those of another user are refused before the engine opens them, and
/// what is missing is made first, by a call that replaces nothing: in a sticky directory no other user can
/// take it away again.
struct SideFileOwners: Sendable {
    private let trusted: Set<uid_t>
    /// Who else may write to the database, and so to what is beside it.
    private let writers: FileWriters

    /// - Parameter path: as a string of C: of a name that is no text, a `String` would be that of another
    ///   file.
    /// - Returns: nil where no other user can make files, or everybody may write to the database itself: then
    ///   there is nothing to ask for.
    init?(ofDatabase path: UnsafePointer<CChar>) {
        var (file, folder) = (stat(), stat())
        let name = unsafe Array(UnsafeBufferPointer(start: path, count: strlen(path)))
        let slash = name.lastIndex(of: CChar(UInt8(ascii: "/")))
        let parent: [CChar] = slash.map { name[..<max($0, 1)] + [0] } ?? Array(".".utf8CString)
        guard unsafe stat(path, &file) == 0, unsafe stat(parent, &folder) == 0 else { return nil }
        trusted = [0, geteuid(), file.st_uid]
        // With an access control list, the bits of the group are those of its mask.
        let othersWrite: mode_t = 0o022
        let isShared = !trusted.contains(folder.st_uid) || folder.st_mode & othersWrite != 0
        guard isShared, file.st_mode & 0o002 == 0 else { return nil }
        writers = unsafe FileWriters(of: path, file)
    }

    /// Makes an empty file where there is none, and answers whether what is there now is a file of a trusted
    /// user.
    func reserve(_ path: UnsafePointer<CChar>) -> Bool {
        // Another connection may be removing its own at this moment.
        for _ in 0..<100 {
            // Without opening it: to close it again would drop the locks that this process may have on it by
            // then.
            if unsafe mknod(path, S_IFREG | 0o600, 0) == 0 { return true }
            guard errno == EEXIST else { return unsafe mayUse(path) }
            var status = stat()
            if unsafe lstat(path, &status) == 0 { return isTrusted(status) }
        }
        return false
    }

    /// Whether there is nothing at a path, or a file of a trusted user.
    func mayUse(_ path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) != 0 || isTrusted(status)
    }

    /// Whether there is a regular file at a path, or nothing.
    static func isFileOrNothing(_ path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    private func isTrusted(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
            && (trusted.contains(status.st_uid) || writers.contains(status.st_uid))
    }
}

/// The users that may write to a file by its group, or by its access control list.
private struct FileWriters: Sendable {
    private var users: Set<uid_t> = []
    /// Those of the list that may not: they may not as members of a group either.
    private var refusedUsers: Set<uid_t> = []
    private var groups: Set<gid_t> = []

    init(of path: UnsafePointer<CChar>, _ status: stat) {
        // With a list, these are the bits of its mask.
        guard status.st_mode & 0o020 != 0 else { return }
        guard let list = unsafe try? ExtendedAttributes.value(of: "system.posix_acl_access", named: path)
        else {
            groups = [status.st_gid]
            return
        }
        // A version, and entries of 8 bytes: kind, permissions, number. See <linux/posix_acl_xattr.h>.
        for offset in stride(from: 4, through: list.count - 8, by: 8) {
            let number = (4..<8).reduce(UInt32(0)) { $0 | UInt32(list[offset + $1]) << (8 * UInt32($1 - 4)) }
            switch (list[offset], list[offset + 2] & 2 != 0) {
            case (0x02, true): users.insert(number)
            case (0x02, false): refusedUsers.insert(number)
            case (0x04, true): groups.insert(status.st_gid)
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
        var entry = unsafe passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil,
            let name = unsafe entry.pw_name
        else { return [] }
        let ownGroup = unsafe entry.pw_gid
        var count: CInt = 64
        while true {
            var groups = [gid_t](repeating: 0, count: Int(count))
            let room = count
            if unsafe getgrouplist(name, ownGroup, &groups, &count) >= 0 {
                return Set(groups.prefix(Int(count)))
            }
            guard count > room else { return [ownGroup] }
        }
    }
}

// MARK: - The index of a log

/// The calls on open files: those of the system, but for some that pass through no other call of the engine.
enum GuardedCalls {
    /// What a copy of the system's calls is for.
    enum Use {
        /// Each database file: the calls that close it, and that open the index of its log (`-shm`).
        case database
        /// A database that may have no log. Without the calls of the second version the engine neither opens
        /// a file in WAL mode nor sets this mode.
        case databaseWithoutLog
        /// A database whose log has its index in memory, and its log.
        case privateIndex, logOfPrivateIndex
    }

    private struct Copy {
        let standard: UInt
        let use: Use
    }

    /// By the address of the copy. Copies stay for the life of the process; there is one for each use, as the
    /// system has one kind of locks.
    private static let copies = Mutex<[UInt: Copy]>([:])

    /// - Parameter hasLog: whether the engine may use a log.
    static func guarding(_ standard: UnsafePointer<sqlite3_io_methods>, hasLog: Bool) -> UnsafePointer<
        sqlite3_io_methods
    > { unsafe copy(of: standard, hasLog ? .database : .databaseWithoutLog) }

    /// The copy for a use of the system's own calls.
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
            case .database: break
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
    defer { unsafe OpenFiles.didClose(file) }
    return unsafe close(file)
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
    // The first region comes first, and opens the file.
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
