import Testing

@testable import CofferCLI

@Suite("Splitting scripts into statements")
struct StatementSplitterTests {
    /// Splits a text that arrives in pieces of `size` bytes into statements.
    private func pieces(_ text: String, by size: Int) -> [String] {
        var splitter = StatementSplitter()
        var buffer: [UInt8] = []
        var read = 0
        var result: [String] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            buffer += bytes[start..<min(bytes.count, start + size)]
            while let end = splitter.end(in: buffer, from: read) {
                if !splitter.endedBlank { result.append(String(decoding: buffer[..<end], as: UTF8.self)) }
                buffer.removeFirst(end)
                read = 0
            }
            read = buffer.count
        }
        if !splitter.isBlank { result.append(String(decoding: buffer, as: UTF8.self)) }
        return result
    }

    @Test(
        "a semicolon ends a statement, but not in quotes, in comments, and in the body of a trigger",
        arguments: [
            ["SELECT 1;", "SELECT 2"], ["SELECT 'a;b', \"c;d\", [e;f], `g;h`;", " SELECT 'it''s; so';"],
            ["SELECT 1 -- a;b\n;", "/* ; ** ; */ SELECT 2 / 3 - 1;", "SELECT '--;';"],
            [
                "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; SELECT CASE 1 WHEN 1 THEN 2 END; END;",
                "SELECT 3;",
            ],
            ["create temp trigger a after insert on t begin select 1 ; /* x */ end ;", "SELECT 3;"],
            ["EXPLAIN CREATE TEMPORARY TRIGGER a BEGIN SELECT 1; END;", "SELECT 4;"],
            ["CREATE TABLE trigger_log (a);", "CREATE INDEX i ON trigger_log (a);"],
            ["CREATE TRIGGER a BEGIN SELECT 1; ENDING; END -- not yet\n;", "END;"],
            ["SELECT 1 -", "x"].first.map { [$0 + "- 2 ;\n;"] } ?? [],
        ])
    func splitting(statements: [String]) {
        for size in [1, 2, 3, 7, 1000] {
            #expect(pieces(statements.joined(), by: size) == statements, "in pieces of \(size)")
        }
    }

    @Test(
        "white space, comments and semicolons form no statement",
        arguments: ["", " ;; ; -- a;\n/* b; */ ; ", "--", "/* open", "-- open ;"])
    func blanks(text: String) {
        #expect(pieces(text, by: 1) == [])
        #expect(throws: Failure.self) { try Script(text) }
    }

    @Test("a script records the lines of its statements, and skips a byte order mark")
    func lines() throws {
        let script = try Script(
            "\u{feff}CREATE TRIGGER a BEGIN\n SELECT 1;\nEND;\n\n  SELECT 2; SELECT 3;\n-- a\nSELECT 4")
        #expect(script.statements.map(\.line) == [1, 5, 5, 6])
    }
}
