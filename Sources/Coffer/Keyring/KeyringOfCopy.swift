internal import SQLCipherBridge
internal import Synchronization

/// The keyring of a copy. Its file is made when the copy is complete and about to get its name.
///
/// So a run that is killed in between leaves the keyring and, under its temporary name, the copy that it
/// belongs to: the salt of the copy follows from the keyring. ``LeftKeyrings`` removes both.
package final class KeyringOfCopy: FileCompanion {
    /// The key of the copy, with its salt.
    package let key: DatabaseKey
    private let keyring: UnlockedKeyring
    private let left: LeftKeyrings
    /// The path of the copy, once a keyring was made beside it.
    private let madeFor = Mutex<String?>(nil)

    /// The keyring of a copy at a path.
    package convenience init(_ slots: [DatabaseKeyring.NewSlot], of path: String) throws {
        try self.init(slots, LeftKeyrings(ofCopyAt: path))
    }

    /// The keyring of a backup with the date in its name.
    package convenience init(
        _ slots: [DatabaseKeyring.NewSlot], ofBackupOf path: String, in folder: String
    ) throws {
        try self.init(slots, LeftKeyrings(ofBackupsOf: path, in: folder))
    }

    private init(_ slots: [DatabaseKeyring.NewSlot], _ left: LeftKeyrings) throws {
        let made = try DatabaseKeyring(databasePath: left.place).newKeyring(slots)
        key = try made.databaseKey(made.document.epochs[0])
        keyring = made
        self.left = left
    }

    /// - Throws: `exists` for a keyring that may be that of a database that was moved; `busy` where another
    ///   process makes the copy.
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
        guard let path = madeFor.withLock({ $0 }),
            !DatabaseKeyring(databasePath: path).mayHaveKey(of: keyring)
        else { return }
        let file = KeyringFile(path: "\(path).keys")
        // Another program may have made a keyring of this name.
        guard let content = try? KeyringText.file(of: keyring.document), (try? file.bytes()) == content else {
            return
        }
        try? SystemFile.remove(file.path)
        try? SystemFile.synchronize(directoryOf: file.path)
    }
}
