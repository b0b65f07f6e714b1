import CofferTestSupport
import Foundation
import Testing

@Suite("Secrets stay where they belong")
struct HygieneTests {
    private let tool: Tool
    private static let old = "old-secret-Zq8vT3"
    private static let new = "new-secret-Kw5xR7"
    /// The digits of the raw key of the other files.
    private static let digits = String(repeating: "5a", count: 32)

    private static let secrets = [old, new, digits, hex(old), hex(new)]

    private static func hex(_ text: String) -> String { text.utf8.map { String(format: "%02x", $0) }.joined() }

    init() throws {
        tool = try Tool()
        try tool.write(Self.old + "\n", to: "old.key")
        try tool.write(Self.new + "\n", to: "new.key")
        try tool.write(Self.digits + "\n", to: "raw.key")
        try tool.write("raw.db\n", to: "list")
        #expect(try tool.run("create", "a.db", "--key-file", "old.key", "--audit", "log").status == 0)
        #expect(try tool.run("create", "raw.db", "--key-file", "raw.key", "--key-type", "raw").status == 0)
    }

    /// Each command, in an order in which all of them succeed, and some that fail on the way.
    private static let commands: [[String]] = [
        ["create", "b.db", "--key-file", "old.key", "--audit", "log"],
        ["info", "a.db", "--key-command", "cat old.key", "--json"],
        ["query", "a.db", "CREATE TABLE t (a)", "--write", "--key-file", "old.key", "--verbose"],
        ["verify", "a.db", "--key-fd", "0", "--json"],
        ["verify", "a.db", "--key-file", "new.key", "--verbose"],
        ["rotate", "a.db", "--key-file", "old.key", "--new-key-file", "new.key", "--dry-run", "--verbose"],
        ["rotate", "a.db", "--key-file", "old.key", "--new-key-file", "new.key", "--audit", "log", "--json", "--progress", "always"],
        ["rotate", "a.db", "--key-file", "old.key", "--new-key-file", "new.key", "--verbose"],
        ["info", "raw.db", "--key-file", "old.key", "--key-type", "raw"],
        [
            "batch", "rotate", "--manifest", "list", "--key-file", "raw.key", "--key-type", "raw", "--new-key-file", "new.key", "--audit",
            "log",
        ],
        ["audit", "verify", "log"],
    ]

    private func expectNoSecret(in text: String, _ place: String) {
        for secret in Self.secrets { #expect(!text.contains(secret), "\(place)") }
    }

    @Test("no output, log, state or note has a secret in it")
    func outputs() throws {
        for command in Self.commands {
            let result = try tool.run(command, input: Self.old)
            expectNoSecret(in: result.output + result.errors, "\(command)")
            for name in tool.directory.fileNames() where !name.hasSuffix(".key") {
                let text = String(decoding: try tool.directory.bytes(of: name), as: UTF8.self)
                expectNoSecret(in: text, "\(name) after \(command)")
            }
        }
    }

    @Test("system calls that name or write things carry no secret")
    func systemCalls() throws {
        guard let strace = ChildProcess.find("strace"),
            try tool.run(["-f", "-o", "probe", "/bin/true"], program: strace).status == 0
        else {
            print("strace cannot run here: system calls were not looked at")
            return
        }
        for command in Self.commands {
            let calls = "trace=execve,openat,open,write,pwrite64,writev,pwritev,sendto,sendmsg,rename,link,unlink,mkdir"
            let result = try tool.run(
                ["-f", "-s", "4096", "-e", calls, "-o", "trace", Tool.program] + command, program: strace, input: Self.old)
            let trace = String(decoding: try tool.directory.bytes(of: "trace"), as: UTF8.self)
            #expect(trace.contains("execve("), "\(result)")
            #expect(trace.contains("write("), "\(command)")
            expectNoSecret(in: withoutKeyCommands(trace), "\(command)")
        }
    }

    /// The lines of a trace without those of programs whose purpose is to print a key.
    private func withoutKeyCommands(_ trace: String) -> String {
        let lines = trace.split(separator: "\n")
        let others = Set(
            lines.filter { $0.contains("execve(") && !$0.contains(Tool.program) }.compactMap { $0.split(separator: " ").first })
        return lines.filter { line in !others.contains(line.split(separator: " ").first ?? "") }.joined(separator: "\n")
    }

    @Test("a running process shows no secret, and leaves no core dump")
    func running() throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let script = "ulimit -c unlimited; exec '\(Tool.program)' query a.db '\(endless)' --key-file old.key --verbose"
        let query = try tool.start(["-c", script], program: "/bin/sh")
        while !query.text(of: "errors").contains("running") { usleep(2000) }
        let process = "/proc/\(query.processID)"
        for name in ["cmdline", "environ"] {
            expectNoSecret(in: String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(process)/\(name)")), as: UTF8.self), name)
        }
        let limits = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(process)/limits")), as: UTF8.self)
        #expect(limits.contains(/Max core file size +0 +0/))
        query.send(SIGSEGV)
        #expect(query.wait().status == -SIGSEGV)
        #expect(!tool.directory.fileNames().contains { $0.hasPrefix("core") })
    }
}
