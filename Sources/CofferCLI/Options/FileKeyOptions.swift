internal import ArgumentParser

/// The keys that may open a file that is there: the current one, and others that are tried after it.
struct FileKeyOptions: ParsableArguments {
    @OptionGroup
    var current: KeyOptions

    @OptionGroup
    var unlock: UnlockOptions

    @OptionGroup
    var previous: PreviousKeyOptions

    var isGiven: Bool { get throws { try current.isGiven || previous.isGiven } }
    var allowsInsecureFiles: Bool { current.allowsInsecureFiles }

    func request(_ role: KeyRequest.Role = .current) throws -> KeyRequest {
        guard var unlocking = try unlock.request() else { return try current.request(role) }
        if try current.isGiven {
            throw Failure.usage("Give the key of the file, or what opens its keyring: not both.")
        }
        guard role == .current else {
            throw Failure.usage("A new file gets a keyring by 'coffer key init', or by --recipient.")
        }
        unlocking.allowsInsecureFile = allowsInsecureFiles
        return unlocking
    }

    /// The sources of the keys, in the order in which they are tried.
    func requests() throws -> [KeyRequest] { try [request()] + previousRequests() }

    func previousRequests() throws -> [KeyRequest] {
        try previous.requests(type: current.type, allowingInsecureFiles: current.allowsInsecureFiles)
    }
}

/// Where other keys come from that a file may have: any number of each.
struct PreviousKeyOptions: ParsableArguments {
    @Option(
        name: .customLong("previous-key-file"),
        help: ArgumentHelp(
            "Try the key from this file too, where the key does not open a database (repeatable).",
            valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(
        name: .customLong("previous-key-fd"),
        help: ArgumentHelp("Try the key from an open file descriptor too (repeatable).", valueName: "number"))
    var descriptors: [Int32] = []

    @Option(
        name: .customLong("previous-key-command"),
        help: ArgumentHelp("Try the key that a command prints too (repeatable).", valueName: "command"))
    var commands: [String] = []

    @Option(
        name: .customLong("previous-key-env"),
        help: ArgumentHelp(
            "Try the key from an environment variable too (repeatable, not recommended).", valueName: "name"))
    var environment: [String] = []

    @Option(
        name: .customLong("previous-key-credential"),
        help: ArgumentHelp("Try the key from a systemd credential too (repeatable).", valueName: "name"))
    var credentials: [String] = []

    @Option(
        name: .customLong("previous-key-type"),
        help: ArgumentHelp(
            "What those keys are: that of --key-type by default. Given several times, each of them is taken "
                + "for each of the types that it can be.",
            valueName: "type"))
    var types: [KeyType] = []

    var isGiven: Bool { get throws { try !sources().isEmpty } }

    func validate() throws {
        let sources = try sources()
        if sources.isEmpty, !types.isEmpty {
            throw ValidationError("--previous-key-type is about keys: give --previous-key-file.")
        }
    }

    /// Files first, then descriptors, commands, variables and credentials, each in their order.
    private func sources() throws -> [SecretSource] {
        if let negative = descriptors.first(where: { $0 < 0 }) {
            throw ValidationError("--previous-key-fd: \(negative) is no file descriptor.")
        }
        let commands = try commands.map { text in
            do throws(Failure) {
                return try SecretSource.command(CommandWords.split(text))
            } catch {
                throw ValidationError("--previous-key-command: \(error.message)")
            }
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
