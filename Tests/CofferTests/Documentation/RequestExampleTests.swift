import Coffer
import Testing

/// The documentation's examples of requests, with the SQL that it shows. `Scripts/check-docs` looks for their
/// lines.
@Suite("Examples of requests")
struct RequestExampleTests {
    struct Owner: Codable, FetchableRecord, TableRecord {
        enum Columns {
            static let name = Column("name")
        }
        static let items = hasMany(Item.self)
        var id: Int64
        var name: String
    }

    struct Item: Codable, FetchableRecord, TableRecord {
        enum Columns {
            static let name = Column("name")
            static let worth = Column("worth")
            static let amount = Column("amount")
            static let info = JSONColumn("info")
        }
        static let owner = belongsTo(Owner.self)
        var id: Int64
        var name: String
    }

    struct Attachment: Codable, FetchableRecord, TableRecord {
        enum Columns {
            static let itemId = Column("itemId")
            static let fileName = Column("fileName")
            static let size = Column("size")
        }
        var fileName: String
    }

    struct Share: Codable, FetchableRecord, TableRecord {
        var itemId: Int64
        var guestId: Int64
    }

    struct ItemText: Codable, FetchableRecord, TableRecord {
        enum Columns {
            static let name = Column("name")
        }
        var name: String
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE item (id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner, name TEXT, \
                    worth INTEGER, amount INTEGER, info TEXT);
                    CREATE TABLE attachment (itemId INTEGER REFERENCES item, fileName TEXT, size INTEGER);
                    CREATE TABLE share (itemId INTEGER, guestId INTEGER, expiry TEXT, PRIMARY KEY (itemId, \
                    guestId));
                    CREATE VIRTUAL TABLE itemText USING fts5(name, details);
                    """)
        }
    }

    /// Returns the SQL of a request, with literals in place of arguments.
    private func sql(_ request: any FetchRequest, _ db: Database) throws -> String {
        let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
        let count = statement.sql.count { $0 == "?" }
        guard count > 0 else { return statement.sql }
        var literals = try String.fetchAll(
            db,
            sql:
                "SELECT quote(value) FROM (\(Array(repeating: "SELECT ? AS value", count: count).joined(separator: " UNION ALL ")))",
            arguments: statement.arguments)[...]
        return statement.sql.reduce(into: "") { $0 += $1 == "?" ? literals.popFirst() ?? "?" : String($1) }
    }

    private func expect(_ requests: [any FetchRequest], _ expected: [String]) throws {
        let texts = try queue.read { db in try requests.map { try sql($0, db) } }
        #expect(texts == expected)
    }

    @Test("conditions, selections, orders")
    func requests() throws {
        try expect(
            [
                Attachment.select { [$0.itemId, count($0.fileName), sum($0.size)] }.group { [$0.itemId] },
                Attachment.all().filter((1...4096).contains(Column("size"))),
                Share.all().order([Column("expiry").descNullsFirst, Column("guestId")]),
                Attachment.all().select([Column("fileName"), (Column("size") / 1024).forKey("kilobytes")]),
                Item.all().annotated(with: [(Column("worth") * Column("amount")).forKey("value")]),
                Share.all().filter(key: ["itemId": 4, "guestId": 3]),
                Item.select { [$0.name, ($0.worth * $0.amount).forKey("value")] }.order(
                    Column("value").detached.desc),
                Attachment.order(\.fileName).filter { $0.size == 0 },
                Item.filter(JSONColumn("info")["color"] == "red"),
                Item.filter { $0.info["color"] == "red" },
            ],
            [
                #"SELECT "itemId", COUNT("fileName"), SUM("size") FROM "attachment" GROUP BY "itemId""#,
                #"SELECT * FROM "attachment" WHERE "size" BETWEEN 1 AND 4096"#,
                #"SELECT * FROM "share" ORDER BY "expiry" DESC NULLS FIRST, "guestId""#,
                #"SELECT "fileName", "size" / 1024 AS "kilobytes" FROM "attachment""#,
                #"SELECT *, "worth" * "amount" AS "value" FROM "item""#,
                #"SELECT * FROM "share" WHERE ("itemId" = 4) AND ("guestId" = 3)"#,
                #"SELECT "name", "worth" * "amount" AS "value" FROM "item" ORDER BY "value" DESC"#,
                #"SELECT * FROM "attachment" WHERE "size" = 0 ORDER BY "fileName""#,
                #"SELECT * FROM "item" WHERE ("info" ->> 'color') = 'red'"#,
                #"SELECT * FROM "item" WHERE ("info" ->> 'color') = 'red'"#,
            ])
    }

    @Test("associations")
    func associations() throws {
        let on = #"JOIN "owner" ON "owner"."id" = "item"."ownerId""#
        try expect(
            [
                Item.joining(required: Item.owner.filter { $0.name == "Ada" }),
                Item.including(required: Item.belongsTo(Owner.self)),
                Item.annotated(withRequired: Item.owner.select { $0.name.forKey("ownerName") }),
                Owner.annotated(with: Owner.hasMany(Item.self).count),
            ],
            [
                #"SELECT "item".* FROM "item" JOIN "owner" ON ("owner"."id" = "item"."ownerId") AND ("owner"."name" = 'Ada')"#,
                #"SELECT "item".*, "owner".* FROM "item" "# + on,
                #"SELECT "item".*, "owner"."name" AS "ownerName" FROM "item" "# + on,
                #"SELECT "owner".*, COUNT(DISTINCT "item"."id") AS "itemCount" FROM "owner" LEFT JOIN "item" ON "item"."ownerId" = "owner"."id""#
                    + #" GROUP BY "owner"."id""#,
            ])
    }

    @Test("full text")
    func fullText() throws {
        let pattern = try FTS5Pattern(rawPattern: "ring")
        let matching = #"FROM "itemText" WHERE "itemText" MATCH "#
        try expect(
            [
                ItemText.matching(pattern).order(FTS5.bm25(weights: [10, 1])),
                ItemText.matching(pattern).select(
                    FTS5.highlight(Column("details"), from: "<b>", to: "</b>").forKey("details")),
                ItemText.matching(pattern).select(
                    FTS5.snippet(from: "<b>", to: "</b>", ellipsis: "…", tokenCount: 8)),
                ItemText.matching(pattern).order(Column.rank),
                ItemText.matching(FTS5Pattern(matchingAllPrefixesIn: "gold ri")).order(Column.rank),
                ItemText.all().matching(FTS3Pattern(matchingAllPrefixesIn: "gold ri")),
                ItemText.all().matching(FTS5Pattern(matchingAllPrefixesIn: "gold ri")).order(Column.rank),
                ItemText.filter { $0.name.match(pattern) },
            ],
            [
                #"SELECT * "# + matching + #"'ring' ORDER BY BM25("itemText", 10.0, 1.0)"#,
                #"SELECT HIGHLIGHT("itemText", 1, '<b>', '</b>') AS "details" "# + matching + "'ring'",
                #"SELECT SNIPPET("itemText", -1, '<b>', '</b>', '…', 8) "# + matching + "'ring'",
                #"SELECT * "# + matching + #"'ring' ORDER BY "rank""#,
                #"SELECT * "# + matching + #"'gold* ri*' ORDER BY "rank""#,
                #"SELECT * "# + matching + "'gold* ri*'",
                #"SELECT * "# + matching + #"'gold* ri*' ORDER BY "rank""#,
                #"SELECT * FROM "itemText" WHERE "name" MATCH 'ring'"#,
            ])
    }
}
