/// Where a secret comes from. Never from an argument: every user of the machine can read those.
enum SecretSource: Sendable, Hashable {
    case file(String)
    case descriptor(Int32)
    case standardInput
    /// A command and its arguments, whose standard output is the secret. No shell takes part.
    case command([String])
    case environment(String)
    /// A credential of systemd, by its name.
    case credential(String)
    /// A person at the terminal.
    case prompt

    /// For messages: names the source, not the secret.
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

    /// Distinguishes two sources, where messages need not.
    var identity: String {
        if case .command(let words) = self { "\(name) \(words)" } else { name }
    }
}

/// What the bytes of a secret are. Never guessed from their look.
enum KeyType: String, Sendable, Hashable, CaseIterable {
    case passphrase
    /// 32 bytes, or 64 hexadecimal digits.
    case raw
    /// 32 bytes of key and 16 of salt, or 96 hexadecimal digits.
    case rawWithSalt = "raw+salt"
}

/// A key that is to be read.
struct KeyRequest: Sendable, Hashable {
    enum Role: String, Sendable, Hashable {
        /// The key that a file has.
        case current
        /// A key that a file may have instead.
        case previous
        /// A key that a file is to get: a person types it twice.
        case new

        /// What the options begin with that say where it comes from.
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
    /// Whether its bytes are tried as other types too, so that they need not be a key of this one.
    var isOneOfSeveralTypes = false
    /// What it opens a keyring as; nil for a key of the file itself.
    var unlocks: UnlockType?

    /// The option that gave the key, as in `--key-file app.key`: for people, and for programs. Of a command
    /// only its name is shown.
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

    /// Keys that a file may have instead of its current one: each source is tried as each of the types.
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
