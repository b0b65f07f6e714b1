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
    fileprivate static let maximumSize = 1 << 20

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
        do {
            let code = copy.write(content.span, at: 0)
            guard code == 0 else { throw SystemFile.failure("pwrite", temporary, errno: code) }
            if attributes.canBeKeptByThisProcess { try copy.apply(attributes) }
            try copy.synchronize()
            try SystemFile.link(temporary, to: path)
            try SystemFile.remove(temporary)
        } catch {
            copy.removeName(path)
            copy.removeName(temporary)
            throw error
        }
        file = copy
    }

    /// Returns the SHA-256 of a keyring, in hexadecimal digits, by which the next run recognizes the copy.
    static func digest(of keyring: String) throws -> String {
        try Digest.sha256(bytes(of: keyring)).hexadecimal
    }

    fileprivate static func bytes(of path: String) throws(DatabaseFileError) -> [UInt8] {
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

    /// Removes a copy that was to be kept.
    func remove() { file?.removeName(path) }
}

/// The copy of a keyring that a killed run made, while the path of the database still leads to the old file,
/// or to that file merged with its log. Afterwards, the copy belongs to the kept file.
struct LeftKeptKeyring {
    let path: String
    let content: [UInt8]

    /// Returns nil if there is no such copy.
    ///
    /// The copy is recognized by the digest in the note. So the keyring of the database may have changed
    /// since, be damaged, or be missing.
    ///
    /// - Parameters:
    ///   - note: the note of the run.
    ///   - database: the path of the database.
    init?(_ note: ReplacementNote?, of database: String) throws(DatabaseFileError) {
        guard let note, let kept = note.keepOldPath, let old = note.original, let digest = note.keyringDigest,
            let present = try SystemFile.status(database)?.identity,
            try LeftKeptKeyring.isOld(present, kept, old, note, database),
            let content = try LeftKeptKeyring.content(of: "\(kept).keys"),
            // A run that was killed while it destroyed the copy leaves zeros.
            content.allSatisfy({ $0 == 0 }) || (try? Digest.sha256(content).hexadecimal) == digest
        else { return nil }
        path = "\(kept).keys"
        self.content = content
    }

    /// Returns the content of a file that can be a copy; nil for any other file.
    ///
    /// - Throws: an error if a file that may be the copy cannot be read. The note must stay then.
    private static func content(of path: String) throws(DatabaseFileError) -> [UInt8]? {
        guard let status = try SystemFile.status(path), status.isRegular,
            status.size <= Int64(KeptKeyring.maximumSize)
        else { return nil }
        return try KeptKeyring.bytes(of: path)
    }

    private static func isOld(
        _ present: FileIdentity, _ kept: String, _ old: FileIdentity, _ note: ReplacementNote,
        _ database: String
    ) throws(DatabaseFileError) -> Bool {
        if try SystemFile.status(kept)?.identity ?? old == present { return true }
        return try LeftOldFile(note, of: database) != nil
    }
}

/// The old file, with its log or journal, that a run had kept when it was killed or failed, after the merged
/// copy had taken its place and before the new file did. The merged copy has all its content.
struct LeftOldFile {
    /// The existing files, in the order in which they can be removed.
    let paths: [String]

    /// Returns nil if there is no such file, or if it was used or changed since.
    ///
    /// The run's new file under its temporary name shows that the run did not replace the database: it gets
    /// its place by a renaming. Until then the merged copy has its name, so its identity is not reused.
    ///
    /// - Parameters:
    ///   - note: the note of the run.
    ///   - database: the path of the database.
    init?(_ note: ReplacementNote?, of database: String) throws(DatabaseFileError) {
        guard let note, let kept = note.keepOldPath, kept.begins(withBytesOf: "/"), let merged = note.merged,
            let run = RunIdentifier(note.id), try SystemFile.status(database)?.identity == merged,
            try SystemFile.status(NewFileNames(path: database).temporary(run)) != nil
        else { return nil }
        guard let status = try SystemFile.status(kept) else {
            paths = []
            return
        }
        guard status.identity == note.original, status.modified == note.originalModified,
            status.linkCount == 1, try FileUsers.ownDescriptorCount(of: status) == 0,
            try FileUsers.others(of: status).isEmpty
        else { return nil }
        // Another database may have been copied over the merged copy.
        if let salt = try? LeftOldFile.salt(of: database),
            try FileDescriptor.openNote(kept, forWriting: false).read(at: 0, count: 16) != salt
        {
            return nil
        }
        var logs: [String] = []
        for path in ["\(kept)-wal", "\(kept)-journal"] {
            guard let log = try SystemFile.status(path) else { continue }
            // The merged copy lacks transactions that were written to the log after the merge.
            guard let limit = note.mergedModified, log.modified <= limit else { return nil }
            logs.append(path)
        }
        paths = logs + [kept]
    }

    /// Returns the salt of the merged copy, which has it in common with the old file.
    ///
    /// Uses the engine: closing a descriptor of our own would release the POSIX locks of this process's
    /// connections.
    private static func salt(of database: String) throws -> [UInt8] {
        let connection = try EngineConnection(path: database, flags: .readOnly)
        return try FileHeader(connection.handle).start
    }

    func remove() throws(DatabaseFileError) {
        for path in paths { try SystemFile.remove(path) }
    }
}
