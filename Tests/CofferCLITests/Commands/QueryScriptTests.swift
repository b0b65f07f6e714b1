import CofferTestSupport
import Foundation
import Testing

@Suite("Scripts for coffer query")
struct QueryScriptTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]
    private static let schema = """
        -- The tables.
        CREATE TABLE note (id INTEGER PRIMARY KEY, text); CREATE TABLE log (text);
        CREATE TRIGGER added AFTER INSERT ON note BEGIN
            INSERT INTO log VALUES ('added; ' || new.text);
            SELECT 1;
        END;
        INSERT INTO note (text) VALUES ('a'), ('b');

        """

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func query(_ arguments: String..., input: String = "") throws -> Tool.Result {
        try tool.run(["query", "a.db"] + arguments + key, input: input)
    }

    @Test("statements come from an argument, a file, and the standard input, and all of them run")
    func sources() throws {
        try tool.write(QueryScriptTests.schema, to: "schema.sql")
        let result = try query("--from", "schema.sql", "--write")
        #expect(result.status == 0 && result.errors == "4 statements done, 4 rows changed\n", "\(result)")
        #expect(try tool.shell().run("SELECT text FROM log;") == ["added; a", "added; b"])
        let rows = try query("--format", "csv", input: "SELECT id FROM note; SELECT count(*) AS n FROM log;")
        #expect(rows.output == "id\n1\n2\nn\n2\n")
        #expect(try query("SELECT 1; SELECT 2", "--format", "tsv", "--no-header").output == "1\n2\n")
        let lines = try query("SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c WHERE 0", "--format", "jsonl")
            .output
        #expect(lines == "{\"a\":1}\n{\"b\":2}\n")
        for arguments in [["--from", "none.sql"], ["--file", "."]] {
            #expect(try [66, 74].contains(tool.run(["query", "a.db"] + arguments + key).status))
        }
        #expect(try query("SELECT 1", "--from", "schema.sql").status == 64)
        try tool.directory.write([0x53, 0xff], to: "bad.sql")
        #expect(try query("--from", "bad.sql").status == 64)
    }

    @Test(
        "the first failing statement ends the run; earlier changes are kept, except with --transaction",
        arguments: [false, true])
    func failure(isTransaction: Bool) throws {
        try tool.write(
            QueryScriptTests.schema + "INSERT INTO none VALUES (1);\nDELETE FROM note;", to: "schema.sql")
        let result = try query(
            "--from", "schema.sql", "--write", isTransaction ? "--transaction" : "--verbose")
        #expect(result.status == 64 && result.errors.contains("Statement 5 (line 8)"), "\(result)")
        let count = try tool.shell().run(
            "SELECT count(*) FROM sqlite_master WHERE name IN ('note', 'log', 'added');")
        #expect(count == [isTransaction ? "0" : "3"])
        if !isTransaction { #expect(try tool.shell().run("SELECT count(*) FROM note;") == ["2"]) }
        #expect(result.errors.contains(isTransaction ? "Nothing was kept" : "Earlier statements stay"))
    }

    @Test(
        "a transaction in a script is committed or rolled back as written, and rolled back if left open"
    )
    func transactions() throws {
        #expect(try query("BEGIN; INSERT INTO t VALUES (10, 'x'); COMMIT", "--write").status == 0)
        #expect(try query("BEGIN; INSERT INTO t VALUES (11, 'x'); ROLLBACK", "--write").status == 0)
        let open = try query("BEGIN; INSERT INTO t VALUES (12, 'x')", "--write")
        #expect(open.status == 64 && open.errors.contains("left open"), "\(open)")
        #expect(try query("INSERT INTO t VALUES (13, 'x'); COMMIT", "--write", "--transaction").status == 64)
        #expect(try query("INSERT INTO t VALUES (14, 'x'); SELECT 1", "--write", "--transaction").status == 0)
        #expect(
            try query("PRAGMA foreign_keys = 1; BEGIN; COMMIT; DELETE FROM t WHERE id = 14", "--transaction")
                .status == 64)
        #expect(try tool.shell().run("SELECT id FROM t ORDER BY id;") == ["1", "10", "14"])
        // A deferred constraint, which is checked only at the commit.
        let deferred = """
            CREATE TABLE child (t REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED); INSERT INTO child VALUES \
            (99)
            """
        #expect(try query(deferred, "--write", "--transaction").status == 1)
        #expect(try tool.shell().run("SELECT count(*) FROM sqlite_master WHERE name = 'child';") == ["0"])
    }

    @Test("values are bound with the given types")
    func binding() throws {
        let sql =
            "SELECT typeof(:a), :a, typeof(@b), @b, typeof($c), $c, typeof(:d), typeof(:e), hex(:e); SELECT :a || ?9"
        let result = try query(
            sql, "--format", "tsv", "--no-header", "--bind", "a=007", "--bind", "@b:int=-9223372036854775808",
            "--bind", "c:real=1e400",
            "--bind", "d:null=", "--bind", "e:blob=00fF", "--bind", "9=a=b:c", "--bind", "1=", "--bind", "2=",
            "--bind", "3=",
            "--bind", "4=", "--bind", "5=", "--bind", "6=", "--bind", "7=", "--bind", "8=")
        #expect(
            result.output
                == "text\t007\tinteger\t-9223372036854775808\treal\tInf\tnull\tblob\t00FF\n007a=b:c\n",
            "\(result)")
        #expect(
            try query("SELECT ?, ?", "--bind", "1=x", "--bind", "2:int=2", "--format", "csv", "--no-header")
                .output == "x,2\n")
        let unused = try query("SELECT :a", "--bind", "a=1", "--bind", "b=2")
        #expect(unused.status == 0 && unused.errors.contains("'b'"))
        let quotes = try query(
            "SELECT :a", "--bind", "a='; DROP TABLE t; --", "--format", "quote", "--no-header")
        #expect(quotes.output == "'''; DROP TABLE t; --'\n")
    }

    @Test(
        "an invalid --bind value is a usage error, before the key is read",
        arguments: [
            "a", "=1", ":=1", "a:int=x", "a:int=1.5", "a:int=9223372036854775808", "a:real=nan", "a:real=",
            "a:blob=0", "a:blob=0g",
            "a:null=x", "a:what=1", "::int=1",
        ])
    func badValues(value: String) throws {
        let result = try tool.run("query", "a.db", "SELECT :a", "--bind", value, "--key-file", "none.key")
        #expect(result.status == 64 && result.errors.contains("--bind"), "\(result)")
    }

    @Test("each parameter gets exactly one value")
    func countOfValues() throws {
        #expect(try query("SELECT :a", "--bind", "a=1", "--bind", ":a=2").status == 64)
        #expect(try query("SELECT :a, :b", "--bind", "a=1").errors.contains(":b"))
    }

    @Test("a key in any statement is refused before the first one runs")
    func keys() throws {
        let result = try query("INSERT INTO t VALUES (5, 'x'); PRAGMA rekey = 'tr0ub4dor'", "--write")
        #expect(result.status == 64 && !result.errors.contains("tr0ub4dor"))
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["1"])
        // A pragma in one statement and a column with that name in another are not a key.
        let other = try query(
            "PRAGMA user_version; SELECT 1 AS key WHERE key = '1'", "--format", "csv", "--no-header")
        #expect(other.status == 0 && other.output == "0\n", "\(other)")
    }

    @Test("each line of the JSON of several statements matches the schema")
    func json() throws {
        let result = try query(
            "CREATE TABLE u (a); INSERT INTO u VALUES (1), (2); SELECT a FROM u; BEGIN; COMMIT", "--write",
            "--json")
        #expect(try Schema.problems(result) == [])
        let rows = try result.objects.filter { $0["type"] as? String == "result" }
        #expect(rows.compactMap { $0["statement"] as? Int } == [1, 2, 3, 3, 5])
        #expect(rows.compactMap { $0["rows_changed"] as? Int } == [0, 2, 0])
        #expect(try Schema.problems(query("SELECT 1; SELEKT", "--json")) == [])
    }

    @Test("a script is ended by a signal, and by a reader that goes away, without harm")
    func ends() throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let run = try tool.start(
            [
                "query", "a.db", "INSERT INTO t VALUES (6, 'x'); \(endless)", "--write", "--transaction",
                "--verbose",
            ] + key)
        while !run.text(of: "errors").contains("running") { usleep(2000) }
        run.send(SIGINT)
        #expect(run.wait().status == 130)
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["1"])
        let head = try tool.run(
            [
                "-c",
                "'\(Tool.program)' query a.db 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n; SELECT 7' "
                    + "--format jsonl --key-file a.key --key-type raw | head -n 1",
            ], program: "/bin/sh")
        #expect(head.output == "{\"i\":1}\n" && head.errors == "", "\(head)")
    }
}
