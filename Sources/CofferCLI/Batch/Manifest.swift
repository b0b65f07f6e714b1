internal import SystemCalls
internal import Coffer
internal import Foundation

/// The files of a batch, and the sources of their keys.
///
/// A manifest has one of three forms. The first has one path a line; the keys are those of the command line.
/// The second has one JSON object a line, whose members have the names of the options: `{"path": "a.db",
/// "key": "file:a.key", "new-key": "file:b.key"}`. Files with a keyring have `unlock` instead of `key`.
/// Members for previous keys may also be lists. In these two forms, empty lines and lines that start with `#`
/// are ignored. The third has NUL-terminated paths, as `find -print0` writes them, which are used verbatim.
struct Manifest: Sendable {
    struct Item: Sendable {
        /// The path as the manifest spells it.
        let path: String
        /// The path at which the tool opens the file.
        var location: String
        var key: KeyRequest?
        var newKey: KeyRequest?
        /// The sources of other keys that may open the file, or nil to use the command line's.
        var previousKeys: PreviousKeys?
        /// The requests for those keys, or for the ones of the command line.
        var previous: [KeyRequest] = []
        var cipher: CipherSettings?
        /// The reason that the file cannot be opened by its name, if it cannot.
        var problem: Failure?
        /// Identifies the line of the manifest as it is written: without the manifest's folder, and without
        /// the parts that the command line adds.
        var line = ""

        fileprivate var namesKeys: Bool { key != nil || newKey != nil || previousKeys != nil }

        /// Returns the item with all relative paths starting at a folder.
        fileprivate func located(in folder: String) -> Item {
            var item = self
            item.location = FileNames.located(path, in: folder)
            item.key = key?.located(in: folder)
            item.newKey = newKey?.located(in: folder)
            item.previousKeys = previousKeys?.located(in: folder)
            return item
        }
    }

    enum PreviousKeys: Sendable {
        /// Sources with their types, as `previous-key` has them.
        case typed([KeyRequest])
        /// Sources of `previous-key-file` and so on, each with all types. Without types, they have the type
        /// of the file's key.
        case separate([SecretSource], [KeyType])

        /// Distinguishes these keys from others.
        var identity: String {
            let parts =
                switch self {
                case .typed(let requests): requests.map { "\($0.source.identity) \($0.use.identity)" }
                case .separate(let sources, let types): sources.map(\.identity) + types.map(\.rawValue)
                }
            return parts.joined(separator: "\u{1}")
        }

        fileprivate func located(in folder: String) -> PreviousKeys {
            switch self {
            case .typed(let requests): .typed(requests.map { $0.located(in: folder) })
            case .separate(let sources, let types):
                .separate(sources.map { $0.located(in: folder) }, types)
            }
        }

        /// - Parameter type: the type of keys without one of their own.
        func requests(type: KeyType?, allowsInsecureFile: Bool) -> [KeyRequest] {
            let requests =
                switch self {
                case .typed(let requests): requests
                case .separate(let sources, let types):
                    KeyRequest.previous(sources, types.isEmpty ? [type] : types)
                }
            return requests.map { request in
                var request = request
                request.allowsInsecureFile = allowsInsecureFile
                return request
            }
        }
    }

    enum Form: Sendable {
        case lines
        /// NUL-terminated paths, which may contain any other byte.
        case zeroSeparatedPaths

        var separator: UInt8 { self == .lines ? UInt8(ascii: "\n") : 0 }
        var unit: String { self == .lines ? "Line" : "Path" }
    }

    let items: [Item]
    /// The items without the folder that their relative paths start at.
    private let written: [Item]
    private let folder: String

    /// The maximum length of a line, in bytes. It is ample: a path has at most 4096 bytes.
    static let longestLine = 131_072

    /// - Parameters:
    ///   - folder: the folder that relative paths start from.
    ///   - danger: the way in which other users can change the manifest, or nil. They could have a command
    ///     run or choose a key, so such a manifest must not name any.
    init(_ input: CInt, form: Form, folder: String, name: String, danger: String? = nil) throws(Failure) {
        var written: [Item] = []
        // Bytes, because strings that compare equal may have different bytes and name different files.
        var seen: Set<[UInt8]> = []
        var reader = LineReader(input, separator: form.separator, limit: Manifest.longestLine)
        while let line = try reader.next(
            of: "The manifest \(name)", tooLong: { Manifest.tooLong($0, form, name) })
        {
            guard let text = String(validating: line.bytes, as: UTF8.self) else {
                guard let item = try Manifest.item(notUTF8: line, form, name) else { continue }
                if seen.insert(line.bytes).inserted { written.append(item) }
                continue
            }
            let line = Line(number: line.number, form: form, text: text)
            guard var item = try line.item() else { continue }
            if let danger, item.namesKeys {
                throw Failure.manifest("The manifest \(name) names keys or commands, but \(danger).")
            }
            let location = FileNames.located(item.path, in: folder)
            guard seen.insert(Array(location.utf8)).inserted else {
                throw line.bad("'\(item.path)' is listed twice")
            }
            item.line = try BatchState.id(item)
            written.append(item)
        }
        guard !written.isEmpty else { throw Failure.manifest("The manifest lists no files.") }
        self.init(written, in: folder)
    }

    /// Creates the list of files that were found in folders. Their identifiers do not depend on the paths of
    /// the folders as they were typed.
    init(_ files: [FoundFile]) throws(Failure) {
        var items: [Item] = []
        for file in files {
            var item = Item(path: file.path, location: file.place)
            item.line = try BatchState.id(item)
            item.location = file.path
            item.problem = file.problem
            items.append(item)
        }
        self.init(items, in: ".")
    }

    private init(_ written: [Item], in folder: String) {
        self.written = written
        self.folder = folder
        items = written.map { $0.located(in: folder) }
    }

    /// Throws if two items name the same file, which would get the work of both.
    func checkFilesDiffer() throws(Failure) {
        var paths: [FileIdentity: String] = [:]
        for item in items {
            guard let identity = (try? FileStatus(item.location, followsLinks: true))?.identity else {
                continue
            }
            if let other = paths.updateValue(item.path, forKey: identity) {
                throw Failure.manifest(
                    "'\(other)' and '\(item.path)' are the same file, and would be changed "
                        + "twice. Choose one of the names.")
            }
        }
    }

    /// The identifiers of the lines.
    var lines: Set<String> { Set(written.map(\.line)) }

    /// Returns the identifiers of the lines, by the identifiers in states of the first schema. Those depend
    /// on the manifest's folder, as it was typed.
    func linesByFirstSchema() throws(Failure) -> [String: String] {
        var lines: [String: String] = [:]
        for folder in Set([folder, ".", FileNames.standardized(folder), FileNames.canonical(folder)]) {
            for item in written { lines[try BatchState.id(item.located(in: folder))] = item.line }
        }
        return lines
    }

    private static func tooLong(_ line: Int, _ form: Form, _ name: String) -> Failure {
        Failure.manifest(
            "\(form.unit) \(line) of the manifest \(name) has more than \(grouped: longestLine) bytes.")
    }

    /// Returns the item for a name that is not UTF-8, which fails alone: anyone who can create a file in a
    /// folder could otherwise stop the work on all others. Converted to text, the name would be another one.
    ///
    /// - Returns: nil for a comment.
    private static func item(notUTF8 line: LineReader.Line, _ form: Form, _ name: String) throws(Failure)
        -> Item?
    {
        let first = form == .lines ? line.bytes.first { ![UInt8(ascii: " "), 9, 13].contains($0) } : nil
        if first == UInt8(ascii: "#") { return nil }
        guard first != UInt8(ascii: "{") else {
            throw Failure.manifest("Line \(line.number) of the manifest \(name) is JSON that is not UTF-8.")
        }
        let path = String(decoding: line.bytes, as: UTF8.self)
        var item = Item(path: path, location: path)
        item.problem = FileNames.notUTF8
        // The text of the path may be that of another file.
        item.line = try BatchState.id(
            Item(path: "", location: "\0" + Hex.digits(line.bytes)))
        return item
    }

    /// A line or a path, and its meaning.
    private struct Line {
        let number: Int
        let form: Form
        let text: String

        /// Returns nil for an empty line or a comment.
        func item() throws(Failure) -> Item? {
            guard form == .lines else {
                guard !text.isEmpty else { throw bad("it is empty") }
                return Item(path: text, location: text)
            }
            guard !text.utf8.contains(0) else {
                throw bad(
                    "it contains a NUL byte. If NUL bytes end the paths, as with 'find -print0', give --null"
                )
            }
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !trimmed.isEmpty, !trimmed.hasPrefix("#") else { return nil }
            if trimmed.hasPrefix("{") { return try item(json: trimmed) }
            guard trimmed.utf8.elementsEqual(text.utf8) else {
                throw bad(
                    "the path begins or ends with white space. If this is part of the name, use JSON, "
                        + "{\"path\": \"...\"}, or give --null; otherwise remove it (it may be a carriage "
                        + "return)")
            }
            return Item(path: text, location: text)
        }

        func bad(_ words: String) -> Failure {
            Failure.manifest("\(form.unit) \(number) of the manifest: \(words).")
        }

        private func item(json line: String) throws(Failure) -> Item {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let members = try? JSONMembers.names(of: Array(line.utf8))
            else {
                throw bad("it is not a JSON object; write a path that begins with { as './{...'")
            }
            if let unknown = object.keys.filter({ !names.contains($0) }).min() {
                throw bad("'\(unknown)' is unknown; there are \(names.sorted().joined(separator: ", "))")
            }
            guard members.count == object.count else { throw bad("it repeats a member") }
            let reader = MemberReader(object: object, line: self)
            guard let path = try reader.text("path"), !path.isEmpty else { throw bad("it has no path") }
            return Item(
                path: path, location: path, key: try reader.request(.current),
                newKey: try reader.request(.new), previousKeys: try reader.previousKeys(),
                cipher: try reader.cipher())
        }
    }

    // MARK: JSON

    private static let names: Set<String> = Set(
        ["path", "cipher-format", "kdf-iterations", "page-size"]
            + ["key", "new-key", "previous-key", "unlock"].flatMap { role in
                [role] + ["file", "command", "env", "credential", "type"].map { "\(role)-\($0)" }
            })

    private struct MemberReader {
        let object: [String: Any]
        let line: Line

        func text(_ name: String) throws(Failure) -> String? {
            guard let value = object[name] else { return nil }
            guard let text = value as? String else { throw line.bad("'\(name)' is not a string") }
            // The system would take a path to end at the NUL byte.
            guard !text.utf8.contains(0) else { throw line.bad("'\(name)' contains a NUL byte") }
            return text
        }

        /// Returns a string or a list of strings. The result is empty if there is no such member.
        private func texts(_ name: String) throws(Failure) -> [String] {
            guard let list = object[name] as? [Any] else { return try [text(name)].compactMap { $0 } }
            guard let texts = list as? [String], !texts.isEmpty else {
                throw line.bad("'\(name)' is not a string or a list of strings")
            }
            guard !texts.contains(where: { $0.utf8.contains(0) }) else {
                throw line.bad("'\(name)' contains a NUL byte")
            }
            return texts
        }

        func number(_ name: String) throws(Failure) -> Int? {
            guard let value = object[name] else { return nil }
            // `Int` also accepts a boolean of JSON, whose type is the letter c.
            guard let number = value as? Int, let type = unsafe (value as? NSNumber)?.objCType,
                unsafe type.pointee != CChar(UInt8(ascii: "c"))
            else { throw line.bad("'\(name)' is not a number") }
            return number
        }

        func request(_ role: KeyRequest.Role) throws(Failure) -> KeyRequest? {
            let prefix = role == .current ? "key" : "new-key"
            let sources = try sources(prefix) { name throws(Failure) in try [text(name)].compactMap { $0 } }
            guard sources.count <= 1 else {
                throw line.bad("it has more than one source of the \(role.rawValue) key")
            }
            let unlocking = role == .current ? try unlocking() : nil
            let given = try given(prefix)
            guard !given.isEmpty || !sources.isEmpty else { return unlocking }
            guard unlocking == nil else { throw line.bad("it has both a key and a secret for a keyring") }
            if let given = given.first { return try good { () throws(Failure) in try given.key(role) } }
            let type = try text("\(prefix)-type").map(type) ?? .passphrase
            return sources.first.map { KeyRequest(role: role, source: $0, type: type) }
        }

        /// Returns the sources with their types in a member such as `key`. The result is empty if there is no
        /// such member.
        private func given(_ name: String) throws(Failure) -> [GivenSource] {
            var given: [GivenSource] = []
            for text in try name == "previous-key" ? texts(name) : [text(name)].compactMap({ $0 }) {
                do throws(TypedSource.Problem) {
                    try given.append(GivenSource(TypedSource(text), .named("--\(name)")))
                } catch {
                    switch error {
                    case .notASource:
                        throw line.bad("'\(name)' is not a source. A manifest must not contain a key")
                    case .unusable(let words): throw line.bad("'\(name)': \(words.dropLast())")
                    }
                }
            }
            for source in given {
                switch source.typed.source {
                case .descriptor, .standardInput, .prompt:
                    throw line.bad("'\(name)' takes file:, command:, env: or credential: in a manifest")
                default: break
                }
            }
            if !given.isEmpty, let other = object.keys.filter({ $0.hasPrefix("\(name)-") }).min() {
                throw line.bad("it has both '\(name)' and '\(other)'")
            }
            return given
        }

        private func good<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
            do throws(Failure) { return try body() } catch {
                throw line.bad(String(error.message.dropLast()))
            }
        }

        /// Returns the request for the secret that opens the file's keyring.
        private func unlocking() throws(Failure) -> KeyRequest? {
            if let given = try given("unlock").first {
                return try good { () throws(Failure) in try given.unlocking() }
            }
            let sources = try sources("unlock") { name throws(Failure) in try [text(name)].compactMap { $0 } }
            let word = try text("unlock-type") ?? UnlockType.passphrase.rawValue
            guard let type = UnlockType(rawValue: word) else {
                throw line.bad("'\(word)' is not a type of secret for a keyring")
            }
            guard let source = sources.first else {
                guard object["unlock-type"] == nil else {
                    throw line.bad("'unlock-type' needs 'unlock-file' or another source")
                }
                return nil
            }
            guard sources.count == 1 else {
                throw line.bad("it has more than one secret for a keyring")
            }
            if type == .command {
                guard case .command = source else {
                    throw line.bad("'unlock-type' command needs 'unlock-command'")
                }
            }
            return KeyRequest(role: .current, source: source, use: .unlocking(type))
        }

        func previousKeys() throws(Failure) -> PreviousKeys? {
            var typed: [KeyRequest] = []
            for given in try given("previous-key") {
                try typed.append(good { () throws(Failure) in try given.key(.previous) })
            }
            guard typed.isEmpty else { return .typed(typed) }
            let sources = try sources("previous-key", texts)
            var types: [KeyType] = []
            for word in try texts("previous-key-type") { types.append(try type(word)) }
            guard !sources.isEmpty else {
                guard types.isEmpty else {
                    throw line.bad("'previous-key-type' needs previous keys")
                }
                return nil
            }
            // The line's key may come from the command line, which determines its type.
            if types.isEmpty, let word = try text("key-type") { types = [try type(word)] }
            if types.isEmpty, let type = try given("key").first?.typed.type?.key { types = [type] }
            return .separate(sources, types)
        }

        private func type(_ word: String) throws(Failure) -> KeyType {
            guard let type = KeyType(rawValue: word) else { throw line.bad("'\(word)' is not a key type") }
            return type
        }

        /// Returns files first, then commands, variables and credentials, each in the given order.
        private func sources(_ prefix: String, _ texts: (String) throws(Failure) -> [String]) throws(Failure)
            -> [SecretSource]
        {
            var sources: [SecretSource] = []
            for file in try texts("\(prefix)-file") { sources.append(.file(file)) }
            for command in try texts("\(prefix)-command") {
                do throws(Failure) {
                    try sources.append(.command(CommandWords.split(command)))
                } catch {
                    throw line.bad(error.message)
                }
            }
            for name in try texts("\(prefix)-env") {
                SecretEnvironment.take(name)
                sources.append(.environment(name))
            }
            for name in try texts("\(prefix)-credential") { sources.append(.credential(name)) }
            return sources
        }

        func cipher() throws(Failure) -> CipherSettings? {
            let format = try number("cipher-format")
            let iterations = try number("kdf-iterations")
            let pageSize = try number("page-size")
            guard format != nil || iterations != nil || pageSize != nil else { return nil }
            if let problem = CipherOptions.problem(
                format: format, pageSize: pageSize, kdfIterations: iterations)
            {
                // The problem becomes part of a sentence.
                throw line.bad(problem.prefix(1).lowercased() + problem.dropFirst().dropLast())
            }
            var settings = CipherSettings.sqlcipher(format: format ?? 4)
            if let iterations { settings.kdfIterations = iterations }
            if let pageSize { settings.pageSize = pageSize }
            return settings
        }
    }
}

extension KeyRequest {
    /// Returns the request with a relative path starting at a folder.
    fileprivate func located(in folder: String) -> KeyRequest {
        var request = self
        request.source = source.located(in: folder)
        return request
    }
}

extension Failure {
    static func manifest(_ message: String) -> Failure { Failure(.unsafeConfiguration, "manifest", message) }
}
