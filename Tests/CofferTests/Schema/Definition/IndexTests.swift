import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Indexes")
struct IndexTests {
    private static let schema =
        "CREATE TABLE player (id INTEGER PRIMARY KEY, email TEXT, score INTEGER, bonus INTEGER)"

    @Test("the SQL of indexes")
    func sql() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try db.create(indexOn: "player", columns: ["email"])
            try db.create(
                indexOn: "player", columns: ["email", "score"], options: [.unique, .ifNotExists],
                condition: Column("score") > 10)
            try db.create(index: "i1", on: "player", columns: ["email"], options: .unique)
            try db.create(
                index: "i2", on: "player", columns: ["email"], unique: true, ifNotExists: true,
                condition: Column("email") != nil)
            try db.create(
                index: "i3", on: "player",
                expressions: [
                    Column("email").collating(.nocase), Column("score") + Column("bonus"),
                    SQL("score + \(3)"),
                ])
            try db.create(
                index: "i4", on: "player", expressions: [SQL("LENGTH(\(Column("email")))")], options: .unique,
                condition: Column("email") == "a'b" && Column("bonus") == true)
            try db.drop(index: "i1")
        }
        #expect(
            sql == [
                #"CREATE INDEX "index_player_on_email" ON "player"("email")"#,
                #"CREATE UNIQUE INDEX IF NOT EXISTS "index_player_on_email_score" ON "player"("email", "score") WHERE "score" > 10"#,
                #"CREATE UNIQUE INDEX "i1" ON "player"("email")"#,
                #"CREATE UNIQUE INDEX IF NOT EXISTS "i2" ON "player"("email") WHERE "email" IS NOT NULL"#,
                #"CREATE INDEX "i3" ON "player"("email" COLLATE NOCASE, "score" + "bonus", score + 3)"#,
                #"CREATE UNIQUE INDEX "i4" ON "player"(LENGTH("email")) WHERE ("email" = 'a''b') AND ("bonus" = 1)"#,
                #"DROP INDEX "i1""#,
            ])
    }

    @Test("a request with a condition uses the partial index of that condition")
    func partialIndexIsUsed() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: Self.schema)
            try db.create(indexOn: "player", columns: ["email"], condition: Column("bonus") == true)
            let plan = try Row.fetchAll(
                db, sql: "EXPLAIN QUERY PLAN SELECT * FROM player WHERE email = 'x' AND bonus = 1")
            #expect("\(plan)".contains("index_player_on_email"))
        }
    }

    @Test("an index is dropped by its columns, with any name")
    func dropByColumns() throws {
        let indexes = """
            ; CREATE INDEX a ON player(email); CREATE INDEX b ON player(score, email);
            CREATE INDEX index_player_on_email ON player(score)
            """
        let sql = try recordedSQL(after: Self.schema + indexes) { (db) throws in
            try db.drop(indexOn: "player", columns: ["EMAIL"])
            try db.drop(indexOn: "player", columns: ["email"])
            try db.drop(indexOn: "player", columns: ["email", "score"])
            try db.drop(indexOn: "player", columns: ["score", "email"])
        }
        #expect(sql == [#"DROP INDEX "a""#, #"DROP INDEX "b""#])
    }

    @Test("of two indexes on the same columns, the one with the usual name is dropped")
    func dropPrefersUsualName() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try db.create(indexOn: "player", columns: ["email"])
            try db.create(index: "other", on: "player", columns: ["email"])
            try db.drop(indexOn: "player", columns: ["email"])
        }
        #expect(sql.last == #"DROP INDEX "index_player_on_email""#)
    }

    @Test("the index of a constraint cannot be dropped, nor an index of a table that does not exist")
    func dropFailures() throws {
        let schema = "CREATE TABLE t (a UNIQUE)"
        #expect(
            try databaseError(after: schema) { db in try db.drop(indexOn: "t", columns: ["a"]) }?.message
                == "index associated with UNIQUE or PRIMARY KEY constraint cannot be dropped")
        #expect(
            try databaseError { db in try db.drop(indexOn: "t", columns: ["a"]) }?.message
                == "no such table: t")
    }

    @Test("indexes are built again when a collation has changed")
    func reindex() throws {
        let descending = DatabaseCollation("order") { $1.compare($0) }
        let ascending = DatabaseCollation("order") { $0.compare($1) }
        try DatabaseQueue().inDatabase { (db) throws in
            db.add(collation: ascending)
            try db.create(table: "t") { $0.column("a", .text).collate(ascending).indexed() }
            try db.execute(sql: "INSERT INTO t VALUES ('a'), ('b'), ('c')")
            db.add(collation: descending)
            try db.reindex(collation: descending)
            #expect(
                try String.fetchAll(db, sql: "SELECT a FROM t INDEXED BY t_on_a ORDER BY a") == [
                    "c", "b", "a",
                ])
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
        #expect(try recordedSQL { db in try db.reindex(collation: .nocase) } == [#"REINDEX NOCASE"#])
    }
}
