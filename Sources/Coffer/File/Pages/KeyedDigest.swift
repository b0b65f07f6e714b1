internal import KeyMaterial
internal import SQLCipherBridge

/// The digest of content as it is told and recorded: see ``DatabaseFile/RotationProof/contentDigest``.
enum KeyedDigest {
    /// An authentication code over the digest of the content, with what encrypts the file after the work; or before it, where the result is
    /// plaintext. Equal contents under the same key have equal codes, and without the key nobody can try contents out.
    ///
    /// - Parameter digest: of the content itself, as hexadecimal digits. It is returned as it is where no key protects the content at all.
    static func text(of digest: String, after: KeyRing.Material?, before: KeyRing.Material?) throws(CryptographyFailure) -> String {
        guard let material = after ?? before else { return digest }
        let message = Array("Coffer content digest 1 \(digest)".utf8)
        return try KeyDerivation.hmac(key: material.secret.bytes, message: message, hash: .sha256).hexadecimal
    }
}
