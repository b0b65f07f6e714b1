public import Foundation

// Backups and other copies with keyrings of their own.

extension DatabaseFile {
    /// Copies the file as ``backup(to:key:newKey:options:progress:)`` does, with a new data key and a keyring
    /// next to the copy.
    ///
    /// ```swift
    /// // A host that makes backups, and cannot read them afterwards:
    /// try DatabaseFile(path: path).backup(to: backupPath, key: key, slots: [.recipient(owner)])
    /// ```
    ///
    /// The keyring is synced to disk before the copy gets its name. If the process is killed between the two,
    /// the next backup to the same path removes the keyring and starts again: the copy that it belongs to
    /// still has its temporary name, so nothing else can need the keyring.
    ///
    /// - Parameters:
    ///   - path: the path of the backup, which must not exist.
    ///   - key: the key of the file; nil for a plaintext file.
    ///   - slots: the slots that open the backup; at least one.
    ///   - progress: called with the number of pages done; throws to cancel.
    /// - Returns: the result of the backup and its verification.
    /// - Throws: a ``DatabaseFileError``: `exists` if there is a file at the path, or a keyring next to it
    ///   that may belong to a database that was moved; `key` if the key does not open the file.
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
    /// a new data key and a keyring next to the backup.
    ///
    /// ```swift
    /// // A host that makes backups, and cannot read them afterwards:
    /// try DatabaseFile(path: path).backup(into: folder, key: key, slots: [.recipient(owner)])
    /// ```
    ///
    /// The keyring has the backup's name with `.keys` appended, and is synced to disk before the backup gets
    /// its name. If the process is killed between the two, the next backup of a file of this name into the
    /// folder removes the leftover files.
    ///
    /// - Parameters:
    ///   - folder: the folder for the backup.
    ///   - key: the key of the file; nil for a plaintext file.
    ///   - slots: the slots that open the backup; at least one.
    ///   - progress: called with the number of pages done; throws to cancel.
    /// - Returns: the result of the backup and its verification.
    /// - Throws: a ``DatabaseFileError``: `missing` if there is no such folder, `key` if the key does not
    ///   open the file, `busy` if another process is backing up a file of this name into the folder.
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
    /// Returns the key with which to restore a backup over a database that still has its keyring, so that the
    /// keyring need not change.
    ///
    /// ```swift
    /// let keyring = DatabaseKeyring(databasePath: path)
    /// let key = try keyring.keyForRestoring(unlockedBy: .passphrase(passphrase))
    /// try DatabaseFile(path: path).restore(from: backupPath, key: backupKey, newKey: key)
    /// ```
    ///
    /// Each use of the key reads the keyring again, and throws `missing` if it was erased since, or `changed`
    /// if it has another data key: no secret would open the restored database.
    ///
    /// - Parameter secret: a secret that opens any slot of the keyring.
    /// - Returns: the data key with its salt. If a rotation was interrupted, this is the new data key, and
    ///   the next ``rotateDataKey(unlockedBy:options:progress:)`` completes the rotation.
    /// - Throws: `ofAnotherUser`, `writableByOthers` or `hardLinks` if the database is missing or does not
    ///   confirm the keyring, and another user may have created it.
    public func keyForRestoring(unlockedBy secret: Secret) throws -> DatabaseKey {
        try located { place in try place.keyForRestoring(secret) }
    }

    /// Calls `restore` with the key of ``keyForRestoring(unlockedBy:)``, and holds the keyring's lock: a
    /// rotation at the same time would leave the keyring without the data key of the restored database.
    ///
    /// Leftover files of a killed run that created or changed the keyring are removed.
    ///
    /// - Parameters:
    ///   - secret: a secret that opens any slot of the keyring.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    package func keepingKeyring<Result>(
        unlockedBy secret: Secret, lockTimeout: TimeInterval,
        restoring restore: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        // Errors of `restore` are rethrown unchanged.
        try located { place in
            // This may complete a killed adoption, whose mark must outlive another kill.
            let mark = place.file.adoptionMark
            return try place.file.changing(waiting: lockTimeout) { _ in
                mark
            } staysInMaking: { (result: Swift.Result<Result, any Error>) in
                result.isFailure
            } _: { _, _ in
                let key = try place.keyForRestoring(secret)
                return Swift.Result { try restore(key) }
            }
        }.get()
    }

    /// Creates the keyring for a database that replaces another one, such as a backup that is restored.
    ///
    /// - Parameters:
    ///   - slots: at least one slot.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    ///   - restore: puts the database in its place, encrypted with the key that it is given.
    /// - Throws: the error of `restore`, after removing the keyring again unless the database already has the
    ///   new key; `exists` if there is a keyring, unless it is from an interrupted call with the same slots
    ///   whose database is not in its place: see ``keyForRestoring(unlockedBy:)``.
    public func adopt<Result>(
        _ slots: [NewSlot], lockTimeout: TimeInterval = 0,
        restoring restore: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        try located { place in
            let new = try NewKeyring(slots, at: place, lockTimeout)
            guard (try? place.isOfDatabase(new.content.document)) != true else {
                try? LeftKeyrings.removeNotes(ofKeyring: place.file.path)
                throw DatabaseFileError(.exists, path: place.file.path)
            }
            return new
        }.give(marking: KeyringFile.newAdoptionMark(), to: restore)
    }
}

extension KeyringPlace {
    fileprivate func keyForRestoring(_ secret: DatabaseKeyring.Secret) throws -> DatabaseKey {
        let unlocked = try unlockTrusted(secret)
        let (file, id) = (file, unlocked.document.id)
        let epoch = unlocked.document.epochs[unlocked.document.epochs.count - 1]
        let key = try unlocked.databaseKey(epoch)
        return .provider {
            let document = try file.document().document
            guard document.id == id, document.epochs.last == epoch else { throw file.problem(.changed) }
            return key
        }
    }
}
