internal import ArgumentParser
internal import Coffer

extension UnlockType: ExpressibleByArgument {}

/// The options for the secret that opens a keyring. At most one source may be given.
struct UnlockOptions: SecretSourceOptions {
    static let prefix = "unlock"

    /// The parser sees a value after each `--unlock`: see ``SourceArgument/addingPrompts(_:)``.
    @Option(
        name: .customLong("unlock"),
        help: .source(
            "The source of a secret that opens the keyring, as for --key; without a source, a prompt."))
    var sources: [SourceArgument] = []

    // The older options.

    @Option(name: .customLong("unlock-file"), help: .hidden, completion: .file())
    var file: String?

    @Option(name: .customLong("unlock-fd"), help: .hidden)
    var descriptor: Int32?

    @Flag(name: .customLong("unlock-stdin"), help: .hidden)
    var standardInput = false

    @Option(name: .customLong("unlock-command"), help: .hidden)
    var command: String?

    @Option(name: .customLong("unlock-env"), help: .hidden)
    var environment: String?

    @Option(name: .customLong("unlock-credential"), help: .hidden)
    var credential: String?

    @Option(name: .customLong("unlock-type"), help: .hidden)
    var type: UnlockType?

    var olderType: SecretType? { type.map { SecretType($0) } }

    func validate() throws {
        _ = try given()
        if type == .command, command == nil {
            throw ValidationError("--unlock-type command needs --unlock-command.")
        }
    }

    /// Returns the request for the secret, or nil if no source was given.
    func request() throws -> KeyRequest? {
        guard try isGiven else { return nil }
        return try given()?.unlocking()
    }

    /// Returns the request for the secret. Without a source, and without a default, prompts for it.
    func anyRequest() throws -> KeyRequest {
        try (given() ?? Defaults.current.unlock ?? .prompt).unlocking()
    }

    /// Returns the request for a recovery key, which has no default.
    func recoveryRequest() throws -> KeyRequest {
        let given = try given() ?? .prompt
        return KeyRequest(
            role: .current, source: given.typed.source, use: .unlocking(.recovery), origin: given.origin)
    }
}

extension KeyReader {
    /// Returns the secret that opens a keyring.
    func unlocking(_ options: UnlockOptions, _ path: String) throws -> DatabaseKeyring.Secret {
        try slotSecret(options.anyRequest(), subject: path)
    }
}

extension NewKeyOptions {
    /// Returns the request for the key that a rotation gives to files. Throws for files with a keyring,
    /// because the rotation would leave the keyring with the old key.
    func requestForRotation(besides key: FileKeyOptions, of paths: [String]) throws -> KeyRequest {
        guard try key.unlock.request() == nil else { throw Failure.rotationOfKeyring }
        return try request(besides: key, for: paths)
    }
}
