internal import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

/// A keyring whose database does not have the data key yet: one that was just created, or that an interrupted
/// run has left.
struct NewKeyring {
    let place: KeyringPlace
    let content: UnlockedKeyring

    /// True if this run has created the file. It is then removed if the database does not get the key.
    private let isOwn: Bool

    private let lockTimeout: TimeInterval
}

extension NewKeyring {
    /// Creates the file.
    ///
    /// - Parameters:
    ///   - lockTimeout: the time to wait for other processes that create it, in seconds.
    ///   - keepsNote: true if ``give(marking:to:)`` follows.
    /// - Throws: `exists` if there is a file.
    init(
        making slots: [DatabaseKeyring.NewSlot], at place: KeyringPlace, _ lockTimeout: TimeInterval = 0,
        keepsNote: Bool = false
    ) throws {
        let content = try NewKeyring.content(slots, place.file)
        try place.file.make(
            KeyringText.file(of: content.document), waiting: lockTimeout, keepsNote: keepsNote)
        self.init(place: place, content: content, isOwn: true, lockTimeout: lockTimeout)
    }

    /// Creates the file, or reuses one from an interrupted run: it belongs to this user, was never changed,
    /// and all of these slots open it. Either the database has its data key, or the note of the run is there.
    /// Any other keyring may be the only one that opens a database that was moved.
    init(_ slots: [DatabaseKeyring.NewSlot], at place: KeyringPlace, _ lockTimeout: TimeInterval) throws {
        do {
            try self.init(making: slots, at: place, lockTimeout, keepsNote: true)
        } catch let error as DatabaseFileError where error.reason == .exists {
            guard let found = NewKeyring.ofInterruptedRun(slots, at: place) else { throw error }
            self.init(place: place, content: found, isOwn: false, lockTimeout: lockTimeout)
        }
    }

    static func ofInterruptedRun(_ slots: [DatabaseKeyring.NewSlot], at place: KeyringPlace)
        -> UnlockedKeyring?
    {
        let secrets = slots.compactMap { slot in
            if case .secret(let secret) = slot.kind { secret } else { nil }
        }
        guard let secret = secrets.first, let document = try? place.file.trustedDocument(),
            document.generation == 1, document.epochs.count == 1, document.slots.count == slots.count,
            zip(document.slots, slots).allSatisfy({ (try? $0.isMade(of: $1, place.file)) == true }),
            (try? place.isOfDatabase(document)) == true || place.file.isBeingMade
        else { return nil }
        return try? place.unlock(document, secret)
    }

    /// Returns a keyring with a random data key and no file.
    static func content(_ slots: [DatabaseKeyring.NewSlot], _ file: KeyringFile) throws -> UnlockedKeyring {
        let id = try SystemRandomness.bytesOfKey(count: KeyringDocument.idSize)
        let empty = KeyringDocument(id: id, generation: 0, epochs: [1], slots: [], codes: [])
        var change = KeyringChange(empty, [SharedSecret(try SecretBytes.randomOfKey(count: 32))], file)
        guard !slots.isEmpty else { throw file.problem(.lastSlot) }
        for slot in slots { try change.add(slot) }
        return try change.finished()
    }

    /// Calls `work`, which gives the database the data key, and holds the keyring's lock meanwhile. Other
    /// processes that change the keyring or do such work wait, or throw `changeUnderWay` and leave it
    /// unchanged.
    ///
    /// - Parameter mark: see ``KeyringFile/adoptionMark``. Nil if the work does not restore a database.
    /// - Throws: the error of `work`, unchanged; a ``DatabaseFileError`` with the keyring's path.
    func give<Result>(marking mark: ReplacementNote? = nil, to work: (_ key: DatabaseKey) throws -> Result)
        throws -> Result
    {
        let file = place.file
        return try place.translated {
            do {
                return try file.changing(waiting: lockTimeout) { bytes in
                    guard try file.document(of: bytes).document == content.document else {
                        throw file.problem(.changed)
                    }
                    return mark ?? KeyringFile.newMakingMark()
                } staysInMaking: { (result: Swift.Result<Result, any Error>) in
                    isWithoutDatabase(result)
                } _: { _, _ in
                    let result = Swift.Result { try work(key()) }
                    if case .failure = result, isOwn { place.takeBack(content) }
                    place.giveOwnerOfDatabase(to: content)
                    return result
                }
            } catch {
                // While this process was waiting, the creator of the keyring failed and removed it.
                if case .keyring(_, .missing) = (error as? KeyError)?.failure {
                    throw file.problem(.changed)
                }
                throw error
            }
        }.get()
    }

    /// Returns true if the work has failed, and the keyring stays for the next run.
    private func isWithoutDatabase<Value>(_ result: Swift.Result<Value, any Error>) -> Bool {
        guard result.isFailure, (try? place.file.isThere()) == true else { return false }
        return (try? place.isOfDatabase(content.document)) != true
    }

    private func key() throws -> DatabaseKey {
        try place.translated { try content.databaseKey(content.document.epochs[0]) }
    }
}

extension KeyringDocument.Slot {
    /// Returns true if the slot has the name, and opens with the secret or for the recipient, of a new slot.
    fileprivate func isMade(of new: DatabaseKeyring.NewSlot, _ file: KeyringFile) throws -> Bool {
        guard name.hasSameBytes(as: new.name) else { return false }
        switch new.kind {
        case .recipient(let recipient): return way == .recipient && publicKey == recipient.publicKey
        case .carried(let original): return way == original.way && publicKey == original.publicKey
        case .secret(let secret):
            try secret.check(file)
            guard let privateKey = try secret.privateKey(of: self) else { return false }
            return try KeyAgreement.publicKey(of: privateKey.bytes) == publicKey
        }
    }
}
