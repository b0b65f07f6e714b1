import CofferTestSupport
import Foundation
import Testing

@Suite("How a query ends")
struct QueryEndTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    /// Runs statements from standard input in all modes and expects the same result. The command in this
    /// process covers all modes; a process of the tool covers one of them, or all in the nightly run.
    private struct Expectation {
        private static let modes = [
            [], ["--json"], ["--write"], ["--write", "--json"], ["--format", "json"],
            ["--format", "csv", "--dry-run"],
        ]
        private let tool: Tool
        private let ways: [(mode: [String], arguments: [String], query: Tool.Query)]
        private var count = 0

        init(_ tool: Tool) throws {
            self.tool = tool
            ways = try Expectation.modes.map { mode in
                let arguments = mode + ["--key-file", tool.directory.path("a.key"), "--key-type", "raw"]
                return (mode, arguments, try Tool.Query(tool.directory.path("a.db"), arguments))
            }
        }

        mutating func check(_ status: Int32, _ sql: String, _ words: String = "") throws {
            count += 1
            // A setting for a whole process must not affect the test process.
            let isForProcess = sql.contains("heap_limit")
            for (index, way) in ways.enumerated() {
                if !isForProcess { try check(way.query.run(sql), way.mode, status, sql, words) }
                guard Nightly.isOn || index == count % ways.count else { continue }
                try check(
                    tool.run(["query", "a.db", "-"] + way.arguments, input: sql), way.mode, status, sql, words
                )
            }
        }

        private func check(
            _ result: Tool.Result, _ mode: [String], _ status: Int32, _ sql: String, _ words: String
        ) throws {
            let isDryRun = mode.contains("--dry-run")
            let name = "\(sql.prefix(200)) \(mode) \(result.description.prefix(500))"
            if !isDryRun { #expect(result.status == status, "\(name)") }
            // Never a signal, and never "an internal error".
            #expect(result.status >= 0 && result.status < 128 && result.status != 70, "\(name)")
            if mode.contains("--json") { #expect(try Schema.problems(result) == [], "\(name)") }
            if !isDryRun && !words.isEmpty {
                #expect((result.errors + result.output).contains(words), "\(name)")
            }
        }
    }

    private static let transactions = [
        "BEGIN", "begin immediate", "BEGIN EXCLUSIVE TRANSACTION", "SAVEPOINT a", "/* a */ BEGIN",
        "-- a\nBEGIN", ";; \n BEGIN",
        "\u{feff}BEGIN",
        "\u{c}SAVEPOINT \"b\"", "COMMIT", "END", "ROLLBACK", "RELEASE a", "ROLLBACK TO a", "BEGIN;",
        "BEGIN/**/DEFERRED",
    ]

    @Test("a transaction is refused, and leaves nothing behind")
    func transactions() throws {
        var expectation = try Expectation(tool)
        let writing = try Tool.Query(
            tool.directory.path("a.db"),
            ["--write", "--key-file", tool.directory.path("a.key"), "--key-type", "raw"])
        for sql in QueryEndTests.transactions {
            try expectation.check(64, sql)
            let result = try writing.run("INSERT INTO t (text) VALUES ('after')")
            #expect(result.status == 0, "\(sql) \(result)")
        }
        let rows = QueryEndTests.transactions.count + 1
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["\(rows)"])
    }

    private static let wrongUsages: [(String, String)] = [
        ("SELECT ?1", "argument"), ("SELECT :a || @b", "argument"),
        ("SELECT 1; SELEKT 2", "Statement 2 (line 1)"),
        ("SELECT 1;\n-- a\n\nSELECT ?", "Statement 2 (line 2)"), ("SELECT 1; BEGIN", "left open"),
        ("SELECT ?32767", ""),
        ("SELECT ?999999999999", ""),
        ("SELECT zeroblob(3000000000)", "too big"),
        ("SELECT replace(hex(zeroblob(600000000)), '0', 'ab')", ""),
        ("PRAGMA page_size = 8192", "refused"), ("PRAGMA temp_store = 1", "refused"),
        ("PRAGMA cipher_page_size = 1024", "refused"),
        ("PRAGMA cipher_migrate", "refused"), ("SELECT abs(-9223372036854775808)", "overflow"),
        ("DETACH main", ""),
        ("DETACH temp", ""),
        ("DETACH nobody", ""), ("", "no statement"), (";", "no statement"),
        ("-- a", "no statement"),
        ("SELECT \u{0}1", "NUL byte"), ("SELECT 1\u{0}; BEGIN", "NUL byte"),
        ("SELECT 'a\u{0}b', 1, ?", ""), (".mode", "shell"),
        ("SELECT load_extension('x')", ""), ("SELECT sqlcipher_export('nowhere')", ""),
        ("SELECT json('{')", ""),
        ("SELECT 1 UNION SELECT 1, 2", ""), ("EXPLAIN", ""), ("VALUES", ""), ("SELECT * FROM pragma_key", ""),
    ]

    @Test("a statement that cannot run is a usage error")
    func wrongUsage() throws {
        var expectation = try Expectation(tool)
        for (sql, words) in QueryEndTests.wrongUsages { try expectation.check(64, sql, words) }
    }

    private static let ordinary = [
        "SELECT 9e999, -9e999, 0.0 / 0", "SELECT char(0, 97, 0)", "SELECT CAST(x'fffe' AS TEXT)",
        "SELECT 1 AS a, 2 AS a, 3 AS ''",
        "EXPLAIN BEGIN", "EXPLAIN QUERY PLAN SELECT 1", "PRAGMA query_only = 0",
        "PRAGMA locking_mode = exclusive",
        "PRAGMA writable_schema = 1", "PRAGMA hard_heap_limit = 1000", "PRAGMA max_page_count = 1",
        "PRAGMA integrity_check",
        "SELECT zeroblob(5000000)", "SELECT printf('%5000000d', 1)", "SELECT 1 WHERE 0",
        "PRAGMA cache_size = 0",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT max(i) FROM n",
        "SELECT randomblob(0)",
        "SELECT * FROM t AS a, t AS b", "SELECT 1; SELECT 2", "BEGIN; SELECT 1; COMMIT",
        "SAVEPOINT a; SELECT 1; RELEASE a; ;; -- end",
        "PRAGMA read_uncommitted = 1", "PRAGMA foreign_keys = 0", "PRAGMA foreign_key_list('t')",
        "PRAGMA table_info(\"key\")", "PRAGMA foreign_key_check", "PRAGMA recursive_triggers = 1",
    ]

    @Test("statements of every kind run to completion")
    func ordinary() throws {
        var expectation = try Expectation(tool)
        for sql in QueryEndTests.ordinary { try expectation.check(0, sql) }
    }

    @Test("statements beyond SQLite's limits are usage errors, and large statements within them run")
    func large() throws {
        var expectation = try Expectation(tool)
        try expectation.check(0, "SELECT " + (1...1900).map(String.init).joined(separator: ","))
        try expectation.check(64, "SELECT " + (1...3000).map(String.init).joined(separator: ","))
        try expectation.check(
            64, "SELECT " + String(repeating: "-", count: 1) + String(repeating: "~", count: 5000) + "1")
        try expectation.check(64, "SELECT " + String(repeating: "?,", count: 40_000) + "1")
        try expectation.check(64, String(repeating: "x", count: 1_000_001))
        try expectation.check(0, "SELECT '" + String(repeating: "é", count: 500_000) + "'")
    }

    @Test("a violated constraint exits with 1 in a query, and with 65 in a copy")
    func constraints() throws {
        _ = try tool.shell().run("CREATE TABLE u (a UNIQUE); INSERT INTO u VALUES (1), (2);")
        #expect(try tool.run(["query", "a.db", "INSERT INTO u VALUES (1)", "--write"] + key).status == 1)
        // The schema declares a constraint that the rows violate.
        let plain = SQLCipherShell(plaintextPath: tool.directory.path("plain.db"))
        _ = try plain.run(
            """
            .dbconfig defensive off
            CREATE TABLE n (a); INSERT INTO n VALUES (NULL); PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = 'CREATE TABLE n (a NOT NULL)' WHERE name = 'n';
            """)
        let result = try tool.run(["encrypt", "plain.db", "x.db"] + key)
        #expect(result.status == 65, "\(result)")
        #expect(!tool.exists("x.db"))
    }

    @Test(
        "no name of a table keeps a database from being encrypted",
        arguments: ["coffer sequence", "Coffer Sequence"])
    func names(name: String) throws {
        // The sequences exist, but no autoincrement table does.
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("plain.db")).run(
            """
            CREATE TABLE "\(name)" (a); INSERT INTO "\(name)" VALUES (1); CREATE TABLE "coffer sequence_" (a);
            CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE b;
            """)
        let result = try tool.run(["encrypt", "plain.db", "x.db"] + key)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.shell("x.db").run("SELECT a FROM \"\(name)\";") == ["1"])
    }
}
