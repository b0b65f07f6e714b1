import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Copies with keyrings, made with the tool")
struct KeyringCopyTests: KeyringToolSuite {
    let tool: Tool

    init() throws { tool = try Tool() }

    @Test("copies for a recipient are opened by its identity only, and restored")
    func copiesForRecipients() throws {
        try make()
        try tool.write(tool.run("keygen", "--recipient", "--out", "office.identity").output, to: "office.pub")
        let plaintext = Configuration().with { $0.allowsPlaintext = true }
        let queue = try DatabaseQueue(path: tool.directory.path("plain.db"), configuration: plaintext)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('letter')") }
        try queue.close()
        try FileManager.default.createDirectory(
            atPath: tool.directory.path("safe"), withIntermediateDirectories: false)
        let recipient = ["--recipient", "office.pub"]
        try expect(tool.run(["backup", "a.db", "b.db"] + recipient + anna), "b.db.keys")
        try expect(tool.run(["vacuum", "a.db", "--into", "v.db"] + recipient + anna), "v.db.keys")
        try expect(tool.run(["encrypt", "plain.db", "e.db"] + recipient), "e.db.keys")
        try tool.write(tool.run(["dump", "a.db"] + anna).output, to: "a.sql")
        try expect(tool.run(["load", "l.db", "--from", "a.sql"] + recipient), "l.db.keys")
        try expect(
            tool.run(
                ["load", "m.db", "--from", "a.sql", "--key-file", "anna.key", "--key-type", "raw"] + recipient
            ),
            status: 64, "not both")
        try expect(tool.run(["backup", "a.db", "--into", "safe"] + recipient + anna), ".backup.keys")
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.directory.path("safe")).sorted()
        try #require(names.count == 2 && names[1] == names[0] + ".keys")
        let dated = "safe/\(names[0])"
        for name in ["b.db", "v.db", "e.db", "l.db", dated] {
            #expect(try reads("office.identity", type: "identity", name), "\(name)")
            let refused = try tool.run(["query", name, "SELECT 1"] + anna)
            expect(refused, status: 77, "no slot")
        }
        let identity = ["--unlock-file", "office.identity", "--unlock-type", "identity"]
        try expect(tool.run(["restore", dated, "c.db"] + identity))
        #expect(try reads("office.identity", type: "identity", "c.db"))
        // A database with a keyring keeps it.
        let before = (try tool.directory.bytes(of: "a.db"), try tool.directory.bytes(of: "a.db.keys"))
        try expect(tool.run(["restore", dated, "a.db"] + identity), status: 77, "no slot")
        #expect(
            try tool.directory.bytes(of: "a.db") == before.0
                && tool.directory.bytes(of: "a.db.keys") == before.1)
        try expect(tool.run(["key", "add", "a.db"] + recipient + anna))
        try expect(query("INSERT INTO t VALUES ('later')", "anna.key"))
        try expect(tool.run(["restore", dated, "a.db", "--keep-old", "old.db"] + identity))
        let rows = try tool.run(["query", "a.db", "SELECT a FROM t"] + anna)
        #expect(rows.status == 0 && rows.output.contains("letter") && !rows.output.contains("later"))
        try expect(tool.run(["query", "old.db", "SELECT a FROM t"] + anna), "later")
    }

    @Test("a restore says what opens the database now, if that has changed")
    func restoredWayIn() throws {
        try make()
        try tool.makeDatabase("raw.db")
        try tool.makeDatabase("other.db", key: "other.key", 0x43)
        try tool.write(tool.run("keygen", "--recipient", "--out", "office.identity").output, to: "office.pub")
        let raw = ["--key-file", "a.key", "--key-type", "raw"]
        try expect(tool.run(["backup", "raw.db", "office.db", "--recipient", "office.pub"] + raw))
        let identity = ["--unlock-file", "office.identity", "--unlock-type", "identity"]
        func restore(_ backup: String, over name: String?, _ options: [String]) throws -> [String] {
            for file in ["x.db", "x.db.keys"] {
                try? FileManager.default.removeItem(atPath: tool.directory.path(file))
            }
            if let name {
                for ending in ["", ".keys"] where tool.exists(name + ending) {
                    try tool.directory.write(tool.directory.bytes(of: name + ending), to: "x.db" + ending)
                }
            }
            var lines: [String] = []
            for dry in [["--dry-run"], []] {
                let result = try tool.run(["restore", backup, "x.db"] + options + dry)
                expect(result)
                lines += result.errors.split(separator: "\n").filter { $0.hasPrefix("x.db: ") }.map(
                    String.init)
            }
            return lines
        }
        // The way in that the file had.
        #expect(try restore("raw.db", over: "raw.db", raw) == [])
        #expect(try restore("a.db", over: "a.db", anna) == [])
        #expect(try restore("raw.db", over: nil, raw) == [])
        #expect(
            try restore("raw.db", over: "other.db", raw) == [
                "x.db: would open with the key from --key-file a.key.",
                "x.db: now opens with the key from --key-file a.key.",
            ])
        let stray = try restore("raw.db", over: "a.db", raw)
        #expect(
            stray.count == 2 && stray.allSatisfy { $0.contains("x.db.keys belongs to the old file") },
            "\(stray)")
        let office = try restore("office.db", over: "raw.db", identity)
        #expect(
            office.last
                == "x.db: now opens with the secrets of the backup, through x.db.keys, and no longer with the key "
                + "that it had.")
        try expect(tool.run(["verify", "x.db"] + identity))
        try expect(tool.run(["verify", "x.db"] + raw), status: 77, "keyring")
    }

    @Test("operations keep the keyring of a file, and copies of it have the same slots")
    func carriesKeyrings() throws {
        try make()
        try tool.writeKey("ben.key", 2)
        try expect(
            tool.run(
                ["key", "add", "a.db", "--new-key-file", "ben.key", "--new-key-type", "raw", "--name", "Ben"]
                    + anna))
        let keys = try tool.directory.bytes(of: "a.db.keys")
        try expect(
            query("CREATE TABLE u (b); INSERT INTO u VALUES (randomblob(100000)); DROP TABLE u", "ben.key"))
        let size = try tool.directory.bytes(of: "a.db").count
        try expect(tool.run(["vacuum", "a.db"] + anna))
        #expect(
            try tool.directory.bytes(of: "a.db").count < size && tool.directory.bytes(of: "a.db.keys") == keys
        )
        #expect(try reads("anna.key") && reads("ben.key"))

        _ = try tool.directory.makeFolder("safe")
        try tool.write("a.db\n", to: "list")
        try expect(tool.run(["backup", "a.db", "b.db"] + anna), "slots of the file")
        try expect(tool.run(["vacuum", "a.db", "--into", "v.db"] + anna))
        try expect(tool.run(["recover", "a.db", "r.db"] + anna))
        for _ in 0..<2 { try expect(tool.run(["backup", "a.db", "--into", "safe", "--keep", "1y"] + anna)) }
        try expect(tool.run(["batch", "backup", "--manifest", "list", "--into", "all"] + anna))
        let names = tool.directory.fileNames().filter {
            $0.hasSuffix(".backup") || $0.hasSuffix(".backup.keys")
        }
        // The second backup in `safe` has replaced the first one and its keyring.
        try #require(names.count == 4, "\(names)")
        for name in ["b.db", "v.db", "r.db", names[0], names[2]] {
            #expect(try reads("anna.key", name) && reads("ben.key", name), "\(name)")
            #expect(try tool.directory.bytes(of: "\(name).keys") != keys)
        }
        // Each copy has its own data key.
        try tool.directory.write(keys, to: "b.db.keys")
        #expect(try !reads("anna.key", "b.db"))
    }

    @Test("batch backups and recovered files can be made for recipients too")
    func manyForRecipients() throws {
        _ = try tool.directory.makeFolder("x")
        try tool.makeDatabase("x/a.db")
        try tool.makeDatabase("b.db")
        try tool.write("x/a.db\nb.db\n", to: "list")
        try tool.write(tool.run("keygen", "--recipient", "--out", "office.identity").output, to: "office.pub")
        let key = ["--key-file", "a.key", "--key-type", "raw", "--recipient", "office.pub"]
        try expect(tool.run(["batch", "backup", "--manifest", "list", "--into", "safe"] + key))
        try expect(tool.run(["recover", "b.db", "r.db"] + key), "r.db.keys")
        let backups = tool.directory.fileNames().filter { $0.hasSuffix(".backup") }
        #expect(backups.count == 2)
        for name in backups + ["r.db"] {
            let identity = ["--unlock-file", "office.identity", "--unlock-type", "identity"]
            try expect(tool.run(["query", name, "SELECT text FROM t"] + identity), "row 1")
            try expect(
                tool.run("query", name, "SELECT 1", "--key-file", "a.key", "--key-type", "raw"), status: 77)
        }
        _ = try tool.directory.makeFolder("single")
        // No identity is needed to remove older ones, with their keyrings.
        try expect(tool.run(["backup", "b.db", "--into", "single", "--keep", "1y"] + key), "1 backup kept")
        try expect(
            tool.run(["backup", "b.db", "--into", "single", "--keep", "1y"] + key), "1 backup kept, 1 removed"
        )
        try expect(
            tool.run(["batch", "backup", "--manifest", "list", "--into", "safe", "--keep", "1y"] + key),
            "1 backup kept, 1 removed")
        let kept = tool.directory.fileNames().filter { $0.contains(".backup") }
        #expect(kept.count == 6 && kept.count { $0.hasSuffix(".backup.keys") } == 3, "\(kept)")
        #expect(backups.allSatisfy { !kept.contains($0) })
        try tool.write("", to: "left.db.keys")
        try expect(tool.run(["backup", "b.db", "left.db"] + key), status: 73, "without its database")
        #expect(!tool.exists("left.db"))
    }

    @Test("--recipient is a usage error where the operation or its options exclude it; nothing is created")
    func recipientUsage() throws {
        try make()
        let made = tool.directory.fileNames()
        let recipient = try DatabaseKeyring.Identity.random().recipient.description
        for arguments in [
            ["backup", "a.db", "b.db", "--new-key-file", "anna.key"], ["backup", "a.db", "-"],
            ["vacuum", "a.db"],
            ["backup", "a.db", "b.db", "--same-pages"],
        ] {
            try expect(tool.run(arguments + ["--recipient", recipient] + anna), status: 64)
        }
        try expect(
            tool.run(["backup", "a.db", "b.db", "--dry-run", "--recipient", recipient] + anna), "would be")
        #expect(tool.directory.fileNames() == made)
    }
}
