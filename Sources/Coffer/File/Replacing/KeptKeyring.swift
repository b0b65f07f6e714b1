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

    /// Creates the copy, or nothing for nil.
    ///
    /// - Parameters:
    ///   - keptPath: the path that the old file is about to get. The copy has it with `.keys` appended.
    ///   - temporary: the path of the copy until it is complete.
    init(copying keyring: KeyringFile?, beside keptPath: String, through temporary: String) throws {
        path = "\(keptPath).keys"
        guard let keyring else {
            file = nil
            return
        }
        let content = try keyring.bytes()
        let attributes = try FileAttributes(of: keyring.path, status: SystemFile.regularFile(keyring.path))
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

    deinit {
        if !stays { file?.removeName(path) }
    }

    mutating func keep() { stays = true }
}

/// The copy of a keyring that a killed run made, while the path of the database still leads to the old file.
/// Afterwards, the copy belongs to the kept file.
struct LeftKeptKeyring {
    let file: KeyringFile
    private let content: [UInt8]

    /// Returns nil if there is no such copy.
    ///
    /// The copy is recognized by the keyring's identifier, which stays the same when slots or the data key
    /// change. So the keyring of the database may have changed since, be damaged, or be missing.
    ///
    /// - Parameters:
    ///   - note: the note of the run.
    ///   - database: the path of the database.
    init?(_ note: ReplacementNote?, of database: String) throws(DatabaseFileError) {
        guard let note, let kept = note.keepOldPath, let old = note.original, let id = note.keyringID,
            let present = try SystemFile.status(database)?.identity,
            try SystemFile.status(kept)?.identity ?? old == present
        else { return nil }
        file = KeyringFile(path: "\(kept).keys")
        guard let content = try? file.bytes(isCut: true) else { return nil }
        // A run that was killed while it destroyed the copy leaves zeros.
        guard content.allSatisfy({ $0 == 0 }) || (try? file.id(of: content)) == id else { return nil }
        self.content = content
    }

    /// Overwrites and removes the copy.
    func destroy() throws { try file.destroy(content) }
}
