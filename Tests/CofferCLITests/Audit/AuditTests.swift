import CofferTestSupport
import Foundation
import SystemCalls
import Testing

@testable import CofferCLI

@Suite("Audit logs")
struct AuditTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
    }

    private func create(_ names: [String]) throws {
        for name in names { #expect(try tool.run(["create", name, "--audit", "log"] + key).status == 0) }
    }

    @Test("an operation leaves two chained records")
    func records() throws {
        try create(["a.db", "b.db"])
        let lines = try tool.text(of: "log").split(separator: "\n")
        #expect(lines.count == 4)
        let objects = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["event"] as? String } == ["begin", "end", "begin", "end"])
        #expect(objects.map { $0["seq"] as? Int } == [1, 2, 3, 4])
        #expect(objects[1]["path"] as? String == tool.directory.path("a.db"))
        #expect(objects[1]["changed"] as? Bool == true)
        let host = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8).dropLast()
        #expect(objects.allSatisfy { $0["host"] as? String == String(host) })
        #expect(objects[1]["prev"] as? String == objects[0]["hash"] as? String)
        #expect(objects[0]["prev"] as? String == String(repeating: "0", count: 64))
        let result = try tool.run("audit", "verify", "log")
        #expect(result.status == 0)
        #expect(result.output.contains("4 records"))
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("log"))[.posixPermissions]
            as? Int
        #expect(mode == 0o600)
    }

    @Test("a file has one path in the log, however it was typed")
    func spellings() throws {
        try create(["a.db"])
        #expect(unsafe symlink(".", tool.directory.path("link")) == 0)
        _ = try tool.directory.makeFolder("sub")
        for name in ["./a.db", tool.directory.path("a.db"), "link/a.db", "sub/../link/a.db"] {
            #expect(try tool.run(["verify", name, "--audit", "log"] + key).status == 0)
        }
        // A missing file is known by its folder.
        #expect(try tool.run(["create", "link/b.db", "--audit", "log"] + key).status == 0)
        let paths = try tool.text(of: "log").split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["path"] as? String
        }
        #expect(paths.count == 12 && Set(paths.dropLast(2)) == [tool.directory.path("a.db")])
        #expect(Set(paths.suffix(2)) == [tool.directory.path("b.db")])
    }

    @Test(
        "the hash of a line is the SHA-256 of its text", .enabled(if: ChildProcess.find("sha256sum") != nil))
    func independentHash() throws {
        try create(["a.db"])
        let line = try #require(try tool.text(of: "log").split(separator: "\n").first)
        let body = try #require(line.range(of: ",\"hash\"")).lowerBound
        let sum = try ChildProcess.run("sha256sum", input: Data(line[..<body].utf8)).outputText.prefix(64)
        #expect(line.hasSuffix("\"hash\":\"\(sum)\"}"))
    }

    @Test("a failure is recorded with its code")
    func failures() throws {
        try create(["a.db"])
        try tool.writeKey("b.key", 0x43)
        #expect(
            try tool.run("verify", "a.db", "--key-file", "b.key", "--key-type", "raw", "--audit", "log")
                .status == 77)
        #expect(try tool.text(of: "log").contains(#""event":"end","code":77,"reason":"wrong_key""#))
        #expect(try tool.run("audit", "verify", "log").status == 0)
    }

    @Test("every changed, removed, added or exchanged line breaks the chain")
    func tampering() throws {
        try create(["a.db", "b.db", "c.db"])
        let lines = try tool.text(of: "log").split(separator: "\n").map(String.init)
        var variants: [[String]] = []
        for index in lines.indices {
            var changed = lines
            changed[index] = changed[index].replacing("\"pid\":", with: "\"pid\":1")
            variants.append(changed)
            if index < lines.count - 1 {
                var removed = lines
                removed.remove(at: index)
                variants.append(removed)
                var exchanged = lines
                exchanged.swapAt(index, index + 1)
                variants.append(exchanged)
            }
            var doubled = lines
            doubled.insert(lines[index], at: index)
            variants.append(doubled)
        }
        variants.append(["nonsense"] + lines)
        for variant in variants {
            var chain = AuditChain(seal: .plain)
            for line in variant { try chain.add(Array(line.utf8)) }
            guard case .broken = chain.problem else {
                Issue.record("not noticed: \(variant)")
                continue
            }
        }
        try tool.write(variants[0].joined(separator: "\n") + "\n", to: "log")
        #expect(try tool.run("audit", "verify", "log").status == 65)
    }

    @Test("the hash of the last record reveals that records were removed from the end")
    func truncation() throws {
        try create(["a.db", "b.db"])
        let hash = try #require(
            try tool.run("audit", "verify", "log", "--json").objects.last {
                $0["type"] as? String == "result"
            }?["last_hash"] as? String)
        #expect(try tool.run("audit", "verify", "log", "--last", hash).status == 0)
        let lines = try tool.text(of: "log").split(separator: "\n")
        try tool.write(lines.dropLast().joined(separator: "\n") + "\n", to: "log")
        #expect(try tool.run("audit", "verify", "log").status == 0)
        #expect(try tool.run("audit", "verify", "log", "--last", hash).status == 1)
    }

    @Test("a named pipe is refused as a log, without a wait for its writer")
    func pipe() throws {
        #expect(unsafe mkfifo(tool.directory.path("log"), 0o600) == 0)
        #expect(try tool.run("audit", "verify", "log").status == 65)
        #expect(try tool.run("audit", "find-key", "log", "--id", "93b1c5d2e7f80a46").status == 65)
    }

    @Test("waiting for the lock of a log times out")
    func heldLock() throws {
        try create(["a.db"])
        let path = tool.directory.path("log")
        let holder = try Descriptor(opening: path, O_RDONLY)
        let file = try Descriptor(opening: path, O_RDONLY)
        try holder.lock(LOCK_SH)
        let error = #expect(throws: Errno.self) {
            try AuditLog.lock(file, LOCK_EX, within: .milliseconds(20))
        }
        #expect(error?.code == EWOULDBLOCK)
        try AuditLog.lock(file, LOCK_SH, within: .zero)
    }

    @Test("a line that was torn by a crash is kept, and the next record vouches for it")
    func tornLine() throws {
        try create(["a.db"])
        let text = try tool.text(of: "log")
        try tool.write(text + text.prefix(100), to: "log")
        #expect(try tool.run("audit", "verify", "log").status == 0)
        try create(["b.db"])
        let result = try tool.run("audit", "verify", "log", "--json")
        #expect(result.status == 0, "\(result)")
        #expect(try result.objects.first { $0["type"] as? String == "result" }?["torn_lines"] as? Int == 1)
    }

    @Test("a log that cannot be written stops the work only where it is required")
    func required() throws {
        let refused = try tool.run(["create", "a.db", "--audit", "no/such/log", "--audit-required"] + key)
        #expect(refused.status == 73)
        #expect(!tool.exists("a.db"))
        let warned = try tool.run(["create", "a.db", "--audit", "no/such/log"] + key)
        #expect(warned.status == 0)
        #expect(warned.errors.contains("warning"))
        #expect(try tool.run(["create", "b.db", "--audit-required"] + key).status == 64)
    }

    @Test("processes that write at the same time keep one chain")
    func concurrency() throws {
        let runs = try (0..<8).map { try tool.start(["create", "\($0).db", "--audit", "log"] + key) }
        for run in runs { #expect(run.wait().status == 0) }
        let result = try tool.run("audit", "verify", "log")
        #expect(result.output.contains("16 records"), "\(result)")
    }
}
