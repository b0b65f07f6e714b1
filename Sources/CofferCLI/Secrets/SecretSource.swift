/// The source of a secret. It is never an argument, because every user of the machine can read those.
enum SecretSource: Sendable, Hashable {
    case file(String)
    case descriptor(Int32)
    case standardInput
    /// A command with its arguments, whose standard output is the secret. It is run without a shell.
    case command([String])
    case environment(String)
    /// The name of a systemd credential.
    case credential(String)
    /// A prompt at the terminal.
    case prompt

    /// The name of the source for messages, without the secret.
    var name: String {
        switch self {
        case .file(let path): "the key file '\(path)'"
        case .descriptor(let number): "file descriptor \(number)"
        case .standardInput: "the standard input"
        case .command(let words): "the command '\(words.first ?? "")'"
        case .environment(let name): "the environment variable \(name)"
        case .credential(let name): "the credential '\(name)'"
        case .prompt: "the terminal"
        }
    }

    /// Identifies the source completely, unlike ``name``.
    var identity: String {
        if case .command(let words) = self { "\(name) \(words)" } else { name }
    }
}

/// The meaning of a secret's bytes. It is never guessed from their form.
enum KeyType: String, Sendable, Hashable, CaseIterable {
    case passphrase
    /// 32 bytes, or 64 hexadecimal digits.
    case raw
    /// 32 bytes of key and 16 of salt, or 96 hexadecimal digits.
    case rawWithSalt = "raw+salt"
}

/// A request for a key.
struct KeyRequest: Sendable, Hashable {
    enum Role: String, Sendable, Hashable {
        /// The key that a file has.
        case current
        /// A key that a file may have instead.
        case previous
        /// A key that a file is to get. The prompt asks for it twice.
        case new

        /// The prefix of the options that name the source of the key.
        var option: String {
            switch self {
            case .current: "--key"
            case .previous: "--previous-key"
            case .new: "--new-key"
            }
        }
    }

    var role: Role
    var source: SecretSource
    var type: KeyType
    var allowsInsecureFile: Bool
    /// True if the bytes are tried as other types too, so they need not be valid for this one.
    var isOneOfSeveralTypes = false
    /// The kind of slot secret, or nil for a key of the file itself.
    var unlocks: UnlockType?

    /// The option that supplied the key, as in `--key-file app.key`, for people and programs. For a command,
    /// only the program's name is shown.
    var option: String {
        let role = unlocks == nil ? self.role.option : "--unlock"
        return switch source {
        case .file(let path): "\(role)-file \(path)"
        case .descriptor(let number): "\(role)-fd \(number)"
        case .standardInput: "\(role)-stdin"
        case .command(let words): "\(role)-command \(words.first ?? "")"
        case .environment(let name): "\(role)-env \(name)"
        case .credential(let name): "\(role)-credential \(name)"
        case .prompt: "the terminal"
        }
    }

    init(role: Role, source: SecretSource, type: KeyType = .passphrase, allowsInsecureFile: Bool = false) {
        self.role = role
        self.source = source
        self.type = type
        self.allowsInsecureFile = allowsInsecureFile
    }

    /// Returns the requests for keys that a file may have instead of its current one: each source with each
    /// type.
    static func previous(_ sources: [SecretSource], _ types: [KeyType], allowsInsecureFile: Bool)
        -> [KeyRequest]
    {
        sources.flatMap { source in
            types.map { type in
                var request = KeyRequest(
                    role: .previous, source: source, type: type, allowsInsecureFile: allowsInsecureFile)
                request.isOneOfSeveralTypes = types.count > 1
                return request
            }
        }
    }
}
