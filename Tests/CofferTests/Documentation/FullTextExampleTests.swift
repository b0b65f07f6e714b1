import Coffer
import Testing

private final class PairTokenizer: FTS5CustomTokenizer {
    static let name = "pairs"

    init(db: Database, arguments: [String]) {}

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt, tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        guard let text = unsafe pText else { return 0 }
        for start in stride(from: 0, to: nText - 1, by: 3) {
            let code = unsafe tokenCallback(context, 0, text + Int(start), 2, start, start + 2)
            if code != 0 { return code }
        }
        return 0
    }
}

/// The locations of items, in an R*Tree.
private struct Places: VirtualTableModule {
    final class Definition {
        var dimensions: [String] = []
    }

    let moduleName = "rtree"

    func makeTableDefinition(configuration: VirtualTableConfiguration) -> Definition { Definition() }

    func moduleArguments(for definition: Definition, in db: Database) -> [String] {
        ["id"] + definition.dimensions.flatMap { ["\($0)Min", "\($0)Max"] }
    }

    func database(_ db: Database, didCreate tableName: String, using definition: Definition) {}
}

/// The documentation's examples of full-text tables and other virtual tables, with the SQL that it shows.
/// `Scripts/check-docs` looks for their lines in this folder.
@Suite("Examples of virtual tables")
struct FullTextExampleTests {
    private struct ItemText: Decodable, FetchableRecord, TableRecord {
        var name: String
    }

    private let queue: DatabaseQueue

    init() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in db.add(tokenizer: PairTokenizer.self) }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, details TEXT);
                    INSERT INTO item VALUES (1, 'ring', 'gold'), (2, 'letters', 'sealed')
                    """)
        }
    }

    /// Returns the SQL that created a table.
    private func definition(_ db: Database, of table: String = "itemText") throws -> String? {
        try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [table])
    }

    @Test("FTS3 and FTS4 tables")
    func olderTables() throws {
        try queue.inTransaction { db in
            try db.create(virtualTable: "itemText", using: FTS3()) { t in
                t.column("name")
                t.column("details")
                t.tokenizer = .porter
            }
            #expect(
                try definition(db)
                    == #"CREATE VIRTUAL TABLE "itemText" USING fts3(name, details, tokenize=porter)"#)
            return .rollback
        }
        try queue.inTransaction { db in
            try db.create(virtualTable: "itemText", using: FTS4()) { t in
                t.column("name")
                t.column("details")
                t.tokenizer = .unicode61()
                t.prefixes = [2, 4]
            }
            #expect(
                try definition(db)
                    == #"CREATE VIRTUAL TABLE "itemText" USING fts4(name, details, tokenize=unicode61, prefix="2,4")"#
            )
            return .rollback
        }
        let words = try FTS3.tokenize("Sealed letters", withTokenizer: .porter)  // ["seal", "letter"]
        #expect(words == ["seal", "letter"])
    }

    @Test("synchronized tables: FTS4")
    func synchronizedFTS4() throws {
        try queue.write { db in
            try db.create(virtualTable: "itemText", using: FTS4()) { t in
                t.synchronize(withTable: "item")
                t.column("name")
                t.column("details")
            }
            var count = 0
            if let pattern = FTS3Pattern(matchingAllPrefixesIn: "gold ri") {  // gold* ri*
                let found = try ItemText.matching(pattern).fetchAll(db)
                count = found.count
            }
            #expect(count == 1)
            try db.dropFTS4SynchronizationTriggers(forTable: "itemText")
            try db.drop(table: "itemText")
            try db.execute(sql: "DELETE FROM item")
        }
    }

    @Test("synchronized tables: FTS5")
    func synchronizedFTS5() throws {
        try queue.write { db in
            try db.create(virtualTable: "itemText", using: FTS5()) { t in
                t.synchronize(withTable: "item")
                t.column("name")
                t.column("details")
            }
            do {
                let pattern = FTS5Pattern(matchingAllPrefixesIn: "gold ri")
                let found = try ItemText.matching(pattern).order(Column.rank).fetchAll(db)
                #expect(found.map(\.name) == ["ring"])
            }
            var count = 0
            if let pattern = FTS5Pattern(matchingAllPrefixesIn: "gold ri") {  // gold* ri*
                let found = try ItemText.matching(pattern).order(Column.rank).fetchAll(db)
                count = found.count
            }
            #expect(count == 1)
            let pattern = try db.makeFTS5Pattern(
                rawPattern: "name: ring OR details: gold", forTable: "itemText")
            #expect(try ItemText.matching(pattern).fetchCount(db) == 1)
            try db.dropFTS5SynchronizationTriggers(forTable: "itemText")
            try db.drop(table: "itemText")
            try db.execute(sql: "DELETE FROM item")
            try db.create(virtualTable: "itemText", using: FTS5()) { t in
                t.column("name")
                t.column("details")
            }
            #expect(try ItemText.fetchCount(db) == 0)
        }
    }

    @Test("tokenizers")
    func tokenizers() throws {
        let descriptor =
            FTS5TokenizerDescriptor(components: ["porter", "unicode61", "remove_diacritics", "0"])
        try queue.write { db in
            let tokenizer = try db.makeTokenizer(.porter())
            let words =
                try tokenizer.tokenize(document: "Sealed letters").map(\.token)  // ["seal", "letter"]
            #expect(words == ["seal", "letter"])
            #expect(try db.makeTokenizer(descriptor).tokenize(document: "Résumés").map(\.token) == ["résumé"])
            try db.create(virtualTable: "fingerprint", using: FTS5()) { t in
                t.tokenizer = PairTokenizer.tokenizerDescriptor()
                t.column("digits")
            }
            try db.execute(sql: "INSERT INTO fingerprint VALUES ('0a:1b:2c'), ('ff:1b')")
            let found = "SELECT count(*) FROM fingerprint WHERE fingerprint MATCH ?"
            #expect(
                try ["2c", "1b", "c"].map { try Int.fetchOne(db, sql: found, arguments: [$0]) } == [1, 2, 0])
        }
    }

    @Test("a custom module")
    func modules() throws {
        try queue.write { db in
            try db.create(virtualTable: "place", using: Places()) { t in
                t.dimensions = ["latitude", "longitude"]
            }
            #expect(
                try definition(db, of: "place")
                    == #"CREATE VIRTUAL TABLE "place" USING rtree(id, latitudeMin, latitudeMax, longitudeMin, longitudeMax)"#
            )
        }
    }
}
