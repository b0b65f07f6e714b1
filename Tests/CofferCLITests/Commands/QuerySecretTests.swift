import CofferTestSupport
import Foundation
import Testing

@Suite("Keys in statements")
struct QuerySecretTests {
    private static let formats = [
        "text": ["--write"], "json": ["--json", "--verbose"],
        "csv": ["--format", "csv", "--write", "--verbose"],
    ]

    @Test(
        "no statement with a key that fails shows it: not in the output, not in the errors, not in the log",
        arguments: ["text", "json", "csv"])
    func spellings(format: String) throws {
        let tool = try Tool()
        try tool.makeDatabase()
        #expect(KeySpellings.failing.count >= 200)
        let options =
            try #require(QuerySecretTests.formats[format]) + [
                "--key-type", "raw", "--key-file", tool.directory.path("a.key"),
            ]
        let offset = try #require(QuerySecretTests.formats.keys.sorted().firstIndex(of: format))
        // The command in this process runs every statement. A process of the tool runs each one in the
        // nightly run, and otherwise a few in each format.
        let groups = stride(from: 0, to: KeySpellings.failing.count, by: 40).map {
            KeySpellings.failing.dropFirst($0).prefix(40)
        }
        for (number, group) in groups.enumerated() {
            // The whole log is read before each record, so it is kept short.
            let log = tool.directory.path("log-\(number)")
            let query = try Tool.Query(tool.directory.path("a.db"), options + ["--audit", log])
            for (index, sql) in group.enumerated() {
                try check(query.run(sql), sql)
                guard Nightly.isOn || index % 30 == offset * 10 else { continue }
                try check(tool.run(["query", "a.db", "-", "--audit", log] + options, input: sql), sql)
            }
            // Statements that are rejected at first sight are not recorded, and a log needs at least one
            // record.
            #expect(try query.run("SELECT 1").status == 0)
            #expect(try !KeySpellings.isShown(in: tool.text(of: "log-\(number)")))
            #expect(try tool.run("audit", "verify", log).status == 0)
        }
        // None of the statements changed the key.
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["1"])
    }

    @Test(
        "text that looks like a key is refused before a statement runs, even in comments and strings",
        arguments: [
            "SELECT 7 -- PRAGMA key = 'tr0ub4dor'", "SELECT 7 /* attach x as y key \"tr0ub4dor\" */",
            "SELECT 7, 'pragma KEY (''a'')'",
        ])
    func refused(sql: String) throws {
        let tool = try Tool()
        try tool.makeDatabase()
        let query = try Tool.Query(
            tool.directory.path("a.db"), ["--key-type", "raw", "--key-file", tool.directory.path("a.key")])
        let result = try query.run(sql)
        #expect(
            result.status == 64 && !result.output.contains("7") && !KeySpellings.isShown(in: result.errors),
            "\(result)")
        #expect(try query.run("SELECT 7 -- the pragma of a key").output.contains("7"))
    }

    private func check(_ result: Tool.Result, _ sql: String) throws {
        #expect(result.status != 0 && result.status < 128, "\(sql): \(result.status)")
        #expect(!KeySpellings.isShown(in: result.output + result.errors), "\(sql): \(result)")
    }
}
