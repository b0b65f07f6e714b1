import Coffer
import Testing

/// The code blocks of the article on migrations, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on migrations")
struct MigrationsArticleTests {
    struct NeedsUpdate: Error {}

    @Test("each migration behaves as the article describes")
    func migrations() throws {
        let pool = try DatabaseQueue()
        var migrator = DatabaseMigrator()

        migrator.registerMigration("owners and items") { db in
            try db.create(table: "owner") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("name", .text).notNull()
            }
            try db.create(table: "item") { table in
                table.autoIncrementedPrimaryKey("id")
                table.belongsTo("owner", onDelete: .cascade).notNull()
                table.column("name", .text).notNull()
                table.column("worth", .integer).notNull().check { $0 >= 0 }
            }
        }

        migrator.registerMigration("items have a place") { db in
            try db.alter(table: "item") { table in
                table.add(column: "place", .text).notNull().defaults(to: "shelf")
            }
            try db.create(indexOn: "item", columns: ["place"])
        }

        try migrator.migrate(pool)
        try pool.write { db in
            try db.execute(
                sql:
                    "INSERT INTO owner (name) VALUES ('Ada'); INSERT INTO item (ownerId, name, worth) VALUES (1, 'ring', 0)"
            )
        }
        migrator.registerMigration("places are in capitals") { db in
            try db.execute(sql: "UPDATE item SET place = upper(place)")
        }
        migrator.registerMigration("the worth can be unknown") { db in
            try db.create(table: "newItem") { table in
                table.autoIncrementedPrimaryKey("id")
                table.belongsTo("owner", onDelete: .cascade).notNull()
                table.column("name", .text).notNull()
                table.column("worth", .integer)
                table.column("place", .text).notNull()
            }
            try db.execute(
                sql: "INSERT INTO newItem SELECT id, ownerId, name, nullif(worth, 0), place FROM item")
            try db.drop(table: "item")
            try db.rename(table: "newItem", to: "item")
        }
        migrator.registerMigration("shares", foreignKeyChecks: .immediate) { db in
            try db.create(table: "share") { table in
                table.belongsTo("item", onDelete: .cascade).notNull()
                table.column("guest", .text).notNull()
            }
        }
        migrator.registerMigration("version 3", merging: ["version 1", "version 2"]) { db, applied in
            if !applied.contains("version 1") {
                try db.create(table: "guest") { table in table.primaryKey("name", .text) }
            }
            if !applied.contains("version 2") {
                try db.alter(table: "guest") { table in table.add(column: "since", .date) }
            }
        }
        try migrator.migrate(pool)
        let row = try #require(try pool.read { db in try Row.fetchOne(db, sql: "SELECT * FROM item") })
        #expect(row == ["id": 1, "ownerId": 1, "name": "ring", "worth": nil, "place": "SHELF"])
        #expect(try pool.read { db in try db.columns(in: "guest").map(\.name) } == ["name", "since"])
        #expect(try pool.read { db in try db.tableExists("share") })
        func open(_ migrator: DatabaseMigrator) throws {
            let isFromTheFuture = try pool.read { db in try migrator.hasBeenSuperseded(db) }
            if isFromTheFuture {
                throw NeedsUpdate()
            }
        }
        try open(migrator)
        #expect(throws: NeedsUpdate.self) { try open(DatabaseMigrator()) }
    }
}
