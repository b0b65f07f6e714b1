import Coffer
import CofferTestSupport
import Foundation
import Glibc
import Testing

@Suite("Restoring")
struct RestoreTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `safe.db`, a backup with 50 rows, and `a.db`, which has one row more.
    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 50)
        try tool.writeKey("b.key", 0x43)
        #expect(try tool.run(["backup", "a.db", "safe.db"] + key).status == 0)
        _ = try tool.shell().run("INSERT INTO t (text) VALUES ('later');")
    }

    private func restore(_ arguments: String..., environment: [String: String] = [:]) throws -> Tool.Result {
        try tool.run(["restore", "safe.db", "a.db"] + arguments + key, environment: environment)
    }

    private func rowCount(_ name: String = "a.db", _ byte: UInt8 = 0x42) throws -> String {
        try tool.shell(name, byte).run(
            "SELECT count(*) + 1000 * sum(text = 'lost') FROM t; PRAGMA integrity_check;"
        ).joined(separator: " ")
    }

    private func kept() -> [String] { tool.directory.fileNames().filter { $0.contains(".replaced-") } }

    private func bytes(_ name: String = "a.db") throws -> [UInt8] {
        Array(try tool.directory.bytes(of: name))
    }

    private func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(
            atPath: tool.directory.path(name), toPath: tool.directory.path(other))
    }

    /// Leaves `a.db` as a process that is killed does: with rows in a WAL, or with a transaction to roll
    /// back.
    private func interruptWriter(wal: Bool) throws {
        let queue = try tool.directory.makeQueue()
        try queue.writeWithoutTransaction { db in
            if wal {
                try db.execute(
                    sql:
                        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; INSERT INTO t (text) VALUES ('in the log')"
                )
            } else {
                try db.execute(sql: "INSERT INTO t (text) VALUES ('before'); PRAGMA cache_size = 2; BEGIN")
                // The first pages are written early, because the cache has no room for them.
                try db.execute(
                    sql: """
                        UPDATE t SET text = 'lost' WHERE id < 50;
                        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                        INSERT INTO t (text) SELECT hex(randomblob(200)) FROM n;
                        """)
            }
            for ending in ["", wal ? "-wal" : "-journal"] {
                try tool.directory.write(try bytes("a.db\(ending)"), to: "left\(ending)")
            }
            if !wal { try db.execute(sql: "ROLLBACK") }
        }
        try queue.close()
        for name in ["a.db", "a.db-wal", "a.db-journal", "a.db-shm"] {
            _ = unsafe unlink(tool.directory.path(name))
        }
        for ending in ["", wal ? "-wal" : "-journal"] { try move("left\(ending)", to: "a.db\(ending)") }
    }

    private static let rotation = [
        "rotate", "a.db", "--new-key-file", "b.key", "--new-key-type", "raw",
    ]

    @Test(
        "no file gets a name that SQLite or Coffer would treat as part of a database",
        arguments: [
            ["restore", "safe.db", "a.db", "--keep-old", "a.db-wal"],
            ["restore", "safe.db", "a.db", "--keep-old", "safe.db-journal"],
            ["restore", "safe.db", "a.db", "--keep-old", "a.db.keys"],
            ["restore", "safe.db", "a.db", "--keep-old", "a.db.rotate.json"],
            // The names of the notes of a restore and of a rotation of a.db.
            ["restore", "safe.db", "a.db", "--keep-old", ".coffer-6a96638279d7a0ac.note"],
            rotation + ["--keep-old", ".coffer-6a96638279d7a0ac-rotate.note"],
            ["backup", "a.db", ".coffer-6a96638279d7a0ac.note"],
            ["restore", "safe.db", ".coffer-6a96638279d7a0ac.note"],
            // The name of the keyring of a.db, which has none.
            rotation + ["--keep-old", "a.db.keys"], ["backup", "safe.db", "a.db.keys"],
            ["dump", "safe.db", "--out", "a.db.keys", "--yes-plaintext"], ["create", "a.db.keys"],
            ["create", ".coffer-new.db"], ["dump", "a.db", "--out", ".coffer-x", "--yes-plaintext"],
            // The mark and the hyphen are one character.
            ["backup", "a.db", "x\u{600}-wal"], ["dump", "a.db", "--out", "x\u{600}-shm", "--yes-plaintext"],
            rotation + ["--keep-old", "a.db-shm"],
            ["backup", "a.db", "a.db-wal"],
            ["recover", "a.db", "a.db-journal"], ["decrypt", "a.db", "a.db-wal", "--yes-plaintext"],
            ["create", "a.db-wal"], ["dump", "a.db", "--out", "a.db-journal", "--yes-plaintext"],
            ["import", "a.db", "t", "--from", "a.key", "--rejects", "a.db-journal"],
        ])
    func namesOfSideFiles(arguments: [String]) throws {
        let names = tool.directory.fileNames()
        let (before, safe) = try (bytes(), bytes("safe.db"))
        let result = try tool.run(arguments + key)
        #expect(result.status != 0)
        #expect(
            result.errors.contains("Choose another name"), "\(result.errors)")
        #expect(tool.directory.fileNames() == names)
        #expect(try bytes() == before)
        #expect(try bytes("safe.db") == safe)
    }

    @Test(
        "a backup takes the place of the database, with its mode and a fresh salt, and the old file is kept")
    func restoring() throws {
        try #require(unsafe chmod(tool.directory.path("a.db"), 0o640) == 0)
        let old = try bytes()
        let plan = try restore("--dry-run", "--json")
        #expect(plan.status == 0 && kept().isEmpty, "\(plan)")
        #expect(try Schema.problems(plan) == [])
        let result = try restore("--json", "--audit", "log")
        #expect(result.status == 0, "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(try rowCount() == "50 ok")
        #expect(try bytes("safe.db").prefix(16) != bytes().prefix(16))
        var status = stat()
        #expect(
            unsafe stat(tool.directory.path("a.db"), &status) == 0 && status.st_mode & 0o777 == 0o640
                && status.st_nlink == 1)
        let name = try #require(kept().first)
        #expect(try bytes(name) == old && kept().count == 1)
        #expect(try tool.text(of: "log").contains("content_digest"))
        // The second run overwrites nothing either, and the key may differ.
        #expect(try restore("--new-key-file", "b.key", "--new-key-type", "raw").status == 0)
        #expect(try rowCount("a.db", 0x43) == "50 ok" && kept().count == 2)
        #expect(try tool.run(["restore", "safe.db", "a.db", "--keep-old", name] + key).status == 73)
        #expect(!tool.directory.fileNames().contains { $0.contains(".coffer-") })
    }

    @Test("a backup from before a rotation is restored and compared with its former key")
    func previousKey() throws {
        let other = ["--key-file", "b.key", "--key-type", "raw"]
        #expect(try tool.run(["restore", "safe.db", "a.db"] + other).status == 77)
        let both = other + ["--previous-key-file", "a.key"]
        let result = try tool.run(
            ["restore", "safe.db", "a.db", "--new-key-file", "b.key", "--new-key-type", "raw"] + both)
        #expect(result.status == 0, "\(result)")
        #expect(try rowCount("a.db", 0x43) == "50 ok")
        #expect(try tool.run(["diff", "safe.db", "a.db"] + both).status == 0)
        #expect(try tool.run(["diff", "safe.db", "a.db"] + other).status == 77)
    }

    @Test("a name that a power loss left of the merged copy does not keep the database from opening")
    func interruptedRenaming() throws {
        try interruptWriter(wal: true)
        let killed = try restore(environment: ["COFFER_FAIL_POINT": "journal-left"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        let note = try #require(tool.directory.fileNames().first { $0.hasSuffix(".lock") })
        let content = try JSONSerialization.jsonObject(with: Data(tool.directory.bytes(of: note)))
        let run = try #require((content as? [String: Any])?["id"] as? String)
        try FileManager.default.linkItem(
            atPath: tool.directory.path("a.db"),
            toPath: tool.directory.path("\(note.dropLast(".lock".count))-\(run).old"))
        let count = try tool.run(
            ["query", "a.db", "SELECT count(*) FROM t", "--format", "csv", "--no-header", "--write"] + key)
        #expect(count.status == 0 && count.output == "52\n", "\(count)")
        #expect(try restore().status == 0)
        #expect(!tool.directory.fileNames().contains { $0.contains(".coffer-") })
    }

    @Test("a database in use is left alone, and the process is named")
    func inUse() throws {
        let before = try bytes()
        let queue = try tool.directory.makeQueue()
        let result = try restore("--lock-timeout", "0")
        #expect(result.status == 75 && result.errors.contains("process \(getpid())"), "\(result)")
        try queue.close()
        #expect(try bytes() == before && kept().isEmpty)
    }

    @Test("a damaged, truncated or empty backup, or one with another key, replaces nothing", arguments: 0..<4)
    func badBackup(_ kind: Int) throws {
        let before = try bytes()
        var backup = try bytes("safe.db")
        switch kind {
        case 0: backup[4096 + 700] ^= 1
        case 1: backup.removeLast(4096)
        case 2: backup = []
        default: try tool.writeKey("a.key", 0x44)
        }
        try tool.directory.write(backup, to: "safe.db")
        let result = try restore()
        #expect(result.status == (kind == 3 ? 77 : 65), "\(result)")
        // The database is not at fault.
        #expect(result.errors.hasPrefix("coffer: safe.db: error: "), "\(result)")
        let error = try restore("--json").objects.first { $0["type"] as? String == "error" }
        #expect(error?["path"] as? String == "safe.db")
        #expect(try bytes() == before && kept().isEmpty)
        #expect(!tool.directory.fileNames().contains { $0.contains(".coffer-") })
    }

    @Test("a backup that is missing is named, and a database that is in use as well")
    func names() throws {
        let missing = try tool.run(["restore", "none.db", "a.db", "--json"] + key)
        #expect(missing.status == 66 && !missing.errors.contains("a.db"), "\(missing)")
        let queue = try tool.directory.makeQueue()
        let busy = try restore("--lock-timeout", "0", "--json")
        try queue.close()
        #expect(busy.status == 75, "\(busy)")
        let paths = try [missing, busy].map { result in
            try result.objects.first { $0["type"] as? String == "error" }?["path"] as? String
        }
        #expect(paths == ["none.db", "a.db"])
    }

    @Test("any destination file is replaced, and kept byte for byte", arguments: 0..<5)
    func anyDestination(_ kind: Int) throws {
        var old = try bytes()
        switch kind {
        case 0: old[4096 + 700] ^= 1
        case 1: old = []
        case 2: old = Array("my notes".utf8)
        case 3: old = Array(old.prefix(5000))
        default: break
        }
        try tool.directory.write(old, to: "a.db")
        if kind == 4 {
            _ = unsafe unlink(tool.directory.path("a.db"))
            try tool.write("a log of what was there", to: "a.db-wal")
        }
        let result = try restore()
        #expect(result.status == 0, "\(result)")
        #expect(try rowCount() == "50 ok")
        #expect(!tool.exists("a.db-wal"))
        let name = try #require(kept().first)
        #expect(
            try kept().count == 1 && bytes(name) == (kind == 4 ? Array("a log of what was there".utf8) : old))
    }

    @Test("links are not followed, and a file is not restored from itself")
    func places() throws {
        try FileManager.default.createSymbolicLink(
            atPath: tool.directory.path("link.db"), withDestinationPath: "a.db")
        #expect(try tool.run(["restore", "safe.db", "link.db"] + key).status == 73)
        #expect(try tool.run(["restore", "a.db", "a.db"] + key).status == 64)
        #expect(try tool.run(["restore", "safe.db", "none/a.db"] + key).status == 66)
        #expect(try tool.run(["restore", "none.db", "a.db"] + key).status == 66)
        #expect(try rowCount() == "51 ok" && kept().isEmpty)
        #expect(try tool.run(["restore", "safe.db", "new.db"] + key).status == 0)
        #expect(try rowCount("new.db") == "50 ok")
    }

    @Test(
        "the log or the journal of the old database goes with it, and never to the new one",
        arguments: [true, false])
    func leftovers(_ wal: Bool) throws {
        try interruptWriter(wal: wal)
        let old = (try bytes(), try bytes("a.db\(wal ? "-wal" : "-journal")"))
        let result = try restore()
        #expect(result.status == 0, "\(result)")
        #expect(try rowCount() == "50 ok")
        let name = try #require(kept().min())
        #expect(try kept().count == 2 && bytes(name) == old.0 && bytes(kept().max() ?? "") == old.1)
        #expect(
            try rowCount(name) == "52 ok",
            "the old database with what it had in its log, or without what was not committed")
        #expect(!tool.directory.fileNames().contains { $0.contains(".coffer-") })
    }

    @Test(
        "a restore killed at any step leaves the whole old or new database, and the next run completes it",
        arguments: [
            "copy-created", "copied", "verified", "copy-synchronized", "old-kept", "journal-left", "locked",
            "renamed",
            "directory-synchronized", "audited",
        ], [true, false])
    func crashes(_ point: String, _ wal: Bool) throws {
        try interruptWriter(wal: wal)
        let result = try restore(environment: ["COFFER_FAIL_POINT": point])
        #expect(result.status == -SIGKILL, "\(result)")
        // Another program's view is examined in a copy of all files.
        for ending in ["", "-wal", "-journal"] where tool.exists("a.db\(ending)") {
            try tool.directory.write(try bytes("a.db\(ending)"), to: "look.db\(ending)")
        }
        let isNew = ["renamed", "directory-synchronized", "audited"].contains(point)
        #expect(try rowCount("look.db") == (isNew ? "50 ok" : "52 ok"))
        let again = try restore()
        #expect(again.status == 0, "\(again)")
        #expect(try rowCount() == "50 ok")
        #expect(
            !tool.directory.fileNames().contains { $0.contains(".coffer-") }, "\(tool.directory.fileNames())")
        // The kept file of the interrupted run is also the complete old database, with its WAL or journal.
        let counts = try kept().filter { $0.hasSuffix("Z") }.map { try rowCount($0) }
        #expect(counts.contains("52 ok") && (isNew || Set(counts).count == 1), "\(kept()) \(counts)")
        var status = stat()
        #expect(unsafe stat(tool.directory.path("a.db"), &status) == 0 && status.st_nlink == 1)
    }

    @Test("a log without its database is kept, and named")
    func orphanLog() throws {
        try interruptWriter(wal: true)
        try move("a.db", to: "elsewhere")
        let result = try restore()
        #expect(try result.status == 0 && kept().count == 1 && rowCount() == "50 ok", "\(result)")
        #expect(result.output.contains(kept()[0]), "\(result)")
    }

    @Test("a side file that cannot be moved is detected before anything changes")
    func directoryBeside() throws {
        try interruptWriter(wal: true)
        let before = (try bytes(), try bytes("a.db-wal"))
        _ = try tool.directory.makeFolder("a.db-shm")
        let result = try restore()
        #expect(
            try result.status != 0 && kept().isEmpty && bytes() == before.0 && bytes("a.db-wal") == before.1,
            "\(result)")
        #expect(result.errors.contains("a.db-shm"))
    }

    @Test(
        "a step that fails after the log was merged leaves the whole old database, and nothing else",
        arguments: ["journal-left", "locked"], [true, false])
    func failuresAfterMerging(_ point: String, _ wal: Bool) throws {
        try interruptWriter(wal: wal)
        let result = try restore(environment: ["COFFER_FAIL_POINT": "\(point):error"])
        #expect(result.status == 74, "\(result)")
        #expect(kept().isEmpty && !tool.directory.fileNames().contains { $0.contains(".coffer-") })
        #expect(try rowCount() == "52 ok")
    }

    @Test(
        "a step that fails before the replacement leaves the old file unchanged",
        arguments: ["copied", "old-kept", "locked"])
    func failures(_ point: String) throws {
        let before = try bytes()
        #expect(try restore(environment: ["COFFER_FAIL_POINT": "\(point):error"]).status == 74)
        #expect(try bytes() == before && kept().isEmpty, "\(tool.directory.fileNames())")
        #expect(!tool.directory.fileNames().contains { $0.contains(".coffer-") })
    }
}
