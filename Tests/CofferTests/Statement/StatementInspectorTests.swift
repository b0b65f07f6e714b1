import Testing

@testable import Coffer

@Suite struct StatementInspectorTests {
    private func facts(_ sql: String) throws -> StatementFacts {
        let (queue, _) = try makeObservedQueue()
        return try queue.writeWithoutTransaction { db throws in
            try db.execute(
                sql: """
                    CREATE VIEW winner AS SELECT name FROM player WHERE score > 10;
                    CREATE TRIGGER updateTeam AFTER UPDATE OF name ON team BEGIN UPDATE player SET score = \
                    0; END;
                    """)
            return try db.makeStatement(sql: sql).facts
        }
    }

    @Test(
        "a statement reads the columns that its SQL mentions",
        arguments: [
            ("SELECT 1", "empty"),
            ("SELECT * FROM team", "team(id,name)"),
            ("SELECT Name FROM PLAYER", "player(name)"),
            ("SELECT name FROM player WHERE score > 1 ORDER BY teamId", "player(name,score,teamId)"),
            ("SELECT COUNT(*) FROM player", "player(*)"),
            ("SELECT COUNT(*) FROM player WHERE score = 1", "player(score)"),
            // SQLite also reports this as an access to the whole table.
            ("SELECT rowid FROM player", "player(*)"),
            (
                "SELECT p.name, t.name FROM player p JOIN team t ON t.id = p.teamId",
                "player(name,teamId),team(id,name)"
            ),
            (
                "SELECT * FROM (SELECT name FROM player) UNION SELECT name FROM team",
                "player(name),team(name)"
            ),
            ("WITH x AS (SELECT score FROM player) SELECT * FROM x", "player(score)"),
            ("INSERT INTO team (id) VALUES (1)", "empty"),
        ])
    func regions(sql: String, region: String) throws {
        let description = try facts(sql).databaseRegion.description
        #expect(description == region)
    }

    @Test("a view is read with its underlying tables")
    func viewRegion() throws {
        let region = try facts("SELECT * FROM winner").databaseRegion
        #expect(region.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["score"])))
        #expect(!region.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["teamId"])))
    }

    @Test("reads of views are indirect")
    func indirectReads() throws {
        #expect(try facts("SELECT * FROM winner").readsIndirectly)
        for sql in ["SELECT * FROM team", "INSERT INTO team (id) SELECT id FROM player", "SELECT 1"] {
            #expect(!(try facts(sql).readsIndirectly))
        }
    }

    @Test("a statement may change the targets of its SQL, its triggers and its foreign keys")
    func eventKinds() throws {
        #expect(try facts("SELECT * FROM team").eventKinds == [])
        #expect(try facts("INSERT INTO Team (id) VALUES (1)").eventKinds == [.insert(tableName: "team")])
        #expect(
            try facts("UPDATE team SET name = 'a'").eventKinds == [
                .update(tableName: "player", columnNames: ["score"]),
                .update(tableName: "team", columnNames: ["name"]),
            ])
        #expect(
            try facts("DELETE FROM team").eventKinds == [
                .delete(tableName: "player"), .delete(tableName: "team"),
            ])
        #expect(
            try facts("INSERT INTO team (id) VALUES (1) ON CONFLICT DO UPDATE SET id = 2").eventKinds
                .contains(
                    .update(tableName: "team", columnNames: ["id"])))
        #expect(try facts("CREATE TABLE t (a)").eventKinds == [])
        #expect(try facts("CREATE TABLE t AS SELECT * FROM team").eventKinds == [])
        #expect(!(try facts("DROP TABLE player").eventKinds.contains(.delete(tableName: "player"))))
    }

    @Test(
        "changes of the schema are noticed",
        arguments: [
            ("CREATE TABLE t (a)", true), ("CREATE TEMP TABLE t (a)", true), ("DROP TABLE player", true),
            ("ALTER TABLE player ADD COLUMN a", true), ("CREATE INDEX i ON player (name)", true),
            ("DROP VIEW winner", true),
            ("DROP TRIGGER updateTeam", true), ("CREATE VIRTUAL TABLE f USING fts5(a)", true),
            ("ATTACH ':memory:' AS x", true),
            ("INSERT INTO team (id) VALUES (1)", false), ("SELECT 1", false),
            ("PRAGMA user_version = 1", false), ("BEGIN", false),
        ])
    func schemaChanges(sql: String, isChange: Bool) throws {
        #expect(try facts(sql).outdatesKnownSchema == isChange)
    }

    @Test("effects on transactions are noticed")
    func transactionEffects() throws {
        #expect(try facts("BEGIN IMMEDIATE").transactionStep == .begin)
        #expect(try facts("COMMIT").transactionStep == .commit)
        #expect(try facts("END TRANSACTION").transactionStep == .commit)
        #expect(try facts("ROLLBACK").transactionStep == .rollback)
        #expect(try facts("SAVEPOINT \"a b\"").transactionStep == .beginSavepoint("a b"))
        #expect(try facts("RELEASE foo").transactionStep == .releaseSavepoint("foo"))
        #expect(try facts("ROLLBACK TO foo").transactionStep == .rollbackToSavepoint("foo"))
        #expect(try facts("SELECT 1").transactionStep == nil)
    }

    @Test("deletions that may empty a table at once are noticed")
    func truncation() throws {
        #expect(try facts("DELETE FROM Player").maybeTruncatedTables == ["player"])
        #expect(try facts("DELETE FROM player WHERE id = 1").maybeTruncatedTables.isEmpty)
        #expect(try facts("DROP TABLE player").maybeTruncatedTables.isEmpty)
        #expect(try facts("INSERT INTO team (id) VALUES (1)").maybeTruncatedTables.isEmpty)
    }

    @Test(
        "a keyed connection refuses to undo its protection, and says why",
        arguments: [
            "PRAGMA key = 'x'", "PRAGMA hexkey = '00'", "PRAGMA textkey = 'x'", "PRAGMA main.key = 'x'",
            "PRAGMA rekey = 'x'", "PRAGMA ReKey('x')", "PRAGMA hexrekey = '00'", "PRAGMA textrekey = 'x'",
            "PRAGMA temp_store = FILE", "PRAGMA temp_store = 0", "PRAGMA temp_store(default)",
            "PRAGMA temp_store = '1'",
            "PRAGMA temp_store_directory = '/var/tmp'", "PRAGMA cipher_page_size = 8192",
            "PRAGMA main.kdf_iter = 4000",
            "PRAGMA cipher_compatibility = 3", "PRAGMA cipher_salt = \"x'00000000000000000000000000000000'\"",
        ])
    func refusals(sql: String) throws {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            db.inspector.pragmas.isKeyed = true
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(error?.resultCode == .SQLITE_AUTH)
            let message = try #require(error?.message)
            #expect(message != "not authorized")
            // The rejection does not affect the next statement.
            let next = #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT missing") }
            #expect(next?.message == "no such column: missing")
        }
    }

    @Test(
        "only a connection that allows plaintext may write temporary tables to files",
        arguments: [false, true])
    func temporaryFiles(allowsPlaintext: Bool) throws {
        var configuration = Configuration()
        configuration.allowsPlaintext = allowsPlaintext
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.writeWithoutTransaction { db throws in
            if allowsPlaintext { return try db.execute(sql: "PRAGMA temp_store = FILE") }
            #expect(try Int.fetchOne(db, sql: "PRAGMA temp_store") == 2)
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "PRAGMA temp_store = FILE")
            }
            #expect(error?.resultCode == .SQLITE_AUTH)
        }
    }

    @Test(
        "a keyed connection allows statements that keep its protection",
        arguments: [
            "PRAGMA temp_store", "PRAGMA temp_store = MEMORY", "PRAGMA temp_store = 2",
            "PRAGMA user_version = 3", "PRAGMA cache_size",
            "PRAGMA cipher_page_size", "PRAGMA temp.cipher_page_size = 8192",
        ])
    func allowances(sql: String) throws {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            db.inspector.pragmas.isKeyed = true
            try db.execute(sql: sql)
        }
    }
}
