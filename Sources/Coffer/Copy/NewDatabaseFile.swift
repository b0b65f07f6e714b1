internal import SQLCipherBridge

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A database file in the making: it is written under another name in the same directory, and gets its own name once it is complete.
///
/// Nobody ever finds a part of it under its name, and nothing that is there is overwritten. A crash leaves the temporary file only,
/// which holds nothing that its final form would not.
struct NewDatabaseFile {
    let path: String

    /// Where the file is until it is published. It exists, is empty, and is readable by its owner only.
    let temporaryPath: String

    private let directory: String

    /// - Throws: `SQLITE_CANTOPEN` if there is something at the path already, or if the directory cannot be written to.
    init(path: String) throws {
        guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "A copy needs the path of a file that does not exist yet.")
        }
        self.path = path
        directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        var status = stat()
        guard unsafe lstat(path, &status) != 0 else { throw NewDatabaseFile.exists(path) }
        guard errno == ENOENT else { throw NewDatabaseFile.failure(errno, path) }
        // A name of its own length: that of the file may already be as long as names can be.
        temporaryPath = "\(directory)/.coffer-\(String(UInt64.random(in: 0...(.max)), radix: 16)).tmp"
        let descriptor = unsafe open(temporaryPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw NewDatabaseFile.failure(errno, path) }
        // A umask may take rights from the owner, too.
        _ = fchmod(descriptor, 0o600)
        close(descriptor)
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// - Precondition: all connections to it are closed.
    /// - Throws: `SQLITE_CANTOPEN` if there is something at the path by now; `SQLITE_IOERR`.
    func publish() throws {
        removeCompanions()
        try synchronize(temporaryPath, flags: O_RDONLY)
        // A second name refuses to replace what is there; rename would not.
        if unsafe link(temporaryPath, path) == 0 {
            unsafe unlink(temporaryPath)
        } else {
            guard errno != EEXIST else { throw NewDatabaseFile.exists(path) }
            // Some file systems have no second names: an empty file of ours takes the name first.
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw errno == EEXIST ? NewDatabaseFile.exists(path) : NewDatabaseFile.failure(errno, path)
            }
            close(descriptor)
            guard unsafe rename(temporaryPath, path) == 0 else {
                let reason = errno
                unsafe unlink(path)
                throw NewDatabaseFile.failure(reason, path)
            }
        }
        try synchronize(directory, flags: O_RDONLY | O_DIRECTORY)
    }

    /// Removes what was written, where the file was not published.
    func discard() {
        unsafe unlink(temporaryPath)
        removeCompanions()
    }

    private func removeCompanions() {
        for suffix in ["-journal", "-wal", "-shm"] { unsafe unlink(temporaryPath + suffix) }
    }

    private func synchronize(_ path: String, flags: CInt) throws {
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw NewDatabaseFile.failure(errno, path) }
        defer { close(descriptor) }
        // Some file systems cannot synchronize a directory, and say so with EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            let reason = unsafe String(cString: strerror(errno))
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "The copy could not be brought to the disk: \(reason) - \(path)")
        }
    }

    private static func exists(_ path: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "There is something at \(path) already: a copy replaces nothing.")
    }

    private static func failure(_ code: CInt, _ path: String) -> DatabaseError {
        let reason = unsafe String(cString: strerror(code))
        let isFull = code == ENOSPC || code == EDQUOT
        return DatabaseError(resultCode: isFull ? .SQLITE_FULL : .SQLITE_CANTOPEN, message: "unable to create \(path): \(reason)")
    }
}
