internal import ArgumentParser
internal import Coffer

extension UnlockType: ExpressibleByArgument {}

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
        help: .value(
            "type",
            "The type of the secret: passphrase, raw (32 bytes or 64 hex digits), recovery, identity, or "
                + "command, which runs --unlock-command for "
                + "each slot that 'coffer key add --command' added."))
    var type = UnlockType.passphrase

    func validate() throws {
        // Also throws if several sources are given.
        let isGiven = try isGiven
        if isTyped && isGiven {
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

extension KeyReader {
    /// Returns the secret that opens a keyring.
    func unlocking(_ options: UnlockOptions, _ path: String) throws -> DatabaseKeyring.Secret {
        try slotSecret(options.anyRequest(), subject: path)
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
