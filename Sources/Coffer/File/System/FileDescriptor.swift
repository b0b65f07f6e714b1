internal import SQLCipherBridge

internal import Glibc

/// An open file, closed at the end of its life.
struct FileDescriptor: ~Copyable {
    let path: String
    fileprivate let number: Int32

    /// - Parameters:
    ///   - flags: of `open`; the descriptor is never inherited by other programs, and never that of a
    ///     symbolic link.
    ///   - mode: the permissions of a new file, whatever the umask.
    init(_ path: String, flags: Int32, mode: UInt32 = 0) throws(DatabaseFileError) {
        self.path = path
        number = SystemFile.retryingInterrupted {
            unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode_t(mode))
        }
        guard number >= 0 else {
            switch errno {
            case EEXIST: throw DatabaseFileError(.exists, path: path)
            case ELOOP: throw DatabaseFileError(.unsafeFile(.symbolicLink), path: path)
            default: throw SystemFile.failure("open", path, errno: errno)
            }
        }
        if flags & O_CREAT != 0 && fchmod(number, mode_t(mode)) != 0 {
            let code = errno
            close(number)
            throw SystemFile.failure("fchmod", path, errno: code)
        }
    }

    deinit { close(number) }

    /// A new file; fails when there is something at its path.
    static func create(_ path: String, mode: UInt32) throws(DatabaseFileError) -> FileDescriptor {
        try FileDescriptor(path, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
    }

    static func open(_ path: String, forWriting: Bool = false) throws(DatabaseFileError) -> FileDescriptor {
        try FileDescriptor(path, flags: forWriting ? O_RDWR : O_RDONLY)
    }

    /// Opens a note, or whatever another user may have put in its place: a pipe would keep us waiting for its
    /// other end.
    static func openNote(_ path: String, forWriting: Bool) throws(DatabaseFileError) -> FileDescriptor {
        try FileDescriptor(path, flags: (forWriting ? O_RDWR : O_RDONLY) | O_NONBLOCK)
    }

    func status() throws(DatabaseFileError) -> FileStatus {
        var status = stat()
        try SystemFile.call("fstat", path) { unsafe fstat(number, &status) }
        return FileStatus(status)
    }

    /// Gives the file an extended attribute.
    func setAttribute(_ name: String, to value: [UInt8]) throws(DatabaseFileError) {
        try SystemFile.attributes(of: path) { () throws(ExtendedAttributes.Failure) in
            try ExtendedAttributes.set(name, to: value, descriptor: number)
        }
    }

    /// Takes the access control list from the file that a new file gets from its directory: its owner did not
    /// give it.
    func removeAccessControlList() throws(DatabaseFileError) {
        try SystemFile.attributes(of: path) { () throws(ExtendedAttributes.Failure) in
            try ExtendedAttributes.remove("system.posix_acl_access", descriptor: number)
        }
    }

    /// Fills the target with bytes from an offset on, and returns how many there were: fewer at the end of
    /// the file.
    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws(DatabaseFileError) -> Int {
        var done = 0
        while done < target.count {
            let result = try SystemFile.call("pread", path) {
                unsafe target.withUnsafeMutableBytes { bytes in
                    unsafe pread(
                        number, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
                }
            }
            if result == 0 { break }
            done += result
        }
        return done
    }

    /// Cuts the file, or fills it up with zeros. Returns 0, or an `errno`.
    func truncate(to size: Int64) -> Int32 {
        SystemFile.retryingInterrupted { ftruncate(number, off_t(size)) } == 0 ? 0 : errno
    }

    /// Makes the content permanent.
    func synchronize() throws(DatabaseFileError) {
        try SystemFile.call("fsync", path) { fsync(number) }
    }

    /// Whether the advisory lock of the whole file is taken now; it ends with the descriptor. It has nothing
    /// to do with SQLite's locks.
    func lock() -> Bool { flock(number, LOCK_EX | LOCK_NB) == 0 }

    /// Takes the lock that a process has on a database which it writes to, as SQLite sees it: no other
    /// connection can read or write as long as the descriptor is open, and closing others does not end it.
    /// The file has to be open for writing.
    ///
    /// - Returns: whether no other connection has a lock.
    func lockAsDatabase() -> Bool { setDatabaseLock(F_WRLCK) }

    /// Ends ``lockAsDatabase()``.
    func unlockAsDatabase() { _ = setDatabaseLock(F_UNLCK) }

    private func setDatabaseLock(_ kind: Int32) -> Bool {
        // F_OFD_SETLK, which Swift does not import. The bytes from the pending lock on: 1, 1 and 510.
        var lock = Glibc.flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        return unsafe fcntl(number, 37, &lock) == 0
    }

    /// Up to `count` bytes from an offset on.
    func read(at offset: Int64, count: Int) throws(DatabaseFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var target = bytes.mutableSpan
        let done = try read(at: offset, into: &target)
        return done == count ? bytes : Array(bytes.prefix(done))
    }

    /// Writes the content of a new file, and makes it permanent.
    func writeAll(_ bytes: [UInt8]) throws(DatabaseFileError) {
        try write(bytes)
        try synchronize()
    }

    /// Writes bytes over the beginning of the file, and makes them permanent. What follows them stays.
    func overwriteBeginning(with bytes: [UInt8]) throws(DatabaseFileError) {
        try write(bytes)
        try synchronize()
    }

    private func write(_ bytes: [UInt8]) throws(DatabaseFileError) { try writer.write(bytes, at: 0) }

    /// Writes to the file as long as the descriptor lives, from any thread.
    var writer: Writer { Writer(path: path, number: number) }

    struct Writer: Sendable {
        let path: String
        fileprivate let number: Int32

        func write(_ bytes: [UInt8], at offset: Int64) throws(DatabaseFileError) {
            let code = write(bytes.span, at: offset)
            guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
        }

        /// Returns 0, or an `errno`.
        func write(_ bytes: Span<UInt8>, at offset: Int64) -> Int32 {
            var done = 0
            while done < bytes.count {
                let result = SystemFile.retryingInterrupted {
                    unsafe bytes.withUnsafeBytes { bytes in
                        unsafe pwrite(
                            number, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done)
                        )
                    }
                }
                guard result > 0 else { return result == 0 ? EIO : errno }
                done += result
            }
            return 0
        }

        /// Has the system begin to bring bytes to the disk, so that less is left for `synchronize()`. It is
        /// only a hint.
        func beginSynchronizing(_ count: Int, at offset: Int64) {
            FileWriteback.begin(number, at: offset, count: count)
        }
    }

    func setOwner(userID: UInt32, groupID: UInt32) throws(DatabaseFileError) {
        try SystemFile.call("fchown", path) { fchown(number, userID, groupID) }
    }

    /// Holds what has a name now, without opening it. It can only be asked for its status.
    init(holding path: String) throws(DatabaseFileError) {
        self.path = path
        guard let number = PathDescriptor.open(path) else {
            throw SystemFile.failure("open", path, errno: errno)
        }
        self.number = number
    }

    func setPermissions(_ mode: UInt32) throws(DatabaseFileError) {
        try SystemFile.call("fchmod", path) { fchmod(number, mode_t(mode)) }
    }
}
