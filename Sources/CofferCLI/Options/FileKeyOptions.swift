internal import ArgumentParser

/// The keys that may open an existing file: the current one, and others to try after it.
struct FileKeyOptions: ParsableArguments {
    @OptionGroup
    var current: KeyOptions

    @OptionGroup
    var unlock: UnlockOptions

    @OptionGroup
    var previous: PreviousKeyOptions

    var isGiven: Bool {
        get throws { try current.isGiven || previous.isGiven || unlock.request() != nil }
    }
    var allowsInsecureFiles: Bool { current.allowsInsecureFiles }

    func request(_ role: KeyRequest.Role = .current) throws -> KeyRequest {
        guard var unlocking = try unlock.request() else { return try current.request(role) }
        if try current.isGiven {
            throw Failure.usage("Give the key of the file or an --unlock-... option, not both.")
        }
        guard role == .current else {
            throw Failure.usage("A new file has no keyring. Create one: 'coffer key init', or --recipient.")
        }
        unlocking.allowsInsecureFile = allowsInsecureFiles
        return unlocking
    }

    func previousRequests() throws -> [KeyRequest] {
        try previous.requests(type: current.type, allowingInsecureFiles: current.allowsInsecureFiles)
    }
}

/// The sources of other keys that a file may have, any number of each kind.
struct PreviousKeyOptions: ParsableArguments {
    @Option(
        name: .customLong("previous-key-file"),
        help: .value(
            "file", "Try the key from this file too, if the key does not open a database (repeatable)."),
        completion: .file())
    var files: [String] = []

    @Option(
        name: .customLong("previous-key-fd"),
        help: .value("number", "Try the key from an open file descriptor too (repeatable)."))
    var descriptors: [Int32] = []

    @Option(
        name: .customLong("previous-key-command"),
        help: .value("command", "Try the key that a command prints too (repeatable)."))
    var commands: [String] = []

    @Option(
        name: .customLong("previous-key-env"),
        help: .value("name", "Try the key from an environment variable too (repeatable, not recommended)."))
    var environment: [String] = []

    @Option(
        name: .customLong("previous-key-credential"),
        help: .value("name", "Try the key from a systemd credential too (repeatable)."))
    var credentials: [String] = []

    @Option(
        name: .customLong("previous-key-type"),
        help: .value(
            "type",
            "The type of the previous keys: by default, the --key-type. If repeated, each key is tried as "
                + "each of the types that fit it."))
    var types: [KeyType] = []

    var isGiven: Bool { get throws { try !sources().isEmpty } }

    func validate() throws {
        let sources = try sources()
        if sources.isEmpty, !types.isEmpty {
            throw ValidationError("--previous-key-type needs --previous-key-file or a similar option.")
        }
    }

    /// Returns files first, then descriptors, commands, variables and credentials, each in the given order.
    private func sources() throws -> [SecretSource] {
        if let negative = descriptors.first(where: { $0 < 0 }) {
            throw ValidationError("--previous-key-fd: \(negative) is not a file descriptor.")
        }
        let commands = try commands.map {
            try SecretSource.command(CommandWords.split($0, option: "previous-key-command"))
        }
        environment.forEach(SecretEnvironment.take)
        return files.map(SecretSource.file) + descriptors.map(SecretSource.descriptor) + commands
            + environment.map(SecretSource.environment) + credentials.map(SecretSource.credential)
    }

    fileprivate func requests(type: KeyType, allowingInsecureFiles: Bool) throws -> [KeyRequest] {
        try KeyRequest.previous(
            sources(), types.isEmpty ? [type] : types, allowsInsecureFile: allowingInsecureFiles)
    }
}
