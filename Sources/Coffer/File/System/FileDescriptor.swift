internal import SQLCipherBridge

internal import Glibc
internal import SystemCalls

/// An open file, closed at the end of its life.
struct FileDescriptor: ~Copyable {
    let path: String
    private let file: Descriptor

    /// - Parameters:
    ///   - flags: the flags of `open`. The descriptor is never inherited by other programs, and never opened
    ///     through a symbolic link.
    ///   - mode: the permissions of a new file, regardless of the umask.
    init(_ path: String, flags: Int32, mode: UInt32 = 0) throws(DatabaseFileError) {
        let file = try FileDescriptor.opened(path, flags, mode)
        if flags & O_CREAT != 0 {
            do throws(DatabaseFileError) {
                try SystemFile.call("fchmod", path) { () throws(Errno) in try file.setPermissions(mode) }
            } catch {
                // Without O_EXCL, the file may have existed before. The name may lead elsewhere by now.
                if flags & O_EXCL != 0, let created = try? file.status().identity,
                    (try? SystemFile.status(path))?.identity == created
                {
                    try? SystemFile.remove(path)
                }
                throw error
            }
        }
        self.path = path
        self.file = file
    }

    /// Opens a directory, also through a symbolic link, as in all other uses of its path.
    init(directory path: String) throws(DatabaseFileError) {
        file = try SystemFile.call("open", path) { () throws(Errno) in
            try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
        }
        self.path = path
    }

    private static func opened(_ path: String, _ flags: Int32, _ mode: UInt32) throws(DatabaseFileError)
        -> Descriptor
    {
        do throws(Errno) { return try Descriptor(opening: path, flags | O_NOFOLLOW, mode: mode) } catch {
            switch error.code {
            case EEXIST: throw DatabaseFileError(.exists, path: path)
            case ELOOP: throw DatabaseFileError(.unsafeFile(.symbolicLink), path: path)
            default: throw SystemFile.failure("open", path, errno: error.code)
            }
        }
    }

    /// Creates a new file; throws if its path is taken.
    static func create(_ path: String, mode: UInt32) throws(DatabaseFileError) -> FileDescriptor {
        try FileDescriptor(path, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
    }

    /// Creates a file without a name, which may get this path later: see ``Descriptor/unnamed(for:mode:)``.
    static func createUnnamed(_ path: String, mode: UInt32) -> FileDescriptor? {
        guard let file = Descriptor.unnamed(for: path, mode: mode) else { return nil }
        return FileDescriptor(file, path)
    }

    private init(_ file: consuming Descriptor, _ path: String) {
        self.file = file
        self.path = path
    }

    /// Gives a file without a name its path, which must be free.
    func takeName() throws(DatabaseFileError) {
        do throws(Errno) { try file.link(to: path) } catch {
            if error.code == EEXIST { throw DatabaseFileError(.exists, path: path) }
            throw SystemFile.failure("linkat", path, errno: error.code)
        }
    }

    static func open(_ path: String, forWriting: Bool = false) throws(DatabaseFileError) -> FileDescriptor {
        try FileDescriptor(path, flags: forWriting ? O_RDWR : O_RDONLY)
    }

    /// Opens a note without waiting: another user may have put a pipe in its place, and opening a pipe waits
    /// for its other end.
    ///
    /// - Throws: `busy` if the path leads to a database that this process has open, as a link by another user
    ///   can do: closing a descriptor of it would release the locks of the connections.
    static func openNote(_ path: String, forWriting: Bool) throws(DatabaseFileError) -> FileDescriptor {
        guard let status = try SystemFile.status(path) else {
            throw SystemFile.failure("open", path, errno: ENOENT)
        }
        try FileUsers.checkIsNotOpenHere(status, path)
        return try FileDescriptor(path, flags: (forWriting ? O_RDWR : O_RDONLY) | O_NONBLOCK)
    }

    func status() throws(DatabaseFileError) -> FileStatus {
        try SystemFile.call("fstat", path) { () throws(Errno) in try file.status() }
    }

    /// Throws if this is another file than the one that was examined by its name, or has other names, which
    /// would lose their content too.
    ///
    /// - Throws: `unsafeFile(.replaced)`.
    func checkIsOnly(_ examined: FileStatus) throws(DatabaseFileError) {
        let opened = try status()
        guard opened.isRegular, opened.isSameFile(as: examined), opened.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
    }

    /// Gives the file an extended attribute.
    func setAttribute(_ name: String, to value: [UInt8]) throws(DatabaseFileError) {
        try SystemFile.attributes(of: path) { () throws(ExtendedAttributes.Failure) in
            try ExtendedAttributes.set(name, to: value, descriptor: file.number)
        }
    }

    /// Removes the access control list that a new file inherits from its directory: its owner did not choose
    /// it.
    func removeAccessControlList() throws(DatabaseFileError) {
        try SystemFile.attributes(of: path) { () throws(ExtendedAttributes.Failure) in
            try ExtendedAttributes.remove("system.posix_acl_access", descriptor: file.number)
        }
    }

    /// Fills the target with bytes from an offset, and returns their number, which is smaller at the end of
    /// the file.
    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws(DatabaseFileError) -> Int {
        try SystemFile.call("pread", path) { () throws(Errno) in try file.read(at: offset, into: &target) }
    }

    /// Truncates the file, or extends it with zeros. Returns 0 or an `errno`.
    func truncate(to size: Int64) -> Int32 {
        do throws(Errno) { try systemCall("ftruncate") { ftruncate(file.number, off_t(size)) } } catch {
            return error.code
        }
        return 0
    }

    /// Makes the content permanent.
    func synchronize() throws(DatabaseFileError) {
        try SystemFile.call("fsync", path) { () throws(Errno) in try file.synchronize() }
    }

    /// Tries to take the advisory lock of the whole file, and returns false if it is taken. The lock ends
    /// with the descriptor. It is independent of SQLite's locks.
    func lock() -> Bool { (try? file.lock(LOCK_EX | LOCK_NB)) != nil }

    /// Takes the lock that SQLite's connections take to write to a database: no other connection can read or
    /// write while the descriptor is open, and closing other descriptors does not release it. The file must
    /// be open for writing.
    ///
    /// - Returns: false if another connection has a lock.
    func lockAsDatabase() -> Bool { setDatabaseLock(F_WRLCK) }

    /// Releases the lock of ``lockAsDatabase()``.
    func unlockAsDatabase() { _ = setDatabaseLock(F_UNLCK) }

    /// Returns true if no other descriptor, of any process, has the file open; false if one has, or if the
    /// system does not say: it grants a write lease only to the only descriptor.
    func isOnlyDescriptor() -> Bool {
        // F_SETSIG and F_SETLEASE, which Swift does not import. SIGURG is ignored by default.
        let (setSignal, setLease): (Int32, Int32) = (10, 1024)
        guard fcntl(file.number, setSignal, SIGURG) == 0,
            fcntl(file.number, setLease, Int32(F_WRLCK)) == 0
        else { return false }
        return fcntl(file.number, setLease, Int32(F_UNLCK)) == 0
    }

    private func setDatabaseLock(_ kind: Int32) -> Bool {
        // F_OFD_SETLK, which Swift does not import. The range has the pending byte (1), the reserved byte
        // (1), and the shared range (510).
        var lock = Glibc.flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        return unsafe fcntl(file.number, 37, &lock) == 0
    }

    /// Returns up to `count` bytes from an offset.
    func read(at offset: Int64, count: Int) throws(DatabaseFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var target = bytes.mutableSpan
        let done = try read(at: offset, into: &target)
        return done == count ? bytes : Array(bytes.prefix(done))
    }

    /// Writes the beginning of the file, and makes it permanent. Bytes after it stay.
    func writeBeginning(_ bytes: [UInt8]) throws(DatabaseFileError) {
        try writer.write(bytes, at: 0)
        try synchronize()
    }

    /// A writer for the file, which can be used from any thread as long as the descriptor lives.
    var writer: Writer { Writer(path: path, number: file.number) }

    struct Writer: Sendable {
        let path: String
        fileprivate let number: Int32

        func write(_ bytes: [UInt8], at offset: Int64) throws(DatabaseFileError) {
            let code = write(bytes.span, at: offset)
            guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
        }

        /// Returns 0 or an `errno`.
        func write(_ bytes: Span<UInt8>, at offset: Int64) -> Int32 {
            do throws(Errno) { try Descriptor.write(bytes, to: number, at: offset) } catch {
                return error.code
            }
            return 0
        }

        /// Makes the system start to write bytes to the disk, so that `synchronize()` has less to do. This is
        /// only a hint.
        func beginSynchronizing(_ count: Int, at offset: Int64) {
            FileWriteback.begin(number, at: offset, count: count)
        }
    }

    func setOwner(userID: UInt32, groupID: UInt32) throws(DatabaseFileError) {
        try SystemFile.call("fchown", path) { () throws(Errno) in
            try systemCall("fchown") { fchown(file.number, userID, groupID) }
        }
    }

    func setPermissions(_ mode: UInt32) throws(DatabaseFileError) {
        try SystemFile.call("fchmod", path) { () throws(Errno) in try file.setPermissions(mode) }
    }
}
