internal import SQLCipherBridge
internal import Glibc
internal import SystemCalls

/// System calls on files. A failure is thrown as a ``DatabaseFileError``.
///
/// Never open a database file here that this process has a connection to: closing any descriptor of it drops
/// the locks of the process (see "How To Corrupt An SQLite Database File", 2.2).
enum SystemFile {
    static func failure(_ call: String, _ path: String, errno code: Int32) -> DatabaseFileError {
        if Errno(code).isOutOfSpace { return DatabaseFileError(.diskFull, path: path) }
        if code == ENAMETOOLONG { return DatabaseFileError(.pathTooLong, path: path) }
        return DatabaseFileError(.inputOutput(call: call, errno: code), path: path)
    }

    /// Makes a system call, and throws its error as one about a path.
    @discardableResult
    static func call<Result: ~Copyable>(
        _ name: String, _ path: String, _ body: () throws(Errno) -> Result
    ) throws(DatabaseFileError) -> Result {
        do throws(Errno) { return try body() } catch { throw failure(name, path, errno: error.code) }
    }

    /// Returns the status of a path, or nil if there is no file.
    static func status(_ path: String, followsLinks: Bool = false) throws(DatabaseFileError) -> FileStatus? {
        do throws(Errno) { return try FileStatus(path, followsLinks: followsLinks) } catch {
            if error.code == ENOENT { return nil }
            throw failure("stat", path, errno: error.code)
        }
    }

    /// Returns the status of a file that can be a database.
    ///
    /// - Parameter followsLinks: whether to follow a symbolic link, which is refused otherwise.
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

    /// Returns the status of the directory of a file, which must exist.
    static func statusOfDirectory(of path: String) throws(DatabaseFileError) -> FileStatus {
        let directory = directory(of: path)
        guard let status = try status(directory, followsLinks: true) else {
            throw DatabaseFileError(.missing, path: directory)
        }
        return status
    }

    /// - Throws: `unsafeFile(.directory)` if no file can be created next to a path.
    static func checkIsWritable(directoryOf path: String) throws(DatabaseFileError) {
        guard unsafe access(directory(of: path), W_OK | X_OK) == 0 else {
            throw DatabaseFileError(.unsafeFile(.directory(errno: errno)), path: path)
        }
    }

    /// Throws for a file that this process may not write to. SQLite would open it for reading only, and its
    /// locks would fail as if others had them.
    ///
    /// - Throws: `engine(.SQLITE_READONLY)`.
    static func checkIsWritable(_ path: String) throws(DatabaseFileError) {
        guard unsafe access(path, W_OK) == 0 else {
            throw DatabaseFileError(
                .engine(.SQLITE_READONLY, "the file cannot be opened for writing: \(Errno.last.words)"),
                path: path)
        }
    }

    /// Returns the path of an existing file without symbolic links.
    ///
    /// - Throws: `unsupported` if the texts of the links lead to another file than the links, as below
    ///   `/proc/PID/root`.
    static func resolved(_ path: String) throws(DatabaseFileError) -> String {
        guard let resolved = unsafe realpath(path, nil) else {
            if errno == ENOENT { throw DatabaseFileError(.missing, path: path) }
            throw failure("realpath", path, errno: errno)
        }
        defer { unsafe free(resolved) }
        guard let text = unsafe String(validatingCString: resolved) else {
            throw DatabaseFileError(
                .unsupported("The path of the file is not valid UTF-8."), path: path)
        }
        guard try status(text, followsLinks: true)?.identity == status(path, followsLinks: true)?.identity
        else {
            throw DatabaseFileError(
                .unsupported(
                    "The path leads to another file than its text, as below /proc/PID/root. Give the path "
                        + "that the file has for this process."), path: path)
        }
        return text
    }

    static func directory(of path: String) -> String { path.folder }

    static func name(of path: String) -> String { path.lastComponent }

    /// Returns the absolute path of a file, which need not exist: its directory without symbolic links, and
    /// its name.
    static func absolute(_ path: String) throws(DatabaseFileError) -> String {
        let directory = try resolved(directory(of: path))
        return directory == "/" ? "/\(name(of: path))" : "\(directory)/\(name(of: path))"
    }

    /// Returns a path of a file that leads through no symbolic link, so that all steps of an operation lead
    /// to the same directory even if a link is changed. This is the given path if it has no links.
    static func withoutLinks(_ path: String) throws(DatabaseFileError) -> String {
        let absolute = try absolute(path)
        var directory = directory(of: path)
        while directory != "/" && directory != "." {
            if try status(directory)?.isSymbolicLink == true { return absolute }
            directory = self.directory(of: directory)
        }
        return path
    }

    /// Returns the names in a directory.
    static func names(in directory: String) throws(DatabaseFileError) -> [String] {
        let names = try call("opendir", directory) { () throws(Errno) in try Folder.names(in: directory) }
        return names.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the number of bytes that this user may still write to the file system of a directory.
    static func availableSpace(_ directory: String) throws(DatabaseFileError) -> Int64 {
        var status = statvfs()
        try call("statvfs", directory) { () throws(Errno) in
            try systemCall("statvfs") { unsafe statvfs(directory, &status) }
        }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    static func remove(_ path: String) throws(DatabaseFileError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path, errno: errno) }
    }

    static func rename(_ path: String, to newPath: String) throws(DatabaseFileError) {
        do throws(DatabaseFileError) {
            try call("rename", newPath) { () throws(Errno) in
                try systemCall("rename") { unsafe Glibc.rename(path, newPath) }
            }
        } catch {
            guard error.reason == .inputOutput(call: "rename", errno: EBUSY) else { throw error }
            try checkIsNoMountPoint(newPath)
            throw error
        }
    }

    /// Throws for a file that can be neither replaced nor removed.
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

    /// Reads or changes extended attributes in `body`, and converts its errors.
    static func attributes<Result>(
        of path: String, _ body: () throws(ExtendedAttributes.Failure) -> Result
    ) throws(DatabaseFileError) -> Result {
        do throws(ExtendedAttributes.Failure) {
            return try body()
        } catch {
            throw failure(error.call, path, errno: error.errno)
        }
    }

    /// Makes the names in the directory of a file permanent, even if this process can open no other file: a
    /// failed run must still be able to remove its files.
    static func synchronizeAtFailure(directoryOf path: String) throws(DatabaseFileError) {
        do throws(DatabaseFileError) { try synchronize(directoryOf: path) } catch {
            guard case .inputOutput(_, let code) = error.reason, [EMFILE, ENFILE].contains(code) else {
                throw error
            }
            // All file systems: this needs no descriptor.
            sync()
        }
    }

    /// Makes the names in the directory of a file permanent.
    static func synchronize(directoryOf path: String) throws(DatabaseFileError) {
        try openDirectory(of: path).synchronize()
    }

    /// Opens the directory of a file, to make its names permanent later: for an operation that cannot be
    /// undone, in which opening it afterwards could fail.
    static func openDirectory(of path: String) throws(DatabaseFileError) -> FileDescriptor {
        try FileDescriptor(directory: directory(of: path))
    }
}
