import CofferTestSupport
import Foundation
import Testing

@Suite("Keys in statements")
struct QuerySecretTests {
    @Test(
        "no statement with a key that fails shows it: not in the output, not in the errors, not in the log",
        arguments: ["text", "json", "csv"])
    func spellings(format: String) throws {
        let tool = try Tool()
        try tool.makeDatabase()
        #expect(KeySpellings.failing.count >= 200)
        let options =
            ["text": ["--write"], "json": ["--json", "--verbose"], "csv": ["--format", "csv", "--write", "--verbose"]][format] ?? []
        // By day, every statement in one format, and a third of them in each of the others.
        let isWhole = format == "text" || Nightly.isOn
        for (number, sql) in KeySpellings.failing.enumerated() where isWhole || number.isMultiple(of: 3) {
            let result = try tool.run(
                ["query", "a.db", "-", "--audit", "log", "--key-file", "a.key", "--key-type", "raw"] + options, input: sql)
            #expect(result.status != 0 && result.status < 128, "\(sql): \(result.status)")
            #expect(!KeySpellings.isShown(in: result.output + result.errors), "\(sql): \(result)")
        }
        #expect(try !KeySpellings.isShown(in: tool.text(of: "log")))
        #expect(try tool.run("audit", "verify", "log").status == 0)
        // Whatever was tried, the key is the one it was.
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["1"])
    }
}
