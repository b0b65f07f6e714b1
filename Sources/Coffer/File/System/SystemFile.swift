internal import Foundation
internal import SQLCipherBridge

internal import Glibc

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
    var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
    var isSymbolicLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
    var permissions: UInt32 { mode & 0o7777 }
    var identity: FileIdentity { FileIdentity(device: device, inode: inode) }

    /// Whether the file belongs to the user that this process acts for.
    var isOwn: Bool { userID == geteuid() }

    /// Whether both are the same file, whatever became of it.
    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// The words of the system for an error.
func systemMessage(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

/// Calls of the system on files, through one funnel: what fails becomes a ``DatabaseFileError``.
///
/// Never open a database file here that this process has a connection to: closing any descriptor of it drops
/// the locks of the process (see "How To Corrupt An SQLite Database File", 2.2).
enum SystemFile {
    static func failure(_ call: String, _ path: String, errno code: Int32) -> DatabaseFileError {
        if isOutOfSpace(code) { return DatabaseFileError(.diskFull, path: path) }
        if code == ENAMETOOLONG { return DatabaseFileError(.pathTooLong, path: path) }
        return DatabaseFileError(.inputOutput(call: call, errno: code), path: path)
    }

    /// Whether an `errno` says that the disk is full, or the limit of a user or a process is reached.
    static func isOutOfSpace(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

    /// Makes a call of the system, again as long as a signal interrupts it, and throws what else it fails
    /// with.
    ///
    /// - Returns: what it returned, which is not negative.
    @discardableResult
    static func call<Number: SignedInteger>(_ name: String, _ path: String, _ body: () -> Number)
        throws(DatabaseFileError) -> Number
    {
        let result = retryingInterrupted(body)
        guard result >= 0 else { throw failure(name, path, errno: errno) }
        return result
    }

    /// Makes a call of the system, again as long as a signal interrupts it.
    static func retryingInterrupted<Number: SignedInteger>(_ body: () -> Number) -> Number {
        while true {
            let result = body()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    /// The status of a path, or nil when there is nothing.
    static func status(_ path: String, followsLinks: Bool = false) throws(DatabaseFileError) -> FileStatus? {
        var status = stat()
        let result = retryingInterrupted { unsafe followsLinks ? stat(path, &status) : lstat(path, &status) }
        guard result == 0 else {
            if errno == ENOENT { return nil }
            throw failure("stat", path, errno: errno)
        }
        return FileStatus(status)
    }

    /// The status of a file that can be a database.
    ///
    /// - Parameter followsLinks: whether a symbolic link stands for the file that it leads to; it is refused
    ///   otherwise.
    static func regularFile(_ path: String, followsLinks: Bool = false) throws(DatabaseFileError)
        -> FileStatus
    {
        guard !path.utf8.contains(0), !path.isEmpty, let status = try status(path, followsLinks: followsLinks)
        else {
            throw DatabaseFileError(.missing, path: path)
        }
        guard !status.isSymbolicLink else { throw DatabaseFileError(.unsafeFile(.symbolicLink), path: path) }
        guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path) }
        return status
    }

    /// The status of the directory of a file, which has to exist.
    static func statusOfDirectory(of path: String) throws(DatabaseFileError) -> FileStatus {
        let directory = directory(of: path)
        guard let status = try status(directory, followsLinks: true) else {
            throw DatabaseFileError(.missing, path: directory)
        }
        return status
    }

    /// - Throws: `unsafeFile(.directory)` where no file can be made beside a path.
    static func checkIsWritable(directoryOf path: String) throws(DatabaseFileError) {
        guard unsafe access(directory(of: path), W_OK | X_OK) == 0 else {
            throw DatabaseFileError(.unsafeFile(.directory(errno: errno)), path: path)
        }
    }

    /// The path without symbolic links, for a file that exists.
    static func resolved(_ path: String) throws(DatabaseFileError) -> String {
        guard let resolved = unsafe realpath(path, nil) else {
            if errno == ENOENT { throw DatabaseFileError(.missing, path: path) }
            throw failure("realpath", path, errno: errno)
        }
        defer { unsafe free(resolved) }
        guard let text = unsafe String(validatingCString: resolved) else {
            throw DatabaseFileError(
                .unsupported("The name of the file, or of its directory, is no text."), path: path)
        }
        return text
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Where a file of this path is, or would be, whatever the current directory of a process is: the
    /// directory without symbolic links, and the name.
    static func absolute(_ path: String) throws(DatabaseFileError) -> String {
        let directory = try resolved(directory(of: path))
        return directory == "/" ? "/\(name(of: path))" : "\(directory)/\(name(of: path))"
    }

    /// The names in a directory.
    static func names(in directory: String) throws(DatabaseFileError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw failure("opendir", directory, errno: errno)
        }
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

    /// How many bytes this user may still write to the file system of a directory.
    static func availableSpace(_ directory: String) throws(DatabaseFileError) -> Int64 {
        var status = statvfs()
        try call("statvfs", directory) { unsafe statvfs(directory, &status) }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    static func remove(_ path: String) throws(DatabaseFileError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path, errno: errno) }
    }

    static func rename(_ path: String, to newPath: String) throws(DatabaseFileError) {
        do throws(DatabaseFileError) {
            try call("rename", newPath) { unsafe Glibc.rename(path, newPath) }
        } catch {
            guard error.reason == .inputOutput(call: "rename", errno: EBUSY) else { throw error }
            try checkIsNoMountPoint(newPath)
            throw error
        }
    }

    /// Fails for a file that no other one can take the place of, and that cannot be removed.
    ///
    /// - Throws: `unsafeFile(.mountPoint)`.
    static func checkIsNoMountPoint(_ path: String) throws(DatabaseFileError) {
        guard !MountPoint.isOne(path) else { throw DatabaseFileError(.unsafeFile(.mountPoint), path: path) }
    }

    /// Gives a file a second name, which must be free.
    static func link(_ path: String, to newPath: String) throws(DatabaseFileError) {
        guard unsafe Glibc.link(path, newPath) == 0 else {
            if errno == EEXIST { throw DatabaseFileError(.exists, path: newPath) }
            throw failure("link", newPath, errno: errno)
        }
    }

    /// Has extended attributes read or changed.
    static func attributes<Result>(
        of path: String, _ body: () throws(ExtendedAttributes.Failure) -> Result
    ) throws(DatabaseFileError) -> Result {
        do throws(ExtendedAttributes.Failure) {
            return try body()
        } catch {
            throw failure(error.call, path, errno: error.errno)
        }
    }

    /// Makes the names in the directory of a file permanent.
    static func synchronize(directoryOf path: String) throws(DatabaseFileError) {
        try FileDescriptor(directory(of: path), flags: O_RDONLY | O_DIRECTORY).synchronize()
    }
}

extension FileStatus {
    init(_ status: stat) {
        func nanoseconds(_ time: timespec) -> Int64 {
            Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        }
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), mode: status.st_mode,
            userID: status.st_uid,
            groupID: status.st_gid, linkCount: Int(status.st_nlink), size: Int64(status.st_size),
            modified: nanoseconds(status.st_mtim), changed: nanoseconds(status.st_ctim))
    }
}
