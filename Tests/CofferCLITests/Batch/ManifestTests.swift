import CofferTestSupport
import Foundation
import Glibc
import Testing

@testable import CofferCLI

@Suite("Names in manifests")
struct ManifestTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func verify(_ manifest: String, _ options: [String] = []) throws -> Tool.Result {
        try tool.run(["batch", "verify", "--manifest", "-", "--json"] + options + key, input: manifest)
    }

    private func paths(_ result: Tool.Result) throws -> [String] {
        try result.objects.filter { $0["type"] as? String == "result" }.compactMap { $0["path"] as? String }
    }

    @Test(
        "a NUL is refused with its line number, and --null accepts the output of find -print0",
        .enabled(if: ChildProcess.find("find") != nil))
    func zeros() throws {
        try tool.directory.write(tool.directory.bytes(of: "a.db"), to: "b.db")
        try tool.write("garbage", to: "c.db")
        let list =
            "find . -name '*.db' -print0 | sort -z | exec '\(Tool.program)' batch verify --manifest - --json"
        let options = " --key-file a.key --key-type raw"
        let refused = try tool.run(["-c", list + options], program: "/bin/sh")
        #expect(
            refused.status == 78 && refused.errors.contains("Line 1 ") && refused.errors.contains("--null"),
            "\(refused)")
        let taken = try tool.run(["-c", list + " -0" + options], program: "/bin/sh")
        #expect(taken.status == 3, "\(taken)")
        #expect(try paths(taken) == ["./a.db", "./b.db"])
        #expect(
            try taken.objects.contains {
                $0["type"] as? String == "error" && $0["path"] as? String == "./c.db"
            })
    }

    @Test(
        "a NUL in JSON is refused",
        arguments: [
            #"{"path": "a.db\u0000b.db"}"#, #"{"path": "a.db", "key-file": "a.key\u0000x"}"#,
            #"{"path": "\u0000"}"#,
            #"{"path": "a.db", "key-command": "cat a.key\u0000"}"#,
            #"{"path": "a.db", "key-env": "A\u0000B"}"#,
        ])
    func zerosInJSON(line: String) throws {
        let result = try verify("# first\n\(line)\n")
        #expect(result.status == 78 && result.errors.contains("Line 2 "), "\(result)")
    }

    @Test(
        "a manifest from a pipe is like one from the standard input", arguments: ["-", "/dev/stdin", "pipe"])
    func pipes(name: String) throws {
        #expect(unsafe mkfifo(tool.directory.path("pipe"), 0o600) == 0)
        let command =
            "'\(Tool.program)' batch vacuum --manifest \(name) --metrics c.prom --key-file a.key --key-type raw"
        let script =
            name == "pipe"
            ? "printf 'a.db\\n' > pipe & exec \(command)" : "printf 'a.db\\n' | \(command)"
        let vacuum = script.replacing(" --metrics c.prom", with: "")
        let result = try tool.run(["-c", vacuum], program: "/bin/sh")
        #expect(result.status == 0 && result.errors.contains("1 of 1 file done"), "\(result)")
        let verify = script.replacing("batch vacuum", with: "batch verify")
        #expect(try tool.run(["-c", verify], program: "/bin/sh").status == 0)
        #expect(try tool.text(of: "c.prom").contains("target=\"-\""))
        #expect(!tool.directory.fileNames().contains { $0.hasSuffix("state") })
        let options = ["batch", "vacuum", "--manifest", name, "--continue"] + key
        #expect(try tool.run(options).status == 64)
    }

    @Test("any name can be given with --null, and is used unchanged")
    func oddNames() throws {
        let names = [
            "#a.db", " b.db", "c.db ", "d\n.db", "{e.db", "\t", "f\r", "é.db", "e\u{301}.db", "-g.db",
            "{\"path\": \"x\"}", "\u{2028}h.db",
            "\u{1f600}",
        ]
        for name in names { try tool.directory.write(tool.directory.bytes(of: "a.db"), to: name) }
        let result = try verify(names.map { $0 + "\0" }.joined(), ["--null"])
        #expect(result.status == 0, "\(result)")
        #expect(try paths(result).map { Array($0.utf8) } == names.map { Array($0.utf8) })
        // Without the terminating NUL, and as JSON.
        #expect(try paths(verify(names.joined(separator: "\0"), ["--null"])).count == names.count)
        let json = names.map { JSONValue.object([.init("path", .string($0))]).text }.joined(separator: "\n")
        #expect(try paths(verify(json)).map { Array($0.utf8) } == names.map { Array($0.utf8) })
    }

    @Test(
        "a name with surrounding white space or a leading brace is refused",
        arguments: [
            " a.db", "a.db ", "a.db\t", "a.db\r\n", "a.db\r\nb.db\r\n", "\u{a0}a.db", "a.db\n a.db", "{a.db",
        ])
    func whiteSpace(manifest: String) throws {
        let result = try verify(manifest)
        #expect(result.status == 78, "\(result)")
        #expect(try paths(result).isEmpty)
    }

    @Test(
        "an ambiguous line, or one with invalid settings, is refused",
        arguments: [
            #"{"path": "a.db", "path": "b.db"}"#, #"{"path": "a.db", "p\u0061th": "b.db"}"#,
            #"{"path": "a.db", "page-size": 3}"#,
            #"{"path": "a.db", "cipher-format": 99}"#, #"{"path": "a.db", "kdf-iterations": -5}"#,
            #"{"path": "a.db", "page-size": 1e99}"#,
            #"{"path": "\ud800"}"#, #"{"path": "a.db"} {"path": "b.db"}"#, #"[{"path": "a.db"}]"# + "\n{",
            "{\"path\":" + String(repeating: "[", count: 9999),
        ])
    func ambiguous(line: String) throws {
        let result = try verify(line + "\n")
        #expect(result.status == 78, "\(result)")
        #expect(try paths(verify(#"{"path": "a.db", "key-command": "echo \"{:\" , [:]"}"#)).isEmpty)
    }

    @Test("a relative path of a program starts at the folder of the manifest, not at the current one")
    func relativeProgram() throws {
        _ = try tool.directory.makeFolder("fleet")
        try tool.write("#!/bin/sh\ntouch ran\ncat a.key\n", to: "give", mode: 0o700)
        try tool.write("#!/bin/sh\ncat a.key\n", to: "fleet/give", mode: 0o700)
        try tool.write(#"{"path": "../a.db", "key": "raw:command:./give"}"# + "\n", to: "fleet/list")
        let result = try tool.run("batch", "verify", "--manifest", "fleet/list")
        #expect(result.status == 0 && !tool.exists("ran"), "\(result)")
    }

    @Test(
        "a manifest that others can change names neither commands nor keys, but it may list files",
        arguments: [
            #""key": "raw:command:./give""#, #""key-command": "./give", "key-type": "raw""#,
            #""unlock": "program:./give""#, #""key": "raw:file:a.key", "new-key": "command:./give""#,
            #""previous-key": ["file:a.key", "raw:command:./give"]"#, #""key": "raw:file:a.key""#,
        ])
    func changeable(members: String) throws {
        try tool.write("#!/bin/sh\ntouch ran\ncat a.key\n", to: "give", mode: 0o700)
        func verify(_ name: String) throws -> Tool.Result {
            try tool.run(["batch", "verify", "--manifest", name] + key)
        }
        func expectRefused(_ words: String) throws {
            for name in ["list", "/dev/stdin"] {
                let command = "exec '\(Tool.program)' batch verify --manifest \(name) < list"
                let result = try tool.run(["-c", command], program: "/bin/sh")
                #expect(result.status == 78 && result.errors.contains(words), "\(result)")
                #expect(!tool.exists("ran"))
            }
        }
        for mode in [0o666, 0o620, 0o602] {
            try tool.write("a.db\n", to: "list", mode: mode)
            #expect(try verify("list").status == 0)
            try tool.write("{\"path\": \"a.db\", \(members)}\n", to: "list", mode: mode)
            try expectRefused("chmod go-w")
        }
        if getuid() == 0 {
            try tool.write("{\"path\": \"a.db\", \(members)}\n", to: "list")
            try #require(unsafe chown(tool.directory.path("list"), 65534, 65534) == 0)
            try expectRefused("another user")
        }
    }

    @Test("comments and empty lines are ignored, even with CRLF line endings")
    func comments() throws {
        #expect(try paths(verify("# a\r\n\r\n  \n\t# b\n{\"path\": \"a.db\"}\r\n")) == ["a.db"])
        #expect(try verify("\0a.db\0", ["--null"]).status == 78)
        #expect(try verify("a.db\0\0", ["--null"]).status == 78)
        #expect(try verify("a.db\0a.db\0", ["--null"]).status == 78)
        #expect(try verify("", ["--null"]).status == 78)
    }

    @Test("a line that is too long is refused before its end is read, and long lists are read completely")
    func longLines() throws {
        for options in [[], ["--null"]] {
            let result = try verify(String(repeating: "x", count: 131_073) + "\n", options)
            #expect(result.status == 78 && result.errors.contains("131,072"), "\(result.status)")
        }
        // The tool does not wait for the end of an endless line.
        let command =
            "yes | tr -d '\\n' | exec '\(Tool.program)' batch verify --manifest - --key-file a.key --key-type raw"
        #expect(try tool.run(["-c", command], program: "/bin/sh").status == 78)
        // Larger than the read buffer, so lines are split at arbitrary positions.
        let filler = (0..<3000).map { "# " + String(repeating: "c", count: $0 % 97) + "\n" }.joined()
        #expect(try paths(verify(filler + "a.db\n" + filler + "./a.db")) == ["a.db", "./a.db"])
    }
}
