public import Foundation
internal import SystemCalls

/// The keyring next to a database: several secrets that each unlock the random data key with which the
/// database is encrypted.
///
/// ```swift
/// let keyring = DatabaseKeyring(databasePath: path)  // for vault.db, the keyring is vault.db.keys
/// try keyring.make([
///     .secret(.passphrase(passphrase), name: "Anna"),
///     .recipient(office, name: "recovery office"),
/// ])
/// var config = Configuration()
/// config.key = .keyring(unlockedBy: .passphrase(passphrase))
/// let queue = try DatabaseQueue(path: path, configuration: config)
///
/// // No page of the database is written:
/// try keyring.change(slot: 1, to: .passphrase(better), unlockedBy: .passphrase(passphrase))
/// ```
///
/// A keyring is a small text file, described in <doc:KeyringFormat>. It contains no secret in the clear, and
/// it is needed to open the database: **back it up together with the database**. Anyone with the data key can
/// detect changes made without it. Anyone with only the file learns the number of slots, their kinds and
/// names, and nothing about the keys.
///
/// Methods that change a keyring replace the whole file durably: after a crash or a power failure, there is
/// either the old keyring or the new one. Open databases are not disturbed, and keep using their data key.
/// All methods block the current thread: a passphrase takes about half a second. Errors are a
/// ``DatabaseFileError``, whose reason is ``EncryptionFailure/keyring(path:_:)`` if the keyring itself is the
/// problem.
///
/// Only one process or thread at a time can change a keyring. A rotation of the data key, and any operation
/// that gives a database its keyring, counts as a change for its whole duration. Other calls wait for the
/// lock timeout, which is zero by default, and then throw `changeUnderWay`.
public struct DatabaseKeyring: Sendable, Hashable {
    /// The path of the database. It need not exist.
    public let databasePath: String

    /// Creates a reference to a keyring. Nothing is opened.
    public init(databasePath: String) {
        self.databasePath = databasePath
    }

    /// The path of the keyring: the path of the database, with symbolic links resolved, plus `.keys`.
    ///
    /// If links cannot be followed, it is the path of the database as given, plus `.keys`. Methods throw
    /// `unreadable` then.
    public var path: String {
        (try? KeyringFile(ofDatabase: databasePath))?.path ?? "\(databasePath).keys"
    }

    /// A slot to be created.
    public struct NewSlot: Sendable {
        enum Kind: Sendable {
            case secret(Secret)
            case recipient(Recipient)
            case carried(KeyringDocument.Slot)
        }

        let kind: Kind
        let name: String

        /// Creates a slot that the secret opens. An identity creates a slot for its recipient.
        ///
        /// - Parameters:
        ///   - secret: the secret that opens the slot.
        ///   - name: a name for people, at most 64 bytes on one line. It is not secret.
        public static func secret(_ secret: Secret, name: String = "") -> NewSlot {
            NewSlot(kind: .secret(secret), name: name)
        }

        /// Returns the same slot with another name.
        public func named(_ name: String) -> NewSlot { NewSlot(kind: kind, name: name) }

        /// Creates a slot that only the recipient's identity opens.
        ///
        /// - Parameters:
        ///   - recipient: the recipient that can open the slot.
        ///   - name: a name for people, at most 64 bytes on one line. It is not secret.
        public static func recipient(_ recipient: Recipient, name: String = "") -> NewSlot {
            NewSlot(kind: .recipient(recipient), name: name)
        }
    }
}

// MARK: - Creation and inspection

extension DatabaseKeyring {
    /// Creates the keyring, with a random data key that is stored nowhere else. The database gets that key
    /// when it is created with ``DatabaseKey/keyring(unlockedBy:)``.
    ///
    /// If all slots are for recipients, this process cannot open the database afterwards.
    ///
    /// - Parameters:
    ///   - slots: at least one slot.
    ///   - lockTimeout: the time to wait for other processes that create the keyring, in seconds.
    /// - Throws: `exists` if there is a keyring, or a database that is not empty: use
    ///   ``adopt(_:key:options:progress:)`` for such a database.
    public func make(_ slots: [NewSlot], lockTimeout: TimeInterval = 0) throws {
        try located { place in
            if let status = try SystemFile.status(databasePath, followsLinks: true),
                status.size > 0 || !status.isRegular
            {
                throw DatabaseFileError(.exists, path: databasePath)
            }
            _ = try NewKeyring(making: slots, at: place, lockTimeout)
        }
    }

    /// Creates the keyring of a copy, and then the copy itself: a backup, a compact copy, or an encrypted
    /// copy of a plaintext file.
    ///
    /// ```swift
    /// // A host that makes backups that it cannot read itself:
    /// try DatabaseKeyring(databasePath: backupPath).make([.recipient(owner)]) { key in
    ///     try queue.vacuum(into: backupPath, key: key)
    /// }
    /// ```
    ///
    /// The keyring exists before the copy is started. If the process is killed, the keyring may remain
    /// without a copy: call this method again with the same slots, at least one of which has a secret. It
    /// throws `exists` for other slots. Backups of files do not need this: see
    /// ``DatabaseFile/backup(to:key:slots:options:progress:)``.
    ///
    /// - Parameters:
    ///   - slots: at least one slot; ``slotsForCopies(unlockedBy:)`` returns the slots of another keyring.
    ///   - lockTimeout: the time to wait for other processes that create the keyring, in seconds.
    ///   - copy: creates the database with the key that it is given: a new data key, with its salt.
    /// - Throws: the error of `copy`, after removing the keyring again unless the database already has the
    ///   new key; `exists` as ``make(_:lockTimeout:)`` does.
    public func make<Result>(
        _ slots: [NewSlot], lockTimeout: TimeInterval = 0,
        copying copy: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        try located { place in
            guard try SystemFile.status(databasePath) == nil else {
                throw DatabaseFileError(.exists, path: databasePath)
            }
            // If another process is creating the copy or its keyring, the conflict is detected below.
            try? removeLeft()
            return try NewKeyring(slots, at: place, lockTimeout)
        }.give(to: copy)
    }

    /// Creates the keyring of a new database and then the database, or completes an interrupted run.
    ///
    /// - Parameters:
    ///   - slots: at least one slot.
    ///   - lockTimeout: the time to wait for other processes that create the keyring, in seconds.
    ///   - open: opens the database with the key that it is given, and creates it if it is missing. A
    ///     database with this key may exist already, from an interrupted run or from another one. Called
    ///     again if the file is still empty afterwards.
    /// - Throws: `ofAnotherFile` if the database has another key.
    package func makeDatabase<Result>(
        _ slots: [NewSlot], lockTimeout: TimeInterval, _ open: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        // A new keyring could never belong to a database that already exists.
        guard try located({ place in try SystemFile.status(place.file.path) }) != nil else {
            return try make(slots, lockTimeout: lockTimeout, copying: open)
        }
        let new = try located { place in try NewKeyring(slots, at: place, lockTimeout) }
        return try new.give { key in
            try new.place.translated { try new.place.checkIsOfDatabase(new.content) }
            let result = try open(key)
            // The database can be empty if a journal of the interrupted run, which said that the file had no
            // page, has been played back.
            return try new.place.translated { try new.place.databaseSalt() } == nil ? open(key) : result
        }
    }

    /// Returns the slots of this keyring, for the keyring of a copy: any secret that opens this keyring opens
    /// the other one, and only one secret is needed to create it.
    ///
    /// - Parameter secret: a secret that opens a slot of this keyring. It verifies that no slot was added
    ///   without the data key.
    /// - Throws: `ofAnotherUser` and others if neither the database nor its owner confirms the keyring.
    public func slotsForCopies(unlockedBy secret: Secret) throws -> [NewSlot] {
        try located { place in
            try place.unlockTrusted(secret).document.slots.map { NewSlot(kind: .carried($0), name: $0.name) }
        }
    }

    /// Returns true if the keyring from the interrupted run belongs to the database, so that
    /// ``makeDatabase(_:lockTimeout:_:)`` can complete it. False means that the database still has its
    /// previous key.
    ///
    /// - Parameter slots: the slots that the keyring was created with.
    /// - Throws: `exists` if it was created with other slots.
    package func wasMadeForNewDatabase(_ slots: [NewSlot]) throws -> Bool {
        try located { place in
            guard let found = NewKeyring.ofInterruptedRun(slots, at: place) else {
                throw DatabaseFileError(.exists, path: place.file.path)
            }
            guard let salt = try place.databaseSalt() else { return true }
            do throws(KeyError) {
                _ = try found.epoch(ofSalt: salt, place.file)
                return true
            } catch {
                guard case .keyring(_, .ofAnotherFile) = error.failure else { throw error }
                return false
            }
        }
    }

    /// Gives a keyring to a database that is encrypted with another key, by rotating it to a new data key.
    ///
    /// If this is interrupted, the database either has its previous key or is complete. Call it again with
    /// the same slots, at least one of which has a secret, to complete the work. A new random recovery key is
    /// not the same slot: use one that you have stored.
    ///
    /// - Parameters:
    ///   - slots: at least one slot.
    ///   - key: the current key of the database, which does not open it afterwards.
    ///   - options: the options of the rotation; `inPlace` is not possible, because the salt changes. The
    ///     lock timeout also applies to other changes of the keyring.
    ///   - progress: called with the number of pages done; throws to cancel.
    /// - Returns: the result of the rotation and its verification.
    /// - Throws: `exists` if there is a keyring that an interrupted call with these slots did not create;
    ///   the errors of ``DatabaseFile/rotate(from:to:options:progress:)``.
    @discardableResult
    public func adopt(
        _ slots: [NewSlot], key: DatabaseKey, options: DatabaseFile.RotationOptions = .init(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        try located { place in
            try checkIsByCopy(options)
            // Try the key before creating a keyring.
            if try SystemFile.status(place.file.path) == nil {
                _ = try DatabaseFile(path: databasePath).rotationPlan(
                    from: key, to: .random(), options: options)
            }
            return try NewKeyring(slots, at: place, options.lockTimeout).give { new in
                try DatabaseFile(path: databasePath).rotate(
                    from: key, to: new, options: options, progress: progress)
            }
        }
    }

    /// Opens the keyring, and verifies that it was written with the data key, that both copies in it are
    /// intact, and that it belongs to the database, if there is one.
    ///
    /// - Returns: the number of the slot that was opened.
    @discardableResult
    public func check(unlockedBy secret: Secret) throws -> Int {
        try located { place in
            let (document, damage) = try place.file.document()
            guard damage.isEmpty else { throw place.file.problem(.damaged(damage)) }
            let unlocked = try place.unlock(document, secret)
            try place.checkIsOfDatabase(unlocked)
            return unlocked.slotNumber
        }
    }

    /// Returns the raw key of the database, for example for SQLCipher's shell or to be kept in a safe. It
    /// opens the database without the keyring, until the data key is rotated.
    public func exportedKey(unlockedBy secret: Secret) throws -> DatabaseKey {
        try located { place in
            let file = place.file
            let salt = try place.databaseSalt()
            let unlocked = try place.unlock(
                salt == nil ? file.trustedDocument() : file.document().document, secret)
            let epoch = try salt.map { try unlocked.epoch(ofSalt: $0, file) } ?? unlocked.document.epochs[0]
            guard let key = unlocked.dataKey(epoch) else { throw file.problem(.ofAnotherFile) }
            return DatabaseKey(.rawKey(key, salt: nil))
        }
    }

    func checkIsByCopy(_ options: DatabaseFile.RotationOptions) throws(DatabaseFileError) {
        guard options.method == .copy else {
            throw DatabaseFileError(
                .unsupported("The data key of a keyring can only be rotated by a copy, not in place."),
                path: databasePath)
        }
    }

    /// Resolves the path of the keyring for one operation, and converts errors.
    func located<Result>(_ body: (KeyringPlace) throws -> Result) throws -> Result {
        let place = try DatabaseFileError.translated(databasePath) { try KeyringPlace(databasePath) }
        return try place.translated { try body(place) }
    }
}

extension UnlockedKeyring {
    /// Returns the data key of an epoch, with the salt that the database has in that epoch.
    func databaseKey(_ epoch: UInt64) throws -> DatabaseKey {
        guard let key = dataKey(epoch) else { return DatabaseKey(.invalid(.rawKeyLength(0))) }
        return DatabaseKey(.rawKey(key, salt: try KeyringCode.salt(id: document.id, epoch: epoch)))
    }
}
