extension DatabaseKeyring {
    /// The information in a keyring that can be read without a key. None of it is verified.
    public struct Contents: Sendable, Hashable {
        /// One slot.
        public struct Slot: Sendable, Hashable {
            /// The kind of secret that opens a slot.
            public enum Kind: String, Sendable, Hashable, CaseIterable {
                /// A passphrase, which is stretched.
                case passphrase, rawKey, recoveryKey, recipient, command
            }

            /// A number from 1 to 99, which does not change when other slots are removed.
            public var number: Int
            /// The kind of secret that opens the slot.
            public var kind: Kind
            /// A name for people; may be empty.
            public var name: String
            /// The cost of each guess at the slot; nil for a slot that is not opened by a passphrase.
            public var passphraseCost: PassphraseCost?
            /// The public key to which data keys are sealed. For a recipient slot, this is the recipient that
            /// it was created with.
            public var recipient: Recipient
        }

        /// 16 bytes that identify the keyring and are unique to it.
        public var id: [UInt8]

        /// The number of times that the keyring was written.
        public var generation: UInt64

        /// The number of rotations of the data key, plus one.
        public var epoch: UInt64

        /// True if a rotation of the data key was interrupted:
        /// ``rotateDataKey(unlockedBy:options:progress:)`` completes it.
        public var isRotating: Bool
        /// The slots, in the order of their numbers.
        public var slots: [Slot]

        /// The damage to one of the two copies in the file. The other copy is intact, and any change of the
        /// keyring rewrites both.
        public var damage: [KeyringDamage]
    }

    /// Reads the keyring without a key.
    public func inspect() throws -> Contents {
        try located { place in
            let (document, damage) = try place.file.document()
            return Contents(document, damage)
        }
    }
}

extension DatabaseKeyring.Contents {
    init(_ document: KeyringDocument, _ damage: [KeyringDamage]) {
        id = document.id
        generation = document.generation
        epoch = document.epochs[0]
        isRotating = document.epochs.count > 1
        slots = document.slots.map { slot in
            Slot(
                number: slot.number, kind: Slot.Kind(slot.way), name: slot.name,
                passphraseCost: slot.way.passphraseCost,
                recipient: DatabaseKeyring.Recipient(publicKey: slot.publicKey))
        }
        self.damage = damage
    }
}

extension KeyringDocument.Way {
    fileprivate var passphraseCost: DatabaseKeyring.PassphraseCost? {
        guard case .passphrase(let cost, _) = self else { return nil }
        return DatabaseKeyring.PassphraseCost(cost)
    }
}

extension DatabaseKeyring.Contents.Slot.Kind {
    init(_ way: KeyringDocument.Way) {
        switch way {
        case .passphrase: self = .passphrase
        case .rawKey: self = .rawKey
        case .recoveryKey: self = .recoveryKey
        case .recipient: self = .recipient
        case .command: self = .command
        }
    }
}
