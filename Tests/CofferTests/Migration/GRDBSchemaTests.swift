import Coffer
import CofferTestSupport
import Testing

@Suite("Databases created by GRDB with the same migrations")
struct GRDBSchemaTests {
    private func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("1") { db in
            try db.create(table: "player") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull(onConflict: .abort).collate(.nocase)
                t.column("email", .text).unique(onConflict: .abort).collate(.unicodeCompare)
                t.column("score", .integer).notNull(onConflict: .replace).defaults(to: 0)
            }
            try db.create(index: "byName", on: "player", expressions: [Column("name").collating(.rtrim)])
            try db.create(
                index: "anns", on: "player", columns: ["score"],
                condition: Column("name").collating(.nocase) == "ann" && [1].contains(Column("score"))
                    && Column("email") != nil)
            try db.create(table: "safe") { t in
                t.column("kind", .text).check {
                    ["iron", "wood"].contains($0.collating(.nocase)) || $0 == nil
                }
                t.column("side", .text).check { $0.collating(.nocase) != "none" }
                t.check(["box"].contains(Column("kind")))
            }
            try db.create(
                view: "total", as: Table("player").select((Column("score") + Column("id")).forKey("sum")))
        }
        return migrator
    }

    /// The text that GRDB stores, and the text that older versions of Coffer stored, without the view.
    static let schemas = [
        """
        CREATE TABLE "player" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL COLLATE NOCASE, "email" TEXT \
        UNIQUE COLLATE swiftCompare, "score" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0);
        CREATE INDEX "byName" ON "player"("name" COLLATE RTRIM);
        CREATE INDEX "anns" ON "player"("score") WHERE ("name" = 'ann' COLLATE NOCASE) AND ("score" = 1) AND \
        ("email" IS NOT NULL);
        CREATE TABLE "safe" ("kind" TEXT CHECK ((("kind" COLLATE NOCASE) IN ('iron', 'wood')) OR ("kind" IS \
        NULL)), "side" TEXT CHECK ("side" <> 'none' COLLATE NOCASE), CHECK ("kind" = 'box'));
        CREATE VIEW "total" AS SELECT "score" + "id" AS "sum" FROM "player"
        """,
        """
        CREATE TABLE "player" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL ON CONFLICT ABORT COLLATE \
        "NOCASE", "email" TEXT UNIQUE ON CONFLICT ABORT COLLATE "swiftCompare", "score" INTEGER NOT NULL ON \
        CONFLICT REPLACE DEFAULT 0);
        CREATE INDEX "byName" ON "player"("name" COLLATE "RTRIM");
        CREATE INDEX "anns" ON "player"("score") WHERE ("name" = 'ann' COLLATE "NOCASE") AND ("score" = 1) \
        AND ("email" IS NOT NULL);
        CREATE TABLE "safe" ("kind" TEXT CHECK ((("kind" COLLATE "NOCASE") IN ('iron', 'wood')) OR ("kind" \
        IS NULL)), "side" TEXT CHECK ("side" <> 'none' COLLATE "NOCASE"), CHECK ("kind" = 'box'));
        CREATE VIEW "total" AS SELECT "score" + "id" AS "sum" FROM "player"
        """,
    ]

    static let applied = """
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1')
        """

    @Test("their content is kept", arguments: schemas)
    func stays(schema: String) throws {
        try withTestDirectory { directory in
            let queue = try directory.makeQueue()
            try queue.write { db in
                try db.execute(sql: schema)
                try db.execute(sql: Self.applied)
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Ann')")
            }
            #expect(try queue.read { try !self.migrator().hasSchemaChanges($0) })
            try migrator().migrate(queue)
            #expect(try queue.read { try String.fetchAll($0, sql: "SELECT name FROM player") } == ["Ann"])
        }
    }

    @Test("the stored SQL is the same, byte for byte")
    func text() throws {
        let queue = try DatabaseQueue()
        try migrator().migrate(queue)
        let query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'grdb%'"
        let sql = try queue.read { try String.fetchAll($0, sql: query) }
        #expect(sql == Self.schemas[0].split(separator: ";\n").map(String.init))
    }

    @Test("a difference in meaning counts as a schema change")
    func differences() throws {
        let changes = [
            ("COLLATE NOCASE", "COLLATE \"BINARY\""), ("ON CONFLICT REPLACE", "ON CONFLICT ABORT"),
            ("DEFAULT 0", "DEFAULT '0'"),
        ]
        for (old, new) in changes {
            let queue = try DatabaseQueue()
            try queue.write { db in
                try db.execute(sql: Self.schemas[0].replacing(old, with: new))
                try db.execute(sql: Self.applied)
            }
            #expect(try queue.read { try migrator().hasSchemaChanges($0) }, "\(new)")
        }
    }
}
