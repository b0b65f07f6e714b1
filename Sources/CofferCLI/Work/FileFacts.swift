internal import Coffer

/// The known facts about a file, as text and as JSON.
struct FileFacts {
    private var facts: [(name: String, words: String, json: JSONObject)] = []

    var pairs: [(String, String)] { facts.filter { !$0.words.isEmpty }.map { ($0.name, $0.words) } }
    var json: JSONObject { JSONObject(joining: facts.map(\.json)) }

    let kind: DatabaseFile.Inspection.Kind

    /// Collects the facts that need a key.
    ///
    /// - Parameters:
    ///   - isKeyTold: true to show people which key opened the file.
    ///   - lockTimeout: the time to wait for locks of other connections, in seconds.
    init(
        _ path: String, _ key: FileKey, _ cipher: CipherSettings?, _ site: SiteSecret?, isKeyTold: Bool,
        lockTimeout: Double
    ) throws {
        let file = DatabaseFile(path: path)
        let contents = try file.inspect(key: key.database, cipher: cipher, lockTimeout: lockTimeout)
        self.init(path, try file.inspect(), contents)
        add("opened by", isKeyTold ? key.option : "", try key.json(site))
        if isKeyTold { add("key id", key.id ?? "", [:]) }
        if isKeyTold, let site { add("site key id", try site.id(of: key.key), [:]) }
    }

    init(_ path: String, _ inspection: DatabaseFile.Inspection, _ contents: DatabaseFile.Contents?) {
        kind = inspection.kind
        let isOpened = contents != nil && kind == .encrypted
        add("kind", isOpened ? "encrypted, opened by the key" : kind.words, ["kind": kind.rawValue])
        add("size", "\(grouped: inspection.size) bytes", ["size": inspection.size])
        if let contents {
            add(contents)
        } else if let size = inspection.pageSize {
            let guess = inspection.isPageSizeGuessed ? " (a guess)" : ""
            add(
                "pages", "\(grouped: inspection.size / Int64(size)) of \(size) bytes\(guess)",
                ["page_size": size, "page_size_guessed": inspection.isPageSizeGuessed])
        }
        if let salt = inspection.salt {
            let digits = Hex.digits(salt)
            add("salt", digits, ["salt": digits])
        }
        add(
            "mode", "\(String(inspection.mode, radix: 8)), owner \(inspection.userID):\(inspection.groupID)",
            ["mode": String(inspection.mode, radix: 8), "uid": inspection.userID, "gid": inspection.groupID])
        if inspection.linkCount != 1 {
            add("names", "\(inspection.linkCount) (hard links)", ["links": inspection.linkCount])
        }
        let companions = inspection.companions.map {
            "-\($0.role.rawValue) (\(grouped: $0.size) bytes)"
        }
        add(
            "side files", companions.joined(separator: ", "),
            [
                "companions": JSONObject(
                    inspection.companions.map { JSONValue.Member($0.role.rawValue, .int($0.size)) })
            ])
        if let keyring = KeyringFacts(of: path) { add("keyring", keyring.line, keyring.json) }
        if !inspection.leftovers.isEmpty {
            add(
                "left over",
                inspection.leftovers.joined(separator: ", ") + " (from an interrupted run: run it again)",
                ["leftovers": inspection.leftovers])
        }
    }

    private mutating func add(_ contents: DatabaseFile.Contents) {
        let free = contents.freePageCount == 0 ? "" : ", \(grouped: contents.freePageCount) free"
        add(
            "pages", "\(grouped: contents.pageCount) of \(contents.pageSize) bytes\(free)",
            [
                "page_size": contents.pageSize, "page_count": contents.pageCount,
                "free_pages": contents.freePageCount,
            ])
        let format = contents.format.map { "SQLCipher \($0)" } ?? "other settings"
        add(
            "format", "\(format), \(grouped: contents.cipher.kdfIterations) PBKDF2 iterations",
            [
                "format": contents.format, "kdf_iterations": contents.cipher.kdfIterations,
                "authenticated": contents.cipher.usesHMAC,
            ])
        add("journal", contents.journalMode, ["journal_mode": contents.journalMode])
        add("vacuum", contents.autoVacuum, ["auto_vacuum": contents.autoVacuum])
        add("encoding", contents.encoding, ["encoding": contents.encoding])
        add(
            "versions", "user \(contents.userVersion), application \(contents.applicationID)",
            ["user_version": contents.userVersion, "application_id": contents.applicationID])
        add(
            "tables", contents.tables.isEmpty ? "none" : contents.tables.joined(separator: ", "),
            ["tables": contents.tables])
    }

    private mutating func add(_ name: String, _ words: String, _ json: JSONObject) {
        facts.append((name, words, json))
    }
}

extension DatabaseFile.Inspection.Kind {
    /// The name of the group that a batch counts the file in.
    var name: String { self == .notADatabase ? "not a database" : rawValue }

    var words: String {
        switch self {
        case .encrypted: "encrypted (cannot be distinguished from random bytes)"
        case .plaintext: "a SQLite database without encryption"
        case .empty: "empty; becomes a database on first use"
        case .notADatabase: "not a database"
        }
    }
}
