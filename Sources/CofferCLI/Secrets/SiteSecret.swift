internal import KeyMaterial
internal import SQLCipherBridge

/// What names a key by the same digits in all files of a site.
///
/// An identifier is a code of the key with the secret of the site: who does not have that secret learns from
/// it no more than which files share a key. A passphrase is derived first, as a file does it, so that even
/// with the secret it is as hard to guess from its identifier as from a file.
struct SiteSecret: Sendable {
    private let secret: SharedSecret

    /// As many rounds as SQLCipher 4 has for a passphrase.
    private static let rounds = 256_000

    /// - Throws: a failure for a secret that is short enough to be guessed.
    init(_ bytes: consuming SecretBytes, sourceName: String) throws(Failure) {
        let secret = SharedSecret(bytes.withoutNewline())
        guard secret.bytes.count >= 16 else {
            throw Failure(
                .keyRejected, "invalid_key",
                "The secret of the site from \(sourceName) has less than 16 bytes, and could be guessed. "
                    + "Make one with 'coffer keygen --out site.secret'.")
        }
        self.secret = secret
    }

    /// 16 hexadecimal digits.
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
                    .unavailable, "engine", "The cryptographic library does not compute HMAC-SHA-256.")
            }
        }
    }

    /// A code with the secret, of a code with the key: the key itself is never a message.
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
