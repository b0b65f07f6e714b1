import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Several keys for the files of a fleet")
struct SeveralKeysTests {
    private let tool: Tool
    /// One key opens a.db, the other one b.db, and neither opens c.db.
    private let keys = ["--key-file", "a.key", "--key-type", "raw", "--previous-key-file", "b.key"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase("a.db", key: "a.key", 0x42)
        try tool.makeDatabase("b.db", key: "b.key", 0x43)
        try tool.makeDatabase("c.db", key: "c.key", 0x44)
        try tool.write(String(repeating: "s", count: 32), to: "site")
    }

    @Test("each command that opens a file opens it with a previous key")
    func allCommands() throws {
        try tool.write("id,text\n7,seven\n", to: "rows.csv")
        try tool.writeKey("d.key", 0x45)
        let new = ["--new-key-file", "d.key", "--new-key-type", "raw"]
        let commands: [[String]] = [
            ["info", "b.db"], ["verify", "b.db"], ["query", "b.db", "SELECT text FROM t"],
            ["schema", "b.db"], ["dump", "b.db"],
            ["import", "b.db", "t", "--from", "rows.csv"], ["backup", "b.db", "copy.db"],
            ["decrypt", "b.db", "plain.db", "--yes-plaintext"], ["vacuum", "b.db", "--into", "small.db"],
            ["vacuum", "b.db"],
            ["upgrade", "b.db"], ["rotate", "b.db"] + new,
        ]
        for command in commands {
            let result = try tool.run(command + keys)
            #expect(result.status == 0, "\(command) \(result)")
            let other = command.map {
                ["b.db": "c.db", "copy.db": "copy2.db", "plain.db": "plain2.db", "small.db": "small2.db"][$0]
                    ?? $0
            }
            let refused = try tool.run(other + keys)
            #expect(
                refused.status == 77 && refused.errors.contains("None of the 2 keys"), "\(command) \(refused)"
            )
        }
        #expect(try tool.run(["shell", "a.db"] + keys, input: ".tables\n").output == "t\n")
        #expect(try tool.shell("b.db", 0x45).run("SELECT count(*) FROM t;") == ["2"])
        #expect(try tool.shell("copy.db", 0x43).run("SELECT count(*) FROM t;") == ["2"])
    }

    @Test(
        "a previous key may come from any source, and may be of another type"
    )
    func sources() throws {
        let digits = String(repeating: "43", count: 32)
        let current = ["verify", "b.db", "--json", "--key-file", "a.key", "--key-type", "raw"]
        func opening(_ options: [String], _ environment: [String: String] = [:]) throws -> String? {
            let result = try tool.run(current + options, environment: environment)
            #expect(try Schema.problems(result) == [], "\(result)")
            return try result.objects.first { $0["type"] as? String == "result" }?["opened_by"] as? String
        }
        #expect(try opening(["--previous-key-env", "OLD"], ["OLD": digits]) == "--previous-key-env OLD")
        #expect(try opening(["--previous-key-command", "cat b.key"]) == "--previous-key-command cat")
        #expect(
            try opening(
                ["--previous-key-credential", "b.key"], ["CREDENTIALS_DIRECTORY": tool.directory.path])
                == "--previous-key-credential b.key")
        let shell = try tool.run(
            ["-c", "exec \"$0\" \"$@\" 5<b.key", Tool.program] + current + ["--previous-key-fd", "5"],
            program: "/bin/sh")
        #expect(shell.status == 0, "\(shell)")
        // Each source is tried as both types, if it is valid for them.
        let queue = try tool.directory.makeQueue("p.db", .passphrase("correct horse battery"))
        try queue.write { db in try db.execute(sql: "CREATE TABLE p (x)") }
        try queue.close()
        try tool.write("correct horse battery", to: "p.key")
        let both = [
            "--previous-key-file", "b.key", "--previous-key-file", "p.key", "--previous-key-type", "raw",
            "--previous-key-type",
            "passphrase",
        ]
        #expect(try opening(both) == "--previous-key-file b.key")
        let result = try tool.run(
            ["query", "p.db", "SELECT count(*) FROM p", "--key-file", "a.key", "--key-type", "raw"] + both)
        #expect(result.status == 0, "\(result)")
        // A source that fails ends the command before any work is done.
        #expect(try tool.run(current + ["--previous-key-file", "none.key"]).status == 66)
        #expect(try tool.run(current + ["--previous-key-file", "p.key"]).status == 77)
        #expect(try tool.run(current + ["--previous-key-type", "raw"]).status == 64)
        #expect(try tool.run(current + ["--previous-key-fd=-1"]).status == 64)
    }

    @Test("a repeated --key is tried after the first one, in the given order and before previous keys")
    func repeatedKey() throws {
        let repeated = ["--key", "file:a.key", "--key", "file:b.key", "--previous-key", "file:c.key"]
        let result = try tool.run(["info", "a.db", "b.db", "c.db", "--json"] + repeated)
        #expect(result.status == 0, "\(result)")
        let options = try result.objects.compactMap { $0["opened_by"] as? String }
        #expect(
            options == ["--key file:a.key", "--key file:b.key", "--previous-key file:c.key"], "\(result)")
        let refused = try tool.run(["verify", "c.db"] + repeated.prefix(4))
        #expect(refused.status == 77 && refused.errors.contains("None of the 2 keys"), "\(refused)")
        for words in [["query", "b.db", "SELECT 1"], ["rotate", "b.db", "--new-key", "file:c.key"]] {
            #expect(try tool.run(words + repeated.prefix(4)).status == 0, "\(words)")
        }
        // The file of a further key is checked like the one of the first.
        try tool.write(tool.text(of: "b.key"), to: "open.key", mode: 0o644)
        let open = ["verify", "a.db", "--key", "file:a.key", "--key", "file:open.key"]
        #expect(try tool.run(open).status == 78)
        #expect(try tool.run(open + ["--insecure-key-file-mode"]).status == 0)
    }

    @Test(
        "a command that gives a file its key takes --key once",
        arguments: [
            "create n.db", "encrypt a.db", "load n.db", "key init n.db", "batch encrypt --manifest -",
            "audit find-key log",
        ])
    func oneKey(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let result = try tool.run(words + ["--key", "file:a.key", "--key", "file:b.key"])
        let message = command.hasPrefix("batch") ? "Give one key." : "Give --key once."
        #expect(result.status == 64 && result.errors.contains(message), "\(result)")
        #expect(!tool.exists("n.db"))
    }

    @Test("a rotation takes the key that opens the file, also where the new key is among the others")
    func rotating() throws {
        // As in the middle of a rotation: some files have the new key, others the old one.
        let result = try tool.run(
            "rotate", "a.db", "b.db", "--key-file", "b.key", "--key-type", "raw", "--previous-key-file",
            "a.key", "--new-key-file", "b.key",
            "--new-key-type", "raw")
        #expect(result.status == 0, "\(result)")
        #expect(
            result.output.contains("a.db: rotated")
                && result.output.contains("b.db: already has the new key"), "\(result)")
        let same = try tool.run(
            "rotate", "b.db", "--key-file", "b.key", "--key-type", "raw", "--previous-key-file", "b.key",
            "--new-key-file", "b.key",
            "--new-key-type", "raw")
        #expect(same.status == 64)
    }

    @Test(
        "a batch reports the key that opens each file, and counts the files that no key opens",
        arguments: ["info", "verify"])
    func batches(command: String) throws {
        var configuration = Configuration()
        configuration.allowsPlaintext = true
        let queue = try tool.directory.makeQueue("plain.db", configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (x)") }
        try queue.close()
        try tool.write("a.db\nb.db\nc.db\n" + (command == "info" ? "plain.db\n" : ""), to: "list")
        // The same key given twice counts once.
        let arguments = ["batch", command, "--manifest", "list"] + keys + ["--previous-key-file", "a.key"]
        let result = try tool.run(arguments + ["--json", "--site-secret-file", "site"])
        #expect(result.status == 3, "\(result)")
        #expect(try Schema.problems(result) == [])
        let results = try result.objects.filter { $0["type"] as? String == "result" }
        let options = Dictionary(
            uniqueKeysWithValues: results.map { ($0["path"] as? String ?? "", $0["opened_by"] as? String) })
        #expect(options["a.db"] == "--key-file a.key" && options["b.db"] == "--previous-key-file b.key")
        let summary = try #require(try result.objects.last)
        #expect(summary["opened_by_no_key"] as? Int == 1 && summary["failed"] as? Int == 1)
        var groups = ["--key-file a.key": 1, "--previous-key-file b.key": 1]
        if command == "info" { groups["plaintext"] = 1 }
        #expect(summary["groups"] as? [String: Int] == groups)
        let text = try tool.run(arguments)
        #expect(
            text.output.contains("b.db: ")
                && text.output.contains("opened by --previous-key-file b.key (key id "), "\(text)")
        #expect(
            text.errors.contains("  --previous-key-file b.key: 1 file\n")
                && text.errors.contains("  opened by no key (77): 1 file: c.db"))
        #expect(text.errors.contains("None of the 2 keys"))
    }

    @Test(
        "previous keys in a line of a manifest replace those of the command line"
    )
    func linesOfManifests() throws {
        let folder = try tool.directory.makeFolder("keys")
        for name in ["a", "b", "c"] {
            try tool.text(of: "\(name).key").write(
                toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        func batch(_ command: String, _ lines: [String], _ options: String...) throws -> [String: String] {
            try tool.write(lines.joined(separator: "\n"), to: "list")
            let result = try tool.run(
                ["batch", command, "--manifest", "list", "--json", "--insecure-key-file-mode"] + keys
                    + options,
                environment: ["C_KEY": String(repeating: "44", count: 32)])
            #expect(try Schema.problems(result) == [], "\(result)")
            return try result.objects.reduce(into: [:]) { words, object in
                guard let path = object["path"] as? String, object["type"] as? String != "progress" else {
                    return
                }
                words[path] =
                    object["opened_by"] as? String ?? object["reason"] as? String
                    ?? (object["changed"] as? Bool).map { "\($0)" }
            }
        }
        // The first line has a list of previous keys, the second a single one, and the third uses those of
        // the command line. Paths are relative to the manifest.
        let lines = [
            #"{"path": "a.db", "key-file": "keys/b", "key-type": "raw", "previous-key-file": ["keys/c", "keys/a"]}"#,
            #"{"path": "c.db", "previous-key-env": "C_KEY"}"#, #"{"path": "b.db"}"#,
        ]
        for command in ["info", "verify"] {
            let expected = [
                "a.db": "--previous-key-file keys/a", "c.db": "--previous-key-env C_KEY",
                "b.db": "--previous-key-file b.key",
            ]
            #expect(try batch(command, lines) == expected)
        }
        // The keys of the command line would open the file.
        let replaced =
            #"{"path": "b.db", "previous-key-file": "keys/c", "previous-key-type": ["raw", "passphrase"]}"#
        #expect(try batch("verify", [replaced]) == ["b.db": "wrong_key"])
        try tool.writeKey("d.key", 0x45)
        let new = try batch(
            "rotate", [lines[0], lines[1]], "--new-key-file", "d.key", "--new-key-type", "raw")
        #expect(new == ["a.db": "true", "c.db": "true"])
        for name in ["a.db", "c.db"] {
            #expect(try tool.shell(name, 0x45).run("SELECT count(*) FROM t;") == ["1"])
        }
        for (line, words) in [
            (#"{"path": "a.db", "previous-key-type": "raw"}"#, "needs previous keys"),
            (#"{"path": "a.db", "previous-key-file": []}"#, "list"),
            (#"{"path": "a.db", "previous-key-file": [7]}"#, "list"),
            (#"{"path": "a.db", "previous-key-fd": "7"}"#, "unknown"),
            (#"{"path": "a.db", "previous-key-file": "x", "previous-key-type": "hex"}"#, "not a key type"),
            (#"{"path": "a.db", "previous-key-file": ["a\u0000b"]}"#, "NUL byte"),
            (#"{"path": "a.db", "key-file": ["a.key"]}"#, "not a string"),
        ] {
            let result = try tool.run(["batch", "verify", "--manifest", "-"] + keys, input: line)
            #expect(result.status == 78 && result.errors.contains(words), "\(line) \(result)")
        }
        let first = try tool.run(
            "batch", "encrypt", "--manifest", "-", "--key-file", "a.key", "--key-type", "raw", input: lines[0]
        )
        #expect(first.status == 78 && first.errors.contains("first key"), "\(first)")
        let none = try tool.run("batch", "info", "--manifest", "-", input: lines[1])
        #expect(none.status == 78 && none.errors.contains("has only previous keys"), "\(none)")
    }

    @Test("a site identifier is the same for a key in all files, and depends on the site secret")
    func siteIdentifiers() throws {
        try tool.makeDatabase("a2.db", key: "a.key", 0x42)
        try tool.write(String(repeating: "t", count: 32), to: "other")
        func ids(_ path: String, _ site: String) throws -> [String?] {
            let result = try tool.run(
                ["info", path, "--json", "--key-id", "--site-secret-file", site] + keys)
            #expect(try Schema.problems(result) == [], "\(result)")
            let object = try result.objects.first { $0["type"] as? String == "result" }
            return [object?["key_id"] as? String, object?["site_key_id"] as? String]
        }
        let (first, second, third, foreign) = try (
            ids("a.db", "site"), ids("a2.db", "site"), ids("b.db", "site"), ids("a.db", "other")
        )
        #expect(first[0] != second[0] && first[1] == second[1] && first[1]?.count == 16)
        #expect(third[1] != first[1] && foreign[1] != first[1] && foreign[0] == first[0])
        try tool.write("short", to: "weak")
        #expect(try tool.run(["info", "a.db", "--site-secret-file", "weak"] + keys).status == 77)
        #expect(try tool.run("info", "a.db", "--key-id").status == 64)
        // The identifier of a file equals the one in the records of its rotation.
        try tool.writeKey("d.key", 0x45)
        let rotated = try tool.run(
            ["rotate", "a.db", "--json", "--new-key-file", "d.key", "--new-key-type", "raw"] + keys)
        #expect(try rotated.objects.contains { $0["old_key_id"] as? String == first[0] }, "\(rotated)")
    }
}
