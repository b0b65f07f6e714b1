import CofferTestSupport
import Foundation
import Testing

@Suite("Empty files")
struct EmptyFileTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]
    private let newKey = ["--new-key-file", "b.key", "--new-key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
        try tool.writeKey("b.key", 0x43)
        try tool.write("", to: "z.db")
        try tool.write("z.db\n", to: "list")
    }

    @Test(
        "each command refuses an empty file with exit code 65",
        arguments: [
            "verify", "backup", "rotate", "rotate --in-place", "rotate --dry-run", "rotate --keep-old",
            "upgrade", "upgrade --dry-run",
            "vacuum",
            "vacuum --into", "vacuum --dry-run", "decrypt", "decrypt --dry-run", "backup --dry-run",
            "encrypt",
        ])
    func oneAnswer(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let more =
            [
                "backup": ["x.db"], "rotate": newKey, "decrypt": ["x.db", "--yes-plaintext"],
                "encrypt": ["x.db"],
            ][words[0]] ?? []
        let value = ["--keep-old": ["old.db"], "--into": ["x.db"]][words.last ?? ""] ?? []
        let before = tool.directory.fileNames()
        for name in ["z.db", "./z.db"] {
            let result = try tool.run([words[0], name] + more + words.dropFirst() + value + key)
            #expect(result.status == 65, "\(result)")
            let isEncryption = command == "encrypt"
            #expect(
                result.errors.contains(
                    isEncryption ? "not a plaintext SQLite database" : "The file is empty (0 bytes)"),
                "\(result)")
            let json = try tool.run([words[0], name, "--json"] + more + words.dropFirst() + value + key)
            #expect(json.status == 65)
            #expect(try Schema.problems(json) == [])
        }
        #expect(tool.directory.fileNames() == before)
        #expect(try tool.directory.bytes(of: "z.db").isEmpty)
    }

    @Test(
        "a batch reports an empty file in the same way", arguments: ["verify", "rotate", "rotate --dry-run"])
    func batches(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let options = words[0] == "rotate" ? newKey : []
        let result = try tool.run(["batch"] + words + ["--manifest", "list", "--json"] + options + key)
        #expect(result.status == 3)
        #expect(try result.objects.last?["failure_codes"] as? [String: Int] == ["65": 1])
        #expect(result.errors.contains("The file is empty"))
    }

    @Test("verify accepts empty files only with --allow-empty, and never other invalid files")
    func allowed() throws {
        #expect(try tool.run(["verify", "z.db", "--allow-empty"] + key).status == 0)
        #expect(try tool.run(["batch", "verify", "--manifest", "list", "--allow-empty"] + key).status == 0)
        for text in ["xy", String(repeating: "\0", count: 8), String(repeating: "\0", count: 4096)] {
            try tool.write(text, to: "z.db")
            #expect(try tool.run(["verify", "z.db", "--allow-empty"] + key).status != 0)
        }
    }

    @Test(
        "a file of one byte counts as empty, as in SQLite",
        arguments: ["verify", "rotate", "backup", "upgrade", "vacuum"])
    func oneByte(command: String) throws {
        try tool.write("x", to: "z.db")
        let more = ["backup": ["x.db"], "rotate": newKey][command] ?? []
        let result = try tool.run([command, "z.db"] + more + key)
        #expect(result.status == 65 && result.errors.contains("The file is empty"), "\(result)")
        #expect(try tool.text(of: "z.db") == "x")
    }

    @Test("an empty file with an invalid WAL fails verification")
    func logs() throws {
        try tool.write("not a log", to: "z.db-wal")
        #expect(try tool.run(["verify", "z.db"] + key).status != 0)
    }

    @Test(
        "a backup of a damaged file names the page", arguments: [2, 3],
        ["backup", "decrypt", "vacuum --into"])
    func damage(page: Int, command: String) throws {
        try tool.makeDatabase("d.db", rows: 300)
        var bytes = try tool.directory.bytes(of: "d.db")
        try #require(bytes.count >= 3 * 4096)
        bytes[(page - 1) * 4096 + 200] ^= 1
        try tool.directory.write(bytes, to: "d.db")
        let words = command.split(separator: " ").map(String.init)
        let arguments =
            [words[0], "d.db"] + words.dropFirst() + ["x.db"]
            + (words[0] == "decrypt" ? ["--yes-plaintext"] : [])
        let result = try tool.run(arguments + key)
        #expect(result.status == 65, "\(result)")
        #expect(result.errors.contains("page \(page)"), "\(result)")
        #expect(!tool.exists("x.db"))
    }
}
