internal import SQLCipherBridge
internal import SystemCalls

/// The copy of a keyring for an old file that is to be kept. It is removed at the end of this value's life,
/// unless the new file has taken the place of the old one.
///
/// It exists before the old file gets its second name, so a kept file always has its keyring. The note of the
/// run names the kept file, so the next run removes the copy of one that was interrupted.
struct KeptKeyring: ~Copyable {
    private let file: HeldFile?
    private let path: String
    private var stays = false

    /// The maximum size of a keyring that is copied, in bytes: more than any keyring has.
    private static let maximumSize = 1 << 20

    /// Creates the copy, or nothing for nil.
    ///
    /// - Parameters:
    ///   - keyring: the path of the keyring.
    ///   - keptPath: the path that the old file is about to get. The copy has it with `.keys` appended.
    ///   - temporary: the path of the copy until it is complete.
    init(copying keyring: String?, beside keptPath: String, through temporary: String) throws {
        path = "\(keptPath).keys"
        guard let keyring else {
            file = nil
            return
        }
        let content = try KeptKeyring.bytes(of: keyring)
        let attributes = try FileAttributes(of: keyring, status: SystemFile.regularFile(keyring))
        let copy = try HeldFile(creating: temporary)
        defer { copy.removeName(temporary) }
        let code = copy.write(content.span, at: 0)
        guard code == 0 else { throw SystemFile.failure("pwrite", temporary, errno: code) }
        if attributes.canBeKeptByThisProcess { try copy.apply(attributes) }
        try copy.synchronize()
        try SystemFile.link(temporary, to: path)
        file = copy
    }

    private static func bytes(of path: String) throws(DatabaseFileError) -> [UInt8] {
        let file = try FileDescriptor.openNote(path, forWriting: false)
        guard try file.status().isRegular else {
            throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path)
        }
        let content = try file.read(at: 0, count: maximumSize + 1)
        guard content.count <= maximumSize else {
            throw DatabaseFileError(.unsupported("The keyring is too large."), path: path)
        }
        return content
    }

    deinit {
        if !stays { file?.removeName(path) }
    }

    mutating func keep() { stays = true }

    /// Removes the copy that an interrupted run made before the old file got its second name.
    ///
    /// - Parameter database: the path that still leads to the old file.
    static func remove(beside keptPath: String, of database: String) throws(DatabaseFileError) {
        let copy = "\(keptPath).keys"
        guard let content = try? bytes(of: copy), (try? bytes(of: "\(database).keys")) == content else {
            return
        }
        try SystemFile.remove(copy)
    }
}
