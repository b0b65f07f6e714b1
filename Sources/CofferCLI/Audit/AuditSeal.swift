internal import KeyMaterial
internal import SQLCipherBridge

/// What chains the lines of an audit log: a hash that anybody can compute, or a code that needs a secret.
///
/// The plain hash shows accidents, and changes by people who do not compute the hashes of all later lines
/// anew. Only the code of a secret that the forger does not have is evidence against a user who can write
/// to the log.
struct AuditSeal: Sendable {
    /// SHA-256, without a secret.
    static let plain = AuditSeal()

    private let secret: SharedSecret?

    /// Distinguishes logs of different secrets, and says nothing about the secret; nil without one.
    let keyID: String?

    private init() {
        secret = nil
        keyID = nil
    }

    /// HMAC-SHA-256 with a secret.
    ///
    /// - Throws: a failure for a secret that is short enough to be guessed from the log.
    init(_ bytes: consuming SecretBytes, sourceName: String) throws(Failure) {
        let secret = SharedSecret(bytes.withoutNewline())
        guard secret.bytes.count >= 16 else {
            throw Failure(
                .keyRejected, "invalid_key",
                "The secret of the audit log from \(sourceName) has less than 16 bytes, and could be "
                    + "guessed from the log. Make one with 'coffer keygen --out audit.key'.")
        }
        self.secret = secret
        keyID = try AuditSeal.hexadecimal(
            secret, Array("Coffer audit key identifier 1".utf8).prefix(64), count: 8)
    }

    var hasSecret: Bool { secret != nil }

    /// The hash, or the code, of a part of a line: 64 digits.
    func hash(_ bytes: ArraySlice<UInt8>) throws(Failure) -> String {
        guard let secret else {
            do throws(CryptographyFailure) {
                return try Hex.digits(Digest.sha256(Array(bytes)))
            } catch {
                throw Failure(.unavailable, "engine", "The cryptographic library does not compute SHA-256.")
            }
        }
        return try AuditSeal.hexadecimal(secret, bytes, count: 32)
    }

    private static func hexadecimal(_ secret: SharedSecret, _ bytes: ArraySlice<UInt8>, count: Int)
        throws(Failure) -> String
    {
        do throws(CryptographyFailure) {
            return Hex.digits(
                try KeyDerivation.hmac(key: secret.bytes, message: Array(bytes), hash: .sha256).prefix(count))
        } catch {
            throw Failure(.unavailable, "engine", "The cryptographic library does not compute HMAC-SHA-256.")
        }
    }
}
