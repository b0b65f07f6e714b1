internal import ArgumentParser
internal import Coffer

extension UnlockType: ExpressibleByArgument {}

/// The options for the secret that opens a keyring.
struct UnlockOptions: ParsableArguments {
    @OptionGroup
    var secret: SecretOptions<UnlockRole>

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

    enum UnlockRole: SecretRole {
        static let prefix = "unlock"
        static let help = SecretHelp(
            file: "Open the keyring with a secret from a file that only you can read.",
            descriptor: "Open the keyring with a secret from a file descriptor.",
            standardInput: "Open the keyring with a secret from the standard input.",
            command: "Open the keyring with a secret that a command prints, without a shell.",
            environment: "Open the keyring with a secret from an environment variable (not recommended).",
            credential: "Open the keyring with a systemd credential.")
    }

    func validate() throws {
        if try isTyped && secret.isGiven {
            throw ValidationError("Give only one source of the key, not --unlock and another one.")
        }
        if type == .command, secret.command == nil {
            throw ValidationError("--unlock-type command needs --unlock-command.")
        }
    }

    /// Returns the request for the secret, or nil if none of these options was given.
    func request() throws -> KeyRequest? {
        guard try isTyped || secret.isGiven else { return nil }
        return try anyRequest()
    }

    /// Returns the request for the secret. Prompts for it if none of these options was given.
    func anyRequest() throws -> KeyRequest {
        var request = try KeyRequest(role: .current, source: secret.source() ?? .prompt)
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
