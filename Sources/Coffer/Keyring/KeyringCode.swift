internal import KeyMaterial
internal import SQLCipherBridge

/// The computations of a keyring. Everything is bound to the keyring's identifier, and everything readable is
/// bound to the data key.
enum KeyringCode {
    static let saltSize = 16

    /// Returns the salt of a database with the data key of an epoch. The salt shows whether a database and a
    /// keyring belong together, and which of them is older.
    static func salt(id: [UInt8], epoch: UInt64) throws(CryptographyFailure) -> [UInt8] {
        Array(try Digest.sha256(labeled("salt", id, epoch)).prefix(saltSize))
    }

    /// Returns the HPKE info to which a data key is bound: this epoch of this keyring.
    static func info(id: [UInt8], epoch: UInt64) -> [UInt8] { labeled("data key", id, epoch) }

    /// Returns the authentication code of a text under a data key.
    static func code(of body: [UInt8], dataKey: borrowing SecretBytes, id: [UInt8])
        throws(CryptographyFailure) -> [UInt8]
    {
        let key = try SecretCode.derive(from: dataKey, label: "coffer keyring 1 code ", context: id)
        return try KeyDerivation.hmac(key: key, message: body, hash: .sha256)
    }

    /// Returns the private key of a slot whose secret has 32 random bytes. It is the same in all keyrings, so
    /// that copies can have the same slots. The data keys sealed to it are bound to one keyring.
    static func privateKey(_ secret: borrowing SecretBytes, _ way: KeyringDocument.Way)
        throws(CryptographyFailure) -> SecretBytes
    {
        try HPKE.privateKey(seed: SecretCode.derive(from: secret, label: "coffer keyring 1 \(way.word)"))
    }

    /// Returns true if two codes are equal. The time does not depend on the number of equal bytes.
    static func isEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
        lhs.count == rhs.count && zip(lhs, rhs).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func labeled(_ label: String, _ id: [UInt8], _ epoch: UInt64) -> [UInt8] {
        Array("coffer keyring 1 \(label) ".utf8) + id
            + (0..<8).map { UInt8(truncatingIfNeeded: epoch >> UInt64(56 - 8 * $0)) }
    }
}
