import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Comparing databases")
struct DiffTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 50)
        try tool.writeKey("b.key", 0x43)
        #expect(try tool.run(["backup", "a.db", "b.db"] + key).status == 0)
    }

    private func diff(_ arguments: String...) throws -> Tool.Result {
        try tool.run(["diff", "a.db", "b.db"] + arguments + key)
    }

    private func change(_ sql: String, _ name: String = "b.db") throws { _ = try tool.shell(name).run(sql) }

    @Test("a copy under another key and salt, with other pages, has the same content")
    func same() throws {
        let result = try diff()
        #expect(result.status == 0 && result.output.contains("the same content"), "\(result)")
        #expect(try diff("--quiet").output.isEmpty)
        try change("CREATE TABLE big (x); INSERT INTO big VALUES (zeroblob(100000)); DROP TABLE big; VACUUM;")
        #expect(
            try tool.run(["vacuum", "b.db", "--into", "c.db", "--new-key-file", "b.key"] + key).status == 64)
        #expect(
            try tool.run(
                ["backup", "b.db", "c.db", "--new-key-file", "b.key", "--new-key-type", "raw"] + key
            ).status == 0)
        #expect(
            try tool.run(["diff", "a.db", "c.db", "--new-key-file", "b.key", "--new-key-type", "raw"] + key)
                .status == 0)
        #expect(try tool.run(["diff", "a.db", "c.db"] + key).status == 77)
        #expect(try tool.run(["diff", "a.db", "none.db"] + key).status == 66)
        let json = try diff("--json")
        #expect(json.status == 0)
        #expect(try Schema.problems(json) == [])
    }

    @Test("the summary suggests --rows if rows differ, except with --json or --quiet")
    func nextStep() throws {
        #expect(try !diff().errors.contains("--rows"))
        try change("CREATE TABLE u (x);")
        #expect(try !diff("--rows").errors.contains("--rows"))
        try change("DELETE FROM t WHERE id = 7;")
        #expect(try diff().errors.contains("--rows prints the rows that differ."))
        for options in [["--rows"], ["--json"], ["--quiet"]] {
            let result = try tool.run(["diff", "a.db", "b.db"] + options + key)
            #expect(result.status == 1 && !result.description.contains("--rows prints"), "\(result)")
        }
    }

    @Test("rows that were added, removed and changed are counted, and shown on request with what has changed")
    func rows() throws {
        try change(
            "DELETE FROM t WHERE id = 7; INSERT INTO t VALUES (99, 'it''s new'); UPDATE t SET text = NULL WHERE id = 50;"
        )
        let result = try diff()
        #expect(
            result.status == 1 && result.output == "table t: 50 -> 50 rows (1 removed, 1 added, 1 changed)\n",
            "\(result)")
        let rows = try diff("--rows")
        #expect(rows.status == 1)
        #expect(
            rows.output.split(separator: "\n").dropLast() == [
                "- t id = 7, text = 'row 7'", "~ t id = 50, text = 'row 50' -> NULL",
                "+ t id = 99, text = 'it''s new'",
            ], "\(rows)")
        let json = try diff("--rows", "--json")
        #expect(json.status == 1)
        #expect(try Schema.problems(json) == [])
        let changes = try json.objects.compactMap { $0["change"] as? String }
        #expect(changes == ["removed", "changed", "added"])
        // In the opposite direction.
        let back = try tool.run(["diff", "b.db", "a.db", "--rows"] + key)
        #expect(back.output.contains("+ t id = 7, text = 'row 7'"), "\(back)")
    }

    @Test("similar values are distinguished, and no value can forge a line or hide on a terminal")
    func ambiguity() throws {
        let sql = "CREATE TABLE v (id INTEGER PRIMARY KEY, x);"
        for name in ["a.db", "b.db"] { try change(sql, name) }
        let values = [
            ("1", "1.0"), ("1", "'1'"), ("NULL", "'NULL'"), ("'a'", "x'61'"), ("''", "x''"),
            ("9e999", "'Inf'"),
            ("'a' || char(10) || '+ t id = 5'", "'a\\n+ t id = 5'"), ("char(27)", "'\\u{1b}'"),
            ("CAST(x'ff' AS TEXT)", "char(65533)"),
            ("CAST(x'610062' AS TEXT)", "'a'"), ("'a'' || char(10) || ''b'", "'a' || char(10) || 'b'"),
            ("9007199254740993", "9007199254740992"),
        ]
        for (one, two) in values {
            try change("INSERT INTO v (x) VALUES (\(one));", "a.db")
            try change("INSERT INTO v (x) VALUES (\(two));")
        }
        let result = try diff("--rows")
        let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("~ v ") }
        #expect(result.status == 1 && lines.count == values.count, "\(result)")
        #expect(!result.output.contains("\u{1b}") && !result.output.contains("\n+ t id"))
        // The output is SQL that SQLite evaluates to the original value.
        for (index, line) in lines.enumerated() {
            let shown = try #require(line.components(separatedBy: "x = ").last).components(
                separatedBy: " -> ")
            #expect(shown.count == 2 && shown[0] != shown[1])
            for (text, name) in zip(shown, ["a.db", "b.db"]) {
                let answer = try tool.shell(name).run(
                    "SELECT x IS (\(text)) AND typeof(x) = typeof(\(text)) AND CAST(x AS BLOB) IS CAST(\(text) AS BLOB) FROM v WHERE id = \(index + 1);"
                )
                #expect(answer == ["1"], "\(line)")
            }
        }
    }

    @Test("schema and versions are compared, and tables with other columns by their counts")
    func schema() throws {
        try change(
            "CREATE INDEX byText ON t (text); ALTER TABLE t ADD COLUMN more; CREATE TABLE n (x); INSERT INTO n VALUES (1), (2);"
        )
        try change("PRAGMA user_version = 7;")
        try change("CREATE VIEW v AS SELECT 1;", "a.db")
        let result = try diff("--rows")
        #expect(result.status == 1)
        for line in [
            "user_version: 0 -> 7", "+ index byText CREATE INDEX byText ON t (text)",
            "- view v CREATE VIEW v AS SELECT 1", "~ table t",
            "+ table n CREATE TABLE n (x)",
            "table t: 50 -> 50 rows (different, but not comparable row by row)",
            "table n: 0 -> 2 rows (0 removed, 2 added, 0 changed)", "+ n rowid = 1, x = 1",
        ] { #expect(result.output.split(separator: "\n").contains { $0 == line }, "\(line): \(result)") }
        #expect(try Schema.problems(diff("--json", "--rows")) == [])
    }

    @Test("rows of tables without row IDs are found by their keys, whatever their collation and order")
    func withoutRowIDs() throws {
        let sql = """
            CREATE TABLE w (a TEXT COLLATE NOCASE, b INTEGER, c, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
            INSERT INTO w VALUES ('x', 1, 'one'), ('Y', 1, 'two'), ('z', 2, 'three'), ('é', 2, 'four');
            CREATE TABLE hidden (rowid TEXT, oid TEXT, _rowid_ TEXT); INSERT INTO hidden VALUES ('1', '2', \
            '3');
            """
        for name in ["a.db", "b.db"] { try change(sql, name) }
        #expect(try diff().status == 0)
        try change(
            "UPDATE w SET a = 'X' WHERE a = 'x'; DELETE FROM w WHERE a = 'z'; INSERT INTO w VALUES ('z', 3, 'new');"
        )
        let result = try diff("--rows")
        let lines = Set(result.output.split(separator: "\n").filter { $0.dropFirst(2).hasPrefix("w ") })
        #expect(
            lines == [
                "~ w a = 'x' -> 'X'", "- w a = 'z', b = 2, c = 'three'", "+ w a = 'z', b = 3, c = 'new'",
            ], "\(result)")
        try change("UPDATE hidden SET oid = 'other';")
        #expect(
            try diff().output.contains(
                "table hidden: 1 -> 1 row (different, but not comparable row by row)"))
    }

    @Test("the error names the damaged file", arguments: ["a.db", "b.db"])
    func damage(_ name: String) throws {
        var bytes = try tool.directory.bytes(of: name)
        bytes[5000] ^= 1
        try tool.directory.write(bytes, to: name)
        let result = try diff()
        let damaged = result.errors.firstMatch(of: /(\w\.db): (error: )?The file is damaged/)?.output.1
        #expect(result.status == 65 && damaged.map(String.init) == name, "\(result)")
    }

    @Test("the error names the file that cannot be compared", arguments: [false, true])
    func names(isNew: Bool) throws {
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("c.db")).run("CREATE TABLE t (a);")
        try tool.makeDatabase("d.db", key: "d.key", 0x77)
        try tool.write("", to: "empty.db")
        for (name, status) in [("none.db", 66), ("c.db", 65), ("d.db", 77), ("empty.db", 65)]
            as [(String, Int32)]
        {
            let files = isNew ? ["a.db", name] : [name, "a.db"]
            let arguments = ["diff"] + files + ["--key-file", "a.key", "--key-type", "raw"]
            let result = try tool.run(arguments)
            #expect(result.status == status && !result.errors.contains("a.db"), "\(result)")
            #expect(result.errors.contains(name), "\(result)")
            let error = try tool.run(arguments + ["--json"]).objects.first {
                $0["type"] as? String == "error"
            }
            #expect(error?["path"] as? String == name, "\(files)")
        }
    }

    @Test("a database in use is compared as one snapshot, and no side files are left")
    func inUse() throws {
        let pool = try tool.directory.makePool("b.db")
        try pool.write { db in try db.execute(sql: "INSERT INTO t (text) VALUES ('in the log')") }
        #expect(try diff().output.contains("1 added"))
        try pool.close()
        #expect(try diff("--audit", "log").status == 1)
        #expect(try tool.text(of: "log").split(separator: "\n").count == 4)
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.db", "b.key", "log"])
    }
}
