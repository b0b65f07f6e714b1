internal import ArgumentParser

extension KeyType: ExpressibleByArgument {}

/// The options for the source of a file's key. At most one may be given; without any, the tool prompts for
/// the key.
struct KeyOptions: SecretSourceOptions {
    static let prefix = "key"

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp("Read the key from a file that only you can read.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("key-fd"),
        help: ArgumentHelp("Read the key from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Flag(name: .customLong("key-stdin"), help: "Read the key from the standard input.")
    var standardInput = false

    @Option(
        name: .customLong("key-command"),
        help: ArgumentHelp("Run a command, without a shell, that prints the key.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("key-env"),
        help: ArgumentHelp("Take the key from an environment variable (not recommended).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("key-credential"),
        help: ArgumentHelp("Take the key from a systemd credential.", valueName: "name"))
    var credential: String?

    @Option(
        name: .customLong("key-type"),
        help: .value("type", "The type of the key: raw has 32 bytes or 64 hex digits, raw+salt 48 or 96."))
    var type = KeyType.passphrase

    @Flag(name: .customLong("insecure-key-file-mode"), help: "Accept key files that others can read.")
    var allowsInsecureFiles = false

    func request(_ role: KeyRequest.Role = .current) throws -> KeyRequest {
        try KeyRequest(
            role: role, source: source() ?? .prompt, type: type, allowsInsecureFile: allowsInsecureFiles)
    }
}

/// The options for the source of the key that a file is to get.
struct NewKeyOptions: SecretSourceOptions {
    static let prefix = "new-key"

    @Option(
        name: .customLong("new-key-file"),
        help: ArgumentHelp("Read the new key from a file that only you can read.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("new-key-fd"),
        help: ArgumentHelp("Read the new key from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Flag(name: .customLong("new-key-stdin"), help: "Read the new key from the standard input.")
    var standardInput = false

    @Option(
        name: .customLong("new-key-command"),
        help: ArgumentHelp("Run a command, without a shell, that prints the new key.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("new-key-env"),
        help: ArgumentHelp(
            "Take the new key from an environment variable (not recommended).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("new-key-credential"),
        help: ArgumentHelp("Take the new key from a systemd credential.", valueName: "name"))
    var credential: String?

    @Option(name: .customLong("new-key-type"), help: .value("type", "The new key's type."))
    var type = KeyType.passphrase

    /// - Parameter key: the options of the current key, which include the flag for insecure key files.
    func request(besides key: FileKeyOptions) throws -> KeyRequest {
        let request = try KeyRequest(
            role: .new, source: source() ?? .prompt, type: type, allowsInsecureFile: key.allowsInsecureFiles)
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

/// Options that name the source of a secret. At most one of them may be given.
protocol SecretSourceOptions: ParsableArguments {
    /// The prefix of the option names.
    static var prefix: String { get }
    var file: String? { get }
    var descriptor: Int32? { get }
    var standardInput: Bool { get }
    var command: String? { get }
    var environment: String? { get }
    var credential: String? { get }
}

extension SecretSourceOptions {
    func validate() throws { _ = try source() }

    /// True if a source was given.
    var isGiven: Bool { get throws { try source() != nil } }

    /// Returns the given source, or nil if there is none. A secret in the environment is removed from it, so
    /// child processes do not inherit it.
    func source() throws -> SecretSource? {
        var found: [(option: String, source: SecretSource)] = []
        if let file { found.append(("file", .file(file))) }
        if let descriptor { found.append(("fd", .descriptor(descriptor))) }
        if standardInput { found.append(("stdin", .standardInput)) }
        if let command {
            try found.append(
                ("command", .command(CommandWords.split(command, option: "\(Self.prefix)-command"))))
        }
        if let environment {
            SecretEnvironment.take(environment)
            found.append(("env", .environment(environment)))
        }
        if let credential { found.append(("credential", .credential(credential))) }
        guard found.count <= 1 else {
            let options = found.map { "--\(Self.prefix)-\($0.option)" }.joined(separator: " and ")
            throw ValidationError("Give only one source of the key, not \(options).")
        }
        if let descriptor, descriptor < 0 {
            throw ValidationError("--\(Self.prefix)-fd: \(descriptor) is not a file descriptor.")
        }
        return found.first?.source
    }
}

extension KeyRequest {
    /// - Parameter words: the other input, capitalized.
    func checkSharesNoInput(with words: String) throws {
        guard source == .standardInput else { return }
        throw ValidationError("\(words) and the key cannot both come from the standard input.")
    }
}

extension CommandWords {
    /// Splits the value of an option.
    static func split(_ text: String, option: String) throws -> [String] {
        do throws(Failure) { return try split(text) } catch {
            throw ValidationError("--\(option): \(error.message)")
        }
    }
}
