import Foundation

/// A tokenizer that leaves out one word, and has a synonym for another.
private final class Words: FTS5WrapperTokenizer {
    static let name = "words"
    let wrappedTokenizer: any FTS5Tokenizer
    let words: [String]

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(.unicode61())
        words = arguments
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        if words.contains(token) { return }
        try tokenCallback(token, flags)
        if token == "bank", tokenization.contains(.document) {
            try tokenCallback("money", flags.union(.colocated))
        }
    }
}

/// A tokenizer that fails when it is created, or when it tokenizes.
private final class Refusing: FTS5CustomTokenizer {
    static let name = "refusing"
    init(db: Database, arguments: [String]) throws {
        if arguments.contains("init") { throw DatabaseError(resultCode: .SQLITE_FULL, message: "no") }
    }
    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt { 7 }
}

private struct NoteText: Codable, FetchableRecord, PersistableRecord {
    var title: String
    var body: String
}

private struct Note: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var title: String
    var body: String
    static let text = hasOne(NoteText.self, using: ForeignKey([Column.rowID]))
}

extension Comparison {
    private static let fill = """
        CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
        INSERT INTO note VALUES (1, 'Bank', 'The bank of the river'), (2, 'Élan', 'Red-Oak and tulips'), (3, \
        'fo ba', 'foo bar');
        """
    private static let objects =
        "SELECT type, name, sql FROM sqlite_master WHERE name LIKE '%noteText%' AND sql IS NOT NULL ORDER "
        + "BY rowid"

    /// Full-text tables, patterns, requests, tokenizers.
    static func fullText(_ area: Area) {
        func fts3(_ name: String, _ body: @escaping (FTS3TableDefinition) -> Void) {
            area.call("fts3." + name) { db in
                try db.create(virtualTable: "noteText", using: FTS3(), body)
                return try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'noteText'")
            }
        }
        func fts4(_ name: String, _ body: @escaping (FTS4TableDefinition) -> Void) {
            area.call("fts4." + name) { db in
                try db.execute(sql: fill)
                try db.create(virtualTable: "noteText", using: FTS4(), body)
                return try Row.fetchAll(db, sql: objects)
            }
        }
        func fts5(_ name: String, _ body: @escaping (FTS5TableDefinition) -> Void) {
            area.call("fts5." + name) { db in
                try db.execute(sql: fill)
                try db.create(virtualTable: "noteText", using: FTS5(), body)
                return try Row.fetchAll(db, sql: objects)
            }
        }
        fts3("columns") {
            $0.column("title"); $0.column("body")
        }
        fts3("simple") { $0.tokenizer = .simple }
        fts3("porter") {
            $0.tokenizer = .porter; $0.column("body")
        }
        fts3("unicode61") { $0.tokenizer = .unicode61() }
        fts3("unicode61.keep") { $0.tokenizer = .unicode61(diacritics: .keep) }
        fts3("unicode61.remove") {
            $0.tokenizer = .unicode61(diacritics: .remove, separators: ["X"], tokenCharacters: [".", "-"])
        }
        fts4("columns") {
            $0.column("title"); $0.column("body")
        }
        fts4("notIndexed") {
            $0.column("title").notIndexed(); $0.column("body")
        }
        fts4("language") {
            $0.column("body"); $0.column("lid").asLanguageId()
        }
        fts4("content") {
            $0.column("body"); $0.content = ""
        }
        fts4("content.table") {
            $0.column("body"); $0.content = "note"
        }
        fts4("matchinfo") {
            $0.column("body"); $0.matchinfo = "fts3"; $0.prefixes = [4, 2]
        }
        fts4("tokenizer") {
            $0.tokenizer = .porter; $0.column("body")
        }
        fts4("synchronized") {
            $0.synchronize(withTable: "note"); $0.column("title"); $0.column("body")
        }
        fts5("columns") {
            $0.column("title"); $0.column("body")
        }
        fts5("notIndexed") {
            $0.column("title").notIndexed(); $0.column("body")
        }
        fts5("ascii") {
            $0.tokenizer = .ascii(separators: ["X"], tokenCharacters: [".", "-"]); $0.column("body")
        }
        fts5("porter") {
            $0.tokenizer = .porter(wrapping: .unicode61(diacritics: .keep)); $0.column("body")
        }
        fts5("porter.ascii") {
            $0.tokenizer = .porter(wrapping: .ascii()); $0.column("body")
        }
        fts5("unicode61") {
            $0.tokenizer = .unicode61(diacritics: .remove, categories: "L* N* Co", tokenCharacters: ["#"]);
            $0.column("body")
        }
        fts5("content") {
            $0.column("body"); $0.content = ""
        }
        fts5("content.table") {
            $0.column("body"); $0.content = "note"; $0.contentRowID = "id"
        }
        fts5("options") {
            $0.column("body"); $0.prefixes = [2, 4]; $0.columnSize = 0; $0.detail = "column"
        }
        fts5("synchronized") {
            $0.synchronize(withTable: "note"); $0.column("title"); $0.column("body")
        }
        area.call("options") { db in
            try db.create(virtualTable: "noteText", options: .ifNotExists, using: FTS5()) { $0.column("a") }
            try db.create(virtualTable: "noteText", options: .ifNotExists, using: FTS5()) { $0.column("b") }
            try db.create(virtualTable: "other", options: .temporary, using: FTS4()) { $0.column("a") }
            try db.create(virtualTable: "shape", using: "rtree(id, x0, x1)")
            return try db.columns(in: "shape").map(\.name)
        }
        area.call("exists") { db in
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("a") }
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("a") }
        }
        area.call("synchronized.changes") { db in
            try db.execute(sql: fill)
            try db.create(virtualTable: "noteText", using: FTS5()) {
                $0.synchronize(withTable: "note"); $0.column("title"); $0.column("body")
            }
            try Note(id: 4, title: "new", body: "fresh tulips").insert(db)
            try Note(id: 1, title: "Bank", body: "dry").update(db)
            try Note.deleteOne(db, key: 3)
            return try String.fetchAll(
                db, sql: "SELECT title FROM noteText WHERE noteText MATCH ? ORDER BY rowid",
                arguments: [FTS5Pattern(matchingAnyTokenIn: "tulips dry foo")])
        }
        area.call("synchronized.drop") { db in
            try db.execute(sql: fill)
            try db.create(virtualTable: "noteText", using: FTS4()) {
                $0.synchronize(withTable: "note"); $0.column("body")
            }
            try db.drop(table: "noteText")
            try db.dropFTS4SynchronizationTriggers(forTable: "noteText")
            return try Row.fetchAll(db, sql: objects)
        }
        area.call("synchronized.drop.five") { db in
            try db.execute(sql: fill)
            try db.create(virtualTable: "noteText", using: FTS5()) {
                $0.synchronize(withTable: "note"); $0.column("body")
            }
            try db.dropFTS5SynchronizationTriggers(forTable: "noteText")
            return try Row.fetchAll(db, sql: objects)
        }

        for (index, text) in [
            "", "*", "fo", "fo*", "\"fo ba\"", "title:fo", "fo NEAR ba", "fo OR ba", "NOT", "(", "AND", "\"",
        ].enumerated() {
            area.value("pattern3.raw.\(index)") { try FTS3Pattern(rawPattern: text).rawPattern }
        }
        for (index, text) in [
            "", "*", "fo", "fo*", "\"fo ba\"", "title:fo", "NEAR(\"fo\" \"ba\")", "fo NOT ba", "fo AND", "^",
            "(", "\"",
        ]
        .enumerated() {
            area.value("pattern5.raw.\(index)") { try FTS5Pattern(rawPattern: text).rawPattern }
        }
        area.value("pattern5.columns") {
            try FTS5Pattern(rawPattern: "title:fo", allowedColumns: ["title"]).rawPattern
        }
        for (index, text) in ["", "^Tulip*", "\"Red-Oak\"", "BARÉ", "?!", "AND or NOT", "a b  c", "日本 語"]
            .enumerated()
        {
            area.value("patterns.\(index)") {
                [
                    FTS3Pattern(matchingAnyTokenIn: text)?.rawPattern,
                    FTS3Pattern(matchingAllTokensIn: text)?.rawPattern,
                    FTS3Pattern(matchingAllPrefixesIn: text)?.rawPattern,
                    FTS3Pattern(matchingPhrase: text)?.rawPattern,
                    FTS5Pattern(matchingAnyTokenIn: text)?.rawPattern,
                    FTS5Pattern(matchingAllTokensIn: text)?.rawPattern,
                    FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern,
                    FTS5Pattern(matchingPhrase: text)?.rawPattern,
                    FTS5Pattern(matchingPrefixPhrase: text)?.rawPattern,
                ]
            }
        }
        area.value("pattern.value") {
            [
                try FTS3Pattern(rawPattern: "a b").databaseValue,
                FTS5Pattern.fromDatabaseValue("AND".databaseValue)?.databaseValue,
            ]
        }
        area.value("tokenize") {
            try [
                FTS3.tokenize("Élan Vital"), FTS3.tokenize("Élan Vital", withTokenizer: .unicode61()),
                FTS3.tokenize("gardening Tulips", withTokenizer: .porter),
                FTS3.tokenize("Élan", withTokenizer: .unicode61(diacritics: .keep)), FTS3.tokenize(""),
            ]
        }

        func searched<Request: FetchRequest>(
            _ name: String, five: Bool = true, _ request: @escaping () throws -> Request
        ) {
            area.call("request." + name) { db in
                try db.execute(sql: fill)
                if five {
                    try db.create(virtualTable: "noteText", using: FTS5()) {
                        $0.synchronize(withTable: "note"); $0.column("title"); $0.column("body")
                    }
                } else {
                    try db.create(virtualTable: "noteText", using: FTS4()) {
                        $0.synchronize(withTable: "note"); $0.column("title"); $0.column("body")
                    }
                }
                let request = try request()
                return try Row.fetchAll(db, request).map(\.description) + ["\(try request.fetchCount(db))"]
            }
        }
        searched("matching") { try NoteText.matching(FTS5Pattern(rawPattern: "bank")) }
        searched("matching.nil") { NoteText.matching(nil as FTS5Pattern?) }
        searched("matching.four", five: false) {
            try NoteText.matching(FTS3Pattern(rawPattern: "river OR foo"))
        }
        searched("matching.column", five: false) {
            try NoteText.filter(Column("body").match(FTS3Pattern(rawPattern: "ba*")))
        }
        searched("matching.column.nil", five: false) {
            NoteText.filter(Column("body").match(nil as FTS3Pattern?))
        }
        searched("matching.column.five") {
            try NoteText.filter(Column("title").match(FTS5Pattern(rawPattern: "fo")))
        }
        searched("rank") { try NoteText.matching(FTS5Pattern(rawPattern: "bank OR foo")).order(Column.rank) }
        searched("joined") {
            try Note.joining(required: Note.text.matching(FTS5Pattern(rawPattern: "tulips")))
        }
        searched("included") {
            try Note.including(required: Note.text.matching(FTS5Pattern(rawPattern: "tulips OR bank")))
        }
        searched("filtered") {
            try NoteText.matching(FTS5Pattern(rawPattern: "ba* OR re*")).filter(Column("title") != "Bank")
        }
        searched("sql") {
            try SQLRequest<Row>(
                "SELECT rowid, title FROM noteText WHERE noteText MATCH \(FTS5Pattern(rawPattern: "bank"))")
        }
        searched("all") { NoteText.all() }
        searched("snippet") {
            try NoteText.matching(FTS5Pattern(rawPattern: "bank")).select(
                sql: "highlight(noteText, 1, '<', '>') AS h")
        }
        area.call("pattern.table") { db in
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("title") }
            return [try db.makeFTS5Pattern(rawPattern: "title:fo", forTable: "noteText").rawPattern]
        }
        area.call("pattern.table.bad") { db in
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("title") }
            return [try db.makeFTS5Pattern(rawPattern: "body:fo", forTable: "noteText").rawPattern]
        }
        area.call("pattern.region") { db in
            try db.execute(sql: fill)
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("title") }
            return "\(try NoteText.matching(FTS5Pattern(rawPattern: "a")).databaseRegion(db))"
        }

        func tokens(_ name: String, _ descriptor: FTS5TokenizerDescriptor) {
            area.call("tokenizer." + name) { db in
                db.add(tokenizer: Words.self)
                db.add(tokenizer: Refusing.self)
                let tokenizer = try db.makeTokenizer(descriptor)
                func text(_ tokens: [(token: String, flags: FTS5TokenFlags)]) -> String {
                    tokens.map { "\($0.token)/\($0.flags.rawValue)" }.joined(separator: " ")
                }
                return [
                    text(try tokenizer.tokenize(document: "The Bank, the Élan-Vital 12.5")),
                    text(try tokenizer.tokenize(query: "bank fo*")),
                    text(try tokenizer.tokenize(document: "")),
                ]
            }
        }
        tokens("ascii", .ascii())
        tokens("porter", .porter())
        tokens("unicode61", .unicode61())
        tokens("unicode61.keep", .unicode61(diacritics: .keep, tokenCharacters: ["-", "."]))
        tokens("words", Words.tokenizerDescriptor(arguments: ["the"]))
        tokens("unknown", FTS5TokenizerDescriptor(components: ["nope"]))
        tokens("refusing", Refusing.tokenizerDescriptor())
        tokens("refusing.init", Refusing.tokenizerDescriptor(arguments: ["init"]))
        area.value("tokenizer.components") {
            [
                FTS5TokenizerDescriptor.ascii(separators: ["X"]).components,
                FTS5TokenizerDescriptor.porter(wrapping: .unicode61(diacritics: .remove)).components,
            ]
        }
        area.call("tokenizer.table") { db in
            db.add(tokenizer: Words.self)
            try db.create(virtualTable: "noteText", using: FTS5()) {
                $0.tokenizer = Words.tokenizerDescriptor(arguments: ["the", "x y"]); $0.column("body")
            }
            try db.execute(sql: "INSERT INTO noteText VALUES ('the bank of the river'), ('the end')")
            return try ["money", "bank", "the", "end"].map {
                "\($0): \(try Int.fetchAll(db, sql: "SELECT rowid FROM noteText WHERE noteText MATCH ?", arguments: [$0]))"
            }
        }
        area.call("tokenizer.table.refusing") { db in
            db.add(tokenizer: Refusing.self)
            try db.create(virtualTable: "noteText", using: FTS5()) {
                $0.tokenizer = Refusing.tokenizerDescriptor(arguments: ["init"]); $0.column("body")
            }
        }
    }
}
