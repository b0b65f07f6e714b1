import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Scripts of databases")
struct DumpTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
    }

    /// Every kind of object and value that a database can contain.
    private static let content = """
        CREATE TABLE kinds (id INTEGER PRIMARY KEY AUTOINCREMENT, a, b TEXT, c REAL, g AS (a || b) STORED, v \
        AS (id * 2));
        INSERT INTO kinds (a, b, c) VALUES (1, 'it''s', 0.1), (2.5, 'a' || char(10, 13, 9) || ';--', 1e308), \
        (x'00ff', '', -9e999),
          (NULL, char(65, 0, 66), 9e999), (CAST(x'ff41' AS TEXT), CAST(x'd8000041' AS TEXT), 5e-324), (-0.0, \
        char(65535, 65534, 65279), 0),
          (9223372036854775807, char(65279, 97), -9223372036854775808), (zeroblob(70000), \
        replace(hex(zeroblob(70000)), '0', 'é'), 1.1);
        CREATE TABLE clustered (k TEXT COLLATE NOCASE, n INT, PRIMARY KEY (k DESC, n)) WITHOUT ROWID;
        INSERT INTO clustered VALUES ('a', 1), ('B', 2), ('c', 3);
        CREATE TABLE numbered (a); INSERT INTO numbered (rowid, a) VALUES (-5, 'x'), (100, 'y');
        CREATE TABLE "odd "" name" (rowid, oid, _rowid_, "a b", "" DEFAULT 'x;y'); INSERT INTO "odd "" name" \
        VALUES (1, 2, 3, 4, '--');
        CREATE TABLE strict (a INT, b ANY) STRICT; INSERT INTO strict VALUES (1, '1'), (2, 1.0);
        CREATE TABLE checked (a CHECK (a > 0)); PRAGMA ignore_check_constraints = 1; INSERT INTO checked \
        VALUES (-1);
        CREATE TABLE child (p REFERENCES kinds (id)); INSERT INTO child VALUES (99);
        CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE gone;
        CREATE UNIQUE INDEX partial ON kinds (a, lower(b) DESC) WHERE id > 1; CREATE INDEX plain ON numbered \
        (a COLLATE RTRIM);
        CREATE VIEW seen AS SELECT * FROM kinds JOIN missing -- there is no such table
        ;
        CREATE TRIGGER fires AFTER INSERT ON numbered BEGIN INSERT INTO numbered VALUES ('again; '); SELECT \
        1; END;
        CREATE TRIGGER instead INSTEAD OF INSERT ON seen BEGIN SELECT 1; END;
        CREATE VIRTUAL TABLE words USING fts5 (x, y); INSERT INTO words VALUES ('hello world', 'b'), ('foo', \
        'bar');
        CREATE VIRTUAL TABLE old_words USING fts4 (x); INSERT INTO old_words VALUES ('hello again');
        create virtual table boxes USING rtree (id, a, b); INSERT INTO boxes VALUES (1, 2, 3);
        ANALYZE; PRAGMA user_version = -7; PRAGMA application_id = 99;

        """

    private func makeContent(_ name: String = "a.db", preparation: String = "", _ content: String = content)
        throws
    {
        _ = try tool.shell(name).run(".dbconfig defensive off\n\(preparation)\n\(content)")
    }

    private func dump(_ name: String = "a.db", to script: String = "a.sql") throws {
        let result = try tool.run(["dump", name, "--out", script, "--yes-plaintext"] + key)
        #expect(result.status == 0, "\(result)")
    }

    private func load(_ script: String = "a.sql", to name: String = "b.db") throws -> Tool.Result {
        try tool.run(["load", name, "--from", script] + key)
    }

    /// Returns the content of a file as the stock shell reports it.
    private func facts(_ name: String) throws -> [String] {
        let tables = [
            "kinds", "clustered", "numbered", "\"odd \"\" name\"", "strict", "checked", "child", "words",
            "old_words", "boxes",
            "sqlite_stat1",
        ]
        let rows = tables.map { "SELECT '\($0.replacing("'", with: ""))', * FROM \($0);" }.joined(
            separator: "\n")
        return try tool.shell(name).run(
            """
            .mode quote
            PRAGMA integrity_check; PRAGMA encoding; PRAGMA auto_vacuum; PRAGMA user_version; PRAGMA \
            application_id;
            SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name;
            SELECT rowid, * FROM numbered; SELECT * FROM sqlite_sequence; SELECT hex(b), hex(a) FROM kinds;
            SELECT * FROM words WHERE words MATCH 'hello'; INSERT INTO words (words) VALUES \
            ('integrity-check');
            \(rows)
            """)
    }

    @Test("a script makes the same content, in each encoding", arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func roundTrip(encoding: String) throws {
        try makeContent(preparation: "PRAGMA encoding = '\(encoding)'; PRAGMA auto_vacuum = 2;")
        try dump()
        let loaded = try load()
        #expect(loaded.status == 0 && loaded.output.contains("its content is equal to the dump"), "\(loaded)")
        #expect(try facts("b.db") == facts("a.db"))
        try dump("b.db", to: "b.sql")
        #expect(try tool.directory.bytes(of: "a.sql") == tool.directory.bytes(of: "b.sql"))
        #expect(try tool.run(["verify", "b.db"] + key).status == 0)
    }

    @Test("piping dump to load makes a copy, and the stock shell runs the script too")
    func pipe() throws {
        try makeContent()
        let line = "'\(Tool.program)' dump a.db --key-file a.key --key-type raw"
        let result = try tool.run(
            ["-c", "\(line) | '\(Tool.program)' load b.db --key-file a.key --key-type raw"],
            program: "/bin/sh")
        #expect(result.status == 0 && result.errors == "", "\(result)")
        #expect(try facts("b.db") == facts("a.db"))
        try dump()
        _ = try tool.shell("c.db").run(".dbconfig defensive off\n.read '\(tool.directory.path("a.sql"))'")
        #expect(try facts("c.db") == facts("a.db"))
        // A sequence without an autoincrement table, and nothing else.
        try makeContent(
            "d.db",
            "CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE gone; CREATE TABLE \"coffer sequence\" (a);"
        )
        try dump("d.db", to: "d.sql")
        #expect(try load("d.sql", to: "e.db").output.contains("equal to the dump"))
        try makeContent("f.db", "PRAGMA user_version = 1;")
        try dump("f.db", to: "f.sql")
        #expect(try load("f.sql", to: "g.db").output.contains("(0 tables, 0 rows)"))
    }

    /// Definitions that are written directly into the schema, for existing objects.
    private var forged: [(name: String, text: String)] {
        let commands =
            ";\n.shell touch '\(tool.directory.path("touched"))'\nATTACH '\(tool.directory.path("stolen.db"))' AS x KEY '';CREATE TABLE x.y (a);"
        return [
            ("s4", "CREATE TABLE s4 (a INT) STRICT /* open"), ("s5", "CREATE TABLE s5 (a INT) STRICT -- end"),
            ("s6", "CREATE TABLE s6 (a,\r\n b DEFAULT '\r\n')"),
            ("s7", "CREATE  TABLE IF NOT EXISTS s7 (a) -- not kept"),
            ("i3", "CREATE INDEX i3 ON s5 (a) /* open"), ("v2", "CREATE VIEW v2 AS SELECT 1 AS\nGO\n"),
            ("v3", "CREATE VIEW v3 AS SELECT 2 /* open"), ("v4", "CREATE VIEW v4 AS SELECT 1\(commands)"),
            ("h1", "CREATE TABLE h1 (a)\(commands)"),
            ("t1", "CREATE TRIGGER t1 AFTER INSERT ON h1 BEGIN SELECT 1; END\(commands) SELECT 1; END"),
        ]
    }

    @Test(
        "the SQL of a schema round-trips unchanged, and a shell cannot misread it",
        arguments: ["UTF-8", "UTF-16le"])
    func definitions(encoding: String) throws {
        let updates = forged.map { name, text in
            let literal = text.replacing("'", with: "''").unicodeScalars.map { scalar in
                scalar == "\r" || scalar == "\n" || scalar == ";"
                    ? "'||char(\(scalar.value))||'" : "\(scalar)"
            }.joined()
            return "UPDATE sqlite_master SET sql = '\(literal)' WHERE name = '\(name)';"
        }
        try makeContent(
            preparation: "PRAGMA encoding = '\(encoding)';",
            """
            CREATE TABLE s1 (a INT) STRICT -- after
            ;
            CREATE TABLE s2 (a TEXT DEFAULT '--' /* ; */) STRICT; INSERT INTO s2 VALUES ('a' || char(13, 10) \
            || 'b');
            CREATE TABLE s3 ("--" TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO s3 VALUES ('--');
            CREATE TABLE s4 (a INT) STRICT; INSERT INTO s4 VALUES (4); CREATE TABLE s5 (a INT) STRICT; \
            CREATE TABLE s6 (a, b);
            CREATE TABLE s7 (a); CREATE TABLE h1 (a); INSERT INTO h1 VALUES ('h');
            CREATE INDEX i1 ON s3 ("--") -- why
            ;
            CREATE INDEX i2 ON s1 (a) WHERE a > 0 /* b */; CREATE INDEX i3 ON s5 (a);
            CREATE VIEW v1 AS SELECT 1 -- one
            ;
            CREATE VIEW v2 AS SELECT 2; CREATE VIEW v3 AS SELECT 3; CREATE VIEW v4 AS SELECT 4;
            CREATE TRIGGER t1 AFTER INSERT ON h1 BEGIN SELECT 1; END;
            PRAGMA writable_schema = 1;
            \(updates.joined(separator: "\n"))
            """)
        try dump()
        let loaded = try load()
        #expect(loaded.status == 0 && loaded.output.contains("its content is equal to the dump"), "\(loaded)")
        let facts = """
            .mode quote
            SELECT type, name, tbl_name, hex(sql) FROM sqlite_master ORDER BY type, name;
            SELECT * FROM s4; SELECT * FROM h1; SELECT hex(a) FROM s2; PRAGMA integrity_check;
            """
        let expected = try tool.shell("a.db").run(facts)
        #expect(expected.count == 20, "\(expected)")
        for (name, text) in forged where encoding == "UTF-8" {
            let digits = text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                .uppercased()
            #expect(expected.contains { $0.contains("'\(name)'") && $0.contains("'\(digits)'") }, "\(name)")
        }
        #expect(try tool.shell("b.db").run(facts) == expected)
        _ = try tool.shell("c.db").run(".dbconfig defensive off\n.read '\(tool.directory.path("a.sql"))'")
        #expect(try tool.shell("c.db").run(facts) == expected)
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "a.sql", "b.db", "c.db"])
        #expect(
            try tool.run(["schema", "a.db", "s5"] + key).output.hasPrefix(
                "CREATE TABLE s5 (a INT) STRICT -- end\n;\n"))
        #expect(
            try tool.run(["schema", "a.db", "s4"] + key).output
                == "CREATE TABLE s4 (a INT) STRICT /* open\n*/;\n")
    }

    @Test(
        "a script that writes invalid rows to sqlite_master is refused, and creates no file",
        arguments: [
            "UPDATE sqlite_master SET name = NULL", "UPDATE sqlite_master SET rootpage = 99",
            "UPDATE main.\"sqlite_master\" SET sql = 'x'",
            "INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELEKT')",
            "WITH a(b) AS (SELECT 1) DELETE FROM sqlite_master",
        ])
    func forgedSchema(statement: String) throws {
        try tool.writeKey("a.key")
        let script =
            "CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA writable_schema = ON;\n\(statement);"
        let result = try tool.run(["load", "a.db", "--json"] + key, input: script)
        #expect(
            result.status == 65 && result.errors.contains("writes rows of sqlite_master itself"), "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(tool.directory.fileNames() == ["a.key"])
    }

    @Test("real numbers round-trip bit for bit")
    func numbers() throws {
        var generator = SeededRandom(seed: 20)
        try tool.makeDatabase()
        let queue = try tool.directory.makeQueue("a.db", .rawKeyed(0x42))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE n (a)")
            for _ in 0..<3000 {
                let number = Double(bitPattern: generator.next())
                guard number.isFinite else { continue }
                try db.execute(sql: "INSERT INTO n VALUES (?)", arguments: [number])
            }
        }
        try queue.close()
        try dump()
        #expect(try load().output.contains("equal to the dump"))
    }

    @Test("a script that is truncated anywhere creates nothing")
    func truncation() throws {
        try makeContent()
        try dump()
        let bytes = try tool.directory.bytes(of: "a.sql")
        let text = String(decoding: bytes, as: UTF8.self)
        let end = try #require(text.range(of: "COMMIT;"))
        let length = text[..<end.upperBound].utf8.count
        for count in [0, 10, 60, 100, 500, 5000, length / 2, length - 200, length - 8, length - 2] {
            try tool.directory.write(Array(bytes.prefix(count)), to: "cut.sql")
            let result = try load("cut.sql")
            #expect(result.status == 65 && !tool.exists("b.db"), "\(count) of \(length): \(result)")
        }
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "a.sql", "cut.sql"])
    }

    @Test("a changed script fails the digest check, unless the digest is removed")
    func changes() throws {
        try makeContent()
        try dump()
        let changed = try tool.text(of: "a.sql").replacing("VALUES(100,'y')", with: "VALUES(100,'z')")
        try tool.write(changed, to: "b.sql")
        let refused = try load("b.sql")
        #expect(
            refused.status == 65 && refused.errors.contains("digest") && !tool.exists("b.db"), "\(refused)")
        try tool.write(
            changed.split(separator: "\n").filter { !$0.contains("coffer content") }.joined(separator: "\n"),
            to: "b.sql")
        let accepted = try load("b.sql")
        #expect(accepted.status == 0 && accepted.output.contains("no digest of its content"), "\(accepted)")
        #expect(try tool.shell("b.db").run("SELECT a FROM numbered WHERE rowid = 100;") == ["z"])
    }

    @Test(
        "a script reaches nothing but the new file, and makes all or nothing",
        arguments: [
            "ATTACH 'other.db' AS o KEY ''", "PRAGMA key = 'x'", "PRAGMA rekey = 'x'",
            "VACUUM INTO 'other.db'", "VACUUM", "SAVEPOINT a",
            "ROLLBACK",
            "PRAGMA temp_store_directory = '/tmp'", "PRAGMA cipher_plaintext_header_size = 32",
            "SELECT load_extension('x')", "DETACH main",
            "INSERT INTO none VALUES (1)", "SELEKT", "INSERT INTO t VALUES ('twice', 1)", "SELECT 'open",
            "CREATE TABLE u (a); \u{0}",
            "PRAGMA journal_mode(wal); BEGIN; SELECT 1", "SELECT sqlcipher_export('o')",
            "PRAGMA schema_version = 7",
            "INSERT INTO t VALUES (?, :b)", "CREATE TEMP TABLE u (a)", "CREATE TABLE temp.u (a)",
            "CREATE TEMP VIEW v AS SELECT 1",
        ])
    func hostile(statement: String) throws {
        try tool.write(
            "CREATE TABLE t (a UNIQUE, b);\nINSERT INTO t VALUES ('twice', 1);\n\(statement);\n", to: "a.sql")
        let result = try load()
        #expect(result.status == 65 && !result.errors.contains("'x'"), "\(result)")
        #expect(
            statement.contains("BEGIN") || statement == "ROLLBACK" || result.errors.contains("(line 3)"),
            "\(result)")
        #expect(tool.directory.fileNames() == ["a.key", "a.sql"])
    }

    @Test("handwritten scripts and scripts of other shells are accepted")
    func foreign() throws {
        let script = """
            \u{feff}-- made by hand
            PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
            CREATE TABLE note (id INTEGER PRIMARY KEY, text); CREATE TABLE log (text);
            CREATE TRIGGER t AFTER INSERT ON note BEGIN INSERT INTO log VALUES (new.text || ';'); END;
            INSERT INTO note (text) VALUES ('a'), ('b')
            """
        let result = try tool.run(["load", "b.db"] + key, input: script)
        #expect(result.status == 0, "\(result)")
        #expect(
            try tool.shell("b.db").run("SELECT text FROM log; PRAGMA journal_mode;") == [
                "a;", "b;", "delete",
            ])
        try makeContent("a.db", "CREATE TABLE t (a); INSERT INTO t VALUES (1.5), ('x');")
        let dumped = try tool.shell("a.db").run(".dump").joined(separator: "\n")
        #expect(try tool.run(["load", "c.db"] + key, input: dumped).status == 0)
        #expect(try tool.shell("c.db").run("SELECT count(*) FROM t;") == ["2"])
    }

    @Test("scripts of newer shells, which write control characters as escapes, make the same texts")
    func scriptsOfNewerShells() throws {
        try tool.write(
            """
            PRAGMA foreign_keys=OFF;
            BEGIN TRANSACTION;
            /* WARNING: Script requires that SQLITE_DBCONFIG_DEFENSIVE be disabled */
            PRAGMA writable_schema=ON;
            CREATE TABLE IF NOT EXISTS "t"(a TEXT);
            INSERT INTO t VALUES(unistr('a\\u000ab\\\\c\\u001b'));
            INSERT INTO t VALUES(unistr('\\000d\\+01F600\\U0001f601\\u4e2d'));
            INSERT INTO t VALUES(unistr(NULL)),(unistr(12)),(unistr('')),(unistr('\\u0000'));
            CREATE VIEW IF NOT EXISTS v AS SELECT 1;
            PRAGMA writable_schema=OFF;
            COMMIT;

            """, to: "new.sql")
        let result = try load("new.sql")
        #expect(result.status == 0, "\(result)")
        #expect(
            try tool.shell("b.db").run("SELECT hex(a) FROM t;") == [
                "610A625C631B", "0DF09F9880F09F9881E4B8AD", "", "3132", "", "00",
            ])
        for malformed in ["\\", "\\x0a", "\\u12", "\\+12345", "\\U0000000g", "\\12g4"] {
            try tool.write("CREATE TABLE t(a); INSERT INTO t VALUES(unistr('\(malformed)'));", to: "bad.sql")
            let bad = try load("bad.sql", to: "c.db")
            #expect(bad.status == 65 && bad.errors.contains("invalid Unicode escape"), "\(malformed) \(bad)")
            #expect(!tool.exists("c.db"))
        }
        // A schema outlives the load, so it must work without the tool's own function. Since 3.50, the engine
        // has one.
        let isOfEngine = (try? DatabaseQueue().read { try $0.execute(sql: "SELECT unistr('')") }) != nil
        try tool.write(
            "CREATE TABLE t(a, b AS (unistr(a)) STORED); INSERT INTO t VALUES('x');", to: "bad.sql")
        #expect(try load("bad.sql", to: "c.db").status == (isOfEngine ? 0 : 65))
    }

    @Test("a script goes to a private file, or to an output with a warning if others can read it")
    func plaintext() throws {
        try tool.makeDatabase()
        #expect(try tool.run(["dump", "a.db", "--out", "a.sql"] + key).status == 64)
        #expect(!tool.exists("a.sql"))
        try dump()
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("a.sql"))[.posixPermissions]
            as? Int
        #expect(mode == 0o600)
        #expect(try tool.run(["dump", "a.db", "--out", "a.sql", "--yes-plaintext"] + key).status == 73)
        let line = "'\(Tool.program)' dump a.db --key-file a.key --key-type raw"
        let open = try tool.run(["-c", "umask 022; \(line) > open.sql"], program: "/bin/sh")
        #expect(open.status == 0 && open.errors.contains("mode 644"), "\(open)")
        let closed = try tool.run(["-c", "umask 077; \(line) > closed.sql"], program: "/bin/sh")
        #expect(closed.status == 0 && closed.errors.isEmpty, "\(closed)")
        #expect(try tool.text(of: "closed.sql") == tool.text(of: "a.sql"))
        let full = try tool.run(["-c", "\(line) > /dev/full"], program: "/bin/sh")
        #expect(full.status == 74, "\(full)")
        let head = try tool.run(["-c", "\(line) | head -c 5"], program: "/bin/sh")
        #expect(head.output == "PRAGM" && head.errors.isEmpty, "\(head)")
    }

    @Test("each failure of dump and load has the right exit code, and leaves no database")
    func failures() throws {
        try tool.makeDatabase(rows: 8000)
        try tool.writeKey("b.key", 0x43)
        try dump()
        let wrong = ["--key-file", "b.key", "--key-type", "raw"]
        #expect(try tool.run(["dump", "a.db"] + wrong).status == 77)
        #expect(try tool.run(["dump", "none.db"] + key).status == 66)
        #expect(try tool.run(["load", "b.db", "--from", "none.sql"] + key).status == 66)
        #expect(try tool.run(["load", "b.db", "--from", "."] + key).status == 66)
        #expect(try tool.run(["load", "a.db", "--from", "a.sql"] + key).status == 73)
        #expect(try tool.run(["load", "no/b.db", "--from", "a.sql"] + key).status == 73)
        #expect(try tool.run("load", "b.db", "--key-stdin").status == 64)
        var bytes = try tool.directory.bytes(of: "a.db")
        bytes[bytes.count - 5000] ^= 1
        try tool.directory.write(bytes, to: "bad.db")
        let damaged = try tool.run(["dump", "bad.db"] + key)
        #expect(
            damaged.status == 65 && damaged.output.hasSuffix("ROLLBACK; -- the script is not complete\n"),
            "\(damaged.status) \(damaged.errors)")
        #expect(try tool.run(["load", "b.db"] + key, input: damaged.output).status == 65)
        #expect(!tool.exists("b.db"))
    }

    @Test("a signal ends a load whose pipe has no more statements, and nothing is created")
    func interruptedWait() throws {
        #expect(unsafe mkfifo(tool.directory.path("a.sql"), 0o600) == 0)
        let run = try tool.start(["load", "b.db", "--from", "a.sql", "--progress", "always"] + key)
        let pipe = unsafe open(tool.directory.path("a.sql"), O_RDWR | O_CLOEXEC)
        defer { close(pipe) }
        let text = "CREATE TABLE t (a);\n"
        #expect(unsafe write(pipe, text, text.utf8.count) == text.utf8.count)
        while !run.text(of: "errors").contains("loading") { usleep(2000) }
        run.send(SIGINT)
        #expect(run.wait().status == 130)
        #expect(tool.directory.fileNames() == ["a.key", "a.sql"])
    }

    @Test("a signal ends the statement of a load, and nothing is created")
    func interruption() throws {
        try tool.write(
            "CREATE TABLE t (a);\nWITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT count(*) FROM n;",
            to: "a.sql")
        let run = try tool.start(["load", "b.db", "--from", "a.sql", "--progress", "always"] + key)
        while !run.text(of: "errors").contains("loading") { usleep(2000) }
        run.send(SIGINT)
        #expect(run.wait().status == 130)
        #expect(tool.directory.fileNames() == ["a.key", "a.sql"])
    }

    @Test("each line of JSON matches the schema")
    func json() throws {
        try tool.makeDatabase()
        #expect(try tool.run(["dump", "a.db", "--json"] + key).status == 64)
        for arguments in [
            ["dump", "a.db", "--out", "a.sql", "--yes-plaintext"], ["load", "b.db", "--from", "a.sql"],
            ["load", "b.db", "--from", "a.sql"],
            ["schema", "a.db"], ["schema", "a.db", "none"],
        ] {
            #expect(try Schema.problems(tool.run(arguments + key + ["--json"])) == [], "\(arguments)")
        }
    }

    @Test("the schema is printed whole or by name, without SQLite's internal tables")
    func schema() throws {
        try makeContent()
        let all = try tool.run(["schema", "a.db"] + key).output
        #expect(
            all.contains("CREATE TABLE numbered (a);\nCREATE INDEX plain")
                && all.contains("CREATE TRIGGER fires"))
        #expect(!all.contains("sqlite_sequence") && !all.contains("words_data"))
        #expect(try tool.run(["schema", "a.db", "--all"] + key).output.contains("words_data"))
        let one = try tool.run(["schema", "a.db", "NUMBERED"] + key).output
        #expect(
            one.split(separator: "\n").map { $0.prefix(13) } == [
                "CREATE TABLE ", "CREATE INDEX ", "CREATE TRIGGE",
            ], "\(one)")
        #expect(try tool.run(["schema", "a.db", "none"] + key).status == 1)
    }
}
