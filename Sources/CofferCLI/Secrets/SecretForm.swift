internal import KeyMaterial

/// Tells the type of a secret that was given without one.
///
/// A key file carries no type of its own: its readers, here and in other programs, expect digits and nothing
/// else. So the digits of a raw key in a file are a raw key, as `coffer keygen` writes them. Elsewhere digits
/// may as well be a passphrase, and bytes that are no text may be either; both are refused. A wrong guess
/// about the key of a file does no damage: it does not open the file.
enum SecretForm {
    /// Returns the type of a key.
    static func key(_ secret: borrowing SecretBytes, from source: SecretSource) throws(Failure) -> KeyType {
        if let size = secret.decodedSize(), let type = [32: KeyType.raw, 48: .rawWithSalt][size] {
            guard isSQL(secret) || isFile(source) else {
                throw ambiguous(source, "has \(2 * size) hexadecimal digits", type)
            }
            return type
        }
        guard [32, 48].contains(secret.count), !isText(secret) else { return .passphrase }
        throw ambiguous(source, "is not text", secret.count == 32 ? .raw : .rawWithSalt)
    }

    /// Returns the type of a secret that opens a keyring.
    static func unlock(_ secret: borrowing SecretBytes, from source: SecretSource) throws(Failure)
        -> UnlockType
    {
        let isIdentity = secret.withUnsafeBytes { unsafe $0.starts(with: "coffer-identity-".utf8) }
        guard !isIdentity else { return .identity }
        return try key(secret, from: source) == .passphrase ? .passphrase : .raw
    }

    /// Returns true for the form of a recovery key: see ``HiddenKeys/hasFormOfRecoveryKey(_:)``.
    static func isRecoveryKey(_ secret: borrowing SecretBytes) -> Bool {
        secret.withUnsafeBytes { unsafe HiddenKeys.hasFormOfRecoveryKey($0) }
    }

    /// Returns true for text that may be a recovery key with a mistake, such as a missing character: it has
    /// about as many letters and digits.
    static func resemblesRecoveryKey(_ secret: borrowing SecretBytes) -> Bool {
        secret.withUnsafeBytes { bytes in
            let count = unsafe bytes.count { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xdf)
            }
            return (50...62).contains(count)
        }
    }

    /// Returns the failure for a new secret in the form of a recovery key. Its slot would have a passphrase
    /// that is taken for a recovery key when it is to open the file.
    static func newRecoveryKey(_ source: SecretSource) -> Failure {
        Failure(
            .keyRejected, "ambiguous_key",
            "The secret from \(source.name) has the form of a recovery key. 'coffer key add --recovery' "
                + "creates one. If it is a passphrase, put its type before the source, here and for "
                + "--unlock: '\(TypedSource(source, .passphrase).text)'.")
    }

    private static func ambiguous(_ source: SecretSource, _ words: String, _ type: KeyType) -> Failure {
        Failure(
            .keyRejected, "ambiguous_key",
            "The key from \(source.name) \(words): it may be a raw key or a passphrase. Put its type before "
                + "the source: '\(TypedSource(source, SecretType(type)).text)' or "
                + "'\(TypedSource(source, .passphrase).text)'.")
    }

    /// True for the form `x'...'`, which SQLCipher itself takes for a raw key. `decodedSize()` has checked
    /// that a quote has no other meaning.
    private static func isSQL(_ secret: borrowing SecretBytes) -> Bool {
        secret.withUnsafeBytes { unsafe $0.contains(UInt8(ascii: "'")) }
    }

    private static func isFile(_ source: SecretSource) -> Bool {
        switch source {
        case .file, .credential: true
        default: false
        }
    }

    private static func isText(_ secret: borrowing SecretBytes) -> Bool {
        secret.withUnsafeBytes { bytes in
            unsafe (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil
        }
    }
}
