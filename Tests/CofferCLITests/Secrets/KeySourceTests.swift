import CofferTestSupport
import Foundation
import Testing

@Suite("Sources of keys")
struct KeySourceTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private static let raw = ["--key-type", "raw"]
    private static let digits = String(repeating: "42", count: 32)

    private func query(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws
        -> Tool.Result
    {
        try tool.run(
            ["query", "a.db", "SELECT text FROM t", "--format", "csv", "--no-header"] + Self.raw + arguments,
            input: input,
            environment: environment)
    }

    @Test("each source opens the database")
    func allSources() throws {
        #expect(try query(["--key-file", "a.key"]).output == "row 1\n")
        #expect(try query(["--key-stdin"], input: Self.digits).output == "row 1\n")
        #expect(try query(["--key-command", "cat 'a.key'"]).output == "row 1\n")
        #expect(
            try query(
                ["--key-credential", "a.key"], environment: ["CREDENTIALS_DIRECTORY": tool.directory.path]
            ).output == "row 1\n")
        let variable = try query(
            ["--key-env", "COFFER_TEST_KEY"], environment: ["COFFER_TEST_KEY": Self.digits])
        #expect(variable.output == "row 1\n")
        #expect(variable.errors.contains("warning"))
        let descriptor = try tool.run(
            [
                "-c",
                "exec '\(Tool.program)' query a.db 'SELECT text FROM t' --format csv --no-header --key-type raw --key-fd 7 7<a.key",
            ],
            program: "/bin/sh")
        #expect(descriptor.output == "row 1\n")
        let pipe = try tool.run(
            [
                "-c",
                "'\(Tool.program)' query a.db 'SELECT text FROM t' --format csv --no-header --key-type raw --key-file <(cat a.key)",
            ],
            program: "/bin/bash")
        #expect(pipe.output == "row 1\n")
    }

    @Test("a raw key is 32 bytes or 64 digits, alone or as an SQL literal, and nothing else")
    func rawForms() throws {
        try tool.directory.write([UInt8](repeating: 0x42, count: 32), to: "bytes.key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o400], ofItemAtPath: tool.directory.path("bytes.key"))
        #expect(try query(["--key-file", "bytes.key"]).output == "row 1\n")
        #expect(try query(["--key-stdin"], input: Self.digits + "\n").output == "row 1\n")
        for form in [
            "x'\(Self.digits)'", "X'\(Self.digits)'\n", "\"x'\(Self.digits)'\"", "\u{feff}\(Self.digits)\r\n",
        ] {
            #expect(try query(["--key-stdin"], input: form).output == "row 1\n", "\(form)")
            try tool.write(form, to: "form.key")
            #expect(try query(["--key-file", "form.key"]).output == "row 1\n", "\(form)")
        }
        for wrong in [
            String(repeating: "B", count: 32) + "\n", Self.digits + "\n\n", Self.digits.dropLast() + "",
            "x'\(Self.digits)", "'\(Self.digits)'", "x'\(Self.digits)' ", "",
        ] {
            let result = try query(["--key-stdin"], input: wrong)
            #expect(result.status == 77, "\(wrong)")
            #expect(result.errors.contains("64 hexadecimal digits"))
        }
    }

    @Test("a key that has the form of another type, or is not in UTF-8, is refused with what to do")
    func hints() throws {
        let salt = String(repeating: "17", count: 16)
        for (input, type, hint) in [
            ("x'\(Self.digits)\(salt)'", "raw", "use the type raw+salt"),
            (Self.digits, "raw+salt", "use the type raw."), ("correct horse", "raw", "Is it a passphrase?"),
        ] {
            let result = try tool.run("info", "a.db", "--key-stdin", "--key-type", type, input: input)
            #expect(result.status == 77 && result.errors.contains(hint), "\(result)")
        }
        let wide: [UInt8] = [0xff, 0xfe] + Self.digits.utf8.flatMap { [$0, 0] }
        try tool.directory.write(wide, to: "wide.key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: tool.directory.path("wide.key"))
        let result = try query(["--key-file", "wide.key"])
        #expect(result.status == 77 && result.errors.contains("UTF-16"), "\(result)")
        let passphrase = try tool.run("create", "b.db", "--key-stdin", input: "\u{feff}a long passphrase")
        #expect(passphrase.status == 0 && passphrase.errors.contains("byte order mark"), "\(passphrase)")
    }

    @Test("a raw key with its salt opens the file that was made with it")
    func rawKeyWithSalt() throws {
        try tool.write(Self.digits + String(repeating: "07", count: 16), to: "salted.key")
        #expect(
            try tool.run("create", "b.db", "--key-file", "salted.key", "--key-type", "raw+salt").status == 0)
        #expect(try tool.directory.bytes(of: "b.db").prefix(16) == [UInt8](repeating: 7, count: 16)[...])
        #expect(
            try tool.run("info", "b.db", "--key-file", "salted.key", "--key-type", "raw+salt").status == 0)
        #expect(
            try tool.run("info", "b.db", "--key-stdin", "--key-type", "raw+salt", input: Self.digits).status
                == 77)
    }

    @Test("one newline at the end of a passphrase is not part of it; a second one is")
    func newlines() throws {
        #expect(try tool.run("create", "b.db", "--key-stdin", input: "open sesame").status == 0)
        #expect(try tool.run("info", "b.db", "--key-stdin", input: "open sesame\n").status == 0)
        #expect(try tool.run("info", "b.db", "--key-stdin", input: "open sesame\r\n").status == 0)
        #expect(try tool.run("info", "b.db", "--key-stdin", input: "open sesame\n\n").status == 77)
        #expect(try tool.run("info", "b.db", "--key-stdin", input: "\n").status == 77)
    }

    @Test("two sources for one key are refused, and so is one input for two keys")
    func twoSources() throws {
        let two = try query(["--key-file", "a.key", "--key-stdin"])
        #expect(two.status == 64)
        #expect(two.errors.contains("--key-file and --key-stdin"))
        #expect(try tool.run("rotate", "a.db", "--key-stdin", "--new-key-stdin").status == 64)
        #expect(try tool.run("query", "a.db", "-", "--key-stdin").status == 64)
    }

    @Test("two sources for the secret of a keyring are a usage error")
    func twoUnlockSources() throws {
        let two = try query(["--unlock-file", "a.key", "--unlock-stdin"])
        #expect(two.status == 64)
        #expect(two.errors.contains("--unlock-file and --unlock-stdin"), "\(two)")
    }

    @Test(
        "without a source and without a terminal the tool says what to do",
        .enabled(if: ChildProcess.find("setsid") != nil))
    func noTerminal() throws {
        let result = try tool.run(
            ["-w", Tool.program, "info", "a.db", "--ask-key"],
            program: try #require(ChildProcess.find("setsid")))
        #expect(result.status == 64)
        #expect(result.errors.contains("--key file:PATH") && !result.errors.contains("--key-file"))
        for options in [
            ["--key", "ask"], ["--unlock"], ["--key", "raw:file:a.key", "--previous-key", "ask"],
            ["--key", "raw:file:a.key", "--audit", "log", "--audit-key", "ask"],
        ] {
            let result = try tool.run(
                ["-w", Tool.program, "verify", "a.db"] + options,
                program: try #require(ChildProcess.find("setsid")))
            let option = try #require(options.last { $0.hasPrefix("--") })
            #expect(result.status == 64, "\(result)")
            #expect(
                result.errors.contains("\(option) prompts at a terminal, and this run has none"), "\(result)")
            #expect(result.errors.contains("such as \(option) file:PATH"), "\(result)")
        }
    }

    @Test("a key file that others can read is refused without --insecure-key-file-mode")
    func unsafeFiles() throws {
        for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: tool.directory.path("a.key"))
            let refused = try query(["--key-file", "a.key"])
            #expect(refused.status == 78)
            #expect(refused.errors.contains("chmod 600"))
            #expect(try query(["--key-file", "a.key", "--insecure-key-file-mode"]).status == 0)
        }
    }

    @Test("an anonymous pipe and a named pipe can be key files")
    func pipes() throws {
        let verify = "\"$0\" verify a.db --key raw:file:"
        for script in ["cat a.key | \(verify)/dev/stdin", "mkfifo -m 600 p; cat a.key >p & \(verify)p"] {
            let result = try tool.run(["-c", script, Tool.program], program: "/bin/sh")
            #expect(result.status == 0, "\(script): \(result)")
        }
    }

    @Test(
        "a named pipe of another user is refused, because its owner could make the tool wait forever",
        .enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func pipeOfAnotherUser() throws {
        let path = tool.directory.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0 && chown(path, 65534, 65534) == 0)
        let result = try tool.run("verify", "a.db", "--key", "raw:file:pipe")
        #expect(result.status == 78 && result.errors.contains("belongs to another user"), "\(result)")
    }

    @Test("the error names a missing key source")
    func missing() throws {
        for arguments in [
            ["--key-file", "none.key"], ["--key-env", "COFFER_NOT_SET"], ["--key-credential", "a.key"],
            ["--key-fd", "77"],
        ] {
            let result = try query(arguments)
            #expect(result.status == 66, "\(arguments)")
            #expect(result.errors.contains(arguments[1]))
        }
        #expect(
            try query(
                ["--key-credential", "../a.key"], environment: ["CREDENTIALS_DIRECTORY": tool.directory.path]
            ).status == 64)
        #expect(try query(["--key-file", "/dev/zero"]).status == 66)
    }

    @Test("a key command that fails or is missing ends the work")
    func failingCommands() throws {
        for command in ["false", "/no/such/program", "sh -c 'cat a.key; exit 3'", "sh -c 'kill -9 $$'"] {
            let result = try query(["--key-command", command])
            #expect(result.status == 69, "\(command)")
        }
        #expect(try query(["--key-command", "echo 'open quote"]).status == 64)
        #expect(try query(["--key-command", " "]).status == 64)
    }

    @Test("a key command is not run by a shell")
    func noShell() throws {
        let result = try query(["--key-command", "echo $(touch made.by.shell) ; touch made.too > x"])
        #expect(result.status == 77)
        #expect(!tool.exists("made.by.shell"))
        #expect(!tool.exists("made.too"))
    }

    @Test("a passphrase of the form of a raw key is refused")
    func passphraseLikeRawKey() throws {
        let result = try tool.run("create", "b.db", "--key-stdin", input: "x'\(Self.digits)'")
        #expect(result.status == 77)
        #expect(result.errors.contains("--key-type raw"))
        #expect(!tool.exists("b.db"))
    }
}
