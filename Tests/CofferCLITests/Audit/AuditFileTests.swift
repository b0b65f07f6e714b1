import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("The file of an audit log")
struct AuditFileTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func work(_ log: String = "log", isRequired: Bool = true) throws -> Tool.Result {
        try tool.run(["verify", "a.db", "--audit", log] + (isRequired ? ["--audit-required"] : []) + key)
    }

    @Test(
        "a file without a complete record is not a valid log",
        arguments: [
            "", "\n", "myhost\n", "{}\n", "{\"schema\":1}\n", "{\"schema\":1,\"seq\":1,", "\u{0}\u{0}\u{0}",
            "a\nb\nc\n",
        ])
    func noLogs(text: String) throws {
        try tool.write(text, to: "log")
        let result = try tool.run("audit", "verify", "log", "--json")
        #expect(result.status == 65, "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(try tool.run("audit", "verify", "log").errors.contains("log"))
        #expect(try tool.run("audit", "verify", "none").status == 66)
        #expect(try tool.run("audit", "verify", ".").status != 0)
    }

    @Test(
        "nothing is added to a broken or a foreign log",
        arguments: [
            "host", "changed", "removed", "swapped", "long", "bytes", "spliced", "torn twice", "cut off",
        ])
    func broken(how: String) throws {
        for _ in 0..<3 { #expect(try work().status == 0) }
        var lines = try tool.text(of: "log").split(separator: "\n").map(String.init)
        switch how {
        case "host": lines = ["myhost"]
        case "changed": lines[1] = lines[1].replacing("\"code\":0", with: "\"code\":1")
        case "removed": lines.remove(at: 2)
        case "swapped": lines.swapAt(0, 1)
        case "spliced":
            // The last record of the other log is complete and has the same sequence number.
            for _ in 0..<3 { #expect(try work("other").status == 0) }
            lines[5] = try #require(tool.text(of: "other").split(separator: "\n").map(String.init).last)
        case "torn twice": lines += ["{\"schema\":1,\"seq\":7,\"ti", "{\"schema\":1,\"seq\":7,\"time"]
        case "cut off": lines = [String(lines[0].prefix(60))]
        case "long": lines[3] = String(repeating: "x", count: 200_000)
        default: lines[2] = "\u{0}"
        }
        try tool.write(lines.joined(separator: "\n") + "\n", to: "log")
        let before = try tool.text(of: "log")
        #expect(try work().status == 65)
        let lenient = try work(isRequired: false)
        #expect(
            lenient.status == 0 && lenient.errors.contains("warning")
                && lenient.errors.contains("begin a new log"), "\(lenient)")
        #expect(try tool.text(of: "log") == before)
        #expect(try tool.run("audit", "verify", "log").status == 65)
    }

    @Test("torn lines are counted in the text output")
    func tornLines() throws {
        #expect(try work().status == 0)
        try tool.write(tool.text(of: "log") + "{\"schema\":1,\"seq\":3,\"ti", to: "log")
        #expect(try tool.run("audit", "verify", "log").output.contains("1 torn line, as after a crash"))
        #expect(try work().status == 0)
        let result = try tool.run("audit", "verify", "log")
        #expect(
            result.status == 0 && result.output.contains("4 records")
                && result.output.contains("1 torn line"), "\(result)")
        // Text that does not look like the start of a record is not a torn line.
        try tool.write(tool.text(of: "log") + "someone was here", to: "log")
        #expect(try tool.run("audit", "verify", "log").status == 65)
    }

    @Test(
        "links, pipes, folders and devices are refused as logs",
        arguments: ["link", "dangling", "hard", "pipe", "folder", "device"])
    func unsafeFiles(kind: String) throws {
        try tool.write("precious\n", to: "target")
        let path = tool.directory.path("log")
        switch kind {
        case "link": #expect(unsafe symlink("target", path) == 0)
        case "dangling": #expect(unsafe symlink("nowhere", path) == 0)
        case "hard": #expect(unsafe link(tool.directory.path("target"), path) == 0)
        case "pipe": #expect(unsafe mkfifo(path, 0o600) == 0)
        case "folder": _ = try tool.directory.makeFolder("log")
        default: break
        }
        let log = kind == "device" ? "/dev/null" : "log"
        let result = try work(log)
        #expect(result.status == 73, "\(result)")
        let lenient = try work(log, isRequired: false)
        #expect(lenient.status == 0 && lenient.errors.contains("cannot be written"))
        #expect(try tool.text(of: "target") == "precious\n")
        #expect(!tool.exists("nowhere"))
    }

    @Test(
        "a log does not get a name that belongs to SQLite or Coffer",
        arguments: ["a.db-journal", "a.db-wal", "a.db-shm", ".coffer-log", "a.db.keys"])
    func namesOfOthers(name: String) throws {
        let names = tool.directory.fileNames()
        let result = try work(name)
        #expect(result.status == 73 && result.errors.contains("Choose another name"), "\(result)")
        #expect(tool.directory.fileNames() == names)
        let lenient = try work(name, isRequired: false)
        #expect(lenient.status == 0 && lenient.errors.contains("Choose another name"), "\(lenient)")
        #expect(!tool.exists(name))
    }

    @Test("a log owned by another user is refused", .enabled(if: geteuid() == 0, "needs root"))
    func otherOwner() throws {
        #expect(try work().status == 0)
        #expect(unsafe chown(tool.directory.path("log"), 65534, 65534) == 0)
        let result = try work()
        #expect(result.status == 73 && result.errors.contains("another user"), "\(result)")
    }

    @Test("a query is recorded with its exit code, even if it fails; a dry run is not")
    func queries() throws {
        let query = ["query", "a.db", "--audit", "log", "--audit-required"] + key
        #expect(try tool.run(query + ["SELECT * FROM t"]).status == 0)
        #expect(try tool.text(of: "log").contains(#""command":"query""#))
        #expect(try tool.text(of: "log").contains(#""event":"end","code":0,"changed":false"#))
        #expect(try tool.run(query + ["SELECT * FROM nowhere"]).status == 64)
        #expect(try tool.text(of: "log").contains(#""event":"end","code":64"#))
        #expect(try tool.run(query + ["INSERT INTO t DEFAULT VALUES", "--write"]).status == 0)
        #expect(try tool.text(of: "log").contains(#""event":"end","code":0,"changed":true"#))
        #expect(try tool.run(query + ["SELECT 1", "--dry-run"]).status == 0)
        try tool.writeKey("wrong.key", 0x01)
        let wrong = [
            "query", "a.db", "SELECT 1", "--audit", "log", "--key-file", "wrong.key", "--key-type", "raw",
        ]
        #expect(try tool.run(wrong).status == 77)
        #expect(try tool.text(of: "log").contains(#""event":"end","code":77"#))
        #expect(try tool.run("audit", "verify", "log").output.contains("intact (8 records)"))
    }

    @Test("the digest of a content cannot be computed without the key")
    func digests() throws {
        // The log and a copy of the content together must not be enough to confirm that the log is about that
        // content.
        try tool.writeKey("b.key", 0x43)
        for copy in ["same.db", "third.db"] {
            try tool.directory.write(tool.directory.bytes(of: "a.db"), to: copy)
        }
        try tool.makeDatabase("c.db", key: "c.key", 0x44)
        func digest(_ file: String, _ key: String, _ newKey: String) throws -> String {
            let result = try tool.run(
                [
                    "rotate", file, "--json", "--key-file", key, "--key-type", "raw", "--new-key-file",
                    newKey, "--new-key-type", "raw",
                ])
            #expect(result.status == 0, "\(result)")
            return try #require(try result.objects.compactMap { $0["content_digest"] as? String }.first)
        }
        let first = try digest("a.db", "a.key", "b.key")
        #expect(try digest("same.db", "a.key", "b.key") == first)
        // The digest depends on the key after the work.
        _ = try digest("third.db", "a.key", "c.key")
        #expect(try digest("third.db", "c.key", "b.key") == first)
        #expect(try digest("a.db", "b.key", "a.key") != first)
        let backup = try tool.run(["backup", "a.db", "x.db", "--json"] + key)
        let plain = try tool.run(["decrypt", "a.db", "plain.db", "--yes-plaintext", "--json"] + key)
        let back = try tool.run([
            "encrypt", "plain.db", "y.db", "--json", "--key-file", "b.key", "--key-type", "raw",
        ])
        let digests = try [backup, plain, back].map {
            try $0.objects.compactMap { $0["content_digest"] as? String }.first
        }
        #expect(digests[0] != nil && digests[0] == digests[1] && digests[1] != digests[2])
    }
}
