import Coffer
import CofferTestSupport
import Testing

@Suite("Synchronized full-text tables")
struct SynchronizationTests {
    enum Version: String, CaseIterable {
        case fts4, fts5

        func create(
            _ db: Database, _ name: String = "noteText", options: VirtualTableOptions = [],
            of table: String = "note"
        ) throws {
            switch self {
            case .fts4:
                try db.create(virtualTable: name, options: options, using: FTS4()) { t in
                    t.synchronize(withTable: table)
                    t.column("title")
                    t.column("body")
                    #expect(t.content == table)
                }
            case .fts5:
                try db.create(virtualTable: name, options: options, using: FTS5()) { t in
                    t.synchronize(withTable: table)
                    t.column("title")
                    t.column("body")
                    #expect(t.content == table)
                }
            }
        }

        func dropTriggers(_ db: Database, _ name: String = "noteText") throws {
            switch self {
            case .fts4: try db.dropFTS4SynchronizationTriggers(forTable: name)
            case .fts5: try db.dropFTS5SynchronizationTriggers(forTable: name)
            }
        }

        /// The triggers, in the order of their creation.
        var triggers: [String] {
            switch self {
            case .fts4:
                [
                    """
                    CREATE TRIGGER "__noteText_bu" BEFORE UPDATE ON "note" BEGIN
                        DELETE FROM "noteText" WHERE docid=old."id";
                    END
                    """,
                    """
                    CREATE TRIGGER "__noteText_bd" BEFORE DELETE ON "note" BEGIN
                        DELETE FROM "noteText" WHERE docid=old."id";
                    END
                    """,
                    """
                    CREATE TRIGGER "__noteText_au" AFTER UPDATE ON "note" BEGIN
                        INSERT INTO "noteText"("docid", "title", "body") VALUES(new."id", new."title", \
                    new."body");
                    END
                    """,
                    """
                    CREATE TRIGGER "__noteText_ai" AFTER INSERT ON "note" BEGIN
                        INSERT INTO "noteText"("docid", "title", "body") VALUES(new."id", new."title", \
                    new."body");
                    END
                    """,
                ]
            case .fts5:
                [
                    """
                    CREATE TRIGGER "__noteText_ai" AFTER INSERT ON "note" BEGIN
                        INSERT INTO "noteText"("rowid", "title", "body") VALUES (new."id", new."title", \
                    new."body");
                    END
                    """,
                    """
                    CREATE TRIGGER "__noteText_ad" AFTER DELETE ON "note" BEGIN
                        INSERT INTO "noteText"("noteText", "rowid", "title", "body") VALUES('delete', \
                    old."id", old."title", old."body");
                    END
                    """,
                    """
                    CREATE TRIGGER "__noteText_au" AFTER UPDATE ON "note" BEGIN
                        INSERT INTO "noteText"("noteText", "rowid", "title", "body") VALUES('delete', \
                    old."id", old."title", old."body");
                        INSERT INTO "noteText"("rowid", "title", "body") VALUES (new."id", new."title", \
                    new."body");
                    END
                    """,
                ]
            }
        }
    }

    private static let schema = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT);
        INSERT INTO note VALUES (1, 'Tulips', 'red and late'), (7, 'Roses', 'red')
        """

    private func rowIDs(_ db: Database, _ pattern: String, table: String = "noteText") throws -> [Int64] {
        try Int64.fetchAll(
            db, sql: "SELECT rowid FROM \(table) WHERE \(table) MATCH ? ORDER BY rowid", arguments: [pattern])
    }

    @Test("the triggers and the rebuild, to the letter", arguments: Version.allCases)
    func sql(version: Version) throws {
        let recorded = try recordedSQL(after: SynchronizationTests.schema) { db throws in
            try version.create(db)
        }
        let start = recorded.drop { !$0.hasPrefix("CREATE TRIGGER") }
        #expect(start.prefix { $0.hasPrefix("CREATE TRIGGER") }.map { $0 } == version.triggers)
        #expect(
            start.dropFirst(version.triggers.count).first
                == #"INSERT INTO "noteText"("noteText") VALUES('rebuild')"#)
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: SynchronizationTests.schema)
            try version.create(db)
            let triggers = try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid")
            #expect(triggers == version.triggers)
        }
        let lenient = try recordedSQL(after: SynchronizationTests.schema) { db throws in
            try version.create(db, options: .ifNotExists)
            try version.create(db, options: .ifNotExists)
        }
        let triggers = version.triggers.map {
            $0.replacing("CREATE TRIGGER", with: "CREATE TRIGGER IF NOT EXISTS")
        }
        #expect(lenient.filter { $0.hasPrefix("CREATE TRIGGER") } == triggers + triggers)
    }

    @Test(
        "the index follows insertions, updates, upserts and deletions, and includes existing rows",
        arguments: Version.allCases)
    func follows(version: Version) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: SynchronizationTests.schema)
            try version.create(db)
            #expect(try rowIDs(db, "red") == [1, 7])
            try db.execute(sql: "INSERT INTO note VALUES (2, 'Oak', 'green')")
            #expect(try rowIDs(db, "green") == [2])
            try db.execute(sql: "UPDATE note SET body = 'yellow' WHERE id = 1")
            #expect(try rowIDs(db, "red") == [7] && rowIDs(db, "yellow") == [1])
            try db.execute(
                sql:
                    "INSERT INTO note VALUES (7, 'Roses', 'white') ON CONFLICT DO UPDATE SET body = excluded.body"
            )
            #expect(try rowIDs(db, "red") == [] && rowIDs(db, "white") == [7])
            try db.execute(sql: "UPDATE note SET id = 9 WHERE id = 7")
            #expect(try rowIDs(db, "white") == [9])
            try db.execute(sql: "DELETE FROM note WHERE id = 2; DELETE FROM note")
            #expect(try rowIDs(db, "green") == [] && rowIDs(db, "white") == [] && rowIDs(db, "yellow") == [])
            try db.execute(sql: "INSERT INTO noteText(noteText) VALUES('integrity-check')")
        }
    }

    @Test("a second full-text table of the same content works", arguments: Version.allCases)
    func second(version: Version) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: SynchronizationTests.schema)
            try version.create(db)
            try version.create(db, "other")
            try db.execute(sql: "INSERT INTO note VALUES (2, 'Oak', 'green')")
            #expect(try rowIDs(db, "green") == [2])
            #expect(try rowIDs(db, "green", table: "other") == [2])
        }
    }

    @Test(
        "dropping the triggers ends the synchronization; dropping the table alone makes writes fail",
        arguments: Version.allCases)
    func dropping(version: Version) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: SynchronizationTests.schema)
            try version.create(db)
            try version.create(db, "other")
            try db.drop(table: "other")
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO note VALUES (2, 'Oak', 'green')")
            }
            try version.dropTriggers(db, "other")
            try version.dropTriggers(db, "other")
            try db.execute(sql: "INSERT INTO note VALUES (2, 'Oak', 'green')")
            #expect(try rowIDs(db, "green") == [2])
            try version.dropTriggers(db)
            #expect(
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == 0)
            try db.execute(sql: "INSERT INTO note VALUES (3, 'Elm', 'tall')")
            #expect(try rowIDs(db, "tall") == [])
            try db.drop(table: "noteText")
        }
    }

    @Test("setting the content afterwards ends the synchronization")
    func contentAfterwards() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: SynchronizationTests.schema)
            try db.create(virtualTable: "a", using: FTS4()) { t in
                t.synchronize(withTable: "note")
                t.content = "note"
                t.column("title")
            }
            try db.create(virtualTable: "b", using: FTS5()) { t in
                t.synchronize(withTable: "note")
                t.content = "note"
                t.column("title")
            }
            #expect(
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == 0)
            let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'b'")
            #expect(sql == #"CREATE VIRTUAL TABLE "b" USING fts5(title, content='note')"#)
        }
    }

    @Test(
        "without an INTEGER PRIMARY KEY, the hidden row ID is used; WITHOUT ROWID tables are refused",
        arguments: Version.allCases)
    func rowIDs(version: Version) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE tag(name TEXT PRIMARY KEY, title TEXT, body TEXT); INSERT INTO tag VALUES \
                    ('a', 'Tulips', 'red');
                    CREATE TABLE keyed(name TEXT PRIMARY KEY, title TEXT, body TEXT) WITHOUT ROWID
                    """)
            try version.create(db, "tagText", of: "tag")
            #expect(try rowIDs(db, "red", table: "tagText") == [1])
            try db.execute(sql: "UPDATE tag SET body = 'green'")
            #expect(
                try rowIDs(db, "green", table: "tagText") == [1] && rowIDs(db, "red", table: "tagText") == [])
            let triggers = try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger'")
            #expect(triggers.allSatisfy { $0.contains(#"."rowid""#) })
            let error = #expect(throws: DatabaseError.self) { try version.create(db, of: "keyed") }
            #expect(error?.message?.contains("row ID") == true)
            #expect(throws: DatabaseError.self) { try version.create(db, of: "absent") }
            #expect(try !db.tableExists("noteText"))
        }
    }

    @Test("an FTS5 table finds the row ID even if a column is named rowid")
    func shadowedRowID() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(
                sql:
                    "CREATE TABLE note(rowid TEXT, title TEXT, body TEXT); INSERT INTO note VALUES ('x', 'Tulips', 'red')"
            )
            try Version.fts5.create(db)
            try db.execute(sql: "INSERT INTO note VALUES ('y', 'Oak', 'green')")
            #expect(try rowIDs(db, "green") == [2] && rowIDs(db, "tulips") == [1])
        }
    }
}
