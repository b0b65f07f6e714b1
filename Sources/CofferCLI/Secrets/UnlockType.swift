internal import Coffer
internal import KeyMaterial

/// The kind of secret that opens a slot of a keyring.
enum UnlockType: String, Sendable, Hashable, CaseIterable {
    case passphrase
    /// 32 bytes, or 64 hexadecimal digits.
    case raw
    /// The groups of characters on a recovery sheet.
    case recovery
    /// An identity from `coffer keygen --recipient`.
    case identity
    /// A program that answers challenges. This differs from a program that prints a secret.
    case command
}

extension DatabaseKeyring.Secret {
    /// Creates a secret from its bytes.
    ///
    /// - Throws: ``Failure`` if the bytes cannot be such a secret. A recovery key with a mistake, or an
    ///   invalid identity, is reported only when it is used.
    init(_ bytes: borrowing SecretBytes, _ type: UnlockType, sourceName: String) throws(Failure) {
        switch type {
        case .passphrase:
            let passphrase = bytes.copy().withoutNewline()
            guard !passphrase.isEmpty else {
                throw Failure(.keyRejected, "invalid_key", "The passphrase from \(sourceName) is empty.")
            }
            self = passphrase.withUnsafeBytes { unsafe .passphrase($0) }
        case .raw:
            guard let raw = bytes.copy().decoded(size: 32) else {
                throw Failure(
                    .keyRejected, "invalid_key",
                    "The key from \(sourceName) is not a raw key, which has 32 bytes or 64 hexadecimal "
                        + "digits. Is it a passphrase?"
                )
            }
            self = raw.bytes.withUnsafeBytes { unsafe .rawKey($0) }
        case .recovery:
            guard SecretForm.resemblesRecoveryKey(bytes) else {
                throw Failure(
                    .keyRejected, "invalid_recovery_key",
                    "The secret from \(sourceName) is not a recovery key, which has 14 groups of four letters "
                        + "and digits, such as 9F3C-02AB. 'coffer key add --recovery' creates one.")
            }
            self = bytes.withUnsafeBytes { unsafe .recoveryKey($0) }
        case .identity: self = bytes.withUnsafeBytes { unsafe .identity($0) }
        case .command: throw Failure.usage("A slot of a program needs its command: --unlock program:LINE.")
        }
    }
}

extension Key {
    /// Creates the key of files whose keyrings the secret opens.
    init(unlocking bytes: consuming SecretBytes, as type: UnlockType, sourceName: String) throws(Failure) {
        let secret = try DatabaseKeyring.Secret(bytes, type, sourceName: sourceName)
        self.init(secret, secret: SharedSecret(bytes), unlocks: type)
    }
}

extension KeyReader {
    /// Returns the program that opens slots, or nil if the secret is read from a source.
    func program(_ request: KeyRequest) -> DatabaseKeyring.Secret? {
        guard request.use == .unlocking(.command), case .command(let words) = request.source,
            let program = words.first
        else { return nil }
        return .command(DatabaseKeyring.Command(program, Array(words.dropFirst()), timeout: commandTimeout))
    }

    /// Returns the secret for a slot.
    func slotSecret(_ request: KeyRequest, subject: String) throws(Failure) -> DatabaseKeyring.Secret {
        if let program = program(request) { return program }
        let secret = try bytes(request, subject: subject)
        let type = try unlockType(of: secret, request)
        if type == .passphrase { warn(ofPassphrase: secret, request) }
        return try DatabaseKeyring.Secret(secret, type, sourceName: request.source.name)
    }
}
