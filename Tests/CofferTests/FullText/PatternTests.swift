import Coffer
import CofferTestSupport
import Testing

@Suite("Full-text patterns")
struct PatternTests {
    @Test("tokens of FTS3")
    func tokens() throws {
        #expect(try FTS3.tokenize("Tulips") == ["tulips"])
        #expect(try FTS3.tokenize("Tulips", withTokenizer: .porter) == ["tulip"])
        #expect(try FTS3.tokenize("gardening", withTokenizer: .porter) == ["garden"])
        #expect(try FTS3.tokenize("Élan Vital") == ["Élan", "vital"])
        #expect(try FTS3.tokenize("Élan Vital", withTokenizer: .unicode61()) == ["elan", "vital"])
        #expect(
            try FTS3.tokenize("Élan Vital", withTokenizer: .unicode61(diacritics: .keep)) == [
                "élan", "vital",
            ])
        #expect(try FTS3.tokenize("a-b", withTokenizer: .unicode61(tokenCharacters: ["-"])) == ["a-b"])
        #expect(try FTS3.tokenize("") == [])
        #expect(try FTS3.tokenize("one two one") == ["one", "two", "one"])
    }

    // MARK: Raw patterns

    @Test(
        "raw patterns that FTS3 takes",
        arguments: [
            "", "?!", "*", "fo", "fo*", "\"fo ba\"", "\"fo* ba*\"", "title:fo", "fo NEAR ba", "fo AND ba",
            "fo OR ba", "fo NOT ba",
        ])
    func validFTS3(pattern: String) throws {
        #expect(try FTS3Pattern(rawPattern: pattern).rawPattern == pattern)
    }

    @Test("raw patterns that FTS3 refuses", arguments: ["OR", "\"", "NOT", " NOT "])
    func invalidFTS3(pattern: String) throws {
        let error = #expect(throws: DatabaseError.self) { try FTS3Pattern(rawPattern: pattern) }
        #expect(error?.resultCode == .SQLITE_ERROR)
        #expect(error?.message == "malformed MATCH expression: [\(pattern)]")
        #expect(error?.sql == nil && error?.arguments == nil)
    }

    @Test(
        "without SQLite's enhanced query syntax, operators are words",
        arguments: ["(", "AND"])
    func standardSyntaxOfFTS3(pattern: String) throws {
        let hasExtendedSyntax = try DatabaseQueue().read { db throws in
            try Bool.fetchOne(db, sql: "SELECT sqlite_compileoption_used('ENABLE_FTS3_PARENTHESIS')") == true
        }
        #expect(((try? FTS3Pattern(rawPattern: pattern)) == nil) == hasExtendedSyntax)
    }

    @Test(
        "raw patterns that FTS5 takes",
        arguments: ["fo", "fo*", "\"fo ba\"", "NEAR(\"fo\" \"ba\")", "fo NOT ba", "fo AND ba", "fo OR ba"])
    func validFTS5(pattern: String) throws {
        #expect(try FTS5Pattern(rawPattern: pattern).rawPattern == pattern)
    }

    @Test(
        "raw patterns that FTS5 refuses",
        arguments: ["", "?!", "*", "^", "NOT", "(", "AND", "OR", "\"", "absent:fo", "title:fo"])
    func invalidFTS5(pattern: String) throws {
        let error = #expect(throws: DatabaseError.self) { try FTS5Pattern(rawPattern: pattern) }
        #expect(error?.resultCode == .SQLITE_ERROR)
        #expect(error?.sql == nil && error?.arguments == nil)
        switch pattern {
        case "AND", "OR", "NOT": #expect(error?.message == "fts5: syntax error near \"\(pattern)\"")
        case "absent:fo": #expect(error?.message == "no such column: absent")
        default: break
        }
    }

    @Test("an FTS5 pattern may name only the allowed columns")
    func columns() throws {
        #expect(try FTS5Pattern(rawPattern: "title:fo", allowedColumns: ["title"]).rawPattern == "title:fo")
        #expect(
            try FTS5Pattern(rawPattern: "{other o_t} : fo", allowedColumns: ["other", "o_t", "other_"])
                .rawPattern == "{other o_t} : fo")
        #expect(throws: DatabaseError.self) {
            try FTS5Pattern(rawPattern: "body:fo", allowedColumns: ["title"])
        }
        #expect(throws: DatabaseError.self) { try FTS5Pattern(rawPattern: "fo", allowedColumns: ["rank"]) }
        try DatabaseQueue().inDatabase { db throws in
            try db.create(virtualTable: "noteText", using: FTS5()) { t in
                t.column("title"); t.column("body")
            }
            #expect(
                try db.makeFTS5Pattern(rawPattern: "body:fo", forTable: "noteText").rawPattern == "body:fo")
            #expect(throws: DatabaseError.self) {
                try db.makeFTS5Pattern(rawPattern: "absent:fo", forTable: "noteText")
            }
            #expect(throws: DatabaseError.self) {
                try db.makeFTS5Pattern(rawPattern: "fo", forTable: "absent")
            }
        }
    }

    // MARK: Patterns from user input

    @Test(
        "no pattern is created from text without words",
        arguments: ["", " ", "*", "^", "(", "()", "\"", "?!", "\u{0}"])
    func noWord(text: String) {
        #expect(FTS3Pattern(matchingAnyTokenIn: text) == nil)
        #expect(FTS3Pattern(matchingAllTokensIn: text) == nil)
        #expect(FTS3Pattern(matchingAllPrefixesIn: text) == nil)
        #expect(FTS3Pattern(matchingPhrase: text) == nil)
        #expect(FTS5Pattern(matchingAnyTokenIn: text) == nil)
        #expect(FTS5Pattern(matchingAllTokensIn: text) == nil)
        #expect(FTS5Pattern(matchingAllPrefixesIn: text) == nil)
        #expect(FTS5Pattern(matchingPhrase: text) == nil)
        #expect(FTS5Pattern(matchingPrefixPhrase: text) == nil)
    }

    @Test(
        "FTS3 patterns created from text",
        arguments: [
            ("^Tulip*", ["tulip", "tulip", "tulip*", "\"tulip\""]),
            ("\"Red-Oak\"", ["red OR oak", "red oak", "red* oak*", "\"red oak\""]),
            ("BARÉ", ["barÉ", "barÉ", "barÉ*", "\"barÉ\""]),
            (
                "red AND NOT oak",
                ["red OR and OR not OR oak", "red and not oak", "red* and* not* oak*", "\"red and not oak\""]
            ),
        ])
    func fts3(text: String, patterns: [String]) {
        #expect(
            [
                FTS3Pattern(matchingAnyTokenIn: text)?.rawPattern,
                FTS3Pattern(matchingAllTokensIn: text)?.rawPattern,
                FTS3Pattern(matchingAllPrefixesIn: text)?.rawPattern,
                FTS3Pattern(matchingPhrase: text)?.rawPattern,
            ] == patterns)
    }

    @Test(
        "FTS5 patterns created from text",
        arguments: [
            ("BARÉ", ["barÉ", "barÉ", "barÉ*", "\"barÉ\"", "^\"barÉ\""]),
            ("^Red-Oak*", ["red OR oak", "red oak", "red* oak*", "\"red oak\"", "^\"red oak\""]),
            (
                "AND NEAR(x",
                ["and OR near OR x", "and near x", "and* near* x*", "\"and near x\"", "^\"and near x\""]
            ),
        ])
    func fts5(text: String, patterns: [String]) {
        #expect(
            [
                FTS5Pattern(matchingAnyTokenIn: text)?.rawPattern,
                FTS5Pattern(matchingAllTokensIn: text)?.rawPattern,
                FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern,
                FTS5Pattern(matchingPhrase: text)?.rawPattern,
                FTS5Pattern(matchingPrefixPhrase: text)?.rawPattern,
            ] == patterns)
    }

    @Test("a NUL character separates words, and is refused in a raw pattern")
    func zero() {
        let text = "red\u{0}oak"
        #expect(FTS3Pattern(matchingAllTokensIn: text)?.rawPattern == "red oak")
        #expect(FTS5Pattern(matchingAllTokensIn: text)?.rawPattern == "red oak")
        let older = #expect(throws: DatabaseError.self) { try FTS3Pattern(rawPattern: text) }
        let pattern = #expect(throws: DatabaseError.self) { try FTS5Pattern(rawPattern: text) }
        #expect(older?.resultCode == .SQLITE_ERROR && pattern?.resultCode == .SQLITE_ERROR)
    }

    @Test("patterns can be made inside a database access")
    func insideOfAccess() throws {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            #expect(FTS5Pattern(matchingAllPrefixesIn: "red tul")?.rawPattern == "red* tul*")
            #expect(try FTS3Pattern(rawPattern: "red").rawPattern == "red")
        }
    }

    // MARK: Values

    @Test("a pattern is stored as its text, and validated when it is read")
    func values() throws {
        let pattern = try FTS5Pattern(rawPattern: "red NOT oak")
        let older = try FTS3Pattern(rawPattern: "red -oak")
        try DatabaseQueue().write { db throws in
            try db.execute(
                sql: "CREATE TABLE search (name, pattern); INSERT INTO search VALUES ('a', ?), ('b', ?)",
                arguments: [pattern, older])
            #expect(
                try String.fetchAll(db, sql: "SELECT pattern FROM search") == ["red NOT oak", "red -oak"])
            #expect(
                try FTS5Pattern.fetchOne(db, sql: "SELECT pattern FROM search")?.rawPattern == "red NOT oak")
            #expect(
                try FTS3Pattern.fetchOne(db, sql: "SELECT pattern FROM search WHERE name = 'b'")?.rawPattern
                    == "red -oak")
            #expect(try SQLRequest<String>(literal: "SELECT \(pattern)").fetchOne(db) == "red NOT oak")
            #expect(try Table("search").filter(Column("pattern") == pattern).fetchCount(db) == 1)
        }
        #expect(FTS5Pattern.fromDatabaseValue("AND".databaseValue) == nil)
        #expect(FTS3Pattern.fromDatabaseValue("OR".databaseValue) == nil)
        #expect(FTS5Pattern.fromDatabaseValue(.null) == nil)
    }

    // MARK: Any text

    @Test("any user input with a word is a pattern that the engine accepts")
    func randomTexts() throws {
        var random = SeededRandom("texts for patterns")
        let count = Nightly.pick(100_000, byDay: 4_000)
        let queue = try DatabaseQueue()
        try queue.inDatabase { db throws in
            for (index, tokenizer) in [FTS5TokenizerDescriptor.unicode61(), .porter(), .ascii()].enumerated()
            {
                try db.create(virtualTable: "t\(index)", using: FTS5()) { t in
                    t.tokenizer = tokenizer
                    t.column("title")
                    t.column("body")
                }
                try db.execute(sql: "INSERT INTO t\(index) VALUES ('red tulips', 'and near or not')")
            }
            try db.create(virtualTable: "old", using: FTS4()) { t in t.column("body") }
            for _ in 0..<count {
                let text = RandomText.make(&random)
                // The tokenizer keeps ASCII letters and digits, and everything that is not ASCII.
                let hasWord = text.unicodeScalars.contains {
                    !$0.isASCII || $0.properties.isAlphabetic || $0.properties.numericType != nil
                }
                let pattern = FTS5Pattern(matchingAllPrefixesIn: text)
                #expect((pattern != nil) == hasWord, "\(Array(text.utf8))")
                guard let pattern, let older = FTS3Pattern(matchingAllPrefixesIn: text) else { continue }
                for index in 0..<3 {
                    do {
                        _ = try Row.fetchOne(
                            db.cachedStatement(sql: "SELECT 1 FROM t\(index) WHERE t\(index) MATCH ?"),
                            arguments: [pattern])
                    } catch {
                        Issue.record("\(error) for \(Array(text.utf8))")
                    }
                }
                _ = try Row.fetchOne(
                    db.cachedStatement(sql: "SELECT 1 FROM old WHERE old MATCH ?"), arguments: [older])
            }
        }
    }
}

/// Unexpected texts.
enum RandomText {
    private static let pieces = [
        " ", "  ", "\t", "\n", "\u{0}", "\"", "'", "*", "^", "(", ")", "+", "-", ":", "{", "}", ",", ".",
        "\\", "AND", "OR", "NOT", "NEAR(",
        "NEAR/2", "near", "title:", "rank", "a", "Z", "0", "_", "é", "e\u{301}", "ß", "日本", "\u{1F600}",
        "\u{200B}", "\u{FEFF}", "\u{202E}",
        "\u{AD}", "\u{1A}", "\u{7F}", "\u{80}", "\u{FFFF}", "\u{10FFFF}", "word", "--", "/*", ";",
    ]

    static func make(_ random: inout SeededRandom) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            if Bool.random(using: &random), let piece = pieces.randomElement(using: &random) {
                text += piece
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
