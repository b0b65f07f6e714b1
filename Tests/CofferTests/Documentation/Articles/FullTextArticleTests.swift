import Coffer
import Testing

private typealias Item = FullTextArticleTests.Item

/// The code blocks of the article on full text, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on full text")
struct FullTextArticleTests {
    struct Item: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var details: String
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("items") { db in
            try db.create(table: "item") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("details", .text).notNull()
            }
            try Item(id: 1, name: "ring", details: "of gold, one of two rings that Ada has from her mother")
                .insert(db)
        }
        migrator.registerMigration("search") { db in
            try db.create(virtualTable: "itemText", using: FTS5()) { table in
                table.synchronize(withTable: "item")
                table.tokenizer = .porter(wrapping: .unicode61())
                table.column("name")
                table.column("details")
            }
        }
        try migrator.migrate(queue)
        try queue.write { db in try Item(id: 2, name: "door ring", details: "of brass").insert(db) }
    }

    @Test("searching")
    func searching() throws {
        try queue.read { db in
            let typed = "gold ri"
            let pattern = FTS5Pattern(matchingAllPrefixesIn: typed)  // gold* ri*
            let matches = try Table("itemText").matching(pattern).select(Column.rowID, as: Int64.self)
                .fetchSet(db)
            let items = try Item.filter(keys: matches).fetchAll(db)
            #expect(items.map(\.id) == [1])
            #expect(
                try Table("itemText").matching(FTS5Pattern(matchingAllPrefixesIn: "\"-")).fetchCount(db) == 0)
            let found = try Item.joining(required: Item.text.matching(pattern).order(Column.rank)).fetchAll(
                db)
            #expect(found.map(\.id) == [1])
            let pieces = try ItemText.matching(FTS5Pattern(matchingAllTokensIn: "rings"))
                .select(
                    FTS5.snippet(Column("details"), from: "[", to: "]", ellipsis: "…", tokenCount: 4),
                    as: String.self
                )
                .fetchAll(db)
            #expect(pieces.count == 2 && pieces.contains("of brass"))
            #expect(pieces.contains { $0.contains("[rings]") && $0.contains("…") })
            let raw = try db.makeFTS5Pattern(
                rawPattern: "name: ring NOT details: brass", forTable: "itemText")
            let raws = try Item.joining(required: Item.text.matching(raw)).fetchAll(db)
            #expect(raws.map(\.id) == [1])
            #expect(throws: DatabaseError.self) {
                try db.makeFTS5Pattern(rawPattern: "price: ring", forTable: "itemText")
            }
        }
    }
}

struct ItemText: TableRecord {}

extension Item {
    static let text = hasOne(ItemText.self, using: ForeignKey([.rowID]))
}
