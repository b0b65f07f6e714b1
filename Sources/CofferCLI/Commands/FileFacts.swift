internal import Coffer

/// The known facts about a file, as text and as JSON.
struct FileFacts {
    private var facts: [(name: String, words: String, json: [JSONValue.Member])] = []

    var pairs: [(String, String)] { facts.filter { !$0.words.isEmpty }.map { ($0.name, $0.words) } }
    var json: [JSONValue.Member] { facts.flatMap(\.json) }

    let kind: DatabaseFile.Inspection.Kind

    /// Collects the facts that need a key.
    ///
    /// - Parameter isKeyTold: true to show people which key opened the file.
    init(_ path: String, _ key: FileKey, _ cipher: CipherSettings?, _ site: SiteSecret?, isKeyTold: Bool)
        throws
    {
        let file = DatabaseFile(path: path)
        self.init(path, try file.inspect(), try file.inspect(key: key.database, cipher: cipher))
        add("opened by", isKeyTold ? key.option : "", try key.json(site))
        if isKeyTold { add("key id", key.id ?? "", []) }
        if isKeyTold, let site { add("site key id", try site.id(of: key.key), []) }
    }

    init(_ path: String, _ inspection: DatabaseFile.Inspection, _ contents: DatabaseFile.Contents?) {
        kind = inspection.kind
        let isOpened = contents != nil && kind == .encrypted
        add(
            "kind", isOpened ? "encrypted, opened by the key" : inspection.kind.words,
            [.init("kind", .string(inspection.kind.rawValue))])
        add("size", "\(TextLayout.grouped(inspection.size)) bytes", [.init("size", .int(inspection.size))])
        if let contents {
            add(contents)
        } else if let size = inspection.pageSize {
            let guess = inspection.isPageSizeGuessed ? " (a guess)" : ""
            add(
                "pages", "\(TextLayout.grouped(inspection.size / Int64(size))) of \(size) bytes\(guess)",
                [
                    .init("page_size", .count(size)),
                    .init("page_size_guessed", .bool(inspection.isPageSizeGuessed)),
                ])
        }
        if let salt = inspection.salt {
            let digits = Hex.digits(salt)
            add("salt", digits, [.init("salt", .string(digits))])
        }
        add(
            "mode", "\(String(inspection.mode, radix: 8)), owner \(inspection.userID):\(inspection.groupID)",
            [
                .init("mode", .string(String(inspection.mode, radix: 8))),
                .init("uid", .count(inspection.userID)),
                .init("gid", .count(inspection.groupID)),
            ])
        if inspection.linkCount != 1 {
            add(
                "names", "\(inspection.linkCount) (hard links)",
                [.init("links", .count(inspection.linkCount))])
        }
        let companions = inspection.companions.map {
            "-\($0.role.rawValue) (\(TextLayout.grouped($0.size)) bytes)"
        }
        add(
            "side files", companions.joined(separator: ", "),
            [
                .init(
                    "companions",
                    .object(inspection.companions.map { .init($0.role.rawValue, .int($0.size)) }))
            ])
        if let keyring = KeyringFacts(of: path) { add("keyring", keyring.line, keyring.json) }
        if !inspection.leftovers.isEmpty {
            add(
                "left over",
                inspection.leftovers.joined(separator: ", ") + " (from an interrupted run: run it again)",
                [.init("leftovers", .strings(inspection.leftovers))])
        }
    }

    private mutating func add(_ contents: DatabaseFile.Contents) {
        let free = contents.freePageCount == 0 ? "" : ", \(TextLayout.grouped(contents.freePageCount)) free"
        add(
            "pages", "\(TextLayout.grouped(contents.pageCount)) of \(contents.pageSize) bytes\(free)",
            [
                .init("page_size", .count(contents.pageSize)),
                .init("page_count", .count(contents.pageCount)),
                .init("free_pages", .count(contents.freePageCount)),
            ])
        let format = contents.format.map { "SQLCipher \($0)" } ?? "other settings"
        add(
            "format", "\(format), \(TextLayout.grouped(contents.cipher.kdfIterations)) PBKDF2 iterations",
            [
                .init("format", contents.format.map { .count($0) } ?? .null),
                .init("kdf_iterations", .count(contents.cipher.kdfIterations)),
                .init("authenticated", .bool(contents.cipher.usesHMAC)),
            ])
        add("journal", contents.journalMode, [.init("journal_mode", .string(contents.journalMode))])
        add("vacuum", contents.autoVacuum, [.init("auto_vacuum", .string(contents.autoVacuum))])
        add("encoding", contents.encoding, [.init("encoding", .string(contents.encoding))])
        add(
            "versions", "user \(contents.userVersion), application \(contents.applicationID)",
            [
                .init("user_version", .count(contents.userVersion)),
                .init("application_id", .count(contents.applicationID)),
            ])
        add(
            "tables", contents.tables.isEmpty ? "none" : contents.tables.joined(separator: ", "),
            [.init("tables", .strings(contents.tables))])
    }

    private mutating func add(_ name: String, _ words: String, _ json: [JSONValue.Member]) {
        facts.append((name, words, json))
    }
}

extension DatabaseFile.Inspection.Kind {
    /// The name of the group that a batch counts the file in.
    var name: String {
        switch self {
        case .encrypted: "encrypted"
        case .plaintext: "plaintext"
        case .empty: "empty"
        case .notADatabase: "not a database"
        }
    }

    var words: String {
        switch self {
        case .encrypted: "encrypted (cannot be distinguished from random bytes)"
        case .plaintext: "a SQLite database without encryption"
        case .empty: "empty; becomes a database on first use"
        case .notADatabase: "not a database"
        }
    }
}
