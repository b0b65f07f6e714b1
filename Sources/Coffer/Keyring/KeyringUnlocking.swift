internal import KeyMaterial
internal import SQLCipherBridge

/// A keyring whose data keys are known, and which was verified to have been written with them.
struct UnlockedKeyring: Sendable {
    let document: KeyringDocument
    /// The data key of each epoch of the document.
    let dataKeys: [SharedSecret]
    /// The number of the slot that was opened.
    let slotNumber: Int

    /// Creates the result of a ``KeyringChange``.
    init(made document: KeyringDocument, _ dataKeys: [SharedSecret]) {
        self.init(document, dataKeys, slotNumber: 0)
    }

    private init(_ document: KeyringDocument, _ dataKeys: [SharedSecret], slotNumber: Int) {
        self.document = document
        self.dataKeys = dataKeys
        self.slotNumber = slotNumber
    }

    /// Tries the secret on each slot of its kind.
    ///
    /// - Throws: ``EncryptionFailure/KeyringProblem/noMatchingSlot`` or `notAuthentic`.
    static func unlock(_ document: KeyringDocument, by secret: DatabaseKeyring.Secret, _ file: KeyringFile)
        throws(KeyError)
        -> UnlockedKeyring
    {
        // Continue after an error: a program may know one slot of its kind and fail for another, and memory
        // may be too small for the cost of one slot but large enough for another's.
        var failure: KeyError?
        for slot in document.slots {
            let key: SharedSecret?
            do throws(KeyError) {
                key = try secret.privateKey(of: slot)
            } catch {
                guard let problem = error.ofProgram else {
                    guard case .engine = error else { throw error }
                    failure = error
                    continue
                }
                failure = file.problem(problem)
                // Stop at a timeout: with write access to the keyring, an attacker could add slots that each
                // cost as much time.
                if case .command(_, .outOfTime) = problem { break }
                continue
            }
            guard let privateKey = key else { continue }
            let keys = try cryptographically { () throws(CryptographyFailure) -> [SharedSecret]? in
                guard try KeyAgreement.publicKey(of: privateKey.bytes) == slot.publicKey else { return nil }
                return try dataKeys(of: slot, document, privateKey.bytes)
            }
            guard let keys else { continue }
            let isAuthentic = try cryptographically { () throws(CryptographyFailure) in
                try codesFit(document, keys)
            }
            guard isAuthentic else { throw file.problem(.notAuthentic) }
            return UnlockedKeyring(document, keys, slotNumber: slot.number)
        }
        throw failure ?? file.problem(.noMatchingSlot)
    }

    /// Returns the data keys; empty if a sealed key is not authentic.
    private static func dataKeys(
        of slot: KeyringDocument.Slot, _ document: KeyringDocument, _ privateKey: borrowing SecretBytes
    ) throws(CryptographyFailure) -> [SharedSecret] {
        var keys: [SharedSecret] = []
        for (epoch, sealed) in zip(document.epochs, slot.sealed) {
            let info = KeyringCode.info(id: document.id, epoch: epoch)
            guard let key = try HPKE.open(sealed, privateKey: privateKey, info: info) else { return [] }
            keys.append(SharedSecret(key))
        }
        return keys
    }

    private static func codesFit(_ document: KeyringDocument, _ keys: [SharedSecret])
        throws(CryptographyFailure) -> Bool
    {
        guard keys.count == document.epochs.count, keys.count == document.codes.count else { return false }
        let body = KeyringText.body(of: document)
        for (key, code) in zip(keys, document.codes) {
            guard
                KeyringCode.isEqual(try KeyringCode.code(of: body, dataKey: key.bytes, id: document.id), code)
            else { return false }
        }
        return true
    }

    /// Returns the data key of an epoch.
    func dataKey(_ epoch: UInt64) -> SharedSecret? {
        zip(document.epochs, dataKeys).first { $0.0 == epoch }.map { $0.1 }
    }

    /// Returns true if this keyring has all data keys of another one.
    func hasDataKeys(of other: UnlockedKeyring) -> Bool {
        zip(other.document.epochs, other.dataKeys).allSatisfy { epoch, key in
            guard let own = dataKey(epoch) else { return false }
            return own.bytes == key.bytes
        }
    }

    /// Returns the epoch of the data key that a database with this salt has.
    ///
    /// - Throws: `olderThanFile` or `newerThanFile` if the keyring has another epoch; `ofAnotherFile` if the
    ///   two do not belong together.
    func epoch(ofSalt salt: [UInt8], _ file: KeyringFile) throws(KeyError) -> UInt64 {
        try document.epoch(ofSalt: salt, file)
    }
}

extension KeyringDocument {
    /// Returns the same without a secret.
    func epoch(ofSalt salt: [UInt8], _ file: KeyringFile) throws(KeyError) -> UInt64 {
        let (id, known) = (id, epochs)
        let found = try cryptographically { () throws(CryptographyFailure) -> UInt64? in
            for epoch in known where try KeyringCode.salt(id: id, epoch: epoch) == salt { return epoch }
            // A data key is rotated a few times in its life, so the search covers far more epochs than are
            // ever used.
            let first = known[0] > 4096 ? known[0] - 4096 : 1
            for epoch in first...known[0] + 4096 where try KeyringCode.salt(id: id, epoch: epoch) == salt {
                return epoch
            }
            return nil
        }
        guard let found else { throw file.problem(.ofAnotherFile) }
        if known.contains(found) { return found }
        throw file.problem(found > known[0] ? .olderThanFile : .newerThanFile)
    }
}

extension KeyError {
    /// The problem of a program that opens slots.
    var ofProgram: EncryptionFailure.KeyringProblem? {
        guard case .keyring(_, let problem) = failure, case .command = problem else { return nil }
        return problem
    }
}
