internal import KeyMaterial
internal import SQLCipherBridge

/// A keyring that is being changed. The data keys are known, and sealing needs only the slots' public keys.
struct KeyringChange {
    private var document: KeyringDocument
    private var dataKeys: [SharedSecret]
    private let file: KeyringFile

    init(_ document: KeyringDocument, _ dataKeys: [SharedSecret], _ file: KeyringFile) {
        self.document = document
        self.dataKeys = dataKeys
        self.file = file
    }

    init(_ unlocked: UnlockedKeyring, _ file: KeyringFile) {
        self.init(unlocked.document, unlocked.dataKeys, file)
    }

    // MARK: - Slots

    /// - Returns: the number of the new slot: the one after the highest, or else the lowest free number.
    @discardableResult
    mutating func add(_ new: DatabaseKeyring.NewSlot) throws -> Int {
        guard document.slots.count < KeyringDocument.slotLimit else { throw file.problem(.full) }
        let taken = Set(document.slots.map(\.number))
        let after = (taken.max() ?? 0) + 1
        let free =
            after <= KeyringDocument.Slot.highestNumber
            ? after : (1...KeyringDocument.Slot.highestNumber).first { !taken.contains($0) }
        guard let number = free else { throw file.problem(.full) }
        document.slots.append(try slot(number, new))
        document.slots.sort { $0.number < $1.number }
        return number
    }

    mutating func remove(_ number: Int) throws {
        let index = try index(of: number)
        guard document.slots.count > 1 else { throw file.problem(.lastSlot) }
        document.slots.remove(at: index)
    }

    /// Gives a slot another secret, and keeps its number and its name.
    mutating func change(_ number: Int, to secret: DatabaseKeyring.Secret) throws {
        let index = try index(of: number)
        document.slots[index] = try slot(number, .secret(secret, name: document.slots[index].name))
    }

    private func index(of number: Int) throws(KeyError) -> Int {
        guard let index = document.slots.firstIndex(where: { $0.number == number }) else {
            throw file.problem(.noSlot(number))
        }
        return index
    }

    private func slot(_ number: Int, _ new: DatabaseKeyring.NewSlot) throws -> KeyringDocument.Slot {
        guard KeyringDocument.Slot.canBeName(new.name) else { throw file.problem(.invalidName) }
        var slot = KeyringDocument.Slot(
            number: number, way: .recipient, name: new.name, publicKey: [], sealed: [])
        switch new.kind {
        case .recipient(let recipient): slot.publicKey = recipient.publicKey
        case .carried(let original):
            slot.way = original.way
            slot.publicKey = original.publicKey
        case .secret(let secret):
            try secret.check(file)
            let privateKey: SharedSecret?
            do throws(KeyError) {
                guard let way = try secret.newWay() else { throw file.problem(.noMatchingSlot) }
                slot.way = way
                privateKey = try secret.privateKey(of: slot)
            } catch {
                throw error.ofProgram.map(file.problem) ?? error
            }
            guard let privateKey else { throw file.problem(.noMatchingSlot) }
            slot.publicKey = try KeyAgreement.publicKey(of: privateKey.bytes)
        }
        slot.sealed = try sealed(to: slot.publicKey)
        return slot
    }

    private func sealed(to publicKey: [UInt8]) throws -> [HPKE.Sealed] {
        try zip(document.epochs, dataKeys).map { epoch, key in
            do throws(HPKE.Failure) {
                return try HPKE.seal(
                    key.bytes, to: publicKey, info: KeyringCode.info(id: document.id, epoch: epoch))
            } catch {
                switch error {
                case .cryptography(let failure): throw failure
                case .randomness(let failure): throw failure
                case .unusablePublicKey: throw file.problem(.invalidRecipient)
                }
            }
        }
    }

    // MARK: - Data keys

    /// Adds a new data key next to the present one, sealed to all slots.
    mutating func beginRotation() throws {
        precondition(document.epochs.count == 1)
        guard document.epochs[0] < KeyringDocument.highestCount else { throw file.problem(.full) }
        dataKeys.append(SharedSecret(try SecretBytes.randomOfKey(count: 32)))
        document.epochs.append(document.epochs[0] + 1)
        for index in document.slots.indices {
            document.slots[index].sealed = try sealed(to: document.slots[index].publicKey)
        }
    }

    /// Removes all data keys except one.
    mutating func keep(epoch: UInt64) {
        guard let index = document.epochs.firstIndex(of: epoch) else { return }
        document.epochs = [epoch]
        dataKeys = [dataKeys[index]]
        for slot in document.slots.indices {
            document.slots[slot].sealed = [document.slots[slot].sealed[index]]
        }
    }

    // MARK: - Finishing

    /// Returns the keyring of the next generation, with its authentication codes.
    consuming func finished() throws -> UnlockedKeyring {
        // The generation is clamped: a previous holder of the data key may have written any value, and the
        // change must not make the keyring unreadable.
        document.generation = min(document.generation + 1, KeyringDocument.highestCount)
        // A text above the reader's limit could never be opened again.
        guard KeyringText.fits(document) else { throw file.problem(.full) }
        let body = KeyringText.body(of: document)
        let id = document.id
        document.codes = try dataKeys.map { key in try KeyringCode.code(of: body, dataKey: key.bytes, id: id)
        }
        return UnlockedKeyring(made: document, dataKeys)
    }
}
