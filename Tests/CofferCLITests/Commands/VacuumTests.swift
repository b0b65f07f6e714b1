import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Vacuuming in place")
struct VacuumTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase("a.db", rows: 20)
        let queue = try tool.directory.makeQueue()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = 77; PRAGMA user_version = 5")
        }
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE loose (data BLOB); CREATE INDEX loose_length ON loose (length(data))")
            for row in 1...3000 {
                try db.execute(
                    sql: "INSERT INTO loose (rowid, data) VALUES (?, randomblob(2000))", arguments: [row * 7])
            }
            try db.execute(sql: "DELETE FROM loose WHERE rowid % 2 = 0")
        }
        try queue.close()
    }

    private static let facts = """
        SELECT count(*), sum(rowid) FROM loose; SELECT hex(data) FROM loose WHERE rowid = 7; SELECT count(*) \
        FROM t;
        PRAGMA user_version; PRAGMA application_id; PRAGMA integrity_check; PRAGMA cipher_integrity_check;
        """

    @Test(
        "vacuum removes free pages, keeps rows, row IDs, versions and modes, and writes a new salt",
        arguments: ["delete", "wal"])
    func content(journal: String) throws {
        _ = try tool.shell().run("PRAGMA journal_mode = \(journal);")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: tool.directory.path("a.db"))
        let (facts, before) = try (tool.shell().run(Self.facts), tool.directory.bytes(of: "a.db"))
        let result = try tool.run(["vacuum", "a.db", "--json"] + key)
        #expect(result.status == 0, "\(result)")
        #expect(try Schema.problems(result) == [])
        let after = try tool.directory.bytes(of: "a.db")
        #expect(after.count < before.count * 2 / 3)
        #expect(after.prefix(16) != before.prefix(16))
        #expect(try tool.shell().run(Self.facts) == facts)
        #expect(try tool.shell().run("PRAGMA journal_mode; PRAGMA freelist_count;") == [journal, "0"])
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("a.db"))[.posixPermissions]
            as? Int
        #expect(mode == 0o640)
        #expect(!tool.directory.fileNames().contains { $0.contains("vacuum") })
    }

    @Test(
        "a signal leaves the file unchanged, and the same command completes the work with progress",
        arguments: [SIGINT, SIGTERM])
    func interruption(number: Int32) throws {
        let before = try tool.directory.bytes(of: "a.db")
        let vacuum = try tool.start(["vacuum", "a.db", "--json", "--progress", "always"] + key)
        while vacuum.isRunning, !vacuum.text(of: "output").contains("progress") { usleep(200) }
        vacuum.send(number)
        let result = vacuum.wait()
        #expect(result.status == 128 + number, "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(try tool.directory.bytes(of: "a.db") == before)
        #expect(tool.directory.fileNames() == ["a.db", "a.key"])
        let complete = try tool.run(["vacuum", "a.db", "--json", "--progress", "always"] + key)
        #expect(complete.status == 0)
        let progress = try complete.objects.filter { $0["phase"] as? String == "copying" }.compactMap {
            $0["completed"] as? Int
        }
        #expect(progress == progress.sorted())
        #expect(!progress.isEmpty)
    }

    @Test(
        "a run killed at any step leaves the file intact, and the same command completes the work",
        arguments: [
            "note-made", "locked", "copy-created", "copying", "copied", "verified", "copy-synchronized",
            "renamed",
            "directory-synchronized",
            "audited",
        ])
    func killing(point: String) throws {
        let facts = try tool.shell().run(Self.facts)
        #expect(
            try tool.run(["vacuum", "a.db"] + key, environment: ["COFFER_FAIL_POINT": point]).status
                == -SIGKILL)
        // The check uses a copy, which does not replay the leftovers.
        try tool.directory.write(tool.directory.bytes(of: "a.db"), to: "copy.db")
        #expect(try tool.shell("copy.db").run(Self.facts) == facts)
        try FileManager.default.removeItem(atPath: tool.directory.path("copy.db"))
        #expect(try tool.run(["vacuum", "a.db"] + key).status == 0)
        #expect(try tool.shell().run(Self.facts + "PRAGMA freelist_count;") == facts + ["0"])
        #expect(tool.directory.fileNames() == ["a.db", "a.key"])
    }

    @Test("a file in use, a wrong key or a full disk leaves the file unchanged")
    func refusals() throws {
        let before = try tool.directory.bytes(of: "a.db")
        let queue = try tool.directory.makeQueue()
        try queue.read { _ in }
        #expect(try tool.run(["vacuum", "a.db", "--lock-timeout", "0"] + key).status == 75)
        try queue.close()
        try tool.writeKey("b.key", 0x43)
        #expect(try tool.run("vacuum", "a.db", "--key-file", "b.key", "--key-type", "raw").status == 77)
        let limited = "ulimit -f 1000; exec '\(Tool.program)' vacuum a.db --key-file a.key --key-type raw"
        let full = try tool.run(["-c", limited], program: "/bin/sh")
        #expect(full.status == 74, "\(full)")
        #expect(try tool.directory.bytes(of: "a.db") == before)
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key"])
        let plan = try tool.run(["vacuum", "a.db", "--dry-run", "--json"] + key)
        #expect(plan.status == 0)
        #expect(try plan.objects.contains { ($0["free_pages_before"] as? Int ?? 0) > 500 })
        #expect(try tool.directory.bytes(of: "a.db") == before)
    }
}
