import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Altering, renaming and dropping tables")
struct AlterationTests {
    private static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY);
        CREATE TABLE player (id INTEGER PRIMARY KEY, url TEXT, score INTEGER);
        """

    @Test("each step is a statement, in the order of the steps")
    func steps() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try? db.alter(table: "player") { t in
                t.add(column: "a", .boolean)
                t.add(column: "b", .text).notNull().defaults(to: "x").indexed()
                t.add(column: "c").references("team", onDelete: .cascade)
                t.add(column: "d").references("player")
                t.add(column: "e", .integer).generatedAs(sql: "score * 2").check { $0 > 0 }
                t.addColumn(sql: "f TEXT")
                t.addColumn(literal: "g TEXT DEFAULT \("o'o")")
                t.rename(column: "url", to: "homeURL")
                t.drop(column: "missing")
                t.drop(column: "score")
            }
            #expect(
                try db.columns(in: "player").map(\.name) == [
                    "id", "homeURL", "score", "a", "b", "c", "d", "e", "f", "g",
                ])
        }
        #expect(
            sql == [
                #"ALTER TABLE "player" ADD COLUMN "a" BOOLEAN"#,
                #"ALTER TABLE "player" ADD COLUMN "b" TEXT NOT NULL DEFAULT 'x'"#,
                #"CREATE INDEX "player_on_b" ON "player"("b")"#,
                #"ALTER TABLE "player" ADD COLUMN "c" REFERENCES "team"("id") ON DELETE CASCADE"#,
                #"ALTER TABLE "player" ADD COLUMN "d" REFERENCES "player"("id")"#,
                #"ALTER TABLE "player" ADD COLUMN "e" INTEGER CHECK ("e" > 0) GENERATED ALWAYS AS (score * 2) VIRTUAL"#,
                #"ALTER TABLE "player" ADD COLUMN f TEXT"#,
                #"ALTER TABLE "player" ADD COLUMN g TEXT DEFAULT 'o''o'"#,
                #"ALTER TABLE "player" RENAME COLUMN "url" TO "homeURL""#,
            ])
    }

    @Test("the error of an alteration has the SQL of the step that failed")
    func failedStep() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: Self.schema)
            let error = #expect(throws: DatabaseError.self) {
                try db.alter(table: "player") { t in
                    t.add(column: "a", .text)
                    t.drop(column: "missing")
                    t.rename(column: "url", to: "homeURL")
                }
            }
            #expect(error?.sql == #"ALTER TABLE "player" DROP COLUMN "missing""#)
        }
    }

    @Test("a column can be added, filled, renamed and dropped in one alteration")
    func effect() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: Self.schema)
            try db.execute(sql: "INSERT INTO player VALUES (1, 'u', 7)")
            try db.alter(table: "player") { t in
                t.add(column: "bonus", .integer).notNull().defaults(to: 3)
                t.rename(column: "bonus", to: "extra")
                t.drop(column: "url")
            }
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM player") == [["id": 1, "score": 7, "extra": 3]])
            try db.alter(table: "player") { _ in }
        }
    }

    @Test("renaming and dropping")
    func renameAndDrop() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try db.rename(table: "player", to: "athlete")
            #expect(try !db.tableExists("player"))
            #expect(try db.tableExists("athlete"))
            try db.drop(table: "athlete")
            #expect(try !db.tableExists("athlete"))
            #expect(throws: DatabaseError.self) { try db.drop(table: "athlete") }
            #expect(throws: DatabaseError.self) { try db.rename(table: "athlete", to: "player") }
        }
        #expect(sql == [#"ALTER TABLE "player" RENAME TO "athlete""#, #"DROP TABLE "athlete""#])
    }
}
