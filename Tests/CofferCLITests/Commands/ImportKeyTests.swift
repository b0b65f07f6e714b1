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

    @Test("only keys that are there already are ignored, and no other violation")
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
}
