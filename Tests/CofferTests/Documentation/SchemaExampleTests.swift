import Coffer
import Testing

/// The documentation's examples of the schema and of names. `Scripts/check-docs` looks for their lines in
/// this folder.
@Suite("Examples of the schema")
struct SchemaExampleTests {
    /// Each view of this vault has the key of the table that its name begins with, such as `item_heavy`.
    private struct PrefixKeys: DatabaseSchemaSource {
        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            let table = view.name.prefix { $0 != "_" }
            return try db.primaryKey(String(table)).columns
        }
    }

    private struct HeavyItem: Codable, FetchableRecord, TableRecord {
        static let databaseTableName = "item_heavy"
        var name: String
    }

    @Test("columns, keys and references")
    func columns() throws {
        try DatabaseQueue().write { db in
            try db.create(table: "currency") { t in t.primaryKey("code", .text) }
            try db.create(table: "owner") { t in
                t.primaryKey("id", .integer)
                t.column("email", .text).notNull().unique().check { length($0) > 0 }
                t.column("name", .text).check { length($0) > 0 }
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO owner VALUES (1, 'ada@example.org', '')")
            }
            try db.create(table: "item") { t in
                t.primaryKey("id", .integer)
                t.belongsTo("owner")  // ownerId REFERENCES owner(id)
                t.belongsTo("currency").notNull()  // currencyCode REFERENCES currency(code)
                t.belongsTo("guest", inTable: "owner")  // guestId REFERENCES owner(id)
                t.column("note", .text)
                t.column("shelf", .text)
            }
            let keys = try db.foreignKeys(on: "item").map { "\($0.mapping[0].origin) \($0.destinationTable)" }
            #expect(Set(keys) == ["ownerId owner", "currencyCode currency", "guestId owner"])
            try db.create(table: "page") { t in
                t.primaryKey {
                    t.belongsTo("item")
                    t.column("page", .integer)
                }
            }
            #expect(try db.primaryKey("page").columns == ["itemId", "page"])
            try db.alter(table: "item") { item in
                item.rename(column: "note", to: "details")
                item.drop(column: "shelf")
                item.add(column: "sealed", .boolean).notNull().defaults(to: false)
            }
            #expect(
                try db.columns(in: "item").map(\.name)
                    == ["id", "ownerId", "currencyCode", "guestId", "details", "sealed"])
        }
    }

    @Test("unique keys")
    func uniqueKeys() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE owner (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT)")
            let answers = [
                try db.table("owner", hasUniqueKey: ["email", "name"]),  // true
                try db.table("owner", hasUniqueKey: ["name"]),  // false
            ]
            #expect(answers == [true, false])
        }
    }

    @Test("keys of views")
    func views() throws {
        var configuration = Configuration()
        configuration.schemaSource = PrefixKeys()
        try DatabaseQueue(configuration: configuration).write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, weight INTEGER);
                    INSERT INTO item VALUES (1, 'ring', 12), (2, 'safe', 90000);
                    CREATE VIEW item_heavy AS SELECT * FROM item WHERE weight > 20000;
                    """)
            #expect(try HeavyItem.find(db, key: 2).name == "safe")
        }
    }

    @Test("a migration that merges two others")
    func mergedMigrations() throws {
        for isOld in [false, true] {
            let queue = try DatabaseQueue()
            if isOld {
                var old = DatabaseMigrator()
                old.registerMigration("guests 1") { db in
                    try db.create(table: "guest") { table in table.primaryKey("name", .text) }
                }
                try old.migrate(queue)
            }
            var migrator = DatabaseMigrator()
            migrator.registerMigration("guests", merging: ["guests 1", "guests 2"]) { db, applied in
                if !applied.contains("guests 1") {
                    try db.create(table: "guest") { table in table.primaryKey("name", .text) }
                }
                if !applied.contains("guests 2") {
                    try db.alter(table: "guest") { table in table.add(column: "since", .date) }
                }
            }
            try migrator.migrate(queue)
            #expect(try queue.read { try $0.columns(in: "guest").map(\.name) } == ["name", "since"])
        }
    }

    @Test("names in the singular and the plural")
    func inflections() {
        let entries =
            Inflections.default.pluralize("entry")  // "entries"
        let index =
            Inflections.default.singularize("indices")  // "index"
        #expect((entries, index) == ("entries", "index"))
    }
}
