import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Creating tables")
struct TableCreationTests {
    @Test("columns are written with their type and constraints")
    func columns() throws {
        let sql = try recordedSQL { (db) throws in
            try db.create(table: "t") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("a")
                t.column("b", .text).notNull().unique().defaults(to: "O'Brien").collate(.nocase)
                t.column("c", .integer).notNull(onConflict: .ignore).unique(onConflict: .replace).defaults(
                    to: -1)
                t.column("d", .datetime).defaults(sql: "CURRENT_TIMESTAMP")
                t.column("e", .text).check { SQL("LENGTH(\($0))") > 3 }.check(sql: "e <> 'x'")
                t.column("f", .double).generatedAs(sql: "c + 1", .stored)
                t.column("g", .any).generatedAs(Column("c") + 2)
                t.column("h", .text).collate(DatabaseCollation.unicodeCompare)
                t.column("i", Database.ColumnType(rawValue: "DECIMAL(10, -5)"))
                t.column(sql: "j TEXT")
                t.column(literal: "k TEXT DEFAULT \("a'b")")
            }
        }
        #expect(
            sql == [
                """
                CREATE TABLE "t" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "a", "b" TEXT NOT NULL UNIQUE \
                DEFAULT 'O''Brien' COLLATE NOCASE, "c" INTEGER NOT NULL ON CONFLICT IGNORE UNIQUE ON \
                CONFLICT REPLACE DEFAULT -1, "d" DATETIME DEFAULT CURRENT_TIMESTAMP, "e" TEXT CHECK \
                ((LENGTH("e")) > 3) CHECK (e <> 'x'), "f" DOUBLE GENERATED ALWAYS AS (c + 1) STORED, "g" ANY \
                GENERATED ALWAYS AS ("c" + 2) VIRTUAL, "h" TEXT \
                COLLATE \(DatabaseCollation.unicodeCompare.name), "i" DECIMAL(10, -5), j TEXT, k TEXT \
                DEFAULT 'a''b')
                """
            ])
    }

    @Test("the types of columns")
    func columnTypes() throws {
        let types: [(Database.ColumnType, String)] = [
            (.text, "TEXT"), (.integer, "INTEGER"), (.double, "DOUBLE"), (.real, "REAL"),
            (.numeric, "NUMERIC"), (.boolean, "BOOLEAN"),
            (.blob, "BLOB"), (.date, "DATE"), (.datetime, "DATETIME"), (.any, "ANY"), (.jsonText, "TEXT"),
            (.jsonb, "BLOB"),
            (Database.ColumnType(rawValue: "VARCHAR(10)"), "VARCHAR(10)"),
            (Database.ColumnType(rawValue: "UNSIGNED BIG INT"), "UNSIGNED BIG INT"),
        ]
        for (type, name) in types {
            let queue = try DatabaseQueue()
            try queue.write { (db) throws in
                try db.create(table: "t") { $0.column("a", type) }
                #expect(try db.columns(in: "t")[0].type == name)
            }
        }
    }

    @Test(
        "a type that SQLite does not accept becomes one name",
        arguments: hostileTexts.filter { !["", " ", "select"].contains($0) })
    func hostileTypes(text: String) throws {
        try makeCanaryQueue().write { (db) throws in
            try db.create(table: "hostile") { $0.column("a", Database.ColumnType(rawValue: text)).notNull() }
            #expect(try db.columns(in: "hostile").map(\.name) == ["a"])
            #expect(try db.columns(in: "hostile")[0].isNotNull)
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("options of the table")
    func options() throws {
        let sql = try recordedSQL { (db) throws in
            try db.create(table: "a", options: [.temporary, .ifNotExists, .withoutRowID, .strict]) {
                $0.primaryKey("id", .text)
            }
            try db.create(table: "b", temporary: true, ifNotExists: true, withoutRowID: true) {
                $0.primaryKey("id", .text, onConflict: .fail)
            }
            try db.create(table: "c") { $0.primaryKey("id", .integer) }
            try db.create(table: "c", options: .ifNotExists) { $0.column("id").indexed() }
        }
        #expect(
            sql == [
                #"CREATE TEMPORARY TABLE IF NOT EXISTS "a" ("id" TEXT PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID"#,
                #"CREATE TEMPORARY TABLE IF NOT EXISTS "b" ("id" TEXT PRIMARY KEY ON CONFLICT FAIL NOT NULL) WITHOUT ROWID"#,
                #"CREATE TABLE "c" ("id" INTEGER PRIMARY KEY)"#,
                #"CREATE TABLE IF NOT EXISTS "c" ("id")"#,
                #"CREATE INDEX IF NOT EXISTS "c_on_id" ON "c"("id")"#,
            ])
    }

    @Test("a strict table refuses values of other types, also if it has an ANY column")
    func strictTables() throws {
        try DatabaseQueue().write { (db) throws in
            try db.create(table: "t", options: .strict) { t in
                t.column("a", .integer)
                t.column("b", .any)
            }
            try db.execute(sql: "INSERT INTO t VALUES (1, 'x')")
            #expect {
                try db.execute(sql: "INSERT INTO t VALUES ('x', 1)")
            } throws: {
                ($0 as? DatabaseError)?.extendedResultCode == DatabaseError.SQLITE_CONSTRAINT_DATATYPE
            }
            #expect(throws: DatabaseError.self) {
                try db.create(table: "u", options: .strict) { $0.column("a", .datetime) }
            }
        }
    }

    @Test("primary keys in their forms")
    func primaryKeys() throws {
        let sql = try recordedSQL { (db) throws in
            try db.create(table: "a") { $0.column("id", .integer).primaryKey() }
            try db.create(table: "b") {
                $0.column("id", .integer).primaryKey(onConflict: .replace, autoincrement: true)
            }
            try db.create(table: "c") { t in
                t.column("x", .integer)
                t.column("y")
                t.primaryKey(["x", "y"], onConflict: .ignore)
            }
            try db.create(table: "d") { t in
                t.primaryKey {
                    t.column("x", .text)
                    t.column("y", .integer).notNull(onConflict: .abort)
                }
                t.column("z")
            }
            try db.create(table: "e") { t in t.primaryKey(onConflict: .rollback) { t.column("x", .blob) } }
            try db.create(table: "f") { $0.autoIncrementedPrimaryKey("id", onConflict: .fail) }
        }
        #expect(
            sql == [
                #"CREATE TABLE "a" ("id" INTEGER PRIMARY KEY)"#,
                #"CREATE TABLE "b" ("id" INTEGER PRIMARY KEY ON CONFLICT REPLACE AUTOINCREMENT)"#,
                #"CREATE TABLE "c" ("x" INTEGER, "y", PRIMARY KEY ("x", "y") ON CONFLICT IGNORE)"#,
                #"CREATE TABLE "d" ("x" TEXT NOT NULL, "y" INTEGER NOT NULL, "z", PRIMARY KEY ("x", "y"))"#,
                #"CREATE TABLE "e" ("x" BLOB NOT NULL, PRIMARY KEY ("x") ON CONFLICT ROLLBACK)"#,
                #"CREATE TABLE "f" ("id" INTEGER PRIMARY KEY ON CONFLICT FAIL AUTOINCREMENT)"#,
            ])
    }

    @Test("two primary keys are an error of SQLite, and so is a table without columns")
    func invalidDefinitions() throws {
        let twice = try databaseError { db in
            try db.create(table: "t") { t in
                t.primaryKey { t.column("a") }
                t.autoIncrementedPrimaryKey("id")
            }
        }
        #expect(twice?.message == #"table "t" has more than one primary key"#)
        #expect(try databaseError { db in try db.create(table: "t") { _ in } } != nil)
        #expect(try databaseError { db in try db.create(table: "t") { $0.uniqueKey([]) } } != nil)
    }

    @Test("an error of the definition creates nothing")
    func errorInBody() throws {
        struct Failure: Error {}
        try DatabaseQueue().write { (db) throws in
            #expect(throws: Failure.self) {
                try db.create(table: "t") { t in
                    t.column("a")
                    throw Failure()
                }
            }
            #expect(try !db.tableExists("t"))
        }
    }

    @Test("constraints of the table")
    func constraints() throws {
        let sql = try recordedSQL { (db) throws in
            try db.create(table: "t") { t in
                t.column("a", .integer)
                t.column("b", .integer)
                t.uniqueKey(["a", "b"])
                t.uniqueKey(["b"], onConflict: .replace)
                t.foreignKey(
                    ["a", "b"], references: "u", columns: ["x", "y"], onDelete: .cascade, onUpdate: .restrict,
                    deferred: true)
                t.check(Column("a") + Column("b") < 10)
                t.check(true)
                t.check(sql: "a <> 3 -- why")
                t.constraint(sql: "CHECK (a <> 4)")
                t.constraint(literal: "CHECK (a > \(-10))")
            }
        }
        #expect(
            sql == [
                """
                CREATE TABLE "t" ("a" INTEGER, "b" INTEGER, UNIQUE ("a", "b"), UNIQUE ("b") ON CONFLICT \
                REPLACE, FOREIGN KEY ("a", "b") REFERENCES "u"("x", "y") ON DELETE CASCADE ON UPDATE \
                RESTRICT DEFERRABLE INITIALLY DEFERRED, CHECK (("a" + "b") < 10), CHECK (1), CHECK (a <> 3 \
                -- why
                ), CHECK (a <> 4), CHECK (a > -10))
                """
            ])
    }

    @Test(
        "actions of foreign keys",
        arguments: [Database.ForeignKeyAction.cascade, .restrict, .setNull, .setDefault])
    func actions(action: Database.ForeignKeyAction) throws {
        try DatabaseQueue().write { (db) throws in
            try db.create(table: "parent") { $0.primaryKey("id", .integer) }
            try db.create(table: "child") { t in
                t.column("parentId", .integer).defaults(to: 2).references("parent", onDelete: action)
            }
            try db.execute(sql: "INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1)")
            let deletion = Result { try db.execute(sql: "DELETE FROM parent WHERE id = 1") }
            let children = try Int?.fetchAll(db, sql: "SELECT parentId FROM child")
            switch action {
            case .cascade: #expect(children == [])
            case .restrict:
                #expect(throws: DatabaseError.self) { try deletion.get() }
                #expect(children == [1])
            case .setNull: #expect(children == [nil])
            case .setDefault: #expect(children == [2])
            }
        }
    }

    @Test(
        "a conflict is resolved as the constraint says",
        arguments: [Database.ConflictResolution.replace, .ignore, .abort, .fail, .rollback])
    func conflicts(resolution: Database.ConflictResolution) throws {
        try DatabaseQueue().inDatabase { (db) throws in
            try db.create(table: "t") { t in
                t.column("a", .integer).unique(onConflict: resolution)
                t.column("b")
            }
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (1, 'old')")
            let insertion = Result { try db.execute(sql: "INSERT INTO t VALUES (2, 'first'), (1, 'new')") }
            if case .failure = insertion {
                #expect([.abort, .fail, .rollback].contains(resolution))
            } else {
                #expect([.replace, .ignore].contains(resolution))
            }
            #expect(db.isInsideTransaction == (resolution != .rollback))
            let values = try String.fetchAll(db, sql: "SELECT b FROM t ORDER BY a, b")
            switch resolution {
            case .replace: #expect(values == ["new", "first"])
            case .ignore, .fail: #expect(values == ["old", "first"])
            case .abort: #expect(values == ["old"])
            case .rollback: #expect(values == [])
            }
            try db.rollback()
        }
    }

    @Test(
        "values in DEFAULT, CHECK and generated columns are read back unchanged, in any encoding",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func values(encoding: String) throws {
        let values: [any DatabaseValueConvertible] = [
            0, Int64.min, Int64.max, 1.5, -0.1, Double.leastNonzeroMagnitude, Double.greatestFiniteMagnitude,
            Double.infinity,
            -Double.infinity, "", "O'Brien",
            "a\0b", "\0", "\\\0\\0\0", "\\0\u{301}\0\0'\u{301}\\00", String(repeating: "é\0", count: 2000),
            "\u{1F600}", "'; DROP TABLE t; --", Data(), Data([0, 255, 39]), true, DatabaseValue.null,
            Date(timeIntervalSince1970: 0), UUID(),
        ]
        for value in values {
            try DatabaseQueue().writeWithoutTransaction { (db) throws in
                try db.execute(sql: "PRAGMA encoding = '\(encoding)'")
                try db.create(table: "t") { t in
                    t.column("id", .integer)
                    t.column("a").defaults(to: value.databaseValue)
                    t.column("b").generatedAs(value.databaseValue)
                    t.column("c").check { $0 == value.databaseValue }
                }
                try db.execute(sql: "INSERT INTO t (id, c) VALUES (1, ?)", arguments: [value])
                let row = try #require(try Row.fetchOne(db, sql: "SELECT a, b, c FROM t"))
                #expect(row.databaseValues.allSatisfy { $0 == value.databaseValue }, "\(value)")
            }
        }
    }

    @Test(
        "the sqlcipher shell sees the tables with their definitions",
        .enabled(if: SQLCipherShell.isAvailable),
        arguments: Access.allCases)
    func shell(access: Access) throws {
        try withTestDirectory { (directory) throws in
            let writer = try directory.make(access)
            try writer.write { (db) throws in
                try db.create(table: "team") { t in
                    t.primaryKey("code", .text)
                    t.column("name", .text).notNull().collate(.nocase)
                }
                try db.create(table: "player", options: .strict) { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.belongsTo("team", onDelete: .cascade, deferred: true).notNull()
                    t.column("score", .integer).defaults(to: 10).check { $0 >= 0 }.indexed()
                    t.column("double", .integer).generatedAs(Column("score") * 2, .stored)
                }
            }
            try writer.close()
            let shell = SQLCipherShell(path: directory.path("a.db"))
            #expect(
                try shell.run("PRAGMA table_xinfo(player)") == [
                    "0|id|INTEGER|0||1|0", "1|teamCode|TEXT|1||0|0", "2|score|INTEGER|0|10|0|0",
                    "3|double|INTEGER|0||0|3",
                ])
            #expect(
                try shell.run("PRAGMA foreign_key_list(player)") == [
                    "0|0|team|teamCode|code|NO ACTION|CASCADE|NONE"
                ])
            #expect(
                try shell.run(
                    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
                ) == [
                    #"player_on_score|CREATE INDEX "player_on_score" ON "player"("score")"#,
                    #"player_on_teamCode|CREATE INDEX "player_on_teamCode" ON "player"("teamCode")"#,
                ])
            #expect(
                try shell.run(
                    """
                    PRAGMA foreign_keys = 1;
                    BEGIN; INSERT INTO player (teamCode) VALUES ('RED'); INSERT INTO team VALUES ('RED', \
                    'Red'); COMMIT;
                    SELECT * FROM player; SELECT count(*) FROM team WHERE name = 'rED';
                    PRAGMA integrity_check;
                    """) == ["1|RED|10|20", "1", "ok"])
            #expect(throws: SQLCipherShell.Failure.self) {
                try shell.run("INSERT INTO player (teamCode, score) VALUES ('RED', -1)")
            }
            #expect(throws: SQLCipherShell.Failure.self) {
                try shell.run("INSERT INTO player (teamCode, score) VALUES ('RED', 'x')")
            }
        }
    }
}
