public import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

/// The keyring beside a database: several ways to one random data key, with which the database is encrypted.
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
/// A keyring is a small file of text, described in <doc:KeyringFormat>. It holds no secret in the clear, and
/// it is needed to open the database: **back it up together with the database**. Who has the data key can
/// notice each change of it that was made without; who only has the file learns how many slots there are,
/// their kinds and names, and nothing of the keys.
///
/// Methods that change a keyring replace the file whole and durably: after a kill or a loss of power there is
/// the old keyring, or the new one. Databases that are open are not disturbed, and go on with the data key
/// that they have. All methods block the current thread: a passphrase takes about half a second. Errors are a
/// ``DatabaseFileError``, whose reason is a ``EncryptionFailure/keyring(path:_:)`` where the keyring itself
/// is at fault.
///
/// One process, or one thread, changes a keyring at a time; a rotation of the data key, or what gives a
/// database its keyring, is a change as long as it takes. The others wait as long as the lock timeout of
/// their call says, which is not at all by default, and get `changeUnderWay` then.
public struct DatabaseKeyring: Sendable, Hashable {
    /// The path of the database. It need not exist.
    public let databasePath: String

    /// Names a keyring. Nothing is opened.
    public init(databasePath: String) {
        self.databasePath = databasePath
    }

    /// The path of the keyring: that of the database, which symbolic links are followed to, with `.keys`.
    public var path: String { "\((try? SystemFile.resolved(databasePath)) ?? databasePath).keys" }

    var file: KeyringFile { KeyringFile(path: path) }

    /// A slot that is to be made.
    public struct NewSlot: Sendable {
        enum Kind: Sendable {
            case secret(Secret)
            case recipient(Recipient)
            case carried(KeyringDocument.Slot)
        }

        let kind: Kind
        let name: String

        /// A slot that the secret opens. The slot of an identity is that of its recipient.
        ///
        /// - Parameters:
        ///   - secret: what opens the slot.
        ///   - name: for people, at most 64 bytes on one line. It is not secret.
        public static func secret(_ secret: Secret, name: String = "") -> NewSlot {
            NewSlot(kind: .secret(secret), name: name)
        }

        /// The same slot with another name.
        public func named(_ name: String) -> NewSlot { NewSlot(kind: kind, name: name) }

        /// A slot that only who has the identity of the recipient opens.
        ///
        /// - Parameters:
        ///   - recipient: who can open the slot.
        ///   - name: for people, at most 64 bytes on one line. It is not secret.
        public static func recipient(_ recipient: Recipient, name: String = "") -> NewSlot {
            NewSlot(kind: .recipient(recipient), name: name)
        }
    }
}

// MARK: - Making and looking

extension DatabaseKeyring {
    /// Makes the keyring, with a random data key that is nowhere else. The database gets that key when it is
    /// made with ``DatabaseKey/keyring(unlockedBy:)``.
    ///
    /// With recipients only, this process cannot open the database afterwards.
    ///
    /// - Parameters:
    ///   - slots: at least one.
    ///   - lockTimeout: how long to wait for others who make it too, in seconds.
    /// - Throws: `exists` if there is a keyring, or a database that is not empty: use
    ///   ``adopt(_:key:options:progress:)`` for that one.
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

    /// Makes the keyring of a copy, and has the copy made: a backup, a compact copy, or the encrypted copy of
    /// a plaintext file.
    ///
    /// ```swift
    /// // A host that makes backups that it cannot read itself:
    /// try DatabaseKeyring(databasePath: backupPath).make([.recipient(owner)]) { key in
    ///     try queue.vacuum(into: backupPath, key: key)
    /// }
    /// ```
    ///
    /// The keyring is there before the copy is begun. If the process is killed, the keyring may stay without
    /// a copy, and this throws `exists` the next time. Backups of files need no such look of a person: see
    /// ``DatabaseFile/backup(to:key:slots:options:progress:)``.
    ///
    /// - Parameters:
    ///   - slots: at least one; ``slotsForCopies(unlockedBy:)`` are those of another keyring.
    ///   - lockTimeout: how long to wait for others who make it too, in seconds.
    ///   - copy: makes the database with the key that it is given: a new data key, with its salt.
    /// - Throws: what `copy` throws: there is no keyring then, unless the database has its place and the new
    ///   key already. `exists` as ``make(_:lockTimeout:)``.
    public func make<Result>(
        _ slots: [NewSlot], lockTimeout: TimeInterval = 0,
        copying copy: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        guard try translated({ try SystemFile.status(databasePath) }) == nil else {
            throw DatabaseFileError(.exists, path: databasePath)
        }
        // Whoever makes the copy or its keyring now is met below.
        try? removeLeft()
        return try making(slots, lockTimeout, copy)
    }

    /// Makes the keyring of a new database, and has the database made; completes what an interrupted run has
    /// made of the two.
    ///
    /// - Parameters:
    ///   - slots: at least one.
    ///   - lockTimeout: how long to wait for others who make it too, in seconds.
    ///   - open: opens the database with the key that it is given, which makes one where there is none. There
    ///     may be a database with this key already, and nobody knows whether it is of an interrupted run.
    ///     Called again where the file is empty afterwards.
    /// - Throws: `ofAnotherFile` where the database has another key.
    package func makeDatabase<Result>(
        _ slots: [NewSlot], lockTimeout: TimeInterval, _ open: (_ key: DatabaseKey) throws -> Result
    ) throws -> Result {
        // A new keyring would never be that of a database that is there.
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
            // A journal of the interrupted run says that the file had no page, and has been played back.
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

    /// Runs the work that gives the database the data key of a new keyring. Nobody else changes the keyring,
    /// or does such a work with it, meanwhile: they wait, or get `changeUnderWay` and leave it.
    ///
    /// - Parameter isNew: whether this process has made the keyring: it goes where the work fails.
    private func holding<Result>(
        _ made: UnlockedKeyring, isNew: Bool, _ lockTimeout: TimeInterval, _ body: () throws -> Result
    ) throws -> Result {
        // Errors of the body leave as they are, and those of the keyring with its path.
        var result: Swift.Result<Result, any Error>?
        try translated {
            do {
                try file.changing(waiting: lockTimeout) { bytes, _ in
                    guard try file.document(of: bytes).document == made.document else {
                        throw file.problem(.changed)
                    }
                    let outcome = Swift.Result(catching: body)
                    if case .failure = outcome, isNew, !mayHaveKey(of: made) { try? file.destroy(bytes) }
                    result = outcome
                }
            } catch {
                // Who has made it has failed, and taken it away, while this process was waiting.
                if case .keyring(_, .missing) = (error as? KeyError)?.failure {
                    throw file.problem(.changed)
                }
                throw error
            }
        }
        guard let result else { preconditionFailure("the keyring was held without the work") }
        return try result.get()
    }

    /// Whether the database has the data key of a keyring, so that nothing else would open it.
    ///
    /// What a work has thrown does not tell: it may be an error of the caller, who was told of the database
    /// in its place. So the database is asked. Where it cannot be read, the answer is yes.
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

    /// The slots of this keyring, to be made in the keyring of a copy: whoever opens this one opens that one,
    /// and nobody's passphrase is needed.
    ///
    /// - Parameter secret: what opens a slot of this keyring: so nobody has added a slot unnoticed.
    /// - Throws: `ofAnotherUser` and others where neither the database nor its owner confirms the keyring.
    public func slotsForCopies(unlockedBy secret: Secret) throws -> [NewSlot] {
        try translated {
            try unlockTrusted(secret).document.slots.map { NewSlot(kind: .carried($0), name: $0.name) }
        }
    }

    /// Makes the file of a new keyring, or takes the one that an interrupted run has made: it is this user's,
    /// was never changed, has the same slots, and one of their secrets opens it.
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

    /// Whether the keyring that is there, and which the run of before has made, is that of the database, so
    /// that ``makeDatabase(_:lockTimeout:_:)`` completes it. If not, it is for a database with a former key.
    ///
    /// - Parameter slots: those that the keyring was made with.
    /// - Throws: `exists` where it was made with others.
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

    /// Makes the file of a new keyring.
    func makeFile(_ slots: [NewSlot], _ lockTimeout: TimeInterval = 0) throws -> UnlockedKeyring {
        let made = try newKeyring(slots)
        try file.make(KeyringText.file(of: made.document), waiting: lockTimeout)
        return made
    }

    func newKeyring(_ slots: [NewSlot]) throws -> UnlockedKeyring {
        let id = try SecretBytes.randomForKeyring(count: KeyringDocument.idSize).withUnsafeBytes {
            unsafe Array($0)
        }
        let empty = KeyringDocument(id: id, generation: 0, epochs: [1], slots: [], codes: [])
        var change = KeyringChange(empty, [SharedSecret(try SecretBytes.randomForKeyring(count: 32))], file)
        guard !slots.isEmpty else { throw file.problem(.lastSlot) }
        for slot in slots { try change.add(slot) }
        return try change.finished()
    }

    /// Makes a database that is encrypted with some other key one with a keyring: its key is rotated to a new
    /// data key.
    ///
    /// Interrupted? The database has its former key, or is complete. Call it again with the same slots, one
    /// of which has a secret: it completes the work.
    ///
    /// - Parameters:
    ///   - slots: at least one.
    ///   - key: the key that the database has. It does not open the database afterwards.
    ///   - options: of the rotation; `inPlace` is not possible, because the salt changes. Its lock timeout is
    ///     that for others who change the keyring, too.
    ///   - progress: called with the pages that were done; throws to end it.
    /// - Returns: what the rotation has proved.
    @discardableResult
    public func adopt(
        _ slots: [NewSlot], key: DatabaseKey, options: DatabaseFile.RotationOptions = .init(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        try translated {
            try checkIsByCopy(options)
            // The key is tried before there is a keyring.
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

    /// Opens the keyring and proves that it was written by who had the data key, that both copies in it are
    /// whole, and that it is that of the database, if there is one.
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

    /// The raw key of the database, such as for the shell of SQLCipher, or to be kept in a safe. It opens the
    /// database without the keyring, until the data key is rotated.
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

    // MARK: - For all methods

    func unlock(_ document: KeyringDocument, _ secret: Secret) throws(KeyError) -> UnlockedKeyring {
        try secret.check(file)
        return try UnlockedKeyring.unlock(document, by: secret, file)
    }

    /// Opens a keyring whose data key or slots are to be used for another file: one that the salt of the
    /// database confirms, or else one that no other user than its owner can have made.
    func unlockTrusted(_ secret: Secret) throws -> UnlockedKeyring {
        let document = try file.document().document
        let unlocked = try unlock(document, secret)
        // The first bytes may be what is damaged.
        if let salt = try? databaseSalt(), (try? unlocked.epoch(ofSalt: salt, file)) != nil {
            return unlocked
        }
        let database = try SystemFile.status(databasePath, followsLinks: true)
        try file.checkIsTrusted(document, orOf: database.flatMap { $0.size > 0 ? $0.userID : nil })
        return unlocked
    }

    /// The salt of the database; nil where there is none, or an empty file.
    func databaseSalt() throws -> [UInt8]? {
        guard let status = try SystemFile.status(databasePath, followsLinks: true), status.size > 0 else {
            return nil
        }
        // Through the engine: closing a descriptor of our own would drop the locks of connections that this
        // process has.
        let connection = try EngineConnection(path: try SystemFile.resolved(databasePath), flags: .readOnly)
        let header = try FileHeader(connection.handle)
        guard header.salt != DatabaseHeader.magic else { throw KeyError.failure(.plaintextFile) }
        return header.salt
    }

    func checkIsByCopy(_ options: DatabaseFile.RotationOptions) throws(DatabaseFileError) {
        guard options.method == .copy else {
            throw DatabaseFileError(
                .unsupported("The data key of a keyring is rotated by a copy, never in place."),
                path: databasePath)
        }
    }

    func translated<Result>(_ body: () throws -> Result) throws -> Result {
        try DatabaseFileError.translated(path, body)
    }
}

extension UnlockedKeyring {
    /// The data key of an epoch, with the salt that the database has with it.
    func databaseKey(_ epoch: UInt64) throws -> DatabaseKey {
        guard let key = dataKey(epoch) else { return DatabaseKey(.invalid(.rawKeyLength(0))) }
        return DatabaseKey(.rawKey(key, salt: try KeyringCode.salt(id: document.id, epoch: epoch)))
    }
}
