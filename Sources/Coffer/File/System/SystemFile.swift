internal import Foundation
internal import SQLCipherBridge

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What the system says of a file.
struct FileStatus: Equatable {
    var device: UInt64
    var inode: UInt64
    var mode: UInt32
    var userID: UInt32
    var groupID: UInt32
    var linkCount: Int
    var size: Int64
    /// In nanoseconds since 1970: of the content, and of anything.
    var modified: Int64
    var changed: Int64

    var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
    var isSymbolicLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
    var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
    var permissions: UInt32 { mode & 0o7777 }
    var identity: FileIdentity { FileIdentity(device: device, inode: inode) }

    /// Whether both are the same file, whatever became of it.
    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// Which file it is, whatever its names are. Valid as long as the file is open or has a name: then the system uses the number again.
struct FileIdentity: Codable, Equatable {
    var device: UInt64
    var inode: UInt64
}

/// The words of the system for an error.
func systemMessage(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

/// Calls of the system on files, through one funnel: what fails becomes a ``DatabaseFileError``.
///
/// Never open a database file here that this process has a connection to: closing any descriptor of it drops the locks of the process
/// (see "How To Corrupt An SQLite Database File", 2.2).
enum SystemFile {
    static func failure(_ call: String, _ path: String, errno code: Int32) -> DatabaseFileError {
        if isOutOfSpace(code) { return DatabaseFileError(.diskFull, path: path) }
        if code == ENAMETOOLONG { return DatabaseFileError(.pathTooLong, path: path) }
        return DatabaseFileError(.inputOutput(call: call, errno: code), path: path)
    }

    /// Whether an `errno` tells that the disk is full, or the limit of a user or a process is reached.
    static func isOutOfSpace(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

    /// The status of a path, or nil when there is nothing.
    static func status(_ path: String, followsLinks: Bool = false) throws(DatabaseFileError) -> FileStatus? {
        var status = stat()
        guard unsafe (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else {
            if errno == ENOENT { return nil }
            throw failure("stat", path, errno: errno)
        }
        return FileStatus(status)
    }

    /// The path without symbolic links, for a file that exists.
    static func resolved(_ path: String) throws(DatabaseFileError) -> String {
        guard let resolved = unsafe realpath(path, nil) else {
            if errno == ENOENT { throw DatabaseFileError(.missing, path: path) }
            throw failure("realpath", path, errno: errno)
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Where a file of this path is, or would be, whatever the current directory of a process is: the directory without symbolic links, and the
    /// name.
    static func absolute(_ path: String) throws(DatabaseFileError) -> String {
        let directory = try resolved(directory(of: path))
        return directory == "/" ? "/\(name(of: path))" : "\(directory)/\(name(of: path))"
    }

    /// The names in a directory.
    static func names(in directory: String) throws(DatabaseFileError) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw failure("opendir", directory, errno: errno) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    static func isWritable(directory: String) -> Int32? {
        unsafe access(directory, W_OK | X_OK) == 0 ? nil : errno
    }

    /// How many bytes this user may still write to the file system of a directory.
    static func availableSpace(_ directory: String) throws(DatabaseFileError) -> Int64 {
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else { throw failure("statvfs", directory, errno: errno) }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    static func remove(_ path: String) throws(DatabaseFileError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path, errno: errno) }
    }

    static func rename(_ path: String, to newPath: String) throws(DatabaseFileError) {
        guard unsafe Glibc.rename(path, newPath) == 0 else { throw failure("rename", newPath, errno: errno) }
    }

    /// Gives a file a second name, which must be free.
    static func link(_ path: String, to newPath: String) throws(DatabaseFileError) {
        guard unsafe Glibc.link(path, newPath) == 0 else {
            if errno == EEXIST { throw DatabaseFileError(.exists, path: newPath) }
            throw failure("link", newPath, errno: errno)
        }
    }

    /// Makes the names in a directory permanent.
    static func synchronize(directory: String) throws(DatabaseFileError) {
        let file = try Descriptor(directory, flags: O_RDONLY | O_DIRECTORY)
        try file.synchronize()
    }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), mode: status.st_mode, userID: status.st_uid,
            groupID: status.st_gid, linkCount: Int(status.st_nlink), size: Int64(status.st_size),
            modified: nanoseconds(status.st_mtim), changed: nanoseconds(status.st_ctim))
    }
}

// MARK: - Descriptors

/// An open file, closed at the end of its life.
struct Descriptor: ~Copyable {
    let path: String
    fileprivate let number: Int32

    /// - Parameters:
    ///   - flags: of `open`; the descriptor is never inherited by other programs, and never that of a symbolic link.
    ///   - mode: the permissions of a new file, whatever the umask.
    init(_ path: String, flags: Int32, mode: UInt32 = 0) throws(DatabaseFileError) {
        self.path = path
        number = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode_t(mode))
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
    static func create(_ path: String, mode: UInt32) throws(DatabaseFileError) -> Descriptor {
        try Descriptor(path, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
    }

    static func open(_ path: String, forWriting: Bool = false) throws(DatabaseFileError) -> Descriptor {
        try Descriptor(path, flags: forWriting ? O_RDWR : O_RDONLY)
    }

    /// Opens a note, or whatever another user may have put in its place: a pipe would keep us waiting for its other end.
    static func openNote(_ path: String, forWriting: Bool) throws(DatabaseFileError) -> Descriptor {
        try Descriptor(path, flags: (forWriting ? O_RDWR : O_RDONLY) | O_NONBLOCK)
    }

    func status() throws(DatabaseFileError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw SystemFile.failure("fstat", path, errno: errno) }
        return FileStatus(status)
    }

    /// Gives the file an extended attribute.
    func setAttribute(_ name: String, to value: [UInt8]) throws(DatabaseFileError) {
        do throws(ExtendedAttributes.Failure) {
            try ExtendedAttributes.set(name, to: value, descriptor: number)
        } catch {
            throw SystemFile.failure(error.call, path, errno: error.errno)
        }
    }

    /// Takes the access control list from the file that a new file gets from its directory: its owner did not give it.
    func removeAccessControlList() throws(DatabaseFileError) {
        do throws(ExtendedAttributes.Failure) {
            try ExtendedAttributes.remove("system.posix_acl_access", descriptor: number)
        } catch {
            throw SystemFile.failure(error.call, path, errno: error.errno)
        }
    }

    /// Fills the target with bytes from an offset on, and returns how many there were: fewer at the end of the file.
    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws(DatabaseFileError) -> Int {
        guard let start = target.baseAddress else { return 0 }
        var done = 0
        while done < target.count {
            let result = unsafe pread(number, start + done, target.count - done, off_t(offset) + off_t(done))
            if result < 0 && errno == EINTR { continue }
            guard result >= 0 else { throw SystemFile.failure("pread", path, errno: errno) }
            if result == 0 { break }
            done += result
        }
        return done
    }

    /// Cuts the file, or fills it up with zeros. Returns 0, or an `errno`.
    func truncate(to size: Int64) -> Int32 { ftruncate(number, off_t(size)) == 0 ? 0 : errno }

    /// Makes the content permanent.
    func synchronize() throws(DatabaseFileError) {
        guard fsync(number) == 0 else { throw SystemFile.failure("fsync", path, errno: errno) }
    }

    /// Whether the advisory lock of the whole file is taken now; it ends with the descriptor. It has nothing to do with SQLite's locks.
    func lock() -> Bool { flock(number, LOCK_EX | LOCK_NB) == 0 }

    /// Up to `count` bytes from an offset on.
    func read(at offset: Int64, count: Int) throws(DatabaseFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        do {
            done = try unsafe bytes.withUnsafeMutableBytes { unsafe try read(at: offset, into: $0) }
        } catch let error as DatabaseFileError {
            throw error
        } catch {
            throw SystemFile.failure("pread", path, errno: EIO)
        }
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
            let code = unsafe bytes.withUnsafeBytes { unsafe write($0, at: offset) }
            guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
        }

        /// Returns 0, or an `errno`.
        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
            guard let start = bytes.baseAddress else { return 0 }
            var done = 0
            while done < bytes.count {
                let result = unsafe pwrite(number, start + done, bytes.count - done, off_t(offset) + off_t(done))
                if result < 0 && errno == EINTR { continue }
                guard result > 0 else { return result == 0 ? EIO : errno }
                done += result
            }
            return 0
        }

        /// Has the system begin to bring bytes to the disk, so that less is left for `synchronize()`. It is only a hint.
        func beginSynchronizing(_ count: Int, at offset: Int64) { FileWriteback.begin(number, at: offset, count: count) }
    }

    func setOwner(userID: UInt32, groupID: UInt32) throws(DatabaseFileError) {
        guard fchown(number, userID, groupID) == 0 else { throw SystemFile.failure("fchown", path, errno: errno) }
    }

    /// Holds what has a name now, without opening it. It can only be asked for its status.
    init(holding path: String) throws(DatabaseFileError) {
        self.path = path
        guard let number = PathDescriptor.open(path) else { throw SystemFile.failure("open", path, errno: errno) }
        self.number = number
    }

    func setPermissions(_ mode: UInt32) throws(DatabaseFileError) {
        guard fchmod(number, mode_t(mode)) == 0 else { throw SystemFile.failure("fchmod", path, errno: errno) }
    }

    /// What a lease tells about who has the file open.
    enum Lease {
        /// Nobody else has it open at this moment.
        case free
        case inUse
        /// The file system, or the owner of the file, does not allow to ask.
        case unknown
    }

    /// Asks whether anybody else, also in this process, has the file open: the kernel grants a write lease to the only one who has.
    func probeLease() -> Lease {
        // F_SETLEASE, which Swift does not import.
        let setLease: Int32 = 1024
        guard fcntl(number, setLease, Int32(F_WRLCK)) == 0 else { return errno == EAGAIN ? .inUse : .unknown }
        _ = fcntl(number, setLease, Int32(F_UNLCK))
        return .free
    }
}
