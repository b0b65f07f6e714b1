import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Copies: encrypt, backup, vacuum")
struct CopyTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 50)
        try tool.writeKey("b.key", 0x43)
    }

    @Test("a backup opens with the same key, has a salt of its own, and the same rows")
    func backup() throws {
        let result = try tool.run(["backup", "a.db", "copy.db"] + key)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.shell("copy.db").run("SELECT * FROM t;") == tool.shell().run("SELECT * FROM t;"))
        #expect(
            try tool.directory.bytes(of: "copy.db").prefix(16) != tool.directory.bytes(of: "a.db").prefix(16))
        #expect(try tool.run(["backup", "a.db", "copy.db"] + key).status == 73)
        #expect(try tool.run(["backup", "a.db", "no/such/copy.db"] + key).status == 73)
        #expect(try tool.run(["backup", "none.db", "other.db"] + key).status == 66)
    }

    @Test("a backup is made of a database in use, and can have another key")
    func backupInUse() throws {
        let pool = try tool.directory.makePool()
        try pool.write { db in try db.execute(sql: "INSERT INTO t (text) VALUES ('late')") }
        let result = try tool.run(
            ["backup", "a.db", "copy.db", "--new-key-file", "b.key", "--new-key-type", "raw"] + key)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.shell("copy.db", 0x43).run("SELECT count(*) FROM t;") == ["51"])
        #expect(throws: SQLCipherShell.Failure.self) {
            try tool.shell("copy.db").run("SELECT count(*) FROM t;")
        }
        try pool.close()
    }

    @Test("a plaintext database becomes an encrypted one, with row IDs and versions")
    func encrypt() throws {
        var configuration = Configuration()
        configuration.allowsPlaintext = true
        let queue = try DatabaseQueue(path: tool.directory.path("plain.db"), configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE t (text); INSERT INTO t (rowid, text) VALUES (7, 'seven'), (70, 'seventy')"
            )
            try db.execute(sql: "PRAGMA user_version = 5; PRAGMA application_id = 6")
        }
        try queue.close()
        let before = try tool.directory.bytes(of: "plain.db")
        let result = try tool.run(["encrypt", "plain.db", "new.db"] + key)
        #expect(result.status == 0, "\(result)")
        let facts = try tool.shell("new.db").run(
            "SELECT rowid, text FROM t; PRAGMA user_version; PRAGMA application_id;")
        #expect(facts == ["7|seven", "70|seventy", "5", "6"])
        #expect(try tool.directory.bytes(of: "plain.db") == before)
        #expect(try tool.run(["encrypt", "a.db", "other.db"] + key).status == 65)
        #expect(try tool.run(["encrypt", "plain.db", "a.db"] + key).status == 73)
        #expect(try tool.run(["verify", "plain.db"] + key).status == 65)
    }

    @Test("vacuum gives free pages back, in place or in a copy")
    func vacuum() throws {
        _ = try tool.shell().run(
            "CREATE TABLE big (data); INSERT INTO big VALUES (randomblob(500000)); DROP TABLE big;")
        let size = try tool.directory.bytes(of: "a.db").count
        #expect(try tool.run(["vacuum", "a.db", "--dry-run"] + key).output.contains("free pages"))
        #expect(try tool.directory.bytes(of: "a.db").count == size)
        #expect(try tool.run(["vacuum", "a.db", "small.db"] + key).status == 0)
        #expect(try tool.directory.bytes(of: "small.db").count < size / 10)
        #expect(try tool.run(["vacuum", "a.db"] + key).status == 0)
        #expect(try tool.directory.bytes(of: "a.db").count < size / 10)
        #expect(try tool.shell("small.db").run("SELECT count(*) FROM t;") == ["50"])
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["50"])
    }

    @Test("a dry run creates nothing, but tries the keys")
    func dryRuns() throws {
        #expect(try tool.run(["backup", "a.db", "copy.db", "--dry-run"] + key).status == 0)
        #expect(
            try tool.run("backup", "a.db", "copy.db", "--dry-run", "--key-file", "b.key", "--key-type", "raw")
                .status == 77)
        #expect(try tool.run(["vacuum", "a.db", "copy.db", "--dry-run"] + key).status == 0)
        #expect(!tool.exists("copy.db"))
    }
}

@Suite("Erasing")
struct EraseTests {
    @Test("a database is erased with its side files if its name is confirmed and it is not in use")
    func erasing() throws {
        let tool = try Tool()
        try tool.makeDatabase()
        try tool.makeDatabase("other.db")
        try tool.write("left", to: "a.db-journal")
        // The empty note of an interrupted run, and a report that happens to have the name of a note.
        try tool.write("", to: "a.db.rotate.json")
        try #require(unsafe chmod(tool.directory.path("a.db.rotate.json"), 0o600) == 0)
        try tool.write("my report", to: "a.db.upgrade.json")
        #expect(try tool.run("erase", "a.db").status == 64)
        #expect(try tool.run("erase", "a.db", "--yes-erase", "other.db").status == 65)
        let plan = try tool.run("erase", "a.db", "--dry-run")
        #expect(plan.output.contains("a.db.rotate.json") && !plan.output.contains("a.db.upgrade.json"))
        #expect(tool.exists("a.db"))
        let queue = try tool.directory.makeQueue()
        #expect(try tool.run("erase", "a.db", "--yes-erase", "a.db").status == 75)
        try queue.close()
        let result = try tool.run("erase", "a.db", "--yes-erase", "a.db", "--audit", "log")
        #expect(result.status == 0, "\(result)")
        #expect(tool.directory.fileNames() == ["a.db.upgrade.json", "a.key", "log", "other.db"])
        #expect(try tool.run("erase", "a.db", "--yes-erase", "a.db").status == 66)
    }

    @Test("erase refuses symbolic links and files with several hard links")
    func overwriting() throws {
        let tool = try Tool()
        try tool.makeDatabase()
        try FileManager.default.createSymbolicLink(
            atPath: tool.directory.path("link.db"), withDestinationPath: "a.db")
        #expect(try tool.run("erase", "link.db", "--yes-erase", "link.db").status == 73)
        // A descriptor in this process would count as a user of the file. A second name keeps the content
        // accessible, but must be removed first.
        try FileManager.default.linkItem(
            atPath: tool.directory.path("a.db"), toPath: tool.directory.path("hard.db"))
        #expect(try tool.run("erase", "a.db", "--yes-erase", "a.db").status == 73)
        #expect(tool.exists("a.db"))
    }
}
