import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

@Suite("Backups with the same pages")
struct SamePagesTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 20000)
    }

    private func backUp(_ name: String) throws -> [ArraySlice<UInt8>] {
        let result = try tool.run(["backup", "a.db", name, "--same-pages"] + key)
        #expect(result.status == 0, "\(result)")
        let bytes = Array(try tool.directory.bytes(of: name))
        return stride(from: 0, to: bytes.count, by: 4096).map { bytes[$0..<min($0 + 4096, bytes.count)] }
    }

    @Test(
        "pages that were not written to are the same in the next backup, also while there is a log",
        arguments: [false, true])
    func unchangedPages(_ wal: Bool) throws {
        let pool = wal ? try tool.directory.makePool() : nil
        if let pool {
            try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        }
        let first = try backUp("first.db")
        let change = "UPDATE t SET text = 'changed' WHERE id BETWEEN 500 AND 700"
        if let pool {
            try pool.write { db in try db.execute(sql: change) }
        } else {
            _ = try tool.shell().run(change + ";")
        }
        let second = try backUp("second.db")
        // Also with a WAL that is checkpointed in between.
        if let pool { try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) } }
        let third = try backUp("third.db")
        try pool?.close()
        let changed = zip(first, second).count { $0 != $1 }
        #expect(
            first.count == second.count && changed > 0 && changed * 20 < first.count,
            "\(changed) of \(first.count)")
        #expect(second.elementsEqual(third) { $0 == $1 })
        #expect(
            try tool.shell("second.db").run(
                "SELECT count(*) FROM t WHERE text = 'changed'; PRAGMA integrity_check;") == ["201", "ok"])
        #expect(try tool.run(["diff", "a.db", "second.db"] + key).status == 0)
    }

    @Test("a backup during writes is one snapshot of the database")
    func besideWriter() throws {
        let pool = try tool.directory.makePool()
        // Every transaction preserves the sum.
        try pool.write { db in
            try db.execute(
                sql: "CREATE TABLE sum (id INTEGER PRIMARY KEY, n); INSERT INTO sum VALUES (1, 500), (2, 500)"
            )
        }
        let isDone = Atomic<Bool>(false)
        let writer = Thread {
            while !isDone.load(ordering: .relaxed) {
                try? pool.write { db in
                    try db.execute(
                        sql:
                            "UPDATE sum SET n = n + (id * 2 - 3); UPDATE t SET text = random() WHERE id % 97 = 0"
                    )
                }
            }
            isDone.store(false, ordering: .relaxed)
        }
        writer.start()
        for index in 1...5 {
            _ = try backUp("\(index).db")
            #expect(
                try tool.shell("\(index).db").run("SELECT sum(n) FROM sum; PRAGMA integrity_check;") == [
                    "1000", "ok",
                ])
        }
        isDone.store(true, ordering: .relaxed)
        while isDone.load(ordering: .relaxed) { Thread.sleep(forTimeInterval: 0.01) }
        try pool.close()
    }

    @Test("another key and damage are refused")
    func refusals() throws {
        try tool.writeKey("b.key", 0x43)
        let arguments = ["backup", "a.db", "b.db", "--same-pages"] + key
        #expect(try tool.run(arguments + ["--new-key-file", "b.key", "--new-key-type", "raw"]).status == 64)
        var bytes = Array(try tool.directory.bytes(of: "a.db"))
        bytes[5 * 4096 + 9] ^= 1
        try tool.directory.write(bytes, to: "a.db")
        #expect(try tool.run(arguments).status == 65)
        #expect(!tool.exists("b.db"))
    }
}
