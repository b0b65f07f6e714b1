internal import ArgumentParser

extension KeyType: ExpressibleByArgument {}

/// The options for the source of a file's key. Without any, the tool prompts for the key.
struct KeyOptions: ParsableArguments {
    @OptionGroup
    var secret: SecretOptions<CurrentKey>

    @Option(
        name: .customLong("key-type"),
        help: .value("type", "The type of the key: raw has 32 bytes or 64 hex digits, raw+salt 48 or 96."))
    var type = KeyType.passphrase

    @Flag(name: .customLong("insecure-key-file-mode"), help: "Accept key files that others can read.")
    var allowsInsecureFiles = false

    enum CurrentKey: SecretRole {
        static let prefix = "key"
        static let help = SecretHelp("the key")
    }

    var isGiven: Bool { get throws { try secret.isGiven } }

    func request(_ role: KeyRequest.Role = .current) throws -> KeyRequest {
        try KeyRequest(
            role: role, source: secret.source() ?? .prompt, type: type,
            allowsInsecureFile: allowsInsecureFiles)
    }
}

/// The options for the source of the key that a file is to get.
struct NewKeyOptions: ParsableArguments {
    @OptionGroup
    var secret: SecretOptions<NewKey>

    @Option(name: .customLong("new-key-type"), help: .value("type", "The new key's type."))
    var type = KeyType.passphrase

    enum NewKey: SecretRole {
        static let prefix = "new-key"
        static let help = SecretHelp("the new key")
    }

    var isGiven: Bool { get throws { try secret.isGiven } }

    /// - Parameter key: the options of the current key, which include the flag for insecure key files.
    func request(besides key: FileKeyOptions) throws -> KeyRequest {
        let request = try KeyRequest(
            role: .new, source: secret.source() ?? .prompt, type: type,
            allowsInsecureFile: key.allowsInsecureFiles)
        if request.source == .standardInput, try key.request().source == .standardInput {
            throw Failure.usage(
                "The two keys cannot both come from the standard input. Give one by a file or a file "
                    + "descriptor."
            )
        }
        return request
    }

    /// Returns nil if no source was given.
    func requestIfGiven(besides key: FileKeyOptions) throws -> KeyRequest? {
        try isGiven ? request(besides: key) : nil
    }
}

extension KeyRequest {
    /// - Parameter words: the other input, capitalized.
    func checkSharesNoInput(with words: String) throws {
        guard source == .standardInput else { return }
        throw ValidationError("\(words) and the key cannot both come from the standard input.")
    }
}
