import CofferTestSupport
import Foundation
import Testing

@Suite("Importing rows with keys")
struct ImportKeyTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func load(_ arguments: String..., input: String) throws -> Tool.Result {
        try tool.run(
            ["import", "a.db", "u"] + arguments + ["--key-file", "a.key", "--key-type", "raw"], input: input)
    }

    private func rows() throws -> [String] { try tool.shell().run("SELECT * FROM u ORDER BY 1;") }

    private let first = #"[{"name":"a","id":1,"n":5},{"name":"b","id":2,"n":6}]"#
    private let second = #"[{"name":"c","id":2},{"name":"d","id":3}]"#

    @Test("the created table has the primary key, and its columns in the order of the file")
    func primaryKey() throws {
        let result = try load("--format", "json", "--create", "--primary-key", "ID", input: first)
        #expect(result.status == 0, "\(result)")
        #expect(
            try tool.shell().run("SELECT name, pk FROM pragma_table_info('u') ORDER BY cid;") == [
                "name|0", "id|1", "n|0",
            ])
        // An integer key is the row ID.
        #expect(try tool.shell().run("SELECT rowid = id FROM u;") == ["1", "1"])
        let again = try load("--format", "json", input: second)
        #expect(again.status != 0 && again.errors.contains("UNIQUE"), "\(again)")
        #expect(try rows() == ["a|1|5", "b|2|6"])
    }

    @Test("rows with a key that the table has replace the old ones, or are ignored")
    func conflicts() throws {
        #expect(try load("--format", "json", "--create", "--primary-key", "id", input: first).status == 0)
        let ignored = try load("--format", "json", "--on-conflict", "ignore", input: second)
        #expect(
            ignored.status == 0 && ignored.output.contains("1 row imported into u, 1 row ignored"),
            "\(ignored)")
        #expect(try rows() == ["a|1|5", "b|2|6", "d|3|"])
        let replaced = try load("--format", "json", "--on-conflict", "replace", input: second)
        #expect(replaced.status == 0 && replaced.output.contains("2 rows imported"), "\(replaced)")
        #expect(try rows() == ["a|1|5", "c|2|", "d|3|"])
    }

    @Test("only duplicate keys are ignored, not other constraint violations")
    func otherViolations() throws {
        _ = try tool.shell().run("CREATE TABLE u (id INTEGER PRIMARY KEY, a NOT NULL CHECK (a <> 'x'));")
        for value in ["", "x"] {
            let result = try load("--on-conflict", "ignore", input: "id,a\n1,\(value)\n")
            #expect(result.status != 0 && result.errors.contains("constraint failed"), "\(result)")
        }
        #expect(try rows().isEmpty)
    }

    @Test("a key of several columns is one key, and an unknown column or a missing --create is refused")
    func severalColumns() throws {
        let input = "a,b,c\n1,1,x\n1,2,y\n"
        #expect(try load("--primary-key", "a,b", input: input).status == 64)
        #expect(try load("--create", "--primary-key", "a,z", input: input).status == 64)
        #expect(try load("--create", "--primary-key", "a,b", input: input).status == 0)
        #expect(try load("--on-conflict", "replace", input: "a,b,c\n1,2,z\n").status == 0)
        #expect(try rows() == ["1|1|x", "1|2|z"])
    }

    @Test(
        "a row without its key is refused by a created table, but numbered by an existing one",
        arguments: ["", "--rejects"])
    func noKey(rejects: String) throws {
        let options = ["--create", "--primary-key", "id"] + (rejects.isEmpty ? [] : [rejects, "bad"])
        for (format, input) in [
            ("csv", "id,a\n1,x\n,y\n"), ("jsonl", "{\"id\":1,\"a\":\"x\"}\n{\"a\":\"y\"}\n"),
        ] {
            let result = try tool.run(
                ["import", "a.db", "u", "--format", format] + options
                    + ["--key-file", "a.key", "--key-type", "raw"], input: input)
            if rejects.isEmpty {
                #expect(
                    result.status == 65 && result.errors.contains("'id' of the key takes no NULL"),
                    "\(result)")
            } else {
                #expect(result.status == 1, "\(result)")
                #expect(try rows() == ["1|x"])
                #expect(try tool.text(of: "bad").contains("'id' of the key takes no NULL"))
                _ = try tool.shell().run("DROP TABLE u;")
                try FileManager.default.removeItem(atPath: tool.directory.path("bad"))
            }
        }
        // A table that was there may number its rows itself.
        _ = try tool.shell().run("CREATE TABLE u (id INTEGER PRIMARY KEY, a);")
        #expect(try load("--on-conflict", "replace", input: "id,a\n,y\n").status == 0)
        #expect(try rows() == ["1|y"])
    }

    @Test("a replacement stores no default value for a NULL that the column refuses")
    func noDefault() throws {
        _ = try tool.shell().run("CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 7);")
        for arguments in [["--on-conflict", "replace"], ["--on-conflict", "replace", "--no-header"], []] {
            let header = arguments.count == 3 ? "" : "id,n\n"
            let result = try tool.run(
                ["import", "a.db", "u", "--key-file", "a.key", "--key-type", "raw"] + arguments,
                input: header + "1,\n")
            #expect(result.status == 65 && result.errors.contains("NULL"), "\(result)")
        }
        #expect(try rows().isEmpty)
        // A column that the input does not have gets its default value.
        #expect(try load("--on-conflict", "replace", input: "id\n1\n").status == 0)
        #expect(try rows() == ["1|7"])
    }

    @Test("a replacement keeps the rows that refer to the old row, and runs triggers")
    func references() throws {
        _ = try tool.shell().run(
            """
            CREATE TABLE u (id INTEGER PRIMARY KEY, a, g AS (a || '!'), "b""c" DEFAULT 'new');
            CREATE TABLE child (u REFERENCES u (id) ON DELETE CASCADE);
            CREATE TABLE log (a, b);
            CREATE TRIGGER changes AFTER UPDATE ON u BEGIN INSERT INTO log VALUES (old.a, new.a); END;
            INSERT INTO u (id, a, "b""c") VALUES (1, 'x', 'old');
            INSERT INTO child VALUES (1);
            """)
        let result = try load("--on-conflict", "replace", input: "id,a\n1,y\n2,z\n")
        #expect(result.status == 0 && result.output.contains("2 rows imported"), "\(result)")
        #expect(try rows() == ["1|y|y!|new", "2|z|z!|new"])
        #expect(try tool.shell().run("SELECT u FROM child; SELECT * FROM log;") == ["1", "x|y"])
    }

    @Test("a replacement that conflicts with two rows is refused")
    func twoConflicts() throws {
        _ = try tool.shell().run(
            "CREATE TABLE u (id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO u VALUES (1, 'x'), (2, 'y');")
        let result = try load("--on-conflict", "replace", input: "id,a\n1,y\n")
        #expect(result.status == 65 && result.errors.contains("UNIQUE constraint failed"), "\(result)")
        #expect(try rows() == ["1|x", "2|y"])
        // The new row replaces the one that it is in conflict with, whichever constraint that is.
        #expect(try load("--on-conflict", "replace", input: "id,a\n3,y\n").status == 0)
        #expect(try rows() == ["1|x", "3|y"])
    }

    @Test("a replacement works in tables of each kind, and in views with triggers")
    func kinds() throws {
        for definition in [
            "TABLE u (a, id TEXT PRIMARY KEY) WITHOUT ROWID", "TABLE u (a, id TEXT UNIQUE)",
            "TABLE u (a INTEGER, id TEXT, PRIMARY KEY (id, a)) STRICT", "TABLE u (a, id)",
            "VIRTUAL TABLE u USING fts5 (a, id)",
        ] {
            _ = try tool.shell().run("DROP TABLE IF EXISTS u; CREATE \(definition);")
            #expect(
                try load("--on-conflict", "replace", input: "a,id\n1,x\n1,x\n2,y\n").status == 0,
                "\(definition)")
            let isKeyed = definition.contains("PRIMARY KEY") || definition.contains("UNIQUE")
            #expect(try rows() == (isKeyed ? ["1|x", "2|y"] : ["1|x", "1|x", "2|y"]), "\(definition)")
        }
        _ = try tool.shell().run(
            """
            DROP TABLE u; CREATE TABLE base (id PRIMARY KEY, a); CREATE VIEW u AS SELECT * FROM base;
            CREATE TRIGGER adding INSTEAD OF INSERT ON u BEGIN
            INSERT INTO base VALUES (new.id, new.a); END;
            """)
        #expect(try load("--on-conflict", "replace", input: "id,a\n1,x\n1,y\n").status == 0)
        #expect(try rows() == ["1|y"])
    }

    @Test("a column that is twice in a key is refused")
    func repeatedColumn() throws {
        let result = try load("--create", "--primary-key", "a,A", input: "a,b\n1,2\n")
        #expect(result.status == 64 && result.errors.contains("twice"), "\(result)")
    }
}
