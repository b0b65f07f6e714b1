import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Commands of the shell")
struct ShellCommandTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 3)
        _ = try tool.shell().run(
            "CREATE INDEX byText ON t (text); CREATE TABLE u (a); CREATE INDEX byA ON u (a);")
    }

    private func script(_ lines: String) throws -> Tool.Result {
        try tool.run(["shell", "a.db"] + key, input: lines)
    }

    @Test(".databases and .indexes list the file and its indexes, of one table if it is named")
    func lists() throws {
        let databases = try script(".databases\n").output
        #expect(databases.hasPrefix("main  ") && databases.hasSuffix("/a.db\n"), "\(databases)")
        let all = try script(".indexes\n").output
        #expect(all.split(separator: " ").map { $0.filter { $0 != "\n" } } == ["byA", "byText"], "\(all)")
        #expect(try script(".indexes u\n").output == "byA\n")
        #expect(try script(".indexes U\n").output == "byA\n")
        #expect(try script(".indexes none\n").output.isEmpty)
        // Characters of patterns are part of a name.
        #expect(try script(".indexes _\n").output.isEmpty)
        #expect(try script(".indexes a b\n").status == 64)
    }

    @Test(".once writes the rows of one statement to a new private file, and overwrites nothing")
    func once() throws {
        let result = try script(
            ".mode csv\n.once rows.csv\nSELECT id FROM t ORDER BY id;\nSELECT count(*) AS n FROM t;\n")
        #expect(result.status == 0 && result.output == "n\n3\n", "\(result)")
        #expect(try tool.text(of: "rows.csv") == "id\n1\n2\n3\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: tool.directory.path("rows.csv"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let again = try script(".once rows.csv\nSELECT 1;\n")
        #expect(again.status == 73 && again.output.isEmpty, "\(again)")
        #expect(try tool.text(of: "rows.csv") == "id\n1\n2\n3\n")
        // The code of an output, and not that of a missing input.
        #expect(try script(".once none/rows.csv\nSELECT 1;\n").status == 73)
    }

    @Test(
        ".once gives no file the name of a journal, a log or an index of a database",
        arguments: ["journal", "wal", "shm"])
    func onceNextToDatabase(ending: String) throws {
        let result = try script(".once b.db-\(ending)\nSELECT 1;\n")
        #expect(result.status == 64 && result.errors.contains("part of another database"), "\(result)")
        #expect(!tool.exists("b.db-\(ending)"))
    }

    @Test("EXPLAIN QUERY PLAN is a tree in tables, and rows in other formats")
    func plan() throws {
        let sql = "EXPLAIN QUERY PLAN SELECT * FROM t WHERE text = 'a' UNION SELECT a, a FROM u"
        let tree = try script(sql + ";\n").output
        // The words depend on the version of SQLite.
        #expect(
            tree.hasPrefix("QUERY PLAN\n`--") && tree.contains("\n   |--LEFT")
                && tree.contains("\n   |  `--"),
            "\(tree)")
        #expect(try tool.run(["query", "a.db", sql] + key).output == tree)
        let rows = try tool.run(["query", "a.db", sql, "--format", "csv"] + key).output
        #expect(rows.hasPrefix("id,parent,notused,detail\n"), "\(rows)")
        let table = try script("SELECT 1 AS id, 0 AS parent, 0 AS notused, 'x' AS detail;\n").output
        #expect(table.hasPrefix("id  parent"), "\(table)")
    }

    @Test("the steps of a plan are nested below their parents, and a cycle of steps is left out")
    func tree() {
        var plan = PlanTree()
        for (id, parent, words) in [(1, 0, "a"), (2, 1, "b"), (3, 1, "c"), (4, 2, "d"), (5, 0, "e")] {
            plan.add([
                id.databaseValue, parent.databaseValue, 0.databaseValue, words.databaseValue,
            ])
        }
        #expect(plan.lines == ["QUERY PLAN", "|--a", "|  |--b", "|  |  `--d", "|  `--c", "`--e"])
        var circle = PlanTree()
        circle.add([1.databaseValue, 1.databaseValue, 0.databaseValue, "x".databaseValue])
        #expect(circle.lines == ["QUERY PLAN"])
    }
}
