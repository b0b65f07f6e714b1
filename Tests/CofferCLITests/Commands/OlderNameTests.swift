import Testing

@testable import CofferCLI

@Suite("Older names of options")
struct OlderNameTests {
    @Test(
        "an older name still works, and only --help-hidden lists it",
        arguments: [
            (["query", "a.db"], ["--file", "q.sql"]),
            (["batch", "query"], ["--file", "q.sql", "--manifest", "list"]),
            (["vacuum", "a.db"], ["--into", "b.db"]),
        ])
    func olderNames(words: [String], options: [String]) throws {
        let tool = try Tool()
        try tool.makeDatabase()
        try tool.write("SELECT text FROM t;\n", to: "q.sql")
        try tool.write("a.db\n", to: "list")
        let result = try tool.run(words + options + ["--key", "file:a.key"])
        #expect(result.status == 0, "\(result)")
        #expect(words[0] == "vacuum" ? tool.exists("b.db") : result.output.contains("row 1"), "\(result)")
        let command = words.filter { $0 != "a.db" }
        #expect(try !tool.run(command + ["--help"]).output.contains("\n  \(options[0]) "))
        #expect(try tool.run(command + ["--help-hidden"]).output.contains("\n  \(options[0]) "))
    }

    @Test("a destination in both forms is refused")
    func twoDestinations() throws {
        let tool = try Tool()
        try tool.makeDatabase()
        let result = try tool.run("vacuum", "a.db", "b.db", "--into", "c.db", "--key", "file:a.key")
        #expect(result.status == 64 && result.errors.contains("Give one destination"), "\(result)")
        #expect(!tool.exists("b.db") && !tool.exists("c.db"))
    }
}
