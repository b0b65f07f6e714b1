internal import KeyMaterial
internal import SystemCalls

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

/// The meaning of a secret's bytes.
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

    /// The purpose of the secret, with its type. A type of nil is told by the secret's form.
    enum Use: Sendable, Hashable {
        /// A key of the file itself.
        case key(KeyType?)
        /// A secret that opens the file's keyring.
        case unlocking(UnlockType?)

        /// Distinguishes this use from others in states of batches.
        var identity: String {
            switch self {
            case .key(let type): type?.rawValue ?? "of any type"
            case .unlocking(let type): "unlock \(type.map { "\($0)" } ?? "of any type")"
            }
        }

        /// The type in the form that ``TypedSource`` has.
        fileprivate var type: SecretType? {
            switch self {
            case .key(let type): type.map { SecretType($0) }
            case .unlocking(let type): type.map { SecretType($0) }
            }
        }
    }

    /// The place that named the source.
    enum Origin: Sendable, Hashable {
        /// The options with one name for each kind of source, such as `--key-file`.
        case options
        /// An option, a variable or a member of the configuration, such as `--key`.
        case named(String)

        var name: String? { if case .named(let name) = self { name } else { nil } }
    }

    var role: Role
    var source: SecretSource
    let use: Use
    var origin = Origin.options
    var allowsInsecureFile = false
    /// True if a file has the key of the role ``Role/new`` already.
    var isInUse = false
    /// The owner of the databases that are to get the key, whose key files are accepted.
    private var owner: UInt32?
    /// True if the bytes are tried as other types too, so they need not be valid for this one.
    var isOneOfSeveralTypes = false

    init(role: Role, source: SecretSource, use: Use, origin: Origin = .options) {
        self.role = role
        self.source = source
        self.use = use
        self.origin = origin
    }

    init(role: Role, source: SecretSource, type: KeyType = .passphrase) {
        self.init(role: role, source: source, use: .key(type))
    }

    /// Returns the request for a key that databases are to get. The user to whom all of them belong may know
    /// the key.
    func forDatabases(_ paths: [String]) -> KeyRequest {
        guard role == .new, case .file = source else { return self }
        var request = self
        let owners = Set(paths.compactMap { try? FileStatus($0, followsLinks: true).userID })
        request.owner = owners.count == 1 ? owners.first : nil
        return request
    }

    /// The users who may have access to the file of the key.
    var access: SecretFile.Access {
        if allowsInsecureFile { return .unchecked }
        return role == .new && !isInUse ? .ownerOnlyOfNew(orOf: owner) : .ownerOnly
    }

    var opensKeyring: Bool { if case .unlocking = use { true } else { false } }

    /// The option that supplied the key, as in `--key file:app.key`, for people and programs. For a command,
    /// only the program's name is shown.
    var option: String {
        if source == .prompt { return "the terminal" }
        if let name = origin.name { return "\(name) \(TypedSource(source, use.type).text)" }
        let role = opensKeyring ? "--unlock" : self.role.option
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

    /// Returns the requests for keys that a file may have instead of its current one: each source with each
    /// type.
    static func previous(_ sources: [SecretSource], _ types: [KeyType?]) -> [KeyRequest] {
        sources.flatMap { source in
            types.map { type in
                var request = KeyRequest(role: .previous, source: source, use: .key(type))
                request.isOneOfSeveralTypes = types.count > 1
                return request
            }
        }
    }
}

extension SecretSource {
    /// Returns the source with a relative path, also that of a program, starting at a folder. In the current
    /// folder, another user could have put a program of that name.
    func located(in folder: String) -> SecretSource {
        switch self {
        case .file(let path): return .file(FileNames.located(path, in: folder))
        case .command(var words):
            guard let program = words.first, program.lastSlash != nil else { return self }
            words[0] = FileNames.located(program, in: folder)
            return .command(words)
        default: return self
        }
    }
}
