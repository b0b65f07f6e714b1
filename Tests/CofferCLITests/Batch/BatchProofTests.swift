import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("The trial of all keys before a batch")
struct BatchProofTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.writeKey("new.key", 0x43)
        for (index, name) in ["a", "b", "c"].enumerated() {
            try tool.makeDatabase("\(name).db", key: "\(name).key", UInt8(index + 1))
            try tool.directory.write(tool.directory.bytes(of: "\(name).db"), to: "\(name).before")
        }
    }

    private func writeManifest(_ lastKey: (name: String, value: String)) throws {
        func line(_ name: String, _ key: (name: String, value: String)) -> String {
            JSONObject([
                "path": "\(name).db", key.name: key.value, "key-type": "raw", "new-key-file": "new.key",
                "new-key-type": "raw",
            ]).text
        }
        let lines = [line("a", ("key-file", "a.key")), line("b", ("key-file", "b.key")), line("c", lastKey)]
        try tool.write(lines.joined(separator: "\n") + "\n", to: "fleet")
    }

    private func isRotated(_ name: String) -> Bool {
        (try? tool.shell("\(name).db", 0x43).run("SELECT text FROM t;")) == ["row 1"]
    }

    @Test("no file is changed before the last key is read", arguments: [1, 2])
    func lastKey(jobs: Int) throws {
        // The command supplies this key only while the other files are unchanged.
        try tool.write(
            "#!/bin/sh\ncmp -s a.db a.before && cmp -s b.db b.before && cat c.key\n", to: "key", mode: 0o700)
        try writeManifest(("key-command", "./key"))
        let result = try tool.run("batch", "rotate", "--manifest", "fleet", "--jobs", "\(jobs)")
        #expect(result.status == 0, "\(result)")
        for name in ["a", "b", "c"] { #expect(isRotated(name)) }
    }

    @Test(
        "a wrong key is reported before any file is changed, and the other files are still rotated"
    )
    func wrongKey() throws {
        try writeManifest(("key-file", "a.key"))
        let result = try tool.run("batch", "rotate", "--manifest", "fleet", "--json", "--audit", "log")
        #expect(result.status == 3)
        #expect(try Schema.problems(result) == [])
        // There is progress only if the files take long.
        let objects = try result.objects.filter { $0["type"] as? String != "progress" }
        #expect(objects.map { $0["type"] as? String } == ["start", "error", "result", "result", "summary"])
        #expect(objects[1]["code"] as? Int == 77)
        #expect(objects[1]["path"] as? String == "c.db")
        #expect(isRotated("a") && isRotated("b"))
        #expect(try tool.directory.bytes(of: "c.db") == tool.directory.bytes(of: "c.before"))
        #expect(try tool.text(of: "log").contains(#""event":"end","code":77,"reason":"wrong_key""#))
        #expect(try tool.run("audit", "verify", "log").output.contains("6 records"))

        // After the repair, the batch continues.
        try tool.writeKey("a.key", 3)
        let second = try tool.run("batch", "rotate", "--manifest", "fleet", "--json", "--continue")
        #expect(second.status == 0, "\(second)")
        #expect(try second.objects.count { $0["skipped"] as? Bool == true } == 2)
        #expect(isRotated("c"))
    }

    @Test("a signal while keys are tried leaves every file unchanged", arguments: [SIGINT, SIGTERM])
    func interruption(number: Int32) throws {
        try tool.write(
            "#!/bin/sh\ntouch asked\nwhile [ ! -e go ]; do sleep 0.01; done\ncat c.key\n", to: "key",
            mode: 0o700)
        try writeManifest(("key-command", "./key"))
        let run = try tool.start(["batch", "rotate", "--manifest", "fleet", "--json"])
        while run.isRunning, !tool.exists("asked") { usleep(1000) }
        run.send(number)
        // The tool must not end the program that supplies the key.
        while run.isRunning, try !hasTaken(number, run.processID) { usleep(1000) }
        try tool.write("", to: "go")
        let result = run.wait()
        #expect(result.status == 128 + number, "\(result)")
        for name in ["a", "b", "c"] {
            #expect(try tool.directory.bytes(of: "\(name).db") == tool.directory.bytes(of: "\(name).before"))
        }
        #expect(try tool.run("batch", "rotate", "--manifest", "fleet", "--continue").status == 0)
        for name in ["a", "b", "c"] { #expect(isRotated(name)) }
    }

    /// Returns true if the tool has taken a signal, so that it is no longer pending.
    private func hasTaken(_ number: Int32, _ process: Int32) throws -> Bool {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("ShdPnd:") }),
            let pending = UInt64(line.split(separator: "\t").last ?? "", radix: 16)
        else { return true }
        return pending & (1 << UInt64(number - 1)) == 0
    }

    @Test(
        "a source that several files share is read once, even if it fails and jobs run in parallel"
    )
    func sharedSource() throws {
        for status in [0, 1] {
            try tool.write(
                "#!/bin/sh\necho asked >> asked\ncat a.key\nexit \(status)\n", to: "key", mode: 0o700)
            try tool.write("", to: "asked")
            for name in ["x", "y", "z"] {
                try tool.directory.write(tool.directory.bytes(of: "a.before"), to: "\(name).db")
            }
            let lines = ["x", "y", "z"].map {
                #"{"path": "\#($0).db", "key-command": "./key", "key-type": "raw"}"#
            }
            try tool.write(lines.joined(separator: "\n"), to: "list")
            let result = try tool.run(
                "batch", "rotate", "--manifest", "list", "--jobs", "3", "--new-key-file", "new.key",
                "--new-key-type", "raw", "--state",
                "s\(status)")
            #expect(result.status == (status == 0 ? 0 : 3), "\(result)")
            #expect(try tool.text(of: "asked") == "asked\n")
        }
    }

    @Test("files rotated with other keys are not skipped")
    func otherKeys() throws {
        try tool.makeDatabase("d.db", key: "a.key", 1)
        try tool.write("a.db\nb.db\n", to: "list")
        try tool.writeKey("newer.key", 0x44)
        let keys = ["--key-file", "a.key", "--key-type", "raw", "--new-key-type", "raw"]
        // b.db has another key, so the batch stays incomplete.
        #expect(
            try tool.run(["batch", "rotate", "--manifest", "list", "--new-key-file", "new.key"] + keys).status
                == 3)
        let again = try tool.run(
            ["batch", "rotate", "--manifest", "list", "--new-key-file", "newer.key", "--continue", "--json"]
                + keys)
        // a.db now has new.key, which this run does not know, so it must not count as done.
        #expect(again.status == 3)
        #expect(try again.objects.allSatisfy { $0["skipped"] == nil })
        #expect(try again.objects.last?["failure_codes"] as? [String: Int] == ["77": 2])
    }

    @Test("output is not written to the state file if standard output is closed")
    func closedOutput() throws {
        try writeManifest(("key-file", "c.key"))
        try tool.writeKey("b.key", 0x09)
        // The state is the first file that stays open, so it would get the descriptor of the output. The
        // output is text, and nothing was written to it before.
        let result = try tool.run(
            ["-c", "exec '\(Tool.program)' batch rotate --manifest fleet >&-"], program: "/bin/sh")
        #expect(result.status == 3)
        let lines = try tool.text(of: "fleet.state").split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.hasPrefix(#"{"schema":2,"command":"batch rotate","line":"#) })
    }
}
