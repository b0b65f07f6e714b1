internal import ArgumentParser

/// The options that name the source of a secret: one that takes any source, and the older ones with one name
/// for each kind of source, which the help does not show. At most one of them may be given.
protocol SecretSourceOptions: ParsableArguments {
    /// The name of the option, and the prefix of the older names.
    static var prefix: String { get }
    /// True if the source may have a type before it.
    static var hasType: Bool { get }
    /// True if the option may be repeated. The first value is the one of ``given()``.
    static var takesSeveral: Bool { get }
    /// The values of the option. An array, so that a second value is noticed.
    var sources: [SourceArgument] { get }

    // The older options.
    var file: String? { get }
    var descriptor: Int32? { get }
    var standardInput: Bool { get }
    var command: String? { get }
    var environment: String? { get }
    var credential: String? { get }
    var olderType: SecretType? { get }
}

extension SecretSourceOptions {
    static var hasType: Bool { true }
    static var takesSeveral: Bool { false }
    var standardInput: Bool { false }
    var olderType: SecretType? { nil }

    private static var option: String { "--\(prefix)" }

    func validate() throws { _ = try given() }

    /// True if a source was given.
    var isGiven: Bool { get throws { try !sources.isEmpty || !olderSources().isEmpty } }

    /// Returns the given source, or nil if there is none. A secret in the environment is removed from it, so
    /// child processes do not inherit it.
    func given() throws -> GivenSource? {
        let older = try olderSources()
        guard older.count <= 1 else {
            throw ValidationError(
                "Give only one source of the key, not \(older.map(\.option).joined(separator: " and ")).")
        }
        guard let argument = sources.first else {
            if let source = older.first?.source {
                return GivenSource(TypedSource(source, olderType ?? .passphrase), .options)
            }
            return olderType.map { GivenSource(TypedSource(.prompt, $0), .options) }
        }
        guard sources.count == 1 || Self.takesSeveral else {
            throw ValidationError("Give \(Self.option) once.")
        }
        let source = try argument.source(of: Self.option)
        if older.isEmpty, let olderType, source == .bareUnlock {
            return GivenSource(TypedSource(.prompt, olderType), .options)
        }
        if let option = older.first?.option ?? olderType.map({ _ in "\(Self.option)-type" }) {
            let hint =
                Self.hasType
                ? ": \(Self.option) takes the type too, as in \(Self.option) raw:file:PATH." : "."
            throw ValidationError("Give only one source, not \(Self.option) and \(option)\(hint)")
        }
        return GivenSource(source, .named(Self.option))
    }

    private func olderSources() throws -> [(option: String, source: SecretSource)] {
        var found: [(option: String, source: SecretSource)] = []
        func add(_ kind: String, _ source: SecretSource?) {
            if let source { found.append(("\(Self.option)-\(kind)", source)) }
        }
        add("file", file.map(SecretSource.file))
        add("fd", descriptor.map(SecretSource.descriptor))
        add("stdin", standardInput ? .standardInput : nil)
        try add(
            "command",
            command.map { try .command(CommandWords.split($0, option: "\(Self.prefix)-command")) })
        environment.map(SecretEnvironment.take)
        add("env", environment.map(SecretSource.environment))
        add("credential", credential.map(SecretSource.credential))
        if let descriptor, descriptor < 0 {
            throw ValidationError("\(Self.option)-fd: \(descriptor) is not a file descriptor.")
        }
        return found
    }
}

/// Options for a secret that is only bytes.
protocol UntypedSourceOptions: SecretSourceOptions {}

extension UntypedSourceOptions {
    static var hasType: Bool { false }

    /// Returns the source of a secret that has no type, or nil if none was given.
    func source() throws -> SecretSource? {
        // An older option of such a secret has no type either.
        try given().map { given in given.origin == .options ? given.typed.source : try given.untyped() }
    }

    func validate() throws { _ = try source() }
}

/// The value of an option that takes a source. Any other value is dropped: it may be a secret.
struct SourceArgument: ExpressibleByArgument, Sendable {
    private let result: Result<TypedSource, TypedSource.Problem>

    init(argument: String) {
        result = Result { () throws(TypedSource.Problem) in try TypedSource(argument) }
    }

    /// - Throws: `ValidationError` if the value is not a usable source.
    func source(of option: String) throws -> TypedSource {
        do throws(TypedSource.Problem) { return try result.get() } catch {
            switch error {
            case .notASource: throw ValidationError(ArgumentMistake.words(for: option))
            case .unusable(let words): throw ValidationError("\(option): \(words)")
            }
        }
    }

    /// Returns the arguments with a value after each `--unlock` that stands for a prompt.
    static func addingPrompts(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        return arguments.enumerated().map { index, argument in
            guard argument == "--unlock", index < end, ArgumentMistake.isPrompt(at: index, arguments) else {
                return argument
            }
            return "--unlock=\(TypedSource.bareUnlock.text)"
        }
    }
}

extension TypedSource {
    /// The meaning of `--unlock` without a value.
    static let bareUnlock = TypedSource(.prompt, .passphrase)
}

extension ArgumentHelp {
    /// The help for an option that takes a source.
    static func source(_ text: String) -> ArgumentHelp { .value("source", text) }
}

extension CommandWords {
    /// Splits the value of an option.
    static func split(_ text: String, option: String) throws -> [String] {
        do throws(Failure) { return try split(text) } catch {
            throw ValidationError("--\(option): \(error.message)")
        }
    }
}
