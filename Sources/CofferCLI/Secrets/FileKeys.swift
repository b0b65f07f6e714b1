internal import Coffer

/// The key of one file, and where it comes from.
struct FileKey: Sendable {
    let key: Key
    /// The option that gave it.
    let option: String
    /// As in audit records: it differs from file to file. Nil where the key was not tried.
    var id: String?

    var database: DatabaseKey { key.database }
}

/// The keys that may open files: the current one, and others that are tried after it.
struct FileKeys: Sendable {
    /// Each key once, the current one first; never empty.
    private let keys: [FileKey]

    /// Asks each source once.
    ///
    /// - Parameter current: the key of one file, where it has one of its own.
    init(_ options: FileKeyOptions, current: KeyRequest? = nil, _ cache: KeyCache) throws {
        try self.init([current ?? options.request()] + options.previousRequests(), cache)
    }

    init(_ requests: [KeyRequest], _ cache: KeyCache) throws {
        var keys: [FileKey] = []
        for request in requests {
            let key: Key
            do throws(Failure) {
                key = try cache.key(request)
            } catch {
                if request.isOneOfSeveralTypes, error.reason == "invalid_key" { continue }
                throw error
            }
            if !keys.contains(where: { $0.key.isSame(as: key) }) {
                keys.append(FileKey(key: key, option: request.option))
            }
        }
        self.keys = keys
    }

    private init(_ keys: [FileKey]) {
        self.keys = keys
    }

    var isOne: Bool { keys.count == 1 }

    /// The current key, which need not be the one that opens a file.
    var current: FileKey { keys[0] }

    /// Those that differ from another key; nil if there are none.
    func except(_ key: Key) -> FileKeys? {
        let rest = keys.filter { !$0.key.isSame(as: key) }
        return rest.isEmpty ? nil : FileKeys(rest)
    }

    /// Does something to a file with the key that opens it, or with the current one where none does: then the
    /// work says what is wrong.
    ///
    /// - Parameters:
    ///   - cipher: nil to find out the format.
    ///   - isNamed: whether the key is tried, and named, where there is one only.
    func open<Result>(
        _ path: String, cipher: CipherSettings?, isNamed: Bool = false, _ body: (FileKey) throws -> Result
    ) throws -> Result {
        guard isNamed || !isOne else { return try body(current) }
        let key = find(path, cipher)
        guard key == nil, !isOne else { return try body(key ?? current) }
        do {
            return try body(current)
        } catch let error where Failure(error).reason == "wrong_key" {
            let options = keys.map(\.option).joined(separator: ", ")
            throw Failure(
                .keyRejected, "wrong_key",
                "None of the \(keys.count) keys opens this file (\(options)). Check the keys, their types, "
                    + "and the cipher options if the file has special ones.")
        }
    }

    private func find(_ path: String, _ cipher: CipherSettings?) -> FileKey? {
        let file = DatabaseFile(path: path)
        for key in keys {
            do {
                var found = key
                found.id = try file.keyID(key.database, cipher: cipher)
                return found
            } catch let error where Failure(error).status == .keyRejected {
                continue
            } catch {
                // The file has another problem than its key, or the key is right and more is wrong.
                return key
            }
        }
        return nil
    }
}

extension FileKey {
    /// Which key it is, for a program that reads a result.
    func json(_ site: SiteSecret?) throws -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("opened_by", .string(option)), .init("key_id", .optional(id)),
        ]
        if let site { members.append(.init("site_key_id", .string(try site.id(of: key)))) }
        return members
    }

    /// The same in words.
    func words(_ site: SiteSecret?) throws -> String {
        let name =
            try site.map { " (site key id \(try $0.id(of: key)))" } ?? id.map { " (key id \($0))" } ?? ""
        return option + name
    }
}
