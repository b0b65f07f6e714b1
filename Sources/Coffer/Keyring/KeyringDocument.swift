internal import SQLCipherBridge

/// The contents of a keyring, without any secret: see the article on its format.
///
/// ``KeyringText`` reads and writes it. Its authenticity is verified with the data key: ``KeyringCode``.
struct KeyringDocument: Equatable, Sendable {
    static let idSize = 16

    /// The maximum number of slots of a keyring.
    static let slotLimit = 32

    /// The identifier, which is chosen at random when the keyring is created, and never changes. The salts of
    /// the database are derived from it.
    var id: [UInt8]

    /// A limit that the counts of a keyring never reach in practice. It prevents an integer overflow, which
    /// would crash the process, if a count was forged.
    static let highestCount: UInt64 = 1_000_000_000_000

    /// The number of random bytes that a program gets for its slot.
    static let challengeSize = 32

    /// The maximum size of a program's token, in bytes. Keys wrapped by key services and TPMs have a few
    /// hundred bytes.
    static let tokenLimit = 1024

    /// The number of times that the keyring was written, from 1.
    var generation: UInt64

    /// The numbers of the keyring's data keys: one, or two consecutive ones during a rotation.
    var epochs: [UInt64]

    /// The slots in the order of their numbers.
    var slots: [Slot]

    /// The authentication code of the text for each epoch, computed with that epoch's data key.
    var codes: [[UInt8]]

    /// One way to unlock the data keys.
    struct Slot: Equatable, Sendable {
        /// A number from 1, which identifies the slot as long as it exists.
        var number: Int
        var way: Way
        /// A name for people; may be empty.
        var name: String
        var publicKey: [UInt8]
        /// The sealed data key of each epoch.
        var sealed: [HPKE.Sealed]
    }

    /// The source of a slot's private key.
    enum Way: Equatable, Sendable {
        case passphrase(PassphraseStretching.Cost, salt: [UInt8])
        case rawKey
        case recoveryKey
        /// A program, which is not named in the keyring, computes the secret from the challenge and the token
        /// that it returned when the slot was created. The token may be empty.
        case command(challenge: [UInt8], token: [UInt8])
        /// The private key is kept elsewhere.
        case recipient
    }
}

extension KeyringDocument.Slot {
    /// The highest slot number. Numbers are short for the sake of people.
    static let highestNumber = 99

    /// Returns true if a text can be the name of a slot. Names are shown on terminals and are part of a line
    /// of the keyring.
    static func canBeName(_ text: String) -> Bool {
        guard text.utf8.count <= 64, text.first != " ", text.last != " " else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            // This includes characters that change the direction of text.
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                false
            default: true
            }
        }
    }
}
