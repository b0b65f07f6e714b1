internal import KeyMaterial
internal import SQLCipherBridge

/// The secret that gives a key the same identifier in all files of a site.
///
/// An identifier is a MAC of the key with the site's secret. Without that secret, an identifier reveals only
/// which files share a key. A passphrase is first put through key derivation, as for a file. Therefore, even
/// with the secret, guessing the passphrase from its identifier is as hard as guessing it from a file.
struct SiteSecret: Sendable {
    private let secret: SharedSecret

    /// The number of PBKDF2 iterations that SQLCipher 4 uses for a passphrase.
    private static let rounds = 256_000

    /// - Throws: ``Failure`` if the secret is short enough to be guessed.
    init(_ bytes: consuming SecretBytes, sourceName: String) throws(Failure) {
        secret = try SharedSecret(
            bytes,
            orFail: "The site secret from \(sourceName) has fewer than 16 bytes and could be guessed. "
                + "Create one with 'coffer keygen --out site.secret'.")
    }

    /// Returns the identifier of a key: 16 hexadecimal digits.
    func id(of key: Key) throws(Failure) -> String {
        let secret = secret
        return try key.siteID { bytes, isPassphrase throws(Failure) in
            do throws(CryptographyFailure) {
                let kind = isPassphrase ? "passphrase" : "raw key"
                guard isPassphrase else { return try SiteSecret.code(of: bytes, kind, secret) }
                let salt = try SiteSecret.hmac(secret.bytes, Array("Coffer site salt 1".utf8)).prefix(16)
                let derived = try KeyDerivation.databaseKey(
                    passphrase: bytes, salt: Array(salt), iterations: SiteSecret.rounds, hash: .sha512)
                return try SiteSecret.code(of: derived, kind, secret)
            } catch {
                throw Failure(
                    .unavailable, "engine", "The cryptographic library cannot compute HMAC-SHA-256.")
            }
        }
    }

    /// Returns a MAC under the secret of a MAC under the key. The key itself is never used as a message.
    private static func code(of key: borrowing SecretBytes, _ kind: String, _ secret: SharedSecret)
        throws(CryptographyFailure) -> String
    {
        let inner = try hmac(key, Array("Coffer site key identifier 1 \(kind)".utf8))
        return Hex.digits(try hmac(secret.bytes, inner).prefix(8))
    }

    private static func hmac(_ key: borrowing SecretBytes, _ message: [UInt8]) throws(CryptographyFailure)
        -> [UInt8]
    {
        try KeyDerivation.hmac(key: key, message: message, hash: .sha256)
    }
}

extension SharedSecret {
    /// - Throws: ``Failure`` with the message if the secret is short enough to be guessed.
    convenience init(_ bytes: consuming SecretBytes, orFail message: String) throws(Failure) {
        let bytes = bytes.withoutNewline()
        guard bytes.count >= 16 else { throw Failure(.keyRejected, "invalid_key", message) }
        self.init(bytes)
    }
}
