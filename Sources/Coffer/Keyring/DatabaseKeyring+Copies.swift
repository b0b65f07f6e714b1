public import Foundation
internal import SQLCipherBridge

// Backups and other copies that have a keyring of their own.

extension DatabaseFile {
    /// Copies the file as ``backup(to:key:newKey:options:progress:)`` does, with a new data key and a keyring
    /// beside the copy.
    ///
    /// ```swift
    /// // A host that makes backups, and cannot read them afterwards:
    /// try DatabaseFile(path: path).backup(to: backupPath, key: key, slots: [.recipient(owner)])
    /// ```
    ///
    /// The keyring is on the disk before the copy has its name. If the process is killed between the two, the
    /// next backup to the same path removes the keyring and begins anew: the copy that it belongs to is still
    /// there under its temporary name, so nothing else can need the keyring.
    /// - Parameters:
    ///   - path: the path of the backup, where nothing may be.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - slots: who opens the backup; at least one.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it.
    /// - Returns: what was done and proved.
    /// - Throws: a ``DatabaseFileError``: `exists` where there is a file at the path, or a keyring beside it
    ///   that may be that of a database that was moved; `key` when the key does not open the file.
    @discardableResult
    public func backup(
        to path: String, key: DatabaseKey?, slots: [DatabaseKeyring.NewSlot],
        options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try DatabaseFileError.translated(path) {
            let keyring = try KeyringOfCopy(slots, of: path)
            var options = options
            options.companion = keyring
            return try perform(
                .backup(to: path, key, newKey: keyring.key), options: options, progress: progress)
        }
    }

    /// Copies the file into a folder of backups, as ``backup(into:key:newKey:options:progress:)`` does, with
    /// a new data key and a keyring beside it.
    ///
    /// ```swift
    /// // A host that makes backups, and cannot read them afterwards:
    /// try DatabaseFile(path: path).backup(into: folder, key: key, slots: [.recipient(owner)])
    /// ```
    ///
    /// The keyring has the name of the backup with `.keys`, and is on the disk before the backup has its
    /// name. What a run leaves that is killed in between goes with the next backup of a file of this name
    /// into the folder.
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
            let keyring = try KeyringOfCopy(slots, ofBackupOf: path, in: folder)
            var options = options
            options.companion = keyring
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
    /// - Throws: `ofAnotherUser`, `writableByOthers` or `hardLinks` where the database is missing or does not
    ///   confirm the keyring, and another user can have made it.
    public func keyForRestoring(unlockedBy secret: Secret) throws -> DatabaseKey {
        try translated {
            let unlocked = try unlockTrusted(secret)
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
