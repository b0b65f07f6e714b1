internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

extension DatabaseKeyring {
    /// A secret that opens a slot of a keyring: a passphrase, a raw key, a recovery key, the identity of a
    /// recipient, or a program.
    ///
    /// ```swift
    /// config.key = .keyring(unlockedBy: .passphrase("correct horse battery staple"))
    /// ```
    ///
    /// A passphrase costs about half a second and 128 MiB of memory for each slot on which it is tried:
    /// copies of a secret share the result. It is kept, locked and wiped like the bytes of a ``DatabaseKey``,
    /// and shows nothing when it is printed.
    public struct Secret: Sendable {
        enum Kind: Sendable {
            case passphrase(StretchedPassphrase)
            case rawKey(SharedSecret)
            case recoveryKey(SharedSecret)
            case identity(SharedSecret)
            case command(ProgramSecret)
        }

        let kind: Kind?
        /// The reason why there is no kind.
        private let problem: EncryptionFailure?

        init(_ kind: Kind) {
            self.kind = kind
            problem = nil
        }

        private init(refused problem: EncryptionFailure) {
            kind = nil
            self.problem = problem
        }

        /// Creates a secret from a passphrase, used as its UTF-8 bytes.
        ///
        /// - Parameters:
        ///   - passphrase: any text that is not empty.
        ///   - cost: the cost of each guess at slots created with this secret. An existing slot is opened at
        ///     the cost that it was created with.
        public static func passphrase(_ passphrase: String, cost: PassphraseCost = .standard) -> Secret {
            Secret(passphrase: SecretBytes(utf8: passphrase), cost)
        }

        /// Creates a secret from a passphrase given as bytes, such as `Data` or `[UInt8]`: see
        /// ``passphrase(_:cost:)-(String,_)``.
        public static func passphrase(
            _ bytes: some Sequence<UInt8>, cost: PassphraseCost = .standard
        ) -> Secret {
            Secret(passphrase: SecretBytes(bytes), cost)
        }

        private init(passphrase bytes: consuming SecretBytes, _ cost: PassphraseCost) {
            if bytes.isEmpty {
                self.init(refused: .invalidKey(.emptyPassphrase))
            } else {
                self.init(.passphrase(StretchedPassphrase(bytes, cost.stretching)))
            }
        }

        /// Creates a secret from 32 random bytes, for programs. It needs no stretching. It is not the raw key
        /// of the database.
        public static func rawKey(_ bytes: some Sequence<UInt8>) -> Secret {
            let bytes = SecretBytes(bytes)
            let count = bytes.count
            return count == 32
                ? Secret(.rawKey(SharedSecret(bytes))) : Secret(refused: .invalidKey(.rawKeyLength(count)))
        }

        /// Creates a secret from a recovery key as typed from a sheet. Grouping, spaces and case are ignored.
        public static func recoveryKey(_ text: some Sequence<UInt8>) -> Secret {
            guard let bytes = RecoveryText.read(SecretBytes(text)) else {
                return Secret(refused: .keyring(path: "", .invalidRecoveryKey))
            }
            return Secret(.recoveryKey(bytes))
        }

        /// Creates a secret from the text of an ``Identity``, such as the content of a file written by
        /// `coffer keygen --recipient`.
        public static func identity(_ text: some Sequence<UInt8>) -> Secret {
            guard let bytes = Identity.read(SecretBytes(text)) else {
                return Secret(refused: .keyring(path: "", .invalidRecipient))
            }
            return Secret(.identity(bytes))
        }

        /// Creates a secret that a program answers. The program is run when it is needed: once for each slot
        /// of its kind, and twice to create one.
        public static func command(_ command: Command) -> Secret { Secret(.command(ProgramSecret(command))) }

        /// - Throws: the reason if the secret can never open anything.
        func check(_ file: KeyringFile) throws(KeyError) {
            switch problem {
            case .keyring(_, let problem): throw file.problem(problem)
            case .some(let problem): throw .failure(problem)
            case nil: break
            }
        }

        /// Returns the private key that this secret gives for a slot, which may be wrong; nil for a slot of
        /// another kind.
        func privateKey(of slot: KeyringDocument.Slot) throws(KeyError) -> SharedSecret? {
            guard let kind else { return nil }
            if case .command(let program) = kind, case .command(let challenge, let token) = slot.way {
                return try program.privateKey(slot.way, challenge: challenge, token: token)
            }
            return try cryptographically { () throws(CryptographyFailure) -> SharedSecret? in
                switch (kind, slot.way) {
                case (.passphrase(let passphrase), .passphrase(let cost, let salt)):
                    try passphrase.privateKey(salt: salt, cost)
                case (.rawKey(let secret), .rawKey), (.recoveryKey(let secret), .recoveryKey):
                    SharedSecret(try KeyringCode.privateKey(secret.bytes, slot.way))
                case (.identity(let secret), .recipient): secret
                default: nil
                }
            }
        }

        /// Returns the source of the private key for a new slot of this secret; nil if the secret is invalid.
        func newWay() throws(KeyError) -> KeyringDocument.Way? {
            guard let kind else { return nil }
            switch kind {
            case .rawKey: return .rawKey
            case .recoveryKey: return .recoveryKey
            case .identity: return .recipient
            case .command(let program): return try program.newWay()
            case .passphrase(let passphrase):
                return .passphrase(
                    passphrase.cost, salt: try SystemRandomness.bytesOfKey(count: KeyringCode.saltSize))
            }
        }
    }
}

extension DatabaseKeyring.Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `Secret(<redacted>)`.
    public var description: String { "Secret(<redacted>)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A passphrase, and the private keys derived from it (invariant "Derived once"). One derivation serves all
/// queues and pools of a configuration.
final class StretchedPassphrase: Sendable {
    private let bytes: SecretBytes
    /// The cost of new slots.
    let cost: PassphraseStretching.Cost
    private let keys = Mutex<[(salt: [UInt8], cost: PassphraseStretching.Cost, key: SharedSecret)]>([])

    init(_ bytes: consuming SecretBytes, _ cost: PassphraseStretching.Cost) {
        self.bytes = bytes
        self.cost = cost
    }

    /// Returns the private key of a slot. Other threads wait during a derivation.
    func privateKey(salt: [UInt8], _ cost: PassphraseStretching.Cost) throws(CryptographyFailure)
        -> SharedSecret
    {
        try keys.withLock { keys throws(CryptographyFailure) in
            if let known = keys.first(where: { $0.salt == salt && $0.cost == cost }) { return known.key }
            let key = SharedSecret(
                try HPKE.privateKey(seed: PassphraseStretching.derive(bytes, salt: salt, cost)))
            keys.append((salt, cost, key))
            if keys.count > KeyringDocument.slotLimit { keys.removeFirst() }
            return key
        }
    }
}
