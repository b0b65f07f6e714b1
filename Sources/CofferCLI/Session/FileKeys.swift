internal import Coffer

/// The key of one file, and its source.
struct FileKey: Sendable {
    let key: Key
    /// The option that supplied the key.
    let option: String
    /// The identifier of the key in audit records, which differs between files, or nil if the key was not
    /// tried.
    var id: String?

    var database: DatabaseKey { key.database }
}

/// The keys that may open files: the current one, and others to try after it.
struct FileKeys: Sendable {
    /// The distinct keys, the current one first. Never empty.
    private let keys: [FileKey]
    private let lockTimeout: Double

    /// Reads each source once.
    ///
    /// - Parameter current: the request for the file's own key, if it has one.
    init(_ options: FileKeyOptions, current: KeyRequest? = nil, _ cache: KeyCache) throws {
        try self.init([current ?? options.request()] + options.otherRequests(), cache)
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
        lockTimeout = cache.lockTimeout
    }

    private init(_ keys: [FileKey], lockTimeout: Double) {
        self.keys = keys
        self.lockTimeout = lockTimeout
    }

    var isOne: Bool { keys.count == 1 }

    /// The current key, which is not necessarily the one that opens a file.
    var current: FileKey { keys[0] }

    /// Returns the keys that differ from `key`, or nil if there are none.
    func except(_ key: Key) -> FileKeys? {
        let rest = keys.filter { !$0.key.isSame(as: key) }
        return rest.isEmpty ? nil : FileKeys(rest, lockTimeout: lockTimeout)
    }

    /// Calls `body` with the key that opens a file. If no key does, `body` gets the current key and reports
    /// the problem.
    ///
    /// - Parameters:
    ///   - cipher: the cipher settings, or nil to detect the format.
    ///   - isNamed: true to try and identify the key even if there is only one.
    @discardableResult
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
                    + "and the cipher options if the file needs any."
            ).about(path)
        }
    }

    private func find(_ path: String, _ cipher: CipherSettings?) -> FileKey? {
        let file = DatabaseFile(path: path)
        for key in keys where key.key.slotSecret == nil || KeyringFacts(of: path) != nil {
            do {
                var found = key
                found.id = try file.keyID(key.database, cipher: cipher, lockTimeout: lockTimeout)
                return found
            } catch let error where Failure(error).status == .keyRejected {
                continue
            } catch {
                // Either the file has a problem other than its key, or the key is right and something else is
                // wrong.
                return key
            }
        }
        return nil
    }
}

extension FileKey {
    /// Returns JSON members that identify the key.
    func json(_ site: SiteSecret?) throws -> JSONObject {
        var members: JSONObject = ["opened_by": option, "key_id": id]
        if let site { members += ["site_key_id": try site.id(of: key)] }
        return members
    }

    /// Returns text that identifies the key.
    func words(_ site: SiteSecret?) throws -> String {
        let name =
            try site.map { " (site key id \(try $0.id(of: key)))" } ?? id.map { " (key id \($0))" } ?? ""
        return option + name
    }
}
