internal import KeyMaterial
internal import SQLCipherBridge

/// What a keyring computes: everything is bound to its identifier, and all that can be read is bound to the
/// data key.
enum KeyringCode {
    static let saltSize = 16

    /// The salt of a database that has the data key of an epoch: so that a database and a keyring know each
    /// other, and which of them is older.
    static func salt(id: [UInt8], epoch: UInt64) throws(CryptographyFailure) -> [UInt8] {
        Array(try Digest.sha256(labeled("salt", id, epoch)).prefix(saltSize))
    }

    /// What a data key is sealed for: this epoch of this keyring.
    static func info(id: [UInt8], epoch: UInt64) -> [UInt8] { labeled("data key", id, epoch) }

    /// The code of a text by the data key of an epoch.
    static func code(of body: [UInt8], dataKey: borrowing SecretBytes, id: [UInt8])
        throws(CryptographyFailure) -> [UInt8]
    {
        let key = try SecretCode.derive(from: dataKey, label: "coffer keyring 1 code ", context: id)
        return try KeyDerivation.hmac(key: key, message: body, hash: .sha256)
    }

    /// The private key of a slot whose secret has 32 random bytes. It is the same in all keyrings, so that
    /// copies can have the same slots; what is sealed to it is bound to one keyring.
    static func privateKey(_ secret: borrowing SecretBytes, _ way: KeyringDocument.Way)
        throws(CryptographyFailure) -> SecretBytes
    {
        try HPKE.privateKey(seed: SecretCode.derive(from: secret, label: "coffer keyring 1 \(way.word)"))
    }

    /// Whether two codes are the same, in a time that does not depend on how many of their bytes are equal.
    static func isEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
        lhs.count == rhs.count && zip(lhs, rhs).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func labeled(_ label: String, _ id: [UInt8], _ epoch: UInt64) -> [UInt8] {
        Array("coffer keyring 1 \(label) ".utf8) + id
            + (0..<8).map { UInt8(truncatingIfNeeded: epoch >> UInt64(56 - 8 * $0)) }
    }
}
