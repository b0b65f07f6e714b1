internal import ArgumentParser

/// The options for the source of a secret. At most one of them may be given.
struct SecretOptions<Role: SecretRole>: ParsableArguments, Sendable {
    @Option(
        name: .customLong("\(Role.prefix)-file"), help: .value("file", Role.help.file), completion: .file())
    var file: String?

    @Option(name: .customLong("\(Role.prefix)-fd"), help: .value("number", Role.help.descriptor))
    var descriptor: Int32?

    @OptionGroup
    var input: Role.Input

    @Option(name: .customLong("\(Role.prefix)-command"), help: .value("command", Role.help.command))
    var command: String?

    @Option(name: .customLong("\(Role.prefix)-env"), help: .value("name", Role.help.environment))
    var environment: String?

    @Option(name: .customLong("\(Role.prefix)-credential"), help: .value("name", Role.help.credential))
    var credential: String?

    func validate() throws { _ = try source() }

    /// True if a source was given.
    var isGiven: Bool { get throws { try source() != nil } }

    /// Returns the given source, or nil if there is none. A secret in the environment is removed from it, so
    /// child processes do not inherit it.
    func source() throws -> SecretSource? {
        var found: [(option: String, source: SecretSource)] = []
        if let file { found.append(("file", .file(file))) }
        if let descriptor { found.append(("fd", .descriptor(descriptor))) }
        if input.isGiven { found.append(("stdin", .standardInput)) }
        if let command {
            try found.append(
                ("command", .command(CommandWords.split(command, option: "\(Role.prefix)-command"))))
        }
        if let environment {
            SecretEnvironment.take(environment)
            found.append(("env", .environment(environment)))
        }
        if let credential { found.append(("credential", .credential(credential))) }
        guard found.count <= 1 else {
            let options = found.map { "--\(Role.prefix)-\($0.option)" }.joined(separator: " and ")
            throw ValidationError("Give only one source of the key, not \(options).")
        }
        if let descriptor, descriptor < 0 {
            throw ValidationError("--\(Role.prefix)-fd: \(descriptor) is not a file descriptor.")
        }
        return found.first?.source
    }
}

/// The purpose of a secret, which determines the names and the help of its options.
protocol SecretRole: Sendable {
    /// ``StandardInputOption``, or ``NoOptions`` if the secret never comes from the standard input.
    associatedtype Input: InputOption = StandardInputOption<Self>
    static var prefix: String { get }
    static var help: SecretHelp { get }
}

struct SecretHelp: Sendable {
    var file: String
    var descriptor: String
    var standardInput: String
    var command: String
    var environment: String
    var credential: String
}

extension SecretHelp {
    /// - Parameter file: the help for the file, if it says more.
    init(_ noun: String, file: String? = nil) {
        self.init(
            file: file ?? "Read \(noun) from a file that only you can read.",
            descriptor: "Read \(noun) from an open file descriptor.",
            standardInput: "Read \(noun) from the standard input.",
            command: "Run a command, without a shell, that prints \(noun).",
            environment: "Take \(noun) from an environment variable (not recommended).",
            credential: "Take \(noun) from a systemd credential.")
    }
}

protocol InputOption: ParsableArguments & Sendable {
    var isGiven: Bool { get }
}

struct StandardInputOption<Role: SecretRole>: InputOption {
    @Flag(name: .customLong("\(Role.prefix)-stdin"), help: ArgumentHelp(Role.help.standardInput))
    var isGiven = false
}

extension NoOptions: InputOption {
    var isGiven: Bool { false }
}

extension CommandWords {
    /// Splits the value of an option.
    static func split(_ text: String, option: String) throws -> [String] {
        do throws(Failure) { return try split(text) } catch {
            throw ValidationError("--\(option): \(error.message)")
        }
    }
}
