internal import Coffer
internal import Foundation

/// The files of a batch, and where their keys come from.
///
/// Either one path a line, whose keys are those of the command line; or one JSON object a line, whose members have the names of the options:
/// `{"path": "a.db", "key-file": "a.key", "new-key-file": "b.key", "key-type": "raw"}`. Empty lines and lines that start with `#` say nothing.
struct Manifest: Sendable {
    struct Item: Sendable, Hashable {
        /// As it stands in the manifest.
        let path: String
        /// Where the file is.
        let location: String
        var key: KeyRequest?
        var newKey: KeyRequest?
        let cipher: CipherSettings?
    }

    let items: [Item]

    /// - Parameter folder: what relative paths start from.
    init(_ text: String, folder: String) throws(Failure) {
        var items: [Item] = []
        var seen: Set<String> = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let item =
                line.hasPrefix("{")
                ? try Manifest.item(json: line, number: index + 1, folder: folder) : Manifest.item(path: line, folder: folder)
            guard seen.insert(item.location).inserted else { throw Manifest.bad(index + 1, "'\(item.path)' is there twice") }
            items.append(item)
        }
        guard !items.isEmpty else { throw Failure(.unsafeConfiguration, "manifest", "The manifest names no file.") }
        self.items = items
    }

    private static func item(path: String, folder: String) -> Item {
        Item(path: path, location: located(path, in: folder), key: nil, newKey: nil, cipher: nil)
    }

    private static func located(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") || folder == "." ? path : folder + "/" + path
    }

    private static func bad(_ line: Int, _ words: String) -> Failure {
        Failure(.unsafeConfiguration, "manifest", "Line \(line) of the manifest: \(words).")
    }

    // MARK: JSON

    private static let names: Set<String> = Set(
        ["path", "cipher-format", "kdf-iterations", "page-size"]
            + ["key", "new-key"].flatMap { role in ["file", "command", "env", "credential", "type"].map { "\(role)-\($0)" } })

    private static func item(json line: String, number: Int, folder: String) throws(Failure) -> Item {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            throw bad(number, "it is no JSON object")
        }
        if let unknown = object.keys.filter({ !names.contains($0) }).min() {
            throw bad(number, "'\(unknown)' is unknown; there are \(names.sorted().joined(separator: ", "))")
        }
        let reader = MemberReader(object: object, line: number, folder: folder)
        guard let path = try reader.text("path"), !path.isEmpty else { throw bad(number, "it has no path") }
        return Item(
            path: path, location: located(path, in: folder), key: try reader.request(.current), newKey: try reader.request(.new),
            cipher: try reader.cipher())
    }

    private struct MemberReader {
        let object: [String: Any]
        let line: Int
        let folder: String

        func text(_ name: String) throws(Failure) -> String? {
            guard let value = object[name] else { return nil }
            guard let text = value as? String else { throw bad(line, "'\(name)' is no text") }
            return text
        }

        func number(_ name: String) throws(Failure) -> Int? {
            guard let value = object[name] else { return nil }
            guard let number = value as? Int else { throw bad(line, "'\(name)' is no number") }
            return number
        }

        func request(_ role: KeyRequest.Role) throws(Failure) -> KeyRequest? {
            let prefix = role == .current ? "key" : "new-key"
            var sources: [SecretSource] = []
            if let file = try text("\(prefix)-file") { sources.append(.file(located(file, in: folder))) }
            if let command = try text("\(prefix)-command") {
                do throws(Failure) {
                    try sources.append(.command(CommandWords.split(command)))
                } catch {
                    throw bad(line, error.message)
                }
            }
            if let name = try text("\(prefix)-env") { sources.append(.environment(name)) }
            if let name = try text("\(prefix)-credential") { sources.append(.credential(name)) }
            guard sources.count <= 1 else { throw bad(line, "it has more than one source of the \(role.rawValue) key") }
            guard let source = sources.first else { return nil }
            let word = try text("\(prefix)-type") ?? KeyType.passphrase.rawValue
            guard let type = KeyType(rawValue: word) else { throw bad(line, "'\(word)' is no type of keys") }
            return KeyRequest(role: role, source: source, type: type)
        }

        func cipher() throws(Failure) -> CipherSettings? {
            let format = try number("cipher-format")
            let iterations = try number("kdf-iterations")
            let pageSize = try number("page-size")
            guard format != nil || iterations != nil || pageSize != nil else { return nil }
            var settings = CipherSettings.sqlcipher(format: format ?? 4)
            if let iterations { settings.kdfIterations = iterations }
            if let pageSize { settings.pageSize = pageSize }
            return settings
        }
    }
}
