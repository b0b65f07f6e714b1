import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

/// Input that an attack on the tool has found.
@Suite("Input that once crashed or misled the tool")
struct HostileInputTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]
    private let newKey = ["--new-key-file", "b.key", "--new-key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
        try tool.writeKey("b.key", 0x43)
    }

    @Test("a file that consists of SQLite's first bytes and zeros is described, and ends no batch")
    func onlyTheMagic() throws {
        let bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4080)
        try tool.directory.write(bytes, to: "0.db")
        let one = try tool.run(["info", "0.db"])
        #expect(one.status == 0 && one.output.contains("4,096 bytes"), "\(one)")
        #expect(!one.output.contains("pages"), "\(one)")
        let all = try tool.run(["batch", "info", "."] + key)
        #expect(all.output.contains("a.db") && all.errors.contains("2 files"), "\(all)")
    }

    @Test(
        "SQLite's name of a database in memory is refused, and a file of this name is used by its path",
        arguments: [
            "query NAME SELECT_1", "verify NAME", "info NAME", "dump NAME", "backup NAME b.db",
            "backup a.db NAME", "create NAME", "rotate NAME --new-key-file b.key",
            "decrypt NAME p.db --yes-plaintext",
            "key init NAME --new-key-file b.key", "import NAME t rows.csv", "recover NAME r.db",
            "vacuum NAME",
            "erase NAME --yes-erase NAME", "diff a.db NAME",
        ])
    func memory(command: String) throws {
        let words = command.split(separator: " ").map {
            String($0).replacing("NAME", with: ":memory:").replacing("_", with: " ")
        }
        let needsKey = !["erase", "info", "key"].contains(words[0])
        for isThere in [true, false] {
            if isThere {
                try FileManager.default.copyItem(
                    atPath: tool.directory.path("a.db"), toPath: tool.directory.path(":memory:"))
            }
            let before = tool.directory.fileNames()
            let result = try tool.run(words + (needsKey ? key : []))
            #expect(result.status == 64 && result.errors.contains("./:memory:"), "\(result)")
            #expect(tool.directory.fileNames() == before)
            if isThere {
                #expect(try tool.run(["verify", "./:memory:"] + key).status == 0)
                try FileManager.default.removeItem(atPath: tool.directory.path(":memory:"))
            }
        }
    }

    @Test("the error for a state that is another kind of file does not suggest removing it")
    func foreignState() throws {
        try tool.write("a.db\n", to: "list")
        for state in ["a.db", "list"] {
            for more in [[], ["--continue"]] {
                let result = try tool.run(
                    ["batch", "rotate", "--manifest", "list", "--state", state] + more + newKey + key)
                #expect(result.status == 73 && result.errors.contains("is not the state"), "\(result)")
                #expect(!result.errors.contains("remove"), "\(result)")
            }
        }
    }

    @Test(
        "a command waits for the locks of another program",
        .enabled(if: ChildProcess.find("sqlcipher") != nil),
        arguments: ["verify", "info", "batch verify", "vacuum", "erase"])
    func locks(command: String) throws {
        let path = tool.directory.path("a.db")
        let shell = try LiveShell(path: path)
        _ = try shell.run("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; SELECT 1;")
        let words = command.split(separator: " ").map(String.init)
        let name = words[0] == "batch" ? "." : "a.db"
        let more = command == "erase" ? ["--yes-erase", "a.db"] : key
        let busy = try tool.run(words + [name, "--lock-timeout", "0"] + more)
        #expect(busy.status == (words[0] == "batch" ? 3 : 75), "\(busy)")
        let waiting = try tool.start(words + [name, "--lock-timeout", "60"] + more)
        usleep(300_000)
        _ = try shell.run("COMMIT;")
        // The last two need a file that no other program has open.
        shell.kill()
        let result = waiting.wait()
        #expect(result.status == 0, "\(result)")
    }

    @Test("a script is not read beyond a NUL byte, and a statement without an end is refused")
    func endlessScript() throws {
        let zeros = try tool.run(["load", "new.db"] + key, input: "SELECT 1;\0\0\0\0")
        #expect(zeros.status == 65 && zeros.errors.contains("statement 2"), "\(zeros)")
        for script in [
            "CREATE TABLE t (a);\n-- note \0\nCREATE TABLE u (a);", "CREATE TABLE t (a); /* \0 */",
        ] {
            let result = try tool.run(["load", "new.db"] + key, input: script)
            #expect(result.status == 65 && result.errors.contains("zero byte"), "\(result)")
        }
        #expect(!tool.exists("new.db"))
        for command in ["query a.db -", "query a.db --from /dev/zero"] {
            let words = command.split(separator: " ").map(String.init)
            let result = try tool.run(words + key, input: "SELECT 1;\0\0\0\0")
            #expect(result.status == 64 && result.errors.contains("NUL byte"), "\(result)")
        }
        let endless = try tool.run(
            ["-c", "yes | '\(Tool.program)' query a.db - --key-file a.key --key-type raw"], program: "/bin/sh"
        )
        #expect(endless.status == 65 && endless.errors.contains("longer than 256 MiB"), "\(endless)")
        try tool.write("SELECT 1;\nSELECT '\(String(repeating: "a", count: 5000))", to: "open.sql")
        let reader = ScriptReader(
            try InputFile(tool.directory.path("open.sql"), "script") {}, longestStatement: 1000)
        #expect(try reader.next() == Array("SELECT 1;".utf8))
        let failure = #expect(throws: Failure.self) { _ = try reader.next() }
        #expect(failure?.message.contains("statement 2 (line 1)") == true, "\(failure as Any)")
    }

    @Test("a database from before SQLite 3.7, without a valid page count, is encrypted in place")
    func formerPageCount() throws {
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("p.db")).run(
            "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        var bytes = try tool.directory.bytes(of: "p.db")
        bytes.replaceSubrange(28..<32, with: [0, 0, 0, 0])
        try tool.directory.write(bytes, to: "p.db")
        let result = try tool.run(["encrypt", "p.db"] + key)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.run(["query", "p.db", "SELECT a FROM t"] + key).output.hasSuffix("\n1\n"))
    }
}
