internal import ArgumentParser

/// The keys that may open an existing file: the current one, and others to try after it.
struct FileKeyOptions: ParsableArguments {
    @OptionGroup
    var current: KeyOptions<SeveralKeys>

    @OptionGroup
    var unlock: UnlockOptions

    @OptionGroup
    var previous: PreviousKeyOptions

    var isGiven: Bool {
        get throws { try current.isGiven || previous.isGiven || unlock.request() != nil }
    }
    /// True if there are keys to try after the first one.
    var areSeveral: Bool { get throws { try current.sources.count > 1 || previous.isGiven } }
    var allowsInsecureFiles: Bool { current.allowsInsecureFiles }

    func request(_ role: KeyRequest.Role = .current) throws -> KeyRequest {
        guard var unlocking = try unlocking(role) else { return try current.request(role) }
        unlocking.allowsInsecureFile = allowsInsecureFiles
        return unlocking
    }

    /// Returns the request for the secret of a keyring, if it is the first one to try.
    private func unlocking(_ role: KeyRequest.Role) throws -> KeyRequest? {
        guard let given = try unlock.request() else {
            guard try role == .current && current.given() == nil, Defaults.current.key == nil else {
                return nil
            }
            return try Defaults.current.unlock?.unlocking()
        }
        if try current.isGiven {
            throw Failure.usage("Give the key of the file or --unlock, not both.")
        }
        guard role == .current else {
            throw Failure.usage("A new file has no keyring. Create one: 'coffer key init', or --recipient.")
        }
        return given
    }

    /// Returns the requests for the keys to try after the one of ``request(_:)``. If defaults for both a key
    /// and a keyring exist, and no option says which one it is, both are tried.
    func otherRequests(_ role: KeyRequest.Role = .current) throws -> [KeyRequest] {
        let defaults = Defaults.current
        let isOpen =
            try role == .current && current.given() == nil && unlock.request() == nil && defaults.key != nil
        let unlocking = isOpen ? try defaults.unlock?.unlocking() : nil
        return try [unlocking].compactMap { $0 }
            + current.furtherRequests()
            + previous.requests(type: current.typeOfOthers, allowingInsecureFiles: allowsInsecureFiles)
    }
}

/// The sources of other keys that a file may have, any number of each kind.
struct PreviousKeyOptions: ParsableArguments {
    @Option(
        name: .customLong("previous-key"),
        help: .source("Try the key from this source too, like a repeated --key (repeatable)."))
    var sources: [SourceArgument] = []

    // The older options.

    @Option(name: .customLong("previous-key-file"), help: .hidden, completion: .file())
    var files: [String] = []

    @Option(name: .customLong("previous-key-fd"), help: .hidden)
    var descriptors: [Int32] = []

    @Option(name: .customLong("previous-key-command"), help: .hidden)
    var commands: [String] = []

    @Option(name: .customLong("previous-key-env"), help: .hidden)
    var environment: [String] = []

    @Option(name: .customLong("previous-key-credential"), help: .hidden)
    var credentials: [String] = []

    @Option(name: .customLong("previous-key-type"), help: .hidden)
    var types: [KeyType] = []

    var isGiven: Bool { get throws { try !sources.isEmpty || !olderSources().isEmpty } }

    func validate() throws {
        let older = try olderSources()
        if !sources.isEmpty, !older.isEmpty || !types.isEmpty {
            throw ValidationError(
                "Give previous keys by --previous-key or by the older options --previous-key-..., not both: "
                    + "--previous-key takes the type too, as in --previous-key raw:file:PATH.")
        }
        _ = try typedRequests()
        if sources.isEmpty, older.isEmpty, !types.isEmpty {
            throw ValidationError("--previous-key-type needs --previous-key-file or a similar option.")
        }
    }

    /// Returns files first, then descriptors, commands, variables and credentials, each in the given order.
    private func olderSources() throws -> [SecretSource] {
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

    private func typedRequests() throws -> [KeyRequest] {
        try sources.map { argument in
            try GivenSource(argument.source(of: "--previous-key"), .named("--previous-key")).key(.previous)
        }
    }

    /// - Parameter type: the type of keys without one of their own.
    fileprivate func requests(type: KeyType?, allowingInsecureFiles: Bool) throws -> [KeyRequest] {
        let older = try KeyRequest.previous(olderSources(), types.isEmpty ? [type] : types)
        return try (typedRequests() + older).map { request in
            var request = request
            request.allowsInsecureFile = allowingInsecureFiles
            return request
        }
    }
}
