import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Recovering by the tool")
struct RecoverTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 400)
        try tool.writeKey("b.key", 0x43)
    }

    private func damage(page: Int) throws {
        var bytes = Array(try tool.directory.bytes(of: "a.db"))
        bytes[(page - 1) * 4096 + 50] ^= 1
        try tool.directory.write(bytes, to: "a.db")
    }

    @Test("an intact file is recovered completely, and nothing is overwritten")
    func whole() throws {
        let result = try tool.run(
            ["recover", "a.db", "b.db", "--new-key-file", "b.key", "--new-key-type", "raw"] + key)
        #expect(result.status == 0 && result.output.contains("has all content of a.db"), "\(result)")
        #expect(try tool.shell("b.db", 0x43).run("SELECT count(*) FROM t") == ["400"])
        #expect(try tool.run(["recover", "a.db", "b.db"] + key).status == 73)
        #expect(try tool.run(["recover", "a.db", "-"] + key).status == 64)
        #expect(try tool.run(["recover", "a.db", "c.db", "--salt", "00ff"] + key).status == 64)
        #expect(
            try tool.run(
                [
                    "recover", "a.db", "c.db", "--salt", String(repeating: "0", count: 32), "--salt-from",
                    "b.db",
                ] + key
            ).status == 64
        )
        #expect(
            try tool.run(["recover", "a.db", "c.db", "--key-file", "b.key", "--key-type", "raw"]).status == 77
        )
        #expect(try tool.run(["recover", "none.db", "c.db"] + key).status == 66)
        #expect(!tool.directory.fileNames().contains("c.db"))
    }

    @Test("losses are reported as text, as JSON and in the audit log, with the exit code for damage")
    func damaged() throws {
        try damage(page: 3)
        let result = try tool.run(["recover", "a.db", "b.db", "--audit", "log"] + key)
        #expect(
            result.status == 65 && result.output.contains("1 page of")
                && result.output.contains("row IDs that may be missing"), "\(result)"
        )
        #expect(
            try String(decoding: tool.directory.bytes(of: "log"), as: UTF8.self).contains(
                "\"damaged_pages\":1"))
        let json = try tool.run(["recover", "a.db", "c.db", "--json"] + key)
        #expect(json.status == 65)
        #expect(try Schema.problems(json) == [])
        let object = try #require(json.objects.first { $0["type"] as? String == "result" })
        #expect(object["damaged_pages"] as? [Int] == [3] && object["complete"] as? Bool == false)
        let left = try tool.shell("b.db").run("SELECT count(*) FROM t; PRAGMA integrity_check;")
        #expect(left.last == "ok" && left.first != "400")
        #expect(try tool.run(["verify", "b.db"] + key).status == 0)
    }

    @Test("a missing root page is not reported as lost rows if the pages below it are found")
    func root() throws {
        try damage(page: 2)
        let result = try tool.run(["recover", "a.db", "b.db"] + key)
        #expect(
            result.status == 65
                && result.output.contains("t: 400 rows; 1 page missing, probably without rows"), "\(result)")
    }

    @Test("the salt comes from another copy, where the file has lost its own")
    func lostSalt() throws {
        try tool.directory.write(Array(tool.directory.bytes(of: "a.db")), to: "copy.db")
        var bytes = Array(try tool.directory.bytes(of: "a.db"))
        for index in 0..<16 { bytes[index] = 0 }
        try tool.directory.write(bytes, to: "a.db")
        let lost = try tool.run(["recover", "a.db", "b.db"] + key)
        #expect(lost.status == 65 && lost.errors.contains("--salt-from"), "\(lost)")
        let query = try tool.run(["query", "a.db", "SELECT 1"] + key)
        #expect(query.status == 65 && query.errors.contains("damaged"), "\(query)")
        try tool.write("SQLite format 3", to: "text")
        #expect(try tool.run(["recover", "a.db", "b.db", "--salt-from", "text"] + key).status == 65)
        let result = try tool.run(["recover", "a.db", "b.db", "--salt-from", "copy.db"] + key)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.shell("b.db").run("SELECT count(*) FROM t") == ["400"])
    }

    @Test(
        "nothing is overwritten: not the source under any of its names, nor another recovery's output"
    )
    func destinations() throws {
        let before = try tool.directory.bytes(of: "a.db")
        try FileManager.default.linkItem(
            atPath: tool.directory.path("a.db"), toPath: tool.directory.path("hard.db"))
        try FileManager.default.createSymbolicLink(
            atPath: tool.directory.path("soft.db"), withDestinationPath: "a.db")
        try FileManager.default.createSymbolicLink(
            atPath: tool.directory.path("dangling.db"), withDestinationPath: "nowhere.db")
        for name in ["a.db", "./a.db", "hard.db", "soft.db", "dangling.db"] {
            #expect(try tool.run(["recover", "a.db", name] + key).status == 73, "\(name)")
        }
        #expect(
            try tool.directory.bytes(of: "a.db") == before
                && !tool.directory.fileNames().contains("nowhere.db"))
        // If two runs start at the same time, one creates the file and the other one reports that.
        let runs = try [
            tool.start(["recover", "a.db", "b.db"] + key), tool.start(["recover", "soft.db", "b.db"] + key),
        ]
        var statuses = runs.map { $0.wait().status }.sorted()
        // One may create the note at the moment when the other one locks it: then neither begins.
        if statuses == [75, 75] { statuses[0] = try tool.run(["recover", "a.db", "b.db"] + key).status }
        #expect(statuses == [0, 73] || statuses == [0, 75], "\(statuses)")
        #expect(
            try tool.shell("b.db").run("SELECT count(*) FROM t; PRAGMA integrity_check") == ["400", "ok"])
        #expect(!tool.directory.fileNames().contains { $0.hasPrefix(".coffer-") })
    }

    @Test("gives the reason that a verification gives")
    func reasons() throws {
        _ = try tool.directory.makeQueue("plain.db", Configuration().with { $0.allowsPlaintext = true }).write
        {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        }
        try tool.write(String(repeating: "Lorem ipsum dolor sit amet. ", count: 400), to: "text.db")
        let other = ["--key-file", "b.key", "--key-type", "raw"]
        for (name, key) in [("plain.db", key), ("text.db", key), ("a.db", other)] {
            let verified = try tool.run(["verify", name] + key)
            let recovered = try tool.run(["recover", name, "c.db"] + key)
            #expect(verified.status == recovered.status && verified.status != 0, "\(name): \(recovered)")
            #expect(verified.errors == recovered.errors, "\(name)")
        }
        try tool.write("", to: "empty.db")
        let result = try tool.run(["recover", "empty.db", "c.db"] + key)
        #expect(result.status == 65 && result.errors.contains("0 bytes"), "\(result)")
        for (name, failure) in [
            ("a.db", EncryptionFailure.noKey), ("text.db", .notADatabase),
        ] {
            let error = #expect(throws: DatabaseFileError.self) {
                try DatabaseFile(path: tool.directory.path(name)).salvage(
                    key: nil, to: tool.directory.path("c.db"),
                    newKey: .rawKey([UInt8](repeating: 0x42, count: 32)))
            }
            #expect(error?.reason == .key(failure))
        }
        #expect(!tool.exists("c.db"))
    }

    @Test("the keyring supplies the salt that the file has lost")
    func keyring() throws {
        let unlock = ["--unlock-file", "a.key", "--unlock-type", "raw"]
        #expect(
            try tool.run("key", "init", "k.db", "--new-key-file", "a.key", "--new-key-type", "raw").status
                == 0)
        #expect(
            try tool.run(
                ["query", "k.db", "CREATE TABLE t (a); INSERT INTO t VALUES ('ring')", "--write"] + unlock
            ).status == 0)
        var bytes = Array(try tool.directory.bytes(of: "k.db"))
        for index in 0..<16 { bytes[index] = 0 }
        try tool.directory.write(bytes, to: "k.db")
        let result = try tool.run(
            ["recover", "k.db", "b.db", "--new-key-file", "b.key", "--new-key-type", "raw"] + unlock)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.shell("b.db", 0x43).run("SELECT a FROM t") == ["ring"])
    }
}
