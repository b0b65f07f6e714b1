public import Foundation
internal import SQLCipherBridge

// Changes of slots write the keyring only, and no page of the database.
extension DatabaseKeyring {
    /// Adds a slot.
    ///
    /// - Parameters:
    ///   - slot: the slot that is made.
    ///   - secret: what opens a slot of this keyring.
    ///   - lockTimeout: how long to wait for others who change the keyring, in seconds.
    /// - Returns: its number.
    /// - Throws: a ``DatabaseFileError``, if the secret opens no slot, among others; `changeUnderWay` where
    ///   others change the keyring for longer than the timeout. The keyring is as it was then.
    @discardableResult
    public func add(_ slot: NewSlot, unlockedBy secret: Secret, lockTimeout: TimeInterval = 0) throws -> Int {
        try change(secret, lockTimeout) { change, _ in try change.add(slot) }
    }

    /// Removes a slot. What it opened before is not taken back: who had its secret and copied the keyring, or
    /// the data key, still opens the database until ``rotateDataKey(unlockedBy:options:progress:)``.
    ///
    /// - Parameters:
    ///   - slot: its number.
    ///   - secret: what opens a slot of this keyring.
    ///   - lockTimeout: how long to wait for others who change the keyring, in seconds.
    /// - Throws: `lastSlot` for the only slot; `changeUnderWay` as
    ///   ``add(_:unlockedBy:lockTimeout:)``.
    public func remove(slot: Int, unlockedBy secret: Secret, lockTimeout: TimeInterval = 0) throws {
        try change(secret, lockTimeout) { change, _ in try change.remove(slot) }
    }

    /// Gives a slot another secret, such as a new passphrase.
    ///
    /// - Parameters:
    ///   - slot: the number; nil for the slot that the secret opens.
    ///   - new: may be of another kind.
    ///   - secret: what opens any slot.
    ///   - lockTimeout: how long to wait for others who change the keyring, in seconds.
    /// - Throws: `changeUnderWay` as ``add(_:unlockedBy:lockTimeout:)``.
    public func change(
        slot: Int? = nil, to new: Secret, unlockedBy secret: Secret, lockTimeout: TimeInterval = 0
    ) throws {
        try change(secret, lockTimeout) { change, opened in try change.change(slot ?? opened, to: new) }
    }

    /// Encrypts the database with a new data key, and seals it to all slots. Nobody's passphrase is needed
    /// but one secret of the caller.
    ///
    /// Do this after the data key may have leaked, such as by a core dump or a slot whose secret was known: a
    /// new passphrase alone takes nothing back. Interrupted? Call it again: each moment in between has a
    /// keyring that opens the database, and the next call completes the work. Where the database keeps its
    /// former key, because it is damaged or the disk is full, so does the keyring, and slots can be changed.
    ///
    /// - Parameters:
    ///   - secret: what opens any slot.
    ///   - options: of ``DatabaseFile/rotate(from:to:options:progress:)``, without `inPlace`. Its lock
    ///     timeout is that for others who change the keyring, too.
    ///   - progress: called with the pages that were done; throws to end it.
    /// - Returns: what the rotation has proved; without a proof where only the keyring was to be completed.
    @discardableResult
    public func rotateDataKey(
        unlockedBy secret: Secret, options: DatabaseFile.RotationOptions = .init(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        try translated {
            try checkIsByCopy(options)
            return try file.changing(waiting: options.lockTimeout) { bytes, write in
                var keyring = try unlock(file.document(of: bytes).document, secret)
                guard let salt = try databaseSalt() else {
                    throw DatabaseFileError(.missing, path: databasePath)
                }
                _ = try keyring.epoch(ofSalt: salt, file)
                if keyring.document.epochs.count == 1 {
                    var change = KeyringChange(keyring, file)
                    try change.beginRotation()
                    keyring = try change.finished()
                    try write(KeyringText.file(of: keyring.document))
                }
                let next = keyring.document.epochs[1]
                // Also where the database has the new key already: then the rotation removes what was left,
                // and says so.
                let result: DatabaseFile.RotationResult
                do {
                    result = try DatabaseFile(path: databasePath).rotate(
                        from: keyring.databaseKey(keyring.document.epochs[0]), to: keyring.databaseKey(next),
                        options: options, progress: progress)
                } catch {
                    try? takeBackRotation(of: keyring, write)
                    throw error
                }
                var change = KeyringChange(keyring, file)
                change.keep(epoch: next)
                try write(KeyringText.file(of: change.finished().document))
                return result
            }
        }
    }

    /// Takes the new data key out of the keyring again, where the database has not got it.
    private func takeBackRotation(of keyring: UnlockedKeyring, _ write: ([UInt8]) throws -> Void) throws {
        let former = keyring.document.epochs[0]
        guard let salt = try databaseSalt(), try keyring.epoch(ofSalt: salt, file) == former else { return }
        var change = KeyringChange(keyring, file)
        change.keep(epoch: former)
        try write(KeyringText.file(of: change.finished().document))
    }

    private func change<Result>(
        _ secret: Secret, _ lockTimeout: TimeInterval,
        _ body: (inout KeyringChange, _ opened: Int) throws -> Result
    ) throws -> Result {
        try translated {
            try file.replace(waiting: lockTimeout) { bytes in
                let unlocked = try unlock(file.document(of: bytes).document, secret)
                if let salt = try databaseSalt() { _ = try unlocked.epoch(ofSalt: salt, file) }
                guard unlocked.document.epochs.count == 1 else { throw file.problem(.rotationUnderWay) }
                var change = KeyringChange(unlocked, file)
                let result = try body(&change, unlocked.slotNumber)
                return (try KeyringText.file(of: change.finished().document), result)
            }
        }
    }
}
