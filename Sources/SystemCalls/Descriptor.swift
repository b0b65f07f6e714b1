internal import Glibc

/// An open file, closed at the end of its life. Programs that this process starts do not inherit it.
package struct Descriptor: ~Copyable {
    package let number: CInt

    /// Takes ownership of a descriptor.
    package init(owning number: CInt) {
        self.number = number
    }

    /// - Parameters:
    ///   - flags: the flags of `open`.
    ///   - mode: the permissions of a new file, without those in the umask.
    package init(opening path: String, _ flags: CInt, mode: UInt32 = 0) throws(Errno) {
        number = try systemCall("open") { unsafe open(path, flags | O_CLOEXEC | O_NOCTTY, mode) }
    }

    /// Refers to the same open file as another descriptor, by a number above those of the standard
    /// descriptors.
    package init(duplicating other: CInt) throws(Errno) {
        number = try systemCall("fcntl") { fcntl(other, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
    }

    deinit { close(number) }

    // MARK: - Files without names

    /// Creates a file without a name in the folder of a path. It exists as long as its descriptor, unless it
    /// gets that path by ``link(to:)``.
    ///
    /// - Parameters:
    ///   - path: a free path. An empty file has it for a moment.
    ///   - mode: the permissions, regardless of the umask.
    /// - Returns: nil if the file system does not support such files, or does not let this process name them.
    package static func unnamed(for path: String, mode: UInt32) -> Descriptor? {
        do throws(Errno) {
            // A process that may not name its file must know this before the file has content.
            try nameProbe(path)
            return try createUnnamed(for: path, mode)
        } catch {
            return nil
        }
    }

    /// Creates an empty file without a name, gives it a path, and removes it.
    private static func nameProbe(_ path: String) throws(Errno) {
        let probe = try createUnnamed(for: path, 0o600)
        try probe.link(to: path)
        guard try FileStatus(path).isSameFile(as: probe.status()) else { throw Errno(EEXIST) }
        try systemCall("unlink") { unsafe unlink(path) }
    }

    private static func createUnnamed(for path: String, _ mode: UInt32) throws(Errno) -> Descriptor {
        // O_TMPFILE, which Swift does not import.
        let file = try Descriptor(
            opening: path.folder, 0o20_000_000 | O_DIRECTORY | O_RDWR, mode: mode)
        try file.setPermissions(mode)
        return file
    }

    /// Gives a file without a name its first one, which must be free.
    package func link(to path: String) throws(Errno) {
        try systemCall("linkat") {
            unsafe linkat(AT_FDCWD, "/proc/self/fd/\(number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
        }
    }

    /// Linux's `O_PATH`, which Swift does not import: refers to a file without opening it. The system does
    /// not reuse its inode number, and closing the descriptor drops no locks. The number is the same on all
    /// processors that Swift supports.
    package static let pathOnly: CInt = 0o10_000_000

    /// The number of descriptors that the process may have open at the same time (`RLIMIT_NOFILE`).
    package static var limit: Int {
        var limit = rlimit()
        let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        // The least number that POSIX guarantees.
        return isKnown ? Int(clamping: limit.rlim_cur) : 20
    }

    // MARK: - Reading

    /// Reads the available bytes, up to the size of `target`. Returns their number, or 0 at the end.
    package static func read(from number: CInt, into target: UnsafeMutableRawBufferPointer) throws(Errno)
        -> Int
    {
        try systemCall("read") { unsafe Glibc.read(number, target.baseAddress, target.count) }
    }

    /// Reads the available bytes, up to a limit. Returns no bytes at the end.
    package static func read(from number: CInt, upTo limit: Int) throws(Errno) -> [UInt8] {
        var failure: Errno?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            do throws(Errno) {
                // The capacity may exceed the limit.
                let target = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: limit)
                count = try unsafe read(from: number, into: target)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads to the end of the file, or until there are `limit` bytes.
    package func readAll(upTo limit: Int = .max) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let part = try Descriptor.read(from: number, upTo: min(limit - bytes.count, 1 << 16))
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }

    /// Fills the target with bytes from an offset, and returns their number, which is smaller at the end of
    /// the file.
    package func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws(Errno) -> Int {
        var done = 0
        while done < target.count {
            let count = try systemCall("pread") {
                unsafe target.withUnsafeMutableBytes { bytes in
                    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
                    return unsafe pread(number, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                }
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Waits until a pipe that was opened with `O_NONBLOCK` has bytes, or its writers have closed it. After
    /// that, each read waits.
    package func waitForInput() throws(Errno) {
        try systemCall("fcntl") { fcntl(number, F_SETFL, 0) }
        var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        try systemCall("poll") { unsafe poll(&request, 1, -1) }
    }

    /// True for a pipe without a path, such as those between the programs of a shell. Only programs that
    /// inherit it can use it.
    package var isUnnamedPipe: Bool {
        let start = Array("pipe:".utf8)
        var target = [CChar](repeating: 0, count: start.count)
        let count = unsafe readlink("/proc/self/fd/\(number)", &target, target.count)
        return count == start.count && target.map(UInt8.init(bitPattern:)) == start
    }

    // MARK: - Writing

    /// Writes all bytes, with as many calls as necessary.
    package static func write(_ bytes: UnsafeRawBufferPointer, to number: CInt) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += try systemCall("write") { unsafe Glibc.write(number, rest.baseAddress, rest.count) }
        }
    }

    package static func write(_ bytes: Span<UInt8>, to number: CInt) throws(Errno) {
        try unsafe bytes.withUnsafeBytes { bytes throws(Errno) in try unsafe write(bytes, to: number) }
    }

    package static func write(_ text: String, to number: CInt) throws(Errno) {
        try write(text.utf8.span, to: number)
    }

    package func write(_ text: String) throws(Errno) { try Descriptor.write(text, to: number) }

    /// Writes all bytes at an offset.
    package static func write(_ bytes: Span<UInt8>, to number: CInt, at offset: Int64) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let count = try systemCall("pwrite") {
                unsafe bytes.extracting(done...).withUnsafeBytes { rest in
                    unsafe pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                }
            }
            guard count > 0 else { throw Errno(EIO) }
            done += count
        }
    }

    /// Makes the content permanent.
    package func synchronize() throws(Errno) { try systemCall("fsync") { fsync(number) } }

    // MARK: - The file as a whole

    package func status() throws(Errno) -> FileStatus { try FileStatus(of: number) }

    package func setPermissions(_ mode: UInt32) throws(Errno) {
        try systemCall("fchmod") { fchmod(number, mode) }
    }

    /// Takes the advisory lock of the whole file, which ends with the descriptor and is independent of
    /// SQLite's locks.
    ///
    /// - Parameter kind: `LOCK_EX` or `LOCK_SH`. With `LOCK_NB`, throws `EWOULDBLOCK` if the lock is taken.
    package func lock(_ kind: CInt) throws(Errno) { try systemCall("flock") { flock(number, kind) } }
}
