import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite(
    "Commits that only a running process can read",
    .enabled(if: SQLCipherShell.isAvailable && EngineMend.logChecksums.isNeeded))
struct LogHealingTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    @Test("verify reports such commits, and --heal-log saves them")
    func healed() throws {
        let shell = try LiveShell(path: tool.directory.path("a.db"))
        _ = try shell.run("PRAGMA journal_mode = WAL;")
        try shell.commitAfterPartialRollback(table: "t")
        let result = try tool.run(["verify", "a.db"] + key)
        #expect(result.status == 65 && result.errors.contains("--heal-log"), "\(result)")
        #expect(result.output.contains("commits that will be lost when the process"), "\(result)")
        let json = try tool.run(["verify", "a.db", "--json"] + key)
        #expect(try json.status == 65 && Schema.problems(json) == [])
        let healed = try tool.run(["verify", "a.db", "--heal-log"] + key)
        #expect(healed.status == 0 && healed.errors.contains("of the log saved"), "\(healed)")
        shell.kill()
        #expect(try tool.run(["verify", "a.db"] + key).status == 0)
        #expect(try tool.shell().run("SELECT count(*) FROM t") == ["2"])
    }
}
