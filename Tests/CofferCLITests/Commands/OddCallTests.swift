import CofferTestSupport
import Foundation
import Testing

@Suite("Odd calls")
struct OddCallTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
        try tool.writeKey("b.key", 0x43)
    }

    @Test(
        "a dash is refused as the name of an output file",
        arguments: [
            ["decrypt", "a.db", "-", "--yes-plaintext"], ["backup", "a.db", "--into", "-"],
            ["vacuum", "a.db", "-"],
            ["create", "-"],
            ["encrypt", "a.db", "-"], ["keygen", "--out", "-"], ["rotate", "a.db", "--keep-old", "-"],
            ["upgrade", "a.db", "--keep-old", "-"],
            ["verify", "a.db", "--audit", "-"], ["batch", "verify", "--manifest", "-", "--state", "-"],
        ])
    func dashes(arguments: [String]) throws {
        let result = try tool.run(arguments + (arguments[0] == "keygen" ? [] : key))
        #expect(result.status == 64 && result.errors.contains("'-' is not a name"), "\(result)")
        #expect(!tool.exists("-"))
    }

    @Test(
        "help for an unknown command is a usage error",
        arguments: ["rotat", "batch rotat", "rotate now", "help x", "verify verify"])
    func help(words: String) throws {
        let result = try tool.run(["help"] + words.split(separator: " ").map(String.init))
        #expect(
            result.status == 64 && result.output.isEmpty && result.errors.contains("There is no command"),
            "\(result)")
    }

    @Test(
        "help for existing commands is printed",
        arguments: ["", "rotate", "batch", "batch rotate", "audit verify", "help"])
    func goodHelp(words: String) throws {
        let result = try tool.run(["help"] + words.split(separator: " ").map(String.init))
        #expect(result.status == 0 && result.output.contains("USAGE"), "\(result)")
    }

    @Test(
        "without /proc, the error says that it is missing",
        .enabled(if: geteuid() == 0 && PrivateMounts.isPossible, "needs root and private mounts"))
    func noProc() throws {
        let script = "mount -t tmpfs none /proc && exec '\(Tool.program)' info a.db"
        let result = try tool.run(
            ["-m", "/bin/sh", "-c", script], program: try #require(ChildProcess.find("unshare")))
        #expect(result.status == 69 && result.errors.contains("/proc"), "\(result)")
    }

    @Test("a short batch says nothing of its progress where there is no terminal")
    func noise() throws {
        var names: [String] = []
        for index in 0..<40 {
            try tool.directory.write(tool.directory.bytes(of: "a.db"), to: "\(index).db")
            names.append("\(index).db")
        }
        try tool.write(names.joined(separator: "\n"), to: "list")
        let result = try tool.run(["batch", "verify", "--manifest", "list"] + key)
        #expect(
            result.status == 0 && result.errors.hasPrefix("40 of 40 files done, 0 failed, 0 done before (")
                && result.errors.split(separator: "\n").count == 1, "\(result)")
    }
}
