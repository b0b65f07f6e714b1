public import Foundation
internal import KeyMaterial
internal import SQLCipherBridge
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
    public var path: String { "\((try? SystemFile.resolved(databasePath)) ?? databasePath).keys" }

    var file: KeyringFile { KeyringFile(path: path) }

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
        try translated {
            if let status = try SystemFile.status(databasePath, followsLinks: true),
                status.size > 0 || !status.isRegular
            {
                throw DatabaseFileError(.exists, path: databasePath)
            }
            _ = try makeFile(slots, lockTimeout)
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
    /// without a copy, and this method throws `exists` the next time. Backups of files do not need such
    /// manual cleanup: see ``DatabaseFile/backup(to:key:slots:options:progress:)``.
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
        guard try translated({ try SystemFile.status(databasePath) }) == nil else {
            throw DatabaseFileError(.exists, path: databasePath)
        }
        // If another process is creating the copy or its keyring, the conflict is detected below.
        try? removeLeft()
        return try making(slots, lockTimeout, copy)
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
        if try translated({ try SystemFile.status(path) }) == nil {
            return try make(slots, lockTimeout: lockTimeout, copying: open)
        }
        let (made, isNew) = try translated { try makeOrTakeFile(slots, lockTimeout) }
        return try holding(made, isNew: isNew, lockTimeout) {
            let key = try translated {
                if let salt = try databaseSalt() { _ = try made.epoch(ofSalt: salt, file) }
                return try made.databaseKey(made.document.epochs[0])
            }
            let result = try open(key)
            // The database can be empty if a journal of the interrupted run, which said that the file had no
            // page, has been played back.
            return try translated { try databaseSalt() } == nil ? open(key) : result
        }
    }

    func making<Result>(
        _ slots: [NewSlot], _ lockTimeout: TimeInterval, _ copy: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        let (made, isNew) = try translated { try makeOrTakeFile(slots, lockTimeout) }
        return try holding(made, isNew: isNew, lockTimeout) {
            try copy(translated { try made.databaseKey(made.document.epochs[0]) })
        }
    }

    /// Runs the work that gives the database the data key of a new keyring, and holds the keyring's lock
    /// during the work. Other processes that change the keyring or do such work wait, or throw
    /// `changeUnderWay` and leave it unchanged.
    ///
    /// - Parameter isNew: true if this call has created the keyring. It is then removed if the work fails.
    private func holding<Result>(
        _ made: UnlockedKeyring, isNew: Bool, _ lockTimeout: TimeInterval, _ body: () throws -> Result
    ) throws -> Result {
        // Errors of the body are rethrown unchanged; those of the keyring get its path.
        var result: Swift.Result<Result, any Error>?
        try translated {
            do {
                try file.changing(waiting: lockTimeout) { bytes, _ in
                    guard try file.document(of: bytes).document == made.document else {
                        throw file.problem(.changed)
                    }
                    let outcome = Swift.Result(catching: body)
                    if case .failure = outcome, isNew { takeBack(made) }
                    result = outcome
                }
            } catch {
                // While this process was waiting, the creator of the keyring failed and removed it.
                if case .keyring(_, .missing) = (error as? KeyError)?.failure {
                    throw file.problem(.changed)
                }
                throw error
            }
        }
        guard let result else { preconditionFailure("the keyring was locked, but the work was not done") }
        return try result.get()
    }

    /// Returns true if the database may have the data key of a keyring, so that nothing else would open it.
    ///
    /// The error of the work does not answer this: it may come from the caller, after the database was put in
    /// its place. So the database itself is checked. If it cannot be read, the result is true.
    func mayHaveKey(of made: UnlockedKeyring) -> Bool {
        do {
            guard let salt = try databaseSalt() else { return false }
            _ = try made.epoch(ofSalt: salt, file)
            return true
        } catch {
            switch (error as? KeyError)?.failure {
            case .plaintextFile, .keyring(_, .ofAnotherFile): return false
            default: return true
            }
        }
    }

    /// Returns the slots of this keyring, for the keyring of a copy: any secret that opens this keyring opens
    /// the other one, and only one secret is needed to create it.
    ///
    /// - Parameter secret: a secret that opens a slot of this keyring. It verifies that no slot was added
    ///   without the data key.
    /// - Throws: `ofAnotherUser` and others if neither the database nor its owner confirms the keyring.
    public func slotsForCopies(unlockedBy secret: Secret) throws -> [NewSlot] {
        try translated {
            try unlockTrusted(secret).document.slots.map { NewSlot(kind: .carried($0), name: $0.name) }
        }
    }

    /// Creates the file of a new keyring, or reuses one from an interrupted run: it belongs to this user, was
    /// never changed, has the same slots, and one of their secrets opens it.
    private func makeOrTakeFile(
        _ slots: [NewSlot], _ lockTimeout: TimeInterval
    ) throws -> (made: UnlockedKeyring, isNew: Bool) {
        do {
            return (try makeFile(slots, lockTimeout), true)
        } catch let error as DatabaseFileError where error.reason == .exists {
            guard let found = ofInterruptedRun(slots) else { throw error }
            return (found, false)
        }
    }

    private func ofInterruptedRun(_ slots: [NewSlot]) -> UnlockedKeyring? {
        let secrets = slots.compactMap { slot in
            if case .secret(let secret) = slot.kind { secret } else { nil }
        }
        guard let secret = secrets.first, let document = try? file.trustedDocument(),
            document.generation == 1,
            document.epochs.count == 1, document.slots.map(\.name) == slots.map(\.name)
        else { return nil }
        return try? unlock(document, secret)
    }

    /// Returns true if the keyring from the interrupted run belongs to the database, so that
    /// ``makeDatabase(_:lockTimeout:_:)`` can complete it. False means that the database still has its
    /// previous key.
    ///
    /// - Parameter slots: the slots that the keyring was created with.
    /// - Throws: `exists` if it was created with other slots.
    package func wasMadeForNewDatabase(_ slots: [NewSlot]) throws -> Bool {
        try translated {
            guard let found = ofInterruptedRun(slots) else {
                throw DatabaseFileError(.exists, path: path)
            }
            guard let salt = try databaseSalt() else { return true }
            do throws(KeyError) {
                _ = try found.epoch(ofSalt: salt, file)
                return true
            } catch {
                guard case .keyring(_, .ofAnotherFile) = error.failure else { throw error }
                return false
            }
        }
    }

    /// Creates the file of a new keyring.
    func makeFile(_ slots: [NewSlot], _ lockTimeout: TimeInterval = 0) throws -> UnlockedKeyring {
        let made = try newKeyring(slots)
        try file.make(KeyringText.file(of: made.document), waiting: lockTimeout)
        return made
    }

    func newKeyring(_ slots: [NewSlot]) throws -> UnlockedKeyring {
        let id = try SecretBytes.randomOfKey(count: KeyringDocument.idSize).withUnsafeBytes {
            unsafe Array($0)
        }
        let empty = KeyringDocument(id: id, generation: 0, epochs: [1], slots: [], codes: [])
        var change = KeyringChange(empty, [SharedSecret(try SecretBytes.randomOfKey(count: 32))], file)
        guard !slots.isEmpty else { throw file.problem(.lastSlot) }
        for slot in slots { try change.add(slot) }
        return try change.finished()
    }

    /// Gives a keyring to a database that is encrypted with another key, by rotating it to a new data key.
    ///
    /// If this is interrupted, the database either has its previous key or is complete. Call it again with
    /// the same slots, at least one of which has a secret, to complete the work.
    ///
    /// - Parameters:
    ///   - slots: at least one slot.
    ///   - key: the current key of the database, which does not open it afterwards.
    ///   - options: the options of the rotation; `inPlace` is not possible, because the salt changes. The
    ///     lock timeout also applies to other changes of the keyring.
    ///   - progress: called with the number of pages done; throws to cancel.
    /// - Returns: the result of the rotation and its verification.
    @discardableResult
    public func adopt(
        _ slots: [NewSlot], key: DatabaseKey, options: DatabaseFile.RotationOptions = .init(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        try translated {
            try checkIsByCopy(options)
            // Try the key before creating a keyring.
            if try SystemFile.status(path) == nil {
                _ = try DatabaseFile(path: databasePath).rotationPlan(
                    from: key, to: .random(), options: options)
            }
            let (made, isNew) = try makeOrTakeFile(slots, options.lockTimeout)
            return try holding(made, isNew: isNew, options.lockTimeout) {
                try DatabaseFile(path: databasePath).rotate(
                    from: key, to: try made.databaseKey(made.document.epochs[0]), options: options,
                    progress: progress)
            }
        }
    }

    /// Opens the keyring, and verifies that it was written with the data key, that both copies in it are
    /// intact, and that it belongs to the database, if there is one.
    ///
    /// - Returns: the number of the slot that was opened.
    @discardableResult
    public func check(unlockedBy secret: Secret) throws -> Int {
        try translated {
            let (document, damage) = try file.document()
            guard damage.isEmpty else { throw file.problem(.damaged(damage)) }
            let unlocked = try unlock(document, secret)
            if let salt = try databaseSalt() { _ = try unlocked.epoch(ofSalt: salt, file) }
            return unlocked.slotNumber
        }
    }

    /// Returns the raw key of the database, for example for SQLCipher's shell or to be kept in a safe. It
    /// opens the database without the keyring, until the data key is rotated.
    public func exportedKey(unlockedBy secret: Secret) throws -> DatabaseKey {
        try translated {
            let salt = try databaseSalt()
            let unlocked = try unlock(
                salt == nil ? file.trustedDocument() : file.document().document, secret)
            let epoch = try salt.map { try unlocked.epoch(ofSalt: $0, file) } ?? unlocked.document.epochs[0]
            guard let key = unlocked.dataKey(epoch) else { throw file.problem(.ofAnotherFile) }
            return DatabaseKey(.rawKey(key, salt: nil))
        }
    }

    // MARK: - Helpers of all methods

    func unlock(_ document: KeyringDocument, _ secret: Secret) throws(KeyError) -> UnlockedKeyring {
        try secret.check(file)
        return try UnlockedKeyring.unlock(document, by: secret, file)
    }

    /// Opens a keyring whose data key or slots are to be used for another file. The database's salt must
    /// confirm the keyring; otherwise the keyring must be one that no user except the trusted ones can have
    /// created.
    func unlockTrusted(_ secret: Secret) throws -> UnlockedKeyring {
        let document = try file.document().document
        let unlocked = try unlock(document, secret)
        // The salt itself may be damaged.
        if let salt = try? databaseSalt(), (try? unlocked.epoch(ofSalt: salt, file)) != nil {
            return unlocked
        }
        let database = try SystemFile.status(databasePath, followsLinks: true)
        try file.checkIsTrusted(document, orOf: database.flatMap { $0.size > 0 ? $0.userID : nil })
        return unlocked
    }

    /// Returns the salt of the database; nil if there is no file, or it is empty.
    func databaseSalt() throws -> [UInt8]? {
        guard let status = try SystemFile.status(databasePath, followsLinks: true), status.size > 0 else {
            return nil
        }
        // Use the engine: closing a descriptor of our own would release the POSIX locks of this process's
        // connections.
        let connection = try EngineConnection(path: try SystemFile.resolved(databasePath), flags: .readOnly)
        let header = try FileHeader(connection.handle)
        guard header.salt != DatabaseHeader.magic else { throw KeyError.failure(.plaintextFile) }
        return header.salt
    }

    func checkIsByCopy(_ options: DatabaseFile.RotationOptions) throws(DatabaseFileError) {
        guard options.method == .copy else {
            throw DatabaseFileError(
                .unsupported("The data key of a keyring can only be rotated by a copy, not in place."),
                path: databasePath)
        }
    }

    func translated<Result>(_ body: () throws -> Result) throws -> Result {
        try DatabaseFileError.translated(path, body)
    }
}

extension UnlockedKeyring {
    /// Returns the data key of an epoch, with the salt that the database has in that epoch.
    func databaseKey(_ epoch: UInt64) throws -> DatabaseKey {
        guard let key = dataKey(epoch) else { return DatabaseKey(.invalid(.rawKeyLength(0))) }
        return DatabaseKey(.rawKey(key, salt: try KeyringCode.salt(id: document.id, epoch: epoch)))
    }
}
