internal import Glibc
internal import SQLCipherBridge
internal import SystemCalls

/// A file that this process makes, held by one descriptor from its first byte until it has its place.
///
/// All content is written, read, and compared through this descriptor, both by Coffer and by the engine
/// (``FileView``). The name is used only in the step that puts the file in its place. So another user with
/// permission to rename files in the directory cannot see the content, and cannot get another file published:
/// ``takeName(attributes:)`` is called right before that step.
final class HeldFile: WritableBytes, Sendable {
    let path: String
    private let file: FileDescriptor
    private let identity: FileIdentity
    private let isUnnamed: Bool
    /// The attributes that the file has until others are applied.
    let ownAttributes: FileAttributes

    /// Creates the file, empty and for its owner only, regardless of the directory's defaults.
    ///
    /// - Parameter isPlaintext: whether its content is readable without a key. Such a file has no name before
    ///   ``takeName(attributes:)``, if the file system supports this: the system removes it if the process is
    ///   killed.
    /// - Throws: `exists` if the path is taken.
    init(creating path: String, isPlaintext: Bool = false) throws(DatabaseFileError) {
        self.path = path
        let file: FileDescriptor
        if isPlaintext, let unnamed = FileDescriptor.createUnnamed(path, mode: 0o600) {
            file = unnamed
            isUnnamed = true
        } else {
            file = try FileDescriptor.create(path, mode: 0o600)
            isUnnamed = false
        }
        let status: FileStatus
        do throws(DatabaseFileError) {
            try file.removeAccessControlList()
            status = try file.status()
        } catch {
            if !isUnnamed { try? SystemFile.remove(path) }
            throw error
        }
        identity = status.identity
        ownAttributes = FileAttributes(
            userID: status.userID, groupID: status.groupID, permissions: status.permissions)
        self.file = file
    }

    // MARK: - Content

    /// The size in bytes, or zero if the system does not report it: no copy has that size.
    var size: Int64 { (try? file.status().size) ?? 0 }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        try file.read(at: offset, into: &target)
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) -> CInt { file.writer.write(bytes, at: offset) }

    func truncate(to size: Int64) -> CInt { file.truncate(to: size) }

    /// Writes all bytes of another file into this one.
    ///
    /// - Parameter read: returns bytes of the other file from an offset.
    func fill(size: Int64, _ read: (_ offset: Int64, _ count: Int) throws -> [UInt8]) throws {
        var offset: Int64 = 0
        while offset < size {
            let part = try read(offset, Int(min(1 << 20, size - offset)))
            guard !part.isEmpty else { throw SystemFile.failure("pread", path, errno: EIO) }
            try writer.write(part, at: offset)
            offset += Int64(part.count)
        }
    }

    /// A writer that is valid as long as this object.
    var writer: FileDescriptor.Writer { file.writer }

    // MARK: - The file as a whole

    func status() throws(DatabaseFileError) -> FileStatus { try file.status() }

    func apply(_ attributes: FileAttributes) throws(DatabaseFileError) { try attributes.apply(to: file) }

    /// Keeps other connections from using the file as a database, as long as this object lives.
    @discardableResult
    func lock() -> Bool { file.lockAsDatabase() }

    /// Releases the lock of ``lock()``.
    func unlock() { file.unlockAsDatabase() }

    /// Makes a file without a name unusable: a process that has opened it and waits for the lock gets an
    /// error, instead of a database that no other process finds. A file with a name is not changed.
    func spoil() {
        guard (try? file.status())?.linkCount == 0 else { return }
        let bytes = (0..<512).map { _ in UInt8.random(in: 0...255) }
        try? writer.write(bytes, at: 0)
    }

    func synchronize() throws(DatabaseFileError) { try file.synchronize() }

    /// Gives the file its name if it has none yet. Verifies that the path leads to this file, and that the
    /// file has one name, the expected owner, and no additional permissions.
    ///
    /// - Throws: `unsafeFile(.replaced)`; `exists` if another file has got the name.
    func takeName(attributes: FileAttributes) throws(DatabaseFileError) {
        if isUnnamed {
            try file.takeName()
            // File systems may ignore a sync of a file without a name (btrfs).
            try file.synchronize()
        }
        let own = try file.status()
        guard own.isRegular, own.linkCount == 1, own.userID == attributes.userID,
            own.groupID == attributes.groupID,
            own.permissions & ~attributes.permissions == 0, try hasName(path)
        else { throw DatabaseFileError(.unsafeFile(.replaced), path: path) }
    }

    /// Returns true if a path leads to this file.
    func hasName(_ name: String) throws(DatabaseFileError) -> Bool {
        try SystemFile.status(name)?.identity == identity
    }

    /// Removes a name if it leads to this file. A file that another user has put there stays.
    func removeName(_ name: String) {
        if (try? hasName(name)) == true { try? SystemFile.remove(name) }
    }

    /// Calls `body` while a locked empty file has the name of a missing database. A process that opens it
    /// waits, and finds no database in it.
    static func whilePlaceholderHasName(_ path: String, _ body: () throws -> Void) throws {
        let placeholder = try HeldFile(creating: path)
        // Another process that was faster makes its database of the file.
        guard placeholder.lock() else { throw DatabaseFileError(.busy([]), path: path) }
        defer {
            placeholder.removeName(path)
            placeholder.spoil()
        }
        try body()
    }
}
