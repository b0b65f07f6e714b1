internal import ArgumentParser

extension KeyType: ExpressibleByArgument {}

/// The number of keys that a command takes with `--key`.
protocol KeyCount: Sendable {
    static var isSeveral: Bool { get }
}

/// The count of commands that give a file its key.
enum OneKey: KeyCount { static let isSeveral = false }

/// The count of commands that open files: the further keys are tried after the first one.
enum SeveralKeys: KeyCount { static let isSeveral = true }

/// The options for the source of a file's key. Without any, and without a default, the tool prompts for the
/// key.
struct KeyOptions<Count: KeyCount>: SecretSourceOptions {
    static var prefix: String { "key" }
    static var takesSeveral: Bool { Count.isSeveral }

    @Option(
        name: .customLong("key"),
        help: .source("The source of the key, such as file:app.key or ask: see 'coffer help keys'."))
    var sources: [SourceArgument] = []

    @Flag(name: .customLong("insecure-key-file-mode"), help: "Accept key files that others can read.")
    var allowsInsecureFiles = false

    // The older options.

    @Option(name: .customLong("key-file"), help: .hidden, completion: .file())
    var file: String?

    @Option(name: .customLong("key-fd"), help: .hidden)
    var descriptor: Int32?

    @Flag(name: .customLong("key-stdin"), help: .hidden)
    var standardInput = false

    @Option(name: .customLong("key-command"), help: .hidden)
    var command: String?

    @Option(name: .customLong("key-env"), help: .hidden)
    var environment: String?

    @Option(name: .customLong("key-credential"), help: .hidden)
    var credential: String?

    @Option(name: .customLong("key-type"), help: .hidden)
    var type: KeyType?

    var olderType: SecretType? { type.map { SecretType($0) } }

    func request(_ role: KeyRequest.Role = .current) throws -> KeyRequest {
        var request = try (given() ?? Defaults.current.key ?? .prompt).key(role)
        request.allowsInsecureFile = allowsInsecureFiles
        return request
    }

    func validate() throws {
        _ = try given()
        _ = try furtherRequests()
    }

    /// Returns the requests for the keys after the first one.
    func furtherRequests() throws -> [KeyRequest] {
        try sources.dropFirst().map { argument in
            var request = try GivenSource(argument.source(of: "--key"), .named("--key")).key(.previous)
            request.allowsInsecureFile = allowsInsecureFiles
            return request
        }
    }

    /// The type of previous keys without one of their own.
    var typeOfOthers: KeyType? {
        get throws { try isGiven ? given()?.typed.type?.key : type ?? .passphrase }
    }
}

/// The options for the source of the key that a file is to get.
struct NewKeyOptions: SecretSourceOptions {
    static let prefix = "new-key"

    @Option(name: .customLong("new-key"), help: .source("The source of the new key, as for --key."))
    var sources: [SourceArgument] = []

    // The older options.

    @Option(name: .customLong("new-key-file"), help: .hidden, completion: .file())
    var file: String?

    @Option(name: .customLong("new-key-fd"), help: .hidden)
    var descriptor: Int32?

    @Flag(name: .customLong("new-key-stdin"), help: .hidden)
    var standardInput = false

    @Option(name: .customLong("new-key-command"), help: .hidden)
    var command: String?

    @Option(name: .customLong("new-key-env"), help: .hidden)
    var environment: String?

    @Option(name: .customLong("new-key-credential"), help: .hidden)
    var credential: String?

    @Option(name: .customLong("new-key-type"), help: .hidden)
    var type: KeyType?

    var olderType: SecretType? { type.map { SecretType($0) } }

    /// - Parameters:
    ///   - key: the options of the current key, which include the flag for insecure key files.
    ///   - paths: the databases that are to get the key, or of whose content copies are to get it.
    func request(besides key: FileKeyOptions, for paths: [String]) throws -> KeyRequest {
        var request = try (given() ?? .prompt).key(.new)
        request.allowsInsecureFile = key.allowsInsecureFiles
        if request.source == .standardInput, try key.request().source == .standardInput {
            throw Failure.usage(
                "The two keys cannot both come from the standard input. Give one by a file or a file "
                    + "descriptor."
            )
        }
        return request.forDatabases(paths)
    }

    /// Returns nil if no source was given.
    func requestIfGiven(besides key: FileKeyOptions, for paths: [String]) throws -> KeyRequest? {
        try isGiven ? request(besides: key, for: paths) : nil
    }
}
