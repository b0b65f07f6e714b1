internal import SQLCipherBridge

/// What a keyring says, without any secret: see the article on its format.
///
/// ``KeyringText`` reads and writes it. That it is authentic is proved by who has the data key:
/// ``KeyringCode``.
struct KeyringDocument: Equatable, Sendable {
    static let idSize = 16

    /// As many slots as a keyring can have.
    static let slotLimit = 32

    /// Made at random with the keyring, and the same as long as it lives. The salts of the database follow
    /// from it.
    var id: [UInt8]

    /// What the counts of a keyring never reach by honest work. A count near the end of its integer would end
    /// the process that counts on.
    static let highestCount: UInt64 = 1_000_000_000_000

    /// Of the random bytes that a program gets for its slot.
    static let challengeSize = 32

    /// The longest token of a program: what key services and TPMs wrap a key into has a few hundred bytes.
    static let tokenLimit = 1024

    /// How many times the keyring was written, from 1.
    var generation: UInt64

    /// The numbers of the data keys that the keyring has: one; two that follow each other while the data key
    /// is rotated.
    var epochs: [UInt64]

    /// In the order of their numbers.
    var slots: [Slot]

    /// The code of the text for each epoch, by its data key.
    var codes: [[UInt8]]

    /// One way to the data keys.
    struct Slot: Equatable, Sendable {
        /// From 1, and never given again while the slot is there.
        var number: Int
        var way: Way
        /// For people; may be empty.
        var name: String
        var publicKey: [UInt8]
        /// The data key of each epoch.
        var sealed: [HPKE.Sealed]
    }

    /// How the private key of a slot comes about.
    enum Way: Equatable, Sendable {
        case passphrase(PassphraseStretching.Cost, salt: [UInt8])
        case rawKey
        case recoveryKey
        /// A program that is not named here answers the secret to the challenge, with the token that it gave
        /// when the slot was made; the token may be empty.
        case command(challenge: [UInt8], token: [UInt8])
        /// The private key is kept elsewhere.
        case recipient
    }
}

extension KeyringDocument.Slot {
    /// Numbers go up to 99, so that they stay short for people.
    static let highestNumber = 99

    /// Whether a text can be the name of a slot: it is shown at terminals, and is one line of the keyring.
    static func canBeName(_ text: String) -> Bool {
        guard text.utf8.count <= 64, text.first != " ", text.last != " " else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            // Among them what turns the direction of a text.
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                false
            default: true
            }
        }
    }
}
