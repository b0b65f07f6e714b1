internal import Synchronization

/// The keyring of a copy. Its file is created when the copy is complete and about to get its name.
///
/// So a killed run leaves the keyring and, under its temporary name, the copy that it belongs to: the copy's
/// salt is derived from the keyring. ``LeftKeyrings`` removes both.
package final class KeyringOfCopy: FileCompanion {
    /// The key of the copy, with its salt.
    package let key: DatabaseKey
    private let keyring: UnlockedKeyring
    private let left: LeftKeyrings
    /// The path of the copy, once its keyring has been created.
    private let madeFor = Mutex<String?>(nil)

    /// Creates the keyring of a copy at a path.
    package convenience init(_ slots: [DatabaseKeyring.NewSlot], of path: String) throws {
        try self.init(slots, LeftKeyrings(ofCopyAt: path))
    }

    /// Creates the keyring of a backup with the date in its name.
    package convenience init(
        _ slots: [DatabaseKeyring.NewSlot], ofBackupOf path: String, in folder: String
    ) throws {
        try self.init(slots, LeftKeyrings(ofBackupsOf: path, in: folder))
    }

    private init(_ slots: [DatabaseKeyring.NewSlot], _ left: LeftKeyrings) throws {
        keyring = try NewKeyring.content(slots, KeyringFile(path: "\(left.place).keys"))
        key = try keyring.databaseKey(keyring.document.epochs[0])
        self.left = left
    }

    /// - Throws: `exists` if there is a keyring that may belong to a database that was moved; `busy` if
    ///   another process is making the copy.
    package func prepare() throws {
        try left.remove()
        let path = "\(left.place).keys"
        if !left.isDated, try SystemFile.status(path) != nil { throw DatabaseFileError(.exists, path: path) }
    }

    package func make(beside path: String) throws {
        let content = try KeyringText.file(of: keyring.document)
        madeFor.withLock { $0 = path }
        try KeyringFile(path: "\(path).keys").make(content, notedAs: "\(left.place).keys")
    }

    package func takeBack() {
        guard let path = madeFor.withLock({ $0 }), let content = try? KeyringText.file(of: keyring.document),
            let beside = try? KeyringPlace(path)
        else { return }
        // Another program may have created a keyring of this name.
        func remove(_ present: [UInt8]) { if present == content { beside.takeBack(keyring) } }
        if left.isDated {
            // No other run uses this name, and none would remove the note of a lock.
            (try? beside.file.bytes()).map(remove)
        } else {
            try? beside.file.changing(waiting: 0) { present, _ in remove(present) }
        }
    }
}
