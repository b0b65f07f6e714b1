internal import KeyMaterial
internal import SQLCipherBridge

/// The function that chains the lines of an audit log: a plain hash, or a MAC that needs a secret.
///
/// The plain hash detects accidents, and edits by anyone who does not recompute the hashes of all later
/// lines. Against a user who can write to the log, only a MAC whose secret that user does not have is
/// evidence.
struct AuditSeal: Sendable {
    /// SHA-256, without a secret.
    static let plain = AuditSeal()

    private let secret: SharedSecret?

    /// Identifies the secret without revealing anything about it, or nil if there is no secret.
    let keyID: String?

    private init() {
        secret = nil
        keyID = nil
    }

    /// HMAC-SHA-256 with a secret.
    ///
    /// - Throws: ``Failure`` if the secret is short enough to be guessed from the log.
    init(_ bytes: consuming SecretBytes, sourceName: String) throws(Failure) {
        let secret = try SharedSecret(
            bytes,
            orFail: "The audit key from \(sourceName) has fewer than 16 bytes and could be guessed from "
                + "the log. Create one with 'coffer keygen --out audit.key'.")
        self.secret = secret
        keyID = try AuditSeal.hexadecimal(
            secret, Array("Coffer audit key identifier 1".utf8).prefix(64), count: 8)
    }

    var hasSecret: Bool { secret != nil }

    /// Returns the hash or MAC of part of a line, as 64 hexadecimal digits.
    func hash(_ bytes: ArraySlice<UInt8>) throws(Failure) -> String {
        guard let secret else {
            do throws(CryptographyFailure) {
                return try Hex.digits(Digest.sha256(Array(bytes)))
            } catch {
                throw Failure(.unavailable, "engine", "The cryptographic library cannot compute SHA-256.")
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
            throw Failure(.unavailable, "engine", "The cryptographic library cannot compute HMAC-SHA-256.")
        }
    }
}

extension AuditKeyOptions {
    /// Returns the function that chains the log.
    func seal(_ keys: KeyReader) throws -> AuditSeal {
        guard let source = try source() ?? Defaults.current.auditKey?.untyped() else { return .plain }
        return try AuditSeal(
            keys.secret(from: source, AuditKeyOptions.prefix, subject: "the audit log"),
            sourceName: source.name)
    }
}
