import CofferTestSupport
import Foundation
import Testing

/// A composed and a decomposed letter are two names for SQLite, and equal strings for Swift.
@Suite("Names that differ only in their normal form")
struct NormalFormTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]
    private let first = "\u{e9}"
    private let second = "e\u{301}"

    /// Makes `x.db` with two tables, of two and of three rows.
    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
        _ = try tool.shell("x.db").run(
            """
            CREATE TABLE "\(first)" (a); INSERT INTO "\(first)" VALUES ('one'), ('two');
            CREATE TABLE "\(second)" (a PRIMARY KEY) WITHOUT ROWID;
            INSERT INTO "\(second)" VALUES ('three'), ('four'), ('five');
            """)
    }

    private func expect(_ words: String..., input: String = "", status: Int32 = 0, contains: [String] = [])
        throws
    {
        let result = try tool.run(words + key, input: input)
        #expect(result.status == status, "\(result)")
        for part in contains { #expect(result.description.contains(part), "\(result)") }
    }

    @Test("both tables are proved and counted in copies")
    func copies() throws {
        try expect("backup", "x.db", "b.db", contains: ["2 tables, 5 rows"])
        try expect("diff", "x.db", "b.db", contains: ["the same content"])
        try expect("recover", "x.db", "r.db", contains: ["has all content of x.db"])
        try expect("diff", "x.db", "r.db", contains: ["the same content"])
    }

    @Test("a script with a changed row of either table is refused", arguments: ["one", "three"])
    func script(row: String) throws {
        let script = try tool.run(["dump", "x.db"] + key).output
        try expect("load", "same.db", input: script, contains: ["2 tables, 5 rows"])
        let changed = script.replacing("'\(row)'", with: "'forged'")
        #expect(changed != script)
        let result = try tool.run(["load", "forged.db"] + key, input: changed)
        #expect(result.status != 0 && !tool.exists("forged.db"), "\(result)")
    }

    @Test("a comparison reports both tables, and columns in another order")
    func difference() throws {
        try expect("backup", "x.db", "b.db")
        _ = try tool.shell("b.db").run(
            #"DELETE FROM "\#(first)" WHERE a = 'one'; DELETE FROM "\#(second)" WHERE a = 'three';"#)
        try expect(
            "diff", "x.db", "b.db", status: 1,
            contains: ["table \"\(first)\": 2 -> 1 row (", "table \"\(second)\": 3 -> 2 rows ("])
        for (name, columns) in [("p.db", [first, second]), ("q.db", [second, first])] {
            _ = try tool.shell(name).run(
                "CREATE TABLE t (\"\(columns[0])\", \"\(columns[1])\"); INSERT INTO t VALUES (1, 2);")
        }
        try expect("diff", "p.db", "q.db", status: 1)
    }

    @Test("each of two parameters gets its own value")
    func parameters() throws {
        let result = try tool.run(
            [
                "query", "x.db", "SELECT hex(:\(first)), hex(:\(second)), hex(?4)", "--bind", "\(first)=one",
                "--bind", "\(second)=two", "--bind", "3=", "--bind", "4=four", "--format", "csv",
            ] + key)
        #expect(result.status == 0 && result.output.hasSuffix("\n6F6E65,74776F,666F7572\n"), "\(result)")
        try expect("query", "x.db", "SELECT :\(second)", "--bind", "\(first)=one", status: 64)
    }
}
