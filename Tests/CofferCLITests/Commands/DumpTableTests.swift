import CofferTestSupport
import Foundation
import Testing

@Suite("Scripts of single tables")
struct DumpTableTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `a.db` with tables of several kinds. The trigger spells the name of its table differently, and
    /// the names of the two virtual tables begin alike.
    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
        _ = try tool.shell().run(
            """
            PRAGMA auto_vacuum = 2; PRAGMA user_version = 7; PRAGMA application_id = 8;
            CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT COLLATE NOCASE);
            INSERT INTO note (text) VALUES ('one'), ('it''s'), ('gone'); DELETE FROM note WHERE id = 3;
            CREATE TABLE tag (name TEXT PRIMARY KEY, n INT) WITHOUT ROWID; INSERT INTO tag VALUES ('a', 1);
            CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO other VALUES (99);
            CREATE INDEX byText ON note (text); CREATE INDEX byNumber ON tag (n);
            CREATE TRIGGER onNote AFTER INSERT ON NOTE BEGIN SELECT 1; END;
            CREATE VIEW seen AS SELECT * FROM note;
            CREATE VIRTUAL TABLE words USING fts5 (x); INSERT INTO words VALUES ('hello world');
            CREATE VIRTUAL TABLE words_x USING fts5 (y); INSERT INTO words_x VALUES ('hello');
            ANALYZE;
            """)
    }

    private func dump(_ tables: String..., to script: String = "a.sql") throws -> Tool.Result {
        let names = tables.flatMap { ["--table", $0] }
        return try tool.run(["dump", "a.db", "--out", script, "--yes-plaintext"] + names + key)
    }

    private func load() throws {
        let result = try tool.run(["load", "b.db", "--from", "a.sql"] + key)
        #expect(result.status == 0 && result.output.contains("no digest"), "\(result)")
    }

    private static let objects = "SELECT name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name;"

    @Test("a table comes with its rows, indexes, triggers and sequence, and without anything else")
    func table() throws {
        let result = try dump("Note")
        #expect(result.status == 0 && result.output.contains("(1 table, 2 rows)"), "\(result)")
        try load()
        #expect(
            try tool.shell("b.db").run(Self.objects) == ["byText", "note", "onNote", "sqlite_sequence"])
        let facts = """
            SELECT * FROM note; SELECT * FROM sqlite_sequence; PRAGMA user_version; PRAGMA application_id;
            PRAGMA integrity_check;
            """
        #expect(try tool.shell("b.db").run(facts) == ["1|one", "2|it's", "note|3", "0", "0", "ok"])
    }

    @Test("several tables are in one script, each once")
    func several() throws {
        let result = try dump("tag", "note", "TAG")
        #expect(result.status == 0 && result.output.contains("(2 tables, 3 rows)"), "\(result)")
        try load()
        #expect(
            try tool.shell("b.db").run(Self.objects)
                == ["byNumber", "byText", "note", "onNote", "sqlite_sequence", "tag"])
    }

    @Test("a virtual table is dumped with its own shadow tables, not those of a similarly named table")
    func virtualTable() throws {
        #expect(try dump("words").status == 0)
        try load()
        let names = try tool.shell("b.db").run(Self.objects)
        #expect(names.first == "words" && names.count == 6, "\(names)")
        #expect(!names.contains { $0.hasPrefix("words_x") })
        #expect(
            try tool.shell("b.db").run("SELECT x FROM words WHERE words MATCH 'world';") == ["hello world"])
    }

    @Test("the script runs in a database with other tables, and leaves them and its versions alone")
    func existingDatabase() throws {
        #expect(try dump("note").status == 0)
        let result = try tool.shell("c.db").run(
            """
            PRAGMA user_version = 3; CREATE TABLE mine (id INTEGER PRIMARY KEY AUTOINCREMENT);
            INSERT INTO mine VALUES (5);
            .read '\(tool.directory.path("a.sql"))'
            SELECT * FROM sqlite_sequence ORDER BY name; SELECT count(*) FROM note; SELECT * FROM mine;
            PRAGMA user_version; PRAGMA integrity_check;
            """)
        #expect(result == ["mine|5", "note|3", "2", "5", "3", "ok"])
    }

    @Test(
        "the name of a missing table is refused before anything is written",
        arguments: ["nope", "seen", "byText", "sqlite_sequence", ""])
    func unknown(_ name: String) throws {
        let result = try dump("note", name)
        #expect(
            result.status == 1 && result.errors.contains("There is no table '\(name)' in 'a.db'"), "\(result)"
        )
        #expect(tool.directory.fileNames() == ["a.db", "a.key"])
        let output = try tool.run(["dump", "a.db", "--table", name] + key)
        #expect(output.status == 1 && output.output.isEmpty, "\(output)")
    }

    @Test(".dump of the shell takes names too")
    func shell() throws {
        let result = try tool.run(["shell", "a.db"] + key, input: ".dump tag\n")
        #expect(result.status == 0 && result.output.contains("INSERT INTO \"tag\""), "\(result)")
        #expect(!result.output.contains("note") && !result.output.contains("coffer content"))
        let unknown = try tool.run(["shell", "a.db"] + key, input: ".dump nope\n")
        #expect(unknown.errors.contains("There is no table 'nope'."), "\(unknown)")
    }
}
