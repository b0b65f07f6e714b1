/// A source together with the type of its secret, as options, manifests, variables and the configuration
/// spell it: `raw:file:app.key`, `file:app.key`, `ask`.
struct TypedSource: Sendable, Hashable {
    var source: SecretSource
    /// Nil if the form of the secret tells its type. See ``SecretForm``.
    let type: SecretType?

    enum Problem: Error, Hashable {
        /// The text does not begin like a source. It may be a secret, so no message shows it.
        case notASource
        /// The reason that a source is unusable, as a sentence without the text.
        case unusable(String)
    }

    init(_ source: SecretSource, _ type: SecretType?) {
        self.source = source
        self.type = type
    }

    /// Parses `[TYPE:]SOURCE`. A variable that the text names is removed from the environment, so that no
    /// program inherits its secret.
    init(_ text: String) throws(Problem) {
        type = SecretType.allCases.first { text.hasPrefix($0.rawValue + ":") }
        let rest = text.dropFirst(type.map { $0.rawValue.count + 1 } ?? 0)
        guard type != .program else {
            source = try .command(TypedSource.words(rest))
            return
        }
        let kind = rest.prefix { $0 != ":" }
        let value = kind.endIndex == rest.endIndex ? nil : String(rest[kind.endIndex...].dropFirst())
        switch (kind, value) {
        case ("stdin", nil): source = .standardInput
        case ("ask", nil): source = .prompt
        case ("file", let path?):
            guard !path.isEmpty else { throw .unusable("'file:' needs a path.") }
            source = .file(path)
        case ("fd", let number?):
            guard let number = Int32(number), number >= 0 else {
                throw .unusable("'fd:' needs the number of a file descriptor.")
            }
            source = .descriptor(number)
        case ("env", let name?):
            guard !name.isEmpty, !name.contains("=") else {
                throw .unusable("'env:' needs the name of a variable.")
            }
            SecretEnvironment.take(name)
            source = .environment(name)
        case ("command", let line?): source = try .command(TypedSource.words(Substring(line)))
        case ("credential", let name?):
            guard !name.isEmpty else { throw .unusable("'credential:' needs a name.") }
            source = .credential(name)
        default: throw .notASource
        }
    }

    private static func words(_ line: Substring) throws(Problem) -> [String] {
        do throws(Failure) { return try CommandWords.split(String(line)) } catch {
            throw .unusable(error.message)
        }
    }

    /// True if the text begins like a source, so that it may be shown.
    static func isSource(_ text: String) -> Bool {
        do throws(Problem) {
            _ = try TypedSource(text)
            return true
        } catch {
            return error != .notASource
        }
    }

    /// The source in the form that is parsed. For a command, only the program's name is shown, because its
    /// arguments may be secret.
    var text: String {
        let words =
            switch source {
            case .file(let path): "file:\(path)"
            case .descriptor(let number): "fd:\(number)"
            case .standardInput: "stdin"
            case .command(let words): (type == .program ? "" : "command:") + (words.first ?? "")
            case .environment(let name): "env:\(name)"
            case .credential(let name): "credential:\(name)"
            case .prompt: "ask"
            }
        return (type.map { $0.rawValue + ":" } ?? "") + words
    }
}

/// The types of secrets that a source can have before it.
enum SecretType: String, Sendable, Hashable, CaseIterable {
    case passphrase, raw
    case rawWithSalt = "raw+salt"
    case recovery, identity
    /// A program that answers challenges. Its command line follows the type.
    case program

    var key: KeyType? { KeyType(rawValue: rawValue) }
    var unlock: UnlockType? { self == .program ? .command : UnlockType(rawValue: rawValue) }

    init(_ type: KeyType) {
        switch type {
        case .passphrase: self = .passphrase
        case .raw: self = .raw
        case .rawWithSalt: self = .rawWithSalt
        }
    }

    init(_ type: UnlockType) {
        switch type {
        case .passphrase: self = .passphrase
        case .raw: self = .raw
        case .recovery: self = .recovery
        case .identity: self = .identity
        case .command: self = .program
        }
    }
}

/// A source, and the place that named it.
struct GivenSource: Sendable, Hashable {
    let typed: TypedSource
    let origin: KeyRequest.Origin

    init(_ typed: TypedSource, _ origin: KeyRequest.Origin) {
        self.typed = typed
        self.origin = origin
    }

    /// The prompt of today's commands that got no source.
    static let prompt = GivenSource(TypedSource(.prompt, .passphrase), .options)

    /// Returns the request for a key of the file itself.
    func key(_ role: KeyRequest.Role) throws(Failure) -> KeyRequest {
        guard typed.type == nil || typed.type?.key != nil else {
            throw refused("a key is of the type passphrase, raw or raw+salt. For the keyring, give --unlock.")
        }
        return KeyRequest(role: role, source: typed.source, use: .key(typed.type?.key), origin: origin)
    }

    /// Returns the request for a secret that opens the keyring.
    func unlocking() throws(Failure) -> KeyRequest {
        guard typed.type == nil || typed.type?.unlock != nil else {
            throw refused("a keyring has no slot of that type.")
        }
        return KeyRequest(
            role: .current, source: typed.source, use: .unlocking(typed.type?.unlock), origin: origin)
    }

    /// Returns the source of a secret that has no type.
    func untyped() throws(Failure) -> SecretSource {
        guard typed.type == nil else { throw refused("this secret has no type.") }
        return typed.source
    }

    private func refused(_ words: String) -> Failure {
        .usage("\(origin.name ?? "The source") begins with '\(typed.type?.rawValue ?? ""):', but \(words)")
    }
}
