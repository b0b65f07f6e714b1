import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("The tool with few descriptors")
struct DescriptorLimitTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 50)
        try tool.writeKey("b.key", 0x43)
        let backup = try tool.run("backup", "a.db", "safe.db", "--key-file", "a.key", "--key-type", "raw")
        #expect(backup.status == 0, "\(backup)")
    }

    /// The new files of a run, except for an old file that a restore keeps.
    private func newFiles(since before: [String]) -> [String] {
        tool.directory.fileNames().filter { !before.contains($0) && !$0.contains(".replaced-") }
    }

    @Test(
        "a run with too few descriptors ends with an error that says so, and leaves no files",
        arguments: [
            "rotate a.db --new-key-file b.key --new-key-type raw",
            "rotate a.db --in-place --new-key-file b.key --new-key-type raw", "vacuum a.db",
            "backup a.db new.db", "decrypt a.db new.db --yes-plaintext", "restore safe.db a.db",
        ])
    func fewDescriptors(command: String) throws {
        let before = tool.directory.fileNames()
        let original = try tool.directory.bytes(of: "a.db")
        var failures = 0
        for limit in 5...16 {
            let script =
                "ulimit -n \(limit); exec '\(Tool.program)' \(command) --key-file a.key --key-type raw"
            let result = try tool.run(["-c", script], program: "/bin/sh")
            if result.status == 0 {
                // The result of the command, and the old file or key, are not of interest here.
                try? FileManager.default.removeItem(atPath: tool.directory.path("new.db"))
                try Data(original).write(to: URL(fileURLWithPath: tool.directory.path("a.db")))
            } else {
                failures += 1
                #expect([66, 74].contains(result.status), "limit \(limit): \(result)")
                #expect(result.errors.contains("Too many open files"), "limit \(limit): \(result)")
                #expect(try tool.directory.bytes(of: "a.db") == original, "limit \(limit)")
            }
            #expect(newFiles(since: before) == [], "limit \(limit): \(result)")
        }
        // With 16, the command must work; with 5, it cannot.
        #expect((1...11).contains(failures), "\(failures)")
    }

    @Test(
        "a keyring is destroyed only if there are descriptors for all of the work",
        arguments: ["erase k.db --yes-erase k.db", "key destroy k.db --yes-destroy k.db"])
    func destroying(command: String) throws {
        let made = try tool.run("key", "init", "k.db", "--new-key-file", "b.key", "--new-key-type", "raw")
        #expect(made.status == 0, "\(made)")
        let names = tool.directory.fileNames()
        let contents = try ["k.db", "k.db.keys"].map { try tool.directory.bytes(of: $0) }
        var failures = 0
        for limit in 5...16 {
            let script = "ulimit -n \(limit); exec '\(Tool.program)' \(command)"
            let result = try tool.run(["-c", script], program: "/bin/sh")
            guard result.status != 0 else { break }
            failures += 1
            #expect(result.errors.contains("Too many open files"), "limit \(limit): \(result)")
            #expect(tool.directory.fileNames() == names, "limit \(limit): \(result)")
            try #require(
                ["k.db", "k.db.keys"].map { try tool.directory.bytes(of: $0) } == contents,
                "limit \(limit): \(result)")
        }
        #expect((1...11).contains(failures), "\(failures)")
        #expect(!tool.exists("k.db.keys"))
    }
}
