internal import SQLCipherBridge

/// A file that this process makes: held by one descriptor from its first byte until it has its place.
///
/// Everything is written to it, read from it and compared through this descriptor, by us and by the engine
/// (``FileView``). Its name is for the one step that puts it in its place. So another user who can rename
/// files in the directory gets nothing to see, and nothing of theirs gets published: ``checkName(_:)`` comes
/// right before that step.
final class HeldFile: WritableBytes, Sendable {
    let path: String
    private let file: FileDescriptor
    private let identity: FileIdentity
    /// What the file has as long as nothing else is applied to it.
    let ownAttributes: FileAttributes

    /// Makes the file, empty and for its owner only, whatever the directory says.
    ///
    /// - Throws: `exists` when there is something at the path.
    init(creating path: String) throws(DatabaseFileError) {
        self.path = path
        let file = try FileDescriptor.create(path, mode: 0o600)
        let status: FileStatus
        do throws(DatabaseFileError) {
            try file.removeAccessControlList()
            status = try file.status()
        } catch {
            try? SystemFile.remove(path)
            throw error
        }
        identity = status.identity
        ownAttributes = FileAttributes(
            userID: status.userID, groupID: status.groupID, permissions: status.permissions)
        self.file = file
    }

    // MARK: - Content

    /// Zero where the system does not say, which no content equals.
    var size: Int64 { (try? file.status().size) ?? 0 }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        try file.read(at: offset, into: &target)
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) -> CInt { file.writer.write(bytes, at: offset) }

    func truncate(to size: Int64) -> CInt { file.truncate(to: size) }

    /// Valid as long as this object.
    var writer: FileDescriptor.Writer { file.writer }

    // MARK: - The file as a whole

    func status() throws(DatabaseFileError) -> FileStatus { try file.status() }

    func apply(_ attributes: FileAttributes) throws(DatabaseFileError) { try attributes.apply(to: file) }

    /// Keeps others from using the file as a database, as long as this object lives.
    @discardableResult
    func lock() -> Bool { file.lockAsDatabase() }

    /// Ends what ``lock()`` has begun.
    func unlock() { file.unlockAsDatabase() }

    /// Makes a file without a name unusable: a process that has opened it and waits for the lock gets an
    /// error, and not a database that no other one finds. One that has a name stays as it is.
    func spoil() {
        guard (try? file.status())?.linkCount == 0 else { return }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<512).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try? writer.write(bytes, at: 0)
    }

    func synchronize() throws(DatabaseFileError) { try file.synchronize() }

    /// Proves that a path leads to this file, and that it is as it was made: one name, no other owner, no
    /// more permissions.
    ///
    /// - Throws: `unsafeFile(.replaced)`.
    func checkName(_ name: String, attributes: FileAttributes) throws(DatabaseFileError) {
        let own = try file.status()
        guard own.isRegular, own.linkCount == 1, own.userID == attributes.userID,
            own.groupID == attributes.groupID,
            own.permissions & ~attributes.permissions == 0, try hasName(name)
        else { throw DatabaseFileError(.unsafeFile(.replaced), path: name) }
    }

    /// Whether a path leads to this file.
    func hasName(_ name: String) throws(DatabaseFileError) -> Bool {
        try SystemFile.status(name)?.identity == identity
    }

    /// Takes a name away, if it leads to this file. What another user has put there stays.
    func removeName(_ name: String) {
        if (try? hasName(name)) == true { try? SystemFile.remove(name) }
    }
}
