internal import KeyMaterial
internal import SQLCipherBridge

/// A keyring whose data keys are known, and which is proved to be what was written by who had them.
struct UnlockedKeyring: Sendable {
    let document: KeyringDocument
    /// One for each epoch of the document.
    let dataKeys: [SharedSecret]
    /// The number of the slot that was opened.
    let slotNumber: Int

    /// What ``KeyringChange`` has made.
    init(made document: KeyringDocument, _ dataKeys: [SharedSecret]) {
        self.init(document, dataKeys, slotNumber: 0)
    }

    private init(_ document: KeyringDocument, _ dataKeys: [SharedSecret], slotNumber: Int) {
        self.document = document
        self.dataKeys = dataKeys
        self.slotNumber = slotNumber
    }

    /// Tries the slots that a secret can open.
    ///
    /// - Throws: ``EncryptionFailure/KeyringProblem/noMatchingSlot`` or `notAuthentic`.
    static func unlock(_ document: KeyringDocument, by secret: DatabaseKeyring.Secret, _ file: KeyringFile)
        throws(KeyError)
        -> UnlockedKeyring
    {
        // A program may know one slot of its kind and fail for another one, and the memory may be too small
        // for the cost of one slot and large enough for that of another one.
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
                // Whoever can write to the keyring could have the next slot cost as much time.
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

    /// Empty where a sealed key is not authentic.
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

    /// The data key of an epoch.
    func dataKey(_ epoch: UInt64) -> SharedSecret? {
        zip(document.epochs, dataKeys).first { $0.0 == epoch }.map { $0.1 }
    }

    /// Which data key a database with this salt has.
    ///
    /// - Throws: which of the two is older, or that they do not belong together.
    func epoch(ofSalt salt: [UInt8], _ file: KeyringFile) throws(KeyError) -> UInt64 {
        let id = document.id
        let known = document.epochs
        let found = try cryptographically { () throws(CryptographyFailure) -> UInt64? in
            for epoch in known where try KeyringCode.salt(id: id, epoch: epoch) == salt { return epoch }
            // A data key is rotated a few times in its life: the search ends where nobody comes.
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
    /// What a program that opens slots has done wrong.
    var ofProgram: EncryptionFailure.KeyringProblem? {
        guard case .keyring(_, let problem) = failure, case .command = problem else { return nil }
        return problem
    }
}

/// Runs what computes, and throws its errors as those of keys.
func cryptographically<Result>(_ body: () throws(CryptographyFailure) -> Result) throws(KeyError) -> Result {
    do throws(CryptographyFailure) { return try body() } catch { throw KeyError(error) }
}

extension KeyError {
    init(_ failure: CryptographyFailure) {
        self = .engine(EngineError(code: EngineCode.error, message: "\(failure.function) failed"))
    }
}
