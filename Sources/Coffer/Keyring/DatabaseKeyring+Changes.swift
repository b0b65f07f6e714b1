public import Foundation

// Changes of slots write only the keyring, never a page of the database.
extension DatabaseKeyring {
    /// Adds a slot.
    ///
    /// - Parameters:
    ///   - slot: the slot to add.
    ///   - secret: a secret that opens any slot of this keyring.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    /// - Returns: the number of the new slot.
    /// - Throws: a ``DatabaseFileError``, for example if the secret opens no slot; `changeUnderWay` if
    ///   another change takes longer than the timeout. The keyring is unchanged then, unless
    ///   ``DatabaseFileError/isPublished`` is true.
    @discardableResult
    public func add(_ slot: NewSlot, unlockedBy secret: Secret, lockTimeout: TimeInterval = 0) throws -> Int {
        try change(secret, lockTimeout) { change, _ in try change.add(slot) }
    }

    /// Adds all slots or, if it throws, none.
    ///
    /// - Parameter announce: called after the secret opened the keyring, and before the keyring is changed.
    ///   Its error is thrown, and the keyring is unchanged then.
    /// - Returns: the numbers of the new slots.
    package func add(
        _ slots: [NewSlot], unlockedBy secret: Secret, lockTimeout: TimeInterval, announce: () throws -> Void
    ) throws -> [Int] {
        try change(secret, lockTimeout) { change, _ in
            var numbers: [Int] = []
            for slot in slots { numbers.append(try change.add(slot)) }
            try announce()
            return numbers
        }
    }

    /// Removes a slot.
    ///
    /// This does not revoke access that was already used: anyone who had the slot's secret and copied the
    /// keyring or the data key can still open the database until
    /// ``rotateDataKey(unlockedBy:options:progress:)``. The copy of the keyring that a killed restore left is
    /// destroyed, because the slot's secret opens it too.
    ///
    /// - Parameters:
    ///   - slot: the number of the slot.
    ///   - secret: a secret that opens any slot of this keyring.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    /// - Throws: `lastSlot` for the only slot; `changeUnderWay` as ``add(_:unlockedBy:lockTimeout:)`` does;
    ///   `busy` while a restore gives the old file another name.
    public func remove(slot: Int, unlockedBy secret: Secret, lockTimeout: TimeInterval = 0) throws {
        try change(secret, lockTimeout, endsAccess: true) { change, _ in try change.remove(slot) }
    }

    /// Gives a slot another secret, such as a new passphrase. The copy of the keyring that a killed restore
    /// left is destroyed, because the former secret opens it too.
    ///
    /// - Parameters:
    ///   - slot: the number of the slot; nil for the slot that the secret opens.
    ///   - new: the new secret, which may be of another kind.
    ///   - secret: a secret that opens any slot.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    /// - Throws: `changeUnderWay` as ``add(_:unlockedBy:lockTimeout:)`` does; `busy` while a restore gives
    ///   the old file another name.
    public func change(
        slot: Int? = nil, to new: Secret, unlockedBy secret: Secret, lockTimeout: TimeInterval = 0
    ) throws {
        try change(secret, lockTimeout, endsAccess: true) { change, opened in
            try change.change(slot ?? opened, to: new)
        }
    }

    /// Encrypts the database with a new data key, and seals it to all slots. One secret is enough; the other
    /// slots' secrets are not needed.
    ///
    /// Do this if the data key may have leaked, for example in a core dump or through a slot whose secret was
    /// known: a new passphrase alone revokes nothing. If the rotation is interrupted, call it again: at every
    /// moment, the keyring opens the database, and the next call completes the work. If the database keeps
    /// its previous key, because it is damaged or the disk is full, the keyring keeps it too, and slots can
    /// be changed. Copies of the database and of the keyring that a killed restore left are removed, because
    /// they have the former data key.
    ///
    /// - Parameters:
    ///   - secret: a secret that opens any slot.
    ///   - options: the options of ``DatabaseFile/rotate(from:to:options:progress:)``, without `inPlace` and
    ///     `keepOldPath`: nothing would open the old file. The lock timeout also applies to other changes of
    ///     the keyring.
    ///   - progress: called with the number of pages done; throws to cancel.
    /// - Returns: the result of the rotation, with its verification unless only the keyring had to be
    ///   completed.
    @discardableResult
    public func rotateDataKey(
        unlockedBy secret: Secret, options: DatabaseFile.RotationOptions = .init(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        try located { place in
            let file = place.file
            try checkIsByCopy(options)
            guard options.keepOldPath == nil else {
                throw DatabaseFileError(
                    .unsupported(
                        "The old file could not be kept: its data key is removed from the keyring. Make a "
                            + "backup first."), path: databasePath)
            }
            return try file.changing(waiting: options.lockTimeout) { bytes, write in
                var keyring = try place.unlock(file.document(of: bytes).document, secret)
                guard let salt = try place.databaseSalt() else {
                    throw DatabaseFileError(.missing, path: databasePath)
                }
                _ = try keyring.epoch(ofSalt: salt, file)
                try place.removeNotedCopy()
                if keyring.document.epochs.count == 1 {
                    var change = KeyringChange(keyring, file)
                    try change.beginRotation()
                    keyring = try change.finished()
                    do {
                        try write(KeyringText.file(of: keyring.document))
                    } catch var error as DatabaseFileError {
                        try? place.takeBackRotation(of: keyring, write)
                        // The database has its key.
                        error.isPublished = false
                        throw error
                    }
                }
                let next = keyring.document.epochs[1]
                // Run the rotation even if the database has the new key already: it then removes leftover
                // files, and reports it.
                let result: DatabaseFile.RotationResult
                do {
                    result = try DatabaseFile(path: databasePath).rotate(
                        from: keyring.databaseKey(keyring.document.epochs[0]), to: keyring.databaseKey(next),
                        options: options, progress: progress)
                } catch {
                    try? place.takeBackRotation(of: keyring, write)
                    throw error
                }
                var change = KeyringChange(keyring, file)
                change.keep(epoch: next)
                do {
                    try write(KeyringText.file(of: change.finished().document))
                } catch {
                    // The database has its new key, and the keyring has both.
                    throw DatabaseFileError.published(error, path: databasePath)
                }
                return result
            }
        }
    }

    /// - Parameter endsAccess: true if a secret no longer opens the keyring afterwards.
    private func change<Result>(
        _ secret: Secret, _ lockTimeout: TimeInterval, endsAccess: Bool = false,
        _ body: (inout KeyringChange, _ opened: Int) throws -> Result
    ) throws -> Result {
        try located { place in
            let file = place.file
            return try file.replace(waiting: lockTimeout) { bytes in
                let unlocked = try place.unlock(file.document(of: bytes).document, secret)
                try place.checkIsOfDatabase(unlocked)
                guard unlocked.document.epochs.count == 1 else { throw file.problem(.rotationUnderWay) }
                var change = KeyringChange(unlocked, file)
                let result = try body(&change, unlocked.slotNumber)
                let content = try KeyringText.file(of: change.finished().document)
                if endsAccess { try place.removeNotedCopy() }
                return (content, result)
            }
        }
    }
}

extension KeyringPlace {
    /// Removes the new data key from the keyring if the database did not get it.
    fileprivate func takeBackRotation(of keyring: UnlockedKeyring, _ write: ([UInt8]) throws -> Void) throws {
        let former = keyring.document.epochs[0]
        guard let salt = try databaseSalt(), try keyring.epoch(ofSalt: salt, file) == former else { return }
        var change = KeyringChange(keyring, file)
        change.keep(epoch: former)
        try write(KeyringText.file(of: change.finished().document))
    }
}
