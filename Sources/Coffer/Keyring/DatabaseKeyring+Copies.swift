public import Foundation
internal import SQLCipherBridge

// Backups and other copies that have a keyring of their own.

/// A keyring whose file is made when the name of its database is known.
package struct KeyringOfCopy: Sendable {
    private let keyring: UnlockedKeyring
    /// The key of the copy, with its salt.
    package let key: DatabaseKey

    /// - Parameter path: a file in the folder of the copy, for errors.
    package init(_ slots: [DatabaseKeyring.NewSlot], near path: String) throws {
        keyring = try DatabaseKeyring(databasePath: path).newKeyring(slots)
        key = try keyring.databaseKey(keyring.document.epochs[0])
    }

    /// Makes the file beside a database that is about to get this path.
    package func make(beside path: String) throws {
        try KeyringFile(path: "\(path).keys").make(KeyringText.file(of: keyring.document))
    }
}

extension DatabaseFile {
    /// Copies the file into a folder of backups, as ``backup(into:key:newKey:options:progress:)`` does, with
    /// a new data key and a keyring beside it.
    ///
    /// ```swift
    /// // A host that makes backups, and cannot read them afterwards:
    /// try DatabaseFile(path: path).backup(into: folder, key: key, slots: [.recipient(owner)])
    /// ```
    ///
    /// The keyring has the name of the backup with `.keys`, and is on the disk before the backup has its
    /// name.
    /// - Parameters:
    ///   - folder: where the backup goes.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - slots: who opens the backup; at least one.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it.
    /// - Returns: what was done and proved.
    /// - Throws: a ``DatabaseFileError``: `missing` when there is no such folder, `key` when the key does not
    ///   open the file, `busy` when another process backs up a file of this name into the folder.
    @discardableResult
    public func backup(
        into folder: String, key: DatabaseKey?, slots: [DatabaseKeyring.NewSlot],
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try DatabaseFileError.translated(folder) {
            let keyring = try KeyringOfCopy(slots, near: "\(folder)/backup")
            var options = options
            options.beforeNaming = { path in try keyring.make(beside: path) }
            return try perform(
                .datedBackup(in: folder, key, newKey: keyring.key), options: options, progress: progress)
        }
    }
}

extension DatabaseKeyring {
    /// The key with which a backup is put in the place of a database that has its keyring still: so the
    /// keyring stays as it is.
    ///
    /// ```swift
    /// let keyring = DatabaseKeyring(databasePath: path)
    /// let key = try keyring.keyForRestoring(unlockedBy: .passphrase(passphrase))
    /// try DatabaseFile(path: path).restore(from: backupPath, key: backupKey, newKey: key)
    /// ```
    ///
    /// - Parameter secret: what opens a slot of the keyring.
    /// - Returns: the data key with its salt: the new one where a rotation was interrupted, which the next
    ///   ``rotateDataKey(unlockedBy:options:progress:)`` completes.
    public func keyForRestoring(unlockedBy secret: Secret) throws -> DatabaseKey {
        try translated {
            let unlocked = try unlock(file.document().document, secret)
            return try unlocked.databaseKey(unlocked.document.epochs[unlocked.document.epochs.count - 1])
        }
    }

    /// Makes the keyring of a database that takes the place of another one, such as a backup that is
    /// restored.
    ///
    /// - Parameters:
    ///   - slots: at least one.
    ///   - lockTimeout: how long to wait for others who change the keyring, in seconds.
    ///   - restore: puts the database in its place with the key that it is given.
    /// - Throws: what `restore` throws: there is no keyring then, unless the database has its place and the
    ///   new key already. `exists` where there is a keyring: see ``keyForRestoring(unlockedBy:)``.
    public func adopt<Result>(
        _ slots: [NewSlot], lockTimeout: TimeInterval = 0,
        restoring restore: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        try making(slots, lockTimeout, restore)
    }
}
