internal import ArgumentParser
internal import Coffer
internal import KeyMaterial

/// What opens a slot of the keyring beside a file. Never guessed.
enum UnlockType: String, Sendable, Hashable, CaseIterable, ExpressibleByArgument {
    case passphrase
    /// 32 bytes, or 64 hexadecimal digits.
    case raw
    /// The groups of a recovery sheet.
    case recovery
    /// What `coffer keygen --recipient` has made.
    case identity
    /// A program that answers challenges, which is not the same as one that prints a secret.
    case command
}

/// Where the secret comes from that opens the keyring beside a file: at most one of these.
struct UnlockOptions: SecretSourceOptions {
    static let prefix = "unlock"

    @Option(
        name: .customLong("unlock-file"),
        help: ArgumentHelp(
            "Open the keyring of the file by a secret in a file that only you can read.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("unlock-fd"),
        help: ArgumentHelp("Open the keyring by a secret from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Flag(name: .customLong("unlock-stdin"), help: "Open the keyring by a secret from the standard input.")
    var standardInput = false

    @Option(
        name: .customLong("unlock-command"),
        help: ArgumentHelp(
            "Open the keyring by a secret that a command prints, without a shell.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("unlock-env"),
        help: ArgumentHelp(
            "Open the keyring by a secret from an environment variable (not recommended).", valueName: "name")
    )
    var environment: String?

    @Option(
        name: .customLong("unlock-credential"),
        help: ArgumentHelp("Open the keyring by a systemd credential.", valueName: "name"))
    var credential: String?

    @Flag(name: .customLong("unlock"), help: "Open the keyring by a secret that is typed.")
    var isTyped = false

    @Option(
        name: .customLong("unlock-type"),
        help: ArgumentHelp(
            "What opens the keyring: passphrase, raw (32 bytes or 64 hex digits), recovery, identity, or "
                + "command: the program of --unlock-command is "
                + "asked for each slot that 'coffer key add --command' has made.", valueName: "type"))
    var type = UnlockType.passphrase

    func validate() throws {
        if try isTyped && isGiven {
            throw ValidationError("Give one source of the key only, not --unlock and another one.")
        }
        if type == .command, command == nil {
            throw ValidationError("--unlock-type command is for a program: give --unlock-command.")
        }
    }

    /// How the keyring is opened, where one of these options says that it is.
    func request() throws -> KeyRequest? {
        guard try isTyped || isGiven else { return nil }
        return try anyRequest()
    }

    /// The same where there is no other key: a person is asked then.
    func anyRequest() throws -> KeyRequest {
        var request = try KeyRequest(role: .current, source: source() ?? .prompt)
        request.unlocks = type
        return request
    }
}

extension DatabaseKeyring.Secret {
    /// The secret that bytes stand for.
    ///
    /// - Throws: a failure for bytes that cannot be one; what is no recovery key or identity is reported when
    ///   it is used.
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
                    "The key from \(sourceName) is no raw key: it must have 32 bytes, or 64 hexadecimal "
                        + "digits. Is it a passphrase?"
                )
            }
            self = raw.bytes.withUnsafeBytes { unsafe .rawKey($0) }
        case .recovery: self = bytes.withUnsafeBytes { unsafe .recoveryKey($0) }
        case .identity: self = bytes.withUnsafeBytes { unsafe .identity($0) }
        case .command: throw Failure.usage("A slot of a program is opened by --unlock-command.")
        }
    }
}

extension Key {
    /// The key of files that have a keyring, which a secret opens.
    init(unlocking bytes: consuming SecretBytes, as type: UnlockType, sourceName: String) throws(Failure) {
        let secret = try DatabaseKeyring.Secret(bytes, type, sourceName: sourceName)
        self.init(secret, secret: SharedSecret(bytes), unlocks: type)
    }
}

extension KeyReader {
    /// What opens a keyring.
    func unlocking(_ options: UnlockOptions, _ path: String) throws -> DatabaseKeyring.Secret {
        try slotSecret(options.anyRequest(), subject: path)
    }

    /// A program that opens slots; nil where the secret is one that is read.
    func program(_ request: KeyRequest) -> DatabaseKeyring.Secret? {
        guard request.unlocks == .command, case .command(let words) = request.source,
            let program = words.first
        else { return nil }
        return .command(DatabaseKeyring.Command(program, Array(words.dropFirst()), timeout: commandTimeout))
    }

    /// A secret for a slot.
    func slotSecret(_ request: KeyRequest, subject: String) throws(Failure) -> DatabaseKeyring.Secret {
        if let program = program(request) { return program }
        return try DatabaseKeyring.Secret(
            bytes(request, subject: subject), request.unlocks ?? .passphrase, sourceName: request.source.name)
    }
}

extension NewKeyOptions {
    /// The key that a rotation gives to files, which must not leave their keyrings behind.
    func requestForRotation(besides key: FileKeyOptions) throws -> KeyRequest {
        guard try key.unlock.request() == nil else {
            throw Failure.usage(
                "A file with a keyring gets a new data key, for all slots, by 'coffer key rotate'.")
        }
        return try request(besides: key)
    }
}
