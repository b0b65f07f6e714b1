import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Rotating")
struct RotateTests {
    private let tool: Tool
    private let keys = [
        "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key", "--new-key-type", "raw",
    ]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 100)
        try tool.writeKey("b.key", 0x43)
    }

    @Test("the new key opens the file afterwards, the old one does not, and the content is the same")
    func rotating() throws {
        let before = try tool.shell().run("SELECT * FROM t;")
        let result = try tool.run(["rotate", "a.db"] + keys)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("a.db: rotated"))
        #expect(result.output.contains("proved"))
        #expect(try tool.shell("a.db", 0x43).run("SELECT * FROM t; PRAGMA cipher_integrity_check;") == before)
        #expect(throws: SQLCipherShell.Failure.self) { try tool.shell().run("SELECT * FROM t;") }
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key"])
    }

    @Test("a second rotation with the same keys changes nothing, and reports that")
    func twice() throws {
        #expect(try tool.run(["rotate", "a.db"] + keys).status == 0)
        let bytes = try tool.directory.bytes(of: "a.db")
        let second = try tool.run(["rotate", "a.db", "--json"] + keys)
        #expect(second.status == 0)
        #expect(try second.objects.first { $0["type"] as? String == "result" }?["changed"] as? Bool == false)
        #expect(try tool.directory.bytes(of: "a.db") == bytes)
    }

    @Test("a wrong key, a missing file and equal keys change nothing")
    func refusals() throws {
        let bytes = try tool.directory.bytes(of: "a.db")
        try tool.writeKey("c.key", 0x44)
        let wrong = try tool.run(
            "rotate", "a.db", "--key-file", "c.key", "--key-type", "raw", "--new-key-file", "b.key",
            "--new-key-type", "raw")
        #expect(wrong.status == 77)
        let same = try tool.run(
            "rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "a.key",
            "--new-key-type", "raw")
        #expect(same.status == 64)
        #expect(try tool.run(["rotate", "none.db"] + keys).status == 66)
        #expect(try tool.directory.bytes(of: "a.db") == bytes)
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key", "c.key"])
    }

    @Test("a database that is being written to is busy")
    func busy() throws {
        let queue = try tool.directory.makeQueue()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            let result = try tool.run(["rotate", "a.db", "--lock-timeout", "0.1"] + keys)
            #expect(result.status == 75)
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        #expect(try tool.run(["rotate", "a.db"] + keys).status == 0)
    }

    @Test("several files share the keys; one that fails does not stop the others")
    func severalFiles() throws {
        try tool.makeDatabase("b.db")
        let result = try tool.run(["rotate", "a.db", "a.key", "b.db", "--json"] + keys)
        #expect(result.status == 3)
        #expect(try tool.shell("a.db", 0x43).run("SELECT count(*) FROM t;") == ["100"])
        #expect(try tool.shell("b.db", 0x43).run("SELECT count(*) FROM t;") == ["1"])
    }

    @Test("--keep-old keeps the file with the old key")
    func keepingOld() throws {
        #expect(try tool.run(["rotate", "a.db", "--keep-old", "old.db"] + keys).status == 0)
        #expect(try tool.shell("old.db").run("SELECT count(*) FROM t;") == ["100"])
        #expect(try tool.shell("a.db", 0x43).run("SELECT count(*) FROM t;") == ["100"])
    }

    @Test("a dry run tries the keys, lists the steps, and changes nothing")
    func dryRun() throws {
        let bytes = try tool.directory.bytes(of: "a.db")
        let plan = try tool.run(["rotate", "a.db", "--dry-run"] + keys)
        #expect(plan.status == 0, "\(plan)")
        #expect(plan.output.contains("nothing was changed"))
        #expect(plan.output.contains("  1. "))
        let wrong = try tool.run(
            "rotate", "a.db", "--dry-run", "--key-stdin", "--new-key-file", "b.key", "--new-key-type", "raw",
            input: "wrong")
        #expect(wrong.status == 77)
        #expect(try tool.directory.bytes(of: "a.db") == bytes)
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key"])
    }

    @Test("in place the salt stays, and the key changes")
    func inPlace() throws {
        let salt = try tool.directory.bytes(of: "a.db").prefix(16)
        let result = try tool.run(["rotate", "a.db", "--in-place"] + keys)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.directory.bytes(of: "a.db").prefix(16) == salt)
        #expect(
            try tool.shell("a.db", 0x43).run("SELECT count(*) FROM t; PRAGMA cipher_integrity_check;") == [
                "100"
            ])
        #expect(throws: SQLCipherShell.Failure.self) { try tool.shell().run("SELECT * FROM t;") }
    }

    @Test("a raw key can be replaced by a passphrase")
    func keyTypes() throws {
        try tool.write("open sesame\n", to: "words")
        #expect(
            try tool.run(
                "rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "words"
            ).status == 0)
        let shell = SQLCipherShell(path: tool.directory.path("a.db"), passphrase: "open sesame")
        #expect(try shell.run("SELECT count(*) FROM t;") == ["100"])
    }

    @Test("a signal ends a rotation with every file whole, and the same command completes it")
    func interruption() throws {
        try tool.makeDatabase("big.db")
        let queue = try tool.directory.makeQueue("big.db")
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE blob (data BLOB)")
            for _ in 0..<30 { try db.execute(sql: "INSERT INTO blob VALUES (randomblob(1000000))") }
        }
        try queue.close()
        for (number, status) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            let rotation = try tool.start(["rotate", "big.db", "--json", "--progress", "always"] + keys)
            while !rotation.text(of: "output").contains("progress") { usleep(500) }
            rotation.send(number)
            let result = rotation.wait()
            #expect(result.status == status, "\(result)")
            #expect(try Schema.problems(result) == [])
            #expect(try tool.shell("big.db").run("SELECT count(*) FROM blob;") == ["30"])
        }
        #expect(try tool.run(["rotate", "big.db"] + keys).status == 0)
        #expect(try tool.shell("big.db", 0x43).run("SELECT count(*) FROM blob;") == ["30"])
    }

    @Test("a rotation that is killed is completed by the same command")
    func killing() throws {
        var random = SeededRandom("kills of rotations")
        let (blobs, runs) = (8, Nightly.pick(100, byDay: 6))
        let queue = try tool.directory.makeQueue("big.db")
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE blob (data BLOB)")
            for _ in 0..<blobs { try db.execute(sql: "INSERT INTO blob VALUES (randomblob(1000000))") }
        }
        try queue.close()
        var (old, new) = (UInt8(0x42), UInt8(0x43))
        for _ in 0..<runs {
            try tool.writeKey("old.key", old)
            try tool.writeKey("new.key", new)
            let arguments = [
                "rotate", "big.db", "--key-file", "old.key", "--key-type", "raw", "--new-key-file", "new.key",
                "--new-key-type", "raw",
            ]
            let rotation = try tool.start(arguments)
            usleep(UInt32.random(in: 10_000...400_000, using: &random))
            rotation.send(SIGKILL)
            _ = rotation.wait()
            let second = try tool.run(arguments)
            #expect(second.status == 0, "\(second)")
            #expect(try tool.shell("big.db", new).run("SELECT count(*) FROM blob;") == ["\(blobs)"])
            #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key", "big.db", "new.key", "old.key"])
            swap(&old, &new)
        }
    }
}
