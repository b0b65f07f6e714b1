import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Programs that print keys")
struct KeyCommandTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
        try tool.writeKey("b.key", 0x43)
    }

    private func script(_ name: String, _ text: String) throws {
        try tool.write("#!/bin/sh\n\(text)\n", to: name, mode: 0o700)
    }

    @Test("a key program sees no other key in its variables and descriptors")
    func isolation() throws {
        // The program writes its environment to files next to the database.
        try script(
            "give",
            "env > seen.env; ls -l /proc/self/fd > seen.fd; cat /proc/$PPID/environ > seen.parent; cat b.key")
        let digits = String(repeating: "42", count: 32)
        let command = """
            exec '\(Tool.program)' rotate a.db --key-env OLDKEY --key-type raw --new-key-command ./give \
            --new-key-type raw 3<a.key 7<a.key 200<a.key
            """
        let result = try tool.run(
            ["-c", "OLDKEY=\(digits) && export OLDKEY && \(command)"], program: "/bin/bash")
        #expect(result.status == 0, "\(result)")
        for name in ["seen.env", "seen.parent"] {
            #expect(try !tool.text(of: name).contains(digits), "\(name)")
        }
        let numbers = try tool.text(of: "seen.fd").split(separator: "\n").filter { $0.contains(" -> ") }
        #expect(!numbers.contains { $0.contains("a.key") }, "\(numbers)")
        try script("list", "ls -l /proc/self/fd >&2; cat a.key")
        let back =
            "exec '\(Tool.program)' rotate a.db --key-fd 9 --key-type raw --new-key-command ./list --new-key-type raw 9<b.key"
        let descriptor = try tool.run(["-c", back], program: "/bin/bash")
        #expect(descriptor.status == 0 && !descriptor.errors.contains("b.key"), "\(descriptor)")
    }

    @Test("the variables of a manifest are read and removed before the first program is started")
    func manifestVariables() throws {
        try script("give", "env >> seen.env; cat a.key")
        try tool.directory.write(tool.directory.bytes(of: "a.db"), to: "b.db")
        try tool.write(
            """
            {"path": "a.db", "key-command": "./give", "key-type": "raw"}
            {"path": "b.db", "key-env": "SECRETKEY", "key-type": "raw"}
            """, to: "list")
        let digits = String(repeating: "42", count: 32)
        let result = try tool.run(
            ["batch", "verify", "--manifest", "list"], environment: ["SECRETKEY": digits])
        #expect(result.status == 0, "\(result)")
        #expect(try !tool.text(of: "seen.env").contains(digits))
        // One variable for two keys: the digits as a raw key, and as a passphrase.
        let both = try tool.run(
            ["rotate", "a.db", "--key-env", "K", "--key-type", "raw", "--new-key-env", "K"],
            environment: ["K": digits])
        #expect(both.status == 0, "\(both)")
    }

    @Test("a program that hangs is ended at its timeout, even if it ignores SIGTERM")
    func timeout() throws {
        try script("hang", "exec sleep 1000")
        try script("stubborn", "trap '' TERM; while true; do sleep 1; done")
        try script("silent", "cat a.key; exec >&-; exec sleep 1000")
        for name in ["./hang", "./stubborn", "./silent"] {
            let result = try tool.run(
                [
                    "info", "a.db", "--key-command", name, "--key-type", "raw", "--key-timeout", "0.3",
                    "--json",
                ])
            #expect(result.status == 69, "\(result)")
            #expect(result.errors.contains("--key-timeout"))
            #expect(try Schema.problems(result) == [])
        }
        for wrong in ["0", "-1", "nan", "inf", "100000", "x"] {
            #expect(try tool.run("info", "a.db", "--key-timeout", wrong).status == 64, "\(wrong)")
        }
    }

    @Test("a program that is left behind and keeps the pipe open is not waited for")
    func leftBehind() throws {
        // The background process ends with the test, or long after the test has failed.
        try script("give", "cat a.key; { while [ -e give ] && [ ! -e over ]; do sleep 0.2; done; } & exit 0")
        let result = try tool.run(
            "info", "a.db", "--key-command", "./give", "--key-type", "raw", "--key-timeout", "600")
        try tool.write("", to: "over")
        #expect(result.status == 0 && result.output.contains("tables"), "\(result)")
    }

    @Test(
        "a weak passphrase for a new file causes a warning",
        arguments: ["a", "password", "aaaaaaaaaaaaaaaaaaaa", "12121212121212", "shortone\n"])
    func weakPassphrases(text: String) throws {
        try tool.write(text, to: "weak.key")
        let made = try tool.run("create", "weak.db", "--key-file", "weak.key")
        #expect(
            made.status == 0 && made.errors.contains("warning: The passphrase from the key file 'weak.key'"),
            "\(made)")
        // When opening an existing file, the user has no choice of key, so there is no warning.
        #expect(try tool.run("verify", "weak.db", "--key-file", "weak.key").errors.isEmpty)
        #expect(try tool.run("keygen", "--words", "5", "--out", "words.key").status == 0)
        #expect(try tool.run("create", "good.db", "--key-file", "words.key").errors.isEmpty)
    }
}
