internal import Coffer
internal import Foundation

/// The files of a batch, and where their keys come from.
///
/// Either one path a line, whose keys are those of the command line; or one JSON object a line, whose members
/// have the names of the options: `{"path": "a.db", "key-file": "a.key", "new-key-file": "b.key", "key-type":
/// "raw"}`. Members for previous keys may be lists, too. Empty lines and lines that start with `#` say
/// nothing. Or paths that end with a byte of zero, as `find -print0` writes them, taken as they are.
struct Manifest: Sendable {
    struct Item: Sendable {
        /// As it stands in the manifest.
        let path: String
        /// Where the file is.
        let location: String
        var key: KeyRequest?
        var newKey: KeyRequest?
        /// Where other keys come from that the file may have; nil for those of the command line.
        var previousKeys: PreviousKeys?
        /// Those keys, or the ones of the command line.
        var previous: [KeyRequest] = []
        let cipher: CipherSettings?
        /// What distinguishes the line of the manifest from others, without what the command line adds.
        var line = ""
    }

    struct PreviousKeys: Sendable {
        let sources: [SecretSource]
        /// Empty for that of the key of the file.
        let types: [KeyType]

        /// Distinguishes them from others.
        var identity: String { (sources.map(\.identity) + types.map(\.rawValue)).joined(separator: "\u{1}") }
    }

    enum Form: Sendable {
        case lines
        /// Paths that end with a byte of zero, and may have any other byte in them.
        case zeroSeparatedPaths

        var separator: UInt8 { self == .lines ? UInt8(ascii: "\n") : 0 }
        var unit: String { self == .lines ? "Line" : "Path" }
    }

    let items: [Item]

    /// No line needs more: a path has 4096 bytes at most.
    static let longestLine = 131_072

    /// - Parameter folder: what relative paths start from.
    init(_ input: CInt, form: Form, folder: String, name: String) throws(Failure) {
        var items: [Item] = []
        // As bytes: texts that look the same and have other bytes are names of other files.
        var seen: Set<[UInt8]> = []
        var reader = LineReader(input, separator: form.separator, limit: Manifest.longestLine)
        while let line = try Manifest.next(&reader, form, name) {
            let line = Line(
                number: line.number, form: form, text: try Manifest.text(line, form, name), folder: folder)
            guard let item = try line.item() else { continue }
            guard seen.insert(Array(item.location.utf8)).inserted else {
                throw line.bad("'\(item.path)' is there twice")
            }
            items.append(item)
        }
        guard !items.isEmpty else {
            throw Failure(.unsafeConfiguration, "manifest", "The manifest names no file.")
        }
        self.items = items
    }

    private static func next(_ reader: inout LineReader, _ form: Form, _ name: String) throws(Failure)
        -> LineReader.Line?
    {
        do throws(LineReader.Problem) {
            return try reader.next()
        } catch {
            switch error {
            case .system(let error): throw Failure(error, "The manifest \(name) cannot be read")
            case .tooLong(let line):
                throw Failure(
                    .unsafeConfiguration, "manifest",
                    "\(form.unit) \(line) of the manifest \(name) has more than "
                        + "\(TextLayout.grouped(longestLine)) bytes."
                )
            }
        }
    }

    /// Bytes that are no UTF-8 would become the name of another file.
    private static func text(_ line: LineReader.Line, _ form: Form, _ name: String) throws(Failure) -> String
    {
        if let text = String(validating: line.bytes, as: UTF8.self) { return text }
        throw Failure(
            .unsafeConfiguration, "manifest",
            "\(form.unit) \(line.number) of the manifest \(name) is not UTF-8. Give the file a name that "
                + "is, or a link of such a name."
        )
    }

    /// A line, or a path, and what it says.
    private struct Line {
        let number: Int
        let form: Form
        let text: String
        let folder: String

        /// Nil for a line that says nothing.
        func item() throws(Failure) -> Item? {
            guard form == .lines else {
                guard !text.isEmpty else { throw bad("it is empty") }
                return item(path: text)
            }
            guard !text.utf8.contains(0) else {
                throw bad(
                    "it has a byte of zero in it. If zeros end the paths, as those of 'find -print0', give "
                        + "--null"
                )
            }
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !trimmed.isEmpty, !trimmed.hasPrefix("#") else { return nil }
            if trimmed.hasPrefix("{") { return try item(json: trimmed) }
            guard trimmed.utf8.elementsEqual(text.utf8) else {
                throw bad(
                    "the path begins or ends with white space. If its name does, write it as JSON, "
                        + "{\"path\": \"...\"}, or give --null; if not, remove it (and the carriage returns "
                        + "of other systems)")
            }
            return item(path: text)
        }

        func bad(_ words: String) -> Failure {
            Failure(.unsafeConfiguration, "manifest", "\(form.unit) \(number) of the manifest: \(words).")
        }

        private func item(path: String) -> Item {
            Item(path: path, location: Manifest.located(path, in: folder), key: nil, newKey: nil, cipher: nil)
        }

        private func item(json line: String) throws(Failure) -> Item {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            else {
                throw bad("it is no JSON object; the path of a file whose name begins with { is './{...'")
            }
            if let unknown = object.keys.filter({ !names.contains($0) }).min() {
                throw bad("'\(unknown)' is unknown; there are \(names.sorted().joined(separator: ", "))")
            }
            guard Manifest.memberCount(line) == object.count else { throw bad("it has a member twice") }
            let reader = MemberReader(object: object, line: self)
            guard let path = try reader.text("path"), !path.isEmpty else { throw bad("it has no path") }
            return Item(
                path: path, location: Manifest.located(path, in: folder), key: try reader.request(.current),
                newKey: try reader.request(.new), previousKeys: try reader.previousKeys(),
                cipher: try reader.cipher())
        }
    }

    private static func located(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") || folder == "." ? path : folder + "/" + path
    }

    // MARK: JSON

    private static let names: Set<String> = Set(
        ["path", "cipher-format", "kdf-iterations", "page-size"]
            + ["key", "new-key", "previous-key"].flatMap { role in
                ["file", "command", "env", "credential", "type"].map { "\(role)-\($0)" }
            })

    /// How many members an object has that is good JSON, those counted twice of which a reader keeps only
    /// one.
    private static func memberCount(_ json: String) -> Int {
        var (count, depth, isInText, isEscaped) = (0, 0, false, false)
        for byte in json.utf8 {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInText: isEscaped = true
            case UInt8(ascii: "\""): isInText.toggle()
            case _ where isInText: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":") where depth == 1: count += 1
            default: break
            }
        }
        return count
    }

    private struct MemberReader {
        let object: [String: Any]
        let line: Line

        func text(_ name: String) throws(Failure) -> String? {
            guard let value = object[name] else { return nil }
            guard let text = value as? String else { throw line.bad("'\(name)' is no text") }
            // The system would take what is before it for the whole.
            guard !text.utf8.contains(0) else { throw line.bad("'\(name)' has a byte of zero in it") }
            return text
        }

        /// A text, or a list of texts; empty for a member that is not there.
        private func texts(_ name: String) throws(Failure) -> [String] {
            guard let list = object[name] as? [Any] else { return try [text(name)].compactMap { $0 } }
            guard let texts = list as? [String], !texts.isEmpty else {
                throw line.bad("'\(name)' is neither a text nor a list of texts")
            }
            guard !texts.contains(where: { $0.utf8.contains(0) }) else {
                throw line.bad("'\(name)' has a byte of zero in it")
            }
            return texts
        }

        func number(_ name: String) throws(Failure) -> Int? {
            guard let value = object[name] else { return nil }
            guard let number = value as? Int else { throw line.bad("'\(name)' is no number") }
            return number
        }

        func request(_ role: KeyRequest.Role) throws(Failure) -> KeyRequest? {
            let prefix = role == .current ? "key" : "new-key"
            let sources = try sources(prefix) { name throws(Failure) in try [text(name)].compactMap { $0 } }
            guard sources.count <= 1 else {
                throw line.bad("it has more than one source of the \(role.rawValue) key")
            }
            guard let source = sources.first else { return nil }
            let type = try text("\(prefix)-type").map(type) ?? .passphrase
            return KeyRequest(role: role, source: source, type: type)
        }

        func previousKeys() throws(Failure) -> PreviousKeys? {
            let sources = try sources("previous-key", texts)
            var types: [KeyType] = []
            for word in try texts("previous-key-type") { types.append(try type(word)) }
            guard !sources.isEmpty else {
                guard types.isEmpty else {
                    throw line.bad("'previous-key-type' is about keys, and there are none")
                }
                return nil
            }
            // The key of the line may be that of the command line, whose type is known there.
            if types.isEmpty, let word = try text("key-type") { types = [try type(word)] }
            return PreviousKeys(sources: sources, types: types)
        }

        private func type(_ word: String) throws(Failure) -> KeyType {
            guard let type = KeyType(rawValue: word) else { throw line.bad("'\(word)' is no type of keys") }
            return type
        }

        /// Files first, then commands, variables and credentials, each in their order.
        private func sources(_ prefix: String, _ texts: (String) throws(Failure) -> [String]) throws(Failure)
            -> [SecretSource]
        {
            var sources: [SecretSource] = []
            for file in try texts("\(prefix)-file") {
                sources.append(.file(Manifest.located(file, in: line.folder)))
            }
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
                // As a part of a sentence.
                throw line.bad(problem.prefix(1).lowercased() + problem.dropFirst().dropLast())
            }
            var settings = CipherSettings.sqlcipher(format: format ?? 4)
            if let iterations { settings.kdfIterations = iterations }
            if let pageSize { settings.pageSize = pageSize }
            return settings
        }
    }
}
