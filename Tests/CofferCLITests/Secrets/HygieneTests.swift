import CofferTestSupport
import Foundation
import SQLCipherBridge
import SystemCalls
import Testing

@Suite("Protection of secrets")
struct HygieneTests {
    private let tool: Tool
    private static let old = "old-secret-Zq8vT3"
    private static let new = "new-secret-Kw5xR7"
    /// The hexadecimal digits of the raw key of the other files.
    private static let digits = String(repeating: "5a", count: 32)

    /// The secrets in every form in which they could leak: as text, as digits, as bytes.
    private static let secrets = [old, new, digits, hex(old), hex(new), String(repeating: "Z", count: 32)]

    private static func hex(_ text: String) -> String {
        text.utf8.map { String(format: "%02x", $0) }.joined()
    }

    /// A command on the files that ``init()`` makes.
    struct Command: CustomTestStringConvertible {
        let arguments: [String]
        var status: Int32 = 0
        var testDescription: String { arguments.joined(separator: " ") }

        /// The file with the first key that the command prompts for.
        var keyFile: String? { arguments.first { $0 == "old.key" || $0 == "raw.key" } }
    }

    /// Every command that takes a key, with arguments that succeed and that fail.
    private static let commands: [Command] = {
        let rounds = ["--kdf-iterations", "1000"]
        let old = rounds + ["--key-file", "old.key"]
        let raw = ["--key-file", "raw.key", "--key-type", "raw"]
        let new = ["--new-key-file", "new.key"]
        return [
            Command(arguments: ["create", "b.db", "--audit", "log", "--verbose"] + old),
            Command(arguments: ["create", "b.db", "--json"] + raw),
            Command(arguments: ["info", "a.db", "--key-command", "cat old.key", "--json"] + rounds),
            Command(arguments: ["info", "raw.db", "--key-file", "old.key", "--key-type", "raw"], status: 77),
            Command(
                arguments: ["query", "a.db", "CREATE TABLE u (a)", "--write", "--verbose", "--audit", "log"]
                    + old),
            Command(arguments: ["verify", "a.db", "--key-fd", "0", "--json", "--audit", "log"] + rounds),
            Command(
                arguments: ["verify", "a.db", "--key-file", "new.key", "--verbose"] + rounds, status: 77),
            Command(arguments: ["rotate", "a.db", "--dry-run", "--verbose"] + old + new),
            Command(
                arguments: ["rotate", "a.db", "--audit", "log", "--json", "--progress", "always"] + old + new),
            Command(
                arguments: ["rotate", "raw.db", "--in-place", "--verbose", "--audit", "log"] + raw + new),
            Command(arguments: ["encrypt", "plain.db", "b.db", "--audit", "log", "--json"] + old),
            Command(
                arguments: ["decrypt", "a.db", "b.db", "--yes-plaintext", "--audit", "log", "--json"] + old),
            Command(arguments: ["upgrade", "third.db", "--key-file", "old.key", "--audit", "log", "--json"]),
            Command(arguments: ["backup", "a.db", "b.db", "--audit", "log", "--json"] + old + new),
            Command(arguments: ["vacuum", "a.db", "--audit", "log", "--json"] + old),
            Command(arguments: ["vacuum", "raw.db", "--into", "b.db", "--verbose"] + raw),
            Command(
                arguments: ["dump", "a.db", "--out", "b.sql", "--yes-plaintext", "--audit", "log", "--json"]
                    + old),
            Command(arguments: ["load", "b.db", "--from", "plain.sql", "--audit", "log", "--verbose"] + raw),
            Command(
                arguments: ["import", "raw.db", "t", "--from", "rows.csv", "--audit", "log", "--json"] + raw),
            Command(arguments: ["schema", "raw.db", "--json"] + raw),
            Command(arguments: ["erase", "a.db", "--yes-erase", "a.db", "--audit", "log"]),
            Command(
                arguments: ["batch", "rotate", "--manifest", "fleet", "--audit", "log", "--json"] + raw + new,
                status: 3),
            Command(
                arguments: ["batch", "verify", "--manifest", "fleet", "--state", "state", "--json"] + raw,
                status: 3),
            Command(
                arguments: ["batch", "verify", "--manifest", "fleet", "--verbose", "--key-file", "old.key"],
                status: 3),
        ]
    }()

    init() throws {
        tool = try Tool()
        try tool.write(Self.old + "\n", to: "old.key")
        try tool.write(Self.new + "\n", to: "new.key")
        try tool.makeDatabase("raw.db", key: "raw.key", 0x5a)
        for (name, preparation) in [
            ("a.db", "PRAGMA kdf_iter = 1000;"), ("third.db", "PRAGMA cipher_compatibility = 3;"),
        ] {
            let shell = SQLCipherShell(
                path: tool.directory.path(name), passphrase: Self.old, preparation: preparation)
            _ = try shell.run("CREATE TABLE t (text); INSERT INTO t VALUES ('row');")
        }
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("plain.db")).run("CREATE TABLE t (text);")
        try tool.write("CREATE TABLE t (text); INSERT INTO t VALUES ('row');", to: "plain.sql")
        try tool.write("text\nrow\n", to: "rows.csv")
        // The second file's key differs from the one in its line, so the state remains.
        try tool.write(
            "raw.db\n{\"path\": \"a.db\", \"key-command\": \"cat new.key\", \"kdf-iterations\": 1000}\n",
            to: "fleet")
    }

    private func expectNoSecret(in text: String, _ place: String, besides: [String] = []) {
        for secret in Self.secrets + besides { #expect(!text.contains(secret), "\(place)") }
    }

    private func expectNoSecretInFiles(_ place: String) throws {
        for name in tool.directory.fileNames() where !name.hasSuffix(".key") {
            expectNoSecret(
                in: String(decoding: try tool.directory.bytes(of: name), as: UTF8.self), "\(name) of \(place)"
            )
        }
    }

    private static let canTrace =
        // The tool protects its memory from other processes, so strace shows what it writes only with the
        // capability CAP_SYS_PTRACE.
        (try? ChildProcess.run("strace", ["-f", "-o", "|cat", Tool.program, "--version"]).outputText)?
        .contains("write(1, \"") == true

    @Test(
        "no output, log, state, note, argument or traced system call contains a secret",
        .enabled(if: canTrace, "strace cannot read the memory of the tool here: nothing was checked"),
        arguments: commands)
    func systemCalls(command: Command) throws {
        let calls =
            "trace=execve,execveat,openat,openat2,open,creat,write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,sendmmsg,rename,renameat,"
            + "renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,setxattr,fsetxattr,prctl"
        let result = try tool.run(
            ["-f", "-s", "4096", "-e", calls, "-e", "abbrev=!execve", "-o", "trace.key", Tool.program]
                + command.arguments,
            program: try #require(ChildProcess.find("strace")), input: Self.old)
        #expect(result.status == command.status, "\(result)")
        expectNoSecret(in: result.output + result.errors, "\(command.arguments)")
        try expectNoSecretInFiles("\(command.arguments)")
        // The trace is named like a key file, so only these lines read it.
        let trace = String(decoding: try tool.directory.bytes(of: "trace.key"), as: UTF8.self)
        #expect(trace.contains("execve(") && trace.contains("write(") && trace.contains("PATH="), "\(result)")
        expectNoSecret(in: withoutKeyCommands(trace), "\(command.arguments)")
    }

    /// Returns the lines of a trace without the output of programs whose purpose is to print a key, but with
    /// their invocations.
    private func withoutKeyCommands(_ trace: String) -> String {
        let lines = trace.split(separator: "\n")
        let others = Set(
            lines.filter { $0.contains("execve(") && !$0.contains("execve(\"\(Tool.program)\"") }.compactMap {
                $0.split(separator: " ").first
            })
        return lines.filter { line in
            line.contains("execve(") || !others.contains(line.split(separator: " ").first ?? "")
        }
        .joined(separator: "\n")
    }

    @Test(
        "a new key is written only once, to the requested file",
        .enabled(if: canTrace, "strace cannot read the memory of the tool here: nothing was checked"),
        arguments: [["--out", "made.key"], ["--words", "6", "--out", "made.key"]])
    func keygen(options: [String]) throws {
        let result = try tool.run(
            ["-f", "-s", "4096", "-o", "trace.key", Tool.program, "keygen", "--json"] + options,
            program: try #require(ChildProcess.find("strace")))
        #expect(result.status == 0, "\(result)")
        let key = String(try tool.text(of: "made.key").dropLast())
        #expect(key.count > 30)
        expectNoSecret(in: result.output + result.errors, "keygen", besides: [key, Self.hex(key)])
        let lines = try tool.text(of: "trace.key").split(separator: "\n").filter { $0.contains(key) }
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { $0.contains("write(") && $0.contains("\"\(key)\\n\"") })
    }

    @Test("a process that works shows no secret in its command line and its environment", arguments: commands)
    func processTable(command: Command) throws {
        let run = try tool.start(command.arguments, input: Self.old)
        var count = 0
        while run.isRunning {
            guard let line = KernelText.read("/proc/\(run.processID)/cmdline"), !line.isEmpty else {
                continue
            }
            expectNoSecret(in: line, "cmdline of \(command.arguments)")
            // Only root can read it.
            if let environment = KernelText.read("/proc/\(run.processID)/environ") {
                expectNoSecret(in: environment, "environ of \(command.arguments)")
            }
            count += 1
        }
        let result = run.wait()
        #expect(result.status == command.status, "\(result)")
        #expect(count > 0)
    }

    @Test(
        "a crash with the key in memory leaves no core dump, whatever the limit is",
        arguments: commands.filter { $0.keyFile != nil })
    func crash(command: Command) throws {
        let name = try #require(command.keyFile)
        let secret = try tool.text(of: name)
        let pipe = tool.directory.path("pipe.key")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let arguments = command.arguments.map { $0 == name ? "pipe.key" : $0 }
        let run = try tool.start(
            ["-c", "ulimit -c unlimited; exec \"$@\"", "sh", Tool.program] + arguments, program: "/bin/sh")
        let deadline = ContinuousClock.now + .seconds(Patience.seconds)
        var end: Int32 = -1
        while end < 0, ContinuousClock.now < deadline {
            // Opening fails until the tool opens the pipe for reading.
            end = unsafe open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if end < 0 { usleep(500) }
        }
        try #require(end >= 0, "\(command.arguments) did not read its key")
        #expect(unsafe write(end, secret, secret.utf8.count) == secret.utf8.count)
        // The tool has the key once the pipe is empty, and waits for the end of the file.
        var unread: Int32 = 1
        while unread > 0, ContinuousClock.now < deadline {
            #expect(unsafe ioctl(end, UInt(FIONREAD), &unread) == 0)
            usleep(500)
        }
        let limits = KernelText.read("/proc/\(run.processID)/limits")
        run.send(SIGSEGV)
        #expect(run.wait().status == -SIGSEGV)
        close(end)
        #expect(limits?.contains(/Max core file size +0 +0/) == true)
        #expect(!tool.directory.fileNames().contains { $0.hasPrefix("core") })
        try FileManager.default.removeItem(atPath: pipe)
        try expectNoSecretInFiles("\(command.arguments)")
    }

    @Test(
        "pipes to programs are created with O_CLOEXEC, so that no other child process inherits them",
        .enabled(if: canTrace, "strace cannot read the memory of the tool here: nothing was checked"))
    func pipes() throws {
        try tool.write("#!/bin/sh\nexec cat raw.key\n", to: "prints", mode: 0o700)
        let traced = try tool.start(
            [
                "-f", "-e", "trace=pipe,pipe2", "-o", "trace", Tool.program, "info", "raw.db",
                "--key-command", "./prints", "--key-type",
                "raw",
            ],
            program: try #require(ChildProcess.find("strace")))
        #expect(traced.wait().status == 0)
        // The pipes of the tool come before the program that it starts.
        let pipes = try tool.text(of: "trace").split(separator: "\n").filter { $0.contains("pipe") }
        #expect(!pipes.isEmpty)
        #expect(pipes.allSatisfy { $0.contains("pipe2(") && $0.contains("O_CLOEXEC") }, "\(pipes)")
    }

    @Test(
        "no program of the same user can read the memory of the tool",
        .enabled(if: geteuid() != 0 || ChildProcess.find("setpriv") != nil, "needs a user that is not root"))
    func memory() throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        var arguments = [
            Tool.program, "query", "raw.db", endless, "--verbose", "--key-type", "raw", "--key-stdin",
        ]
        if geteuid() == 0 {
            arguments =
                [
                    try #require(ChildProcess.find("setpriv")), "--reuid=65534", "--regid=65534",
                    "--clear-groups",
                ] + arguments
            for (name, mode) in [(".", 0o755), ("raw.db", 0o644)] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: tool.directory.path(name))
            }
        }
        let query = try tool.start(Array(arguments.dropFirst()), program: arguments[0], input: Self.digits)
        defer { query.send(SIGKILL); _ = query.wait() }
        while query.isRunning, !query.text(of: "errors").contains("running") {
            try #require(!query.text(of: "errors").contains("error:"), "\(query.text(of: "errors"))")
            usleep(2000)
        }
        // The kernel assigns these files to root if the process is not dumpable.
        var status = stat()
        #expect(unsafe stat("/proc/\(query.processID)/mem", &status) == 0 && status.st_uid == 0)
    }
}
