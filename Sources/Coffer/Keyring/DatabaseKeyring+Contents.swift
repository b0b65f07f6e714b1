extension DatabaseKeyring {
    /// What a keyring says without any key. Nothing of it is proved.
    public struct Contents: Sendable, Hashable {
        /// One slot.
        public struct Slot: Sendable, Hashable {
            /// How the slot is opened.
            public enum Kind: String, Sendable, Hashable, CaseIterable {
                /// A passphrase, which is stretched.
                case passphrase, rawKey, recoveryKey, recipient, command
            }

            /// From 1 to 99; numbers stay when other slots are removed.
            public var number: Int
            /// What opens the slot.
            public var kind: Kind
            /// For people; may be empty.
            public var name: String
            /// The cost of each guess at the slot; nil for a slot that is not opened by a passphrase.
            public var passphraseCost: PassphraseCost?
            /// What seals to the slot. That of a recipient slot is the recipient it was made with.
            public var recipient: Recipient
        }

        /// 16 bytes that no other keyring has.
        public var id: [UInt8]

        /// How many times the keyring was written.
        public var generation: UInt64

        /// How many times the data key was rotated, and one more.
        public var epoch: UInt64

        /// Whether a rotation of the data key was interrupted:
        /// ``rotateDataKey(unlockedBy:options:progress:)`` completes it.
        public var isRotating: Bool
        /// The slots, in the order of their numbers.
        public var slots: [Slot]

        /// Where one of the two copies in the file is damaged. The other one is whole; any change of the
        /// keyring writes both anew.
        public var damage: [KeyringDamage]
    }

    /// Reads the keyring without a key.
    public func inspect() throws -> Contents {
        try translated {
            let (document, damage) = try file.document()
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
