internal import ArgumentParser
internal import Coffer
internal import KeyMaterial

/// The kind of secret that opens a slot of a keyring. It is never guessed.
enum UnlockType: String, Sendable, Hashable, CaseIterable, ExpressibleByArgument {
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

/// The options for the secret that opens a keyring. At most one source may be given.
struct UnlockOptions: SecretSourceOptions {
    static let prefix = "unlock"

    @Option(
        name: .customLong("unlock-file"),
        help: ArgumentHelp(
            "Open the keyring with a secret from a file that only you can read.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("unlock-fd"),
        help: ArgumentHelp("Open the keyring with a secret from a file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Flag(name: .customLong("unlock-stdin"), help: "Open the keyring with a secret from the standard input.")
    var standardInput = false

    @Option(
        name: .customLong("unlock-command"),
        help: ArgumentHelp(
            "Open the keyring with a secret that a command prints, without a shell.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("unlock-env"),
        help: ArgumentHelp(
            "Open the keyring with a secret from an environment variable (not recommended).",
            valueName: "name")
    )
    var environment: String?

    @Option(
        name: .customLong("unlock-credential"),
        help: ArgumentHelp("Open the keyring with a systemd credential.", valueName: "name"))
    var credential: String?

    @Flag(name: .customLong("unlock"), help: "Open the keyring with a secret from a prompt.")
    var isTyped = false

    @Option(
        name: .customLong("unlock-type"),
        help: ArgumentHelp(
            "The type of the secret: passphrase, raw (32 bytes or 64 hex digits), recovery, identity, or "
                + "command, which runs --unlock-command for "
                + "each slot that 'coffer key add --command' added.", valueName: "type"))
    var type = UnlockType.passphrase

    func validate() throws {
        if try isTyped && isGiven {
            throw ValidationError("Give only one source of the key, not --unlock and another one.")
        }
        if type == .command, command == nil {
            throw ValidationError("--unlock-type command needs --unlock-command.")
        }
    }

    /// Returns the request for the secret, or nil if none of these options was given.
    func request() throws -> KeyRequest? {
        guard try isTyped || isGiven else { return nil }
        return try anyRequest()
    }

    /// Returns the request for the secret. Prompts for it if none of these options was given.
    func anyRequest() throws -> KeyRequest {
        var request = try KeyRequest(role: .current, source: source() ?? .prompt)
        request.unlocks = type
        return request
    }
}

extension DatabaseKeyring.Secret {
    /// Creates a secret from its bytes.
    ///
    /// - Throws: ``Failure`` if the bytes cannot be such a secret. An invalid recovery key or identity is
    ///   reported only when it is used.
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
        case .recovery: self = bytes.withUnsafeBytes { unsafe .recoveryKey($0) }
        case .identity: self = bytes.withUnsafeBytes { unsafe .identity($0) }
        case .command: throw Failure.usage("A slot of a program needs --unlock-command.")
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
    /// Returns the secret that opens a keyring.
    func unlocking(_ options: UnlockOptions, _ path: String) throws -> DatabaseKeyring.Secret {
        try slotSecret(options.anyRequest(), subject: path)
    }

    /// Returns the program that opens slots, or nil if the secret is read from a source.
    func program(_ request: KeyRequest) -> DatabaseKeyring.Secret? {
        guard request.unlocks == .command, case .command(let words) = request.source,
            let program = words.first
        else { return nil }
        return .command(DatabaseKeyring.Command(program, Array(words.dropFirst()), timeout: commandTimeout))
    }

    /// Returns the secret for a slot.
    func slotSecret(_ request: KeyRequest, subject: String) throws(Failure) -> DatabaseKeyring.Secret {
        if let program = program(request) { return program }
        let type = request.unlocks ?? .passphrase
        let secret = try bytes(request, subject: subject)
        if type == .passphrase { warn(ofPassphrase: secret, request) }
        return try DatabaseKeyring.Secret(secret, type, sourceName: request.source.name)
    }
}

extension NewKeyOptions {
    /// Returns the request for the key that a rotation gives to files. Throws for files with a keyring,
    /// because the rotation would leave the keyring with the old key.
    func requestForRotation(besides key: FileKeyOptions) throws -> KeyRequest {
        guard try key.unlock.request() == nil else {
            throw Failure.usage(
                "The file has a keyring. Rotate its data key with 'coffer key rotate'.")
        }
        return try request(besides: key)
    }
}
