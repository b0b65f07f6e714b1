import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Damaged files")
struct DamageTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Returns every row, by table and by index, or throws the error.
    private func content(_ name: String, _ configuration: Configuration = .rawKeyed) throws -> [String] {
        let queue = try directory.makeQueue(name, configuration)
        return try queue.read { db in
            try String.fetchAll(db, sql: "SELECT id || ':' || a || ':' || hex(b) FROM t ORDER BY id")
                + String.fetchAll(db, sql: "SELECT a FROM t INDEXED BY t_a ORDER BY a")
                + String.fetchAll(db, sql: "SELECT name || sql FROM sqlite_master ORDER BY name")
        }
    }

    /// Makes a small database with a two-level tree, an index, overflow pages and free pages.
    private func makeDatabase(_ name: String, _ configuration: Configuration = .rawKeyed) throws {
        let queue = try directory.makeQueue(name, configuration)
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB); CREATE INDEX t_a ON t (a)")
            for id in 1...60 {
                try db.execute(
                    sql: "INSERT INTO t VALUES (?, ?, ?)",
                    arguments: [id, "row \(id)", Data(repeating: UInt8(id), count: 50)])
            }
            try db.execute(sql: "UPDATE t SET b = zeroblob(9000) WHERE id = 7")
            try db.execute(sql: "CREATE TABLE u (a); INSERT INTO u VALUES (zeroblob(9000)); DELETE FROM u")
        }
    }

    private func expectTypedError(_ error: any Error, _ context: String) {
        guard let error = error as? DatabaseError else {
            Issue.record("\(context): \(error)")
            return
        }
        let known: [ResultCode] = [
            .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_ERROR,
        ]
        #expect(known.contains(error.resultCode), "\(context): \(error)")
        #expect(error.message?.isEmpty == false, "\(context)")
    }

    @Test(
        "a flipped bit in any region of any page causes a typed error or is never read: no wrong data",
        arguments: [1024, 4096])
    func flippedBits(pageSize: Int) throws {
        var random = SeededRandom("flips \(pageSize)")
        let configuration = Configuration.rawKeyed.with { $0.cipher.pageSize = pageSize }
        try makeDatabase("a.db", configuration)
        let intact = try directory.bytes(of: "a.db")
        let expected = try content("a.db", configuration)
        let pageCount = intact.count / pageSize
        try #require(pageCount > 8 && intact.count == pageCount * pageSize)
        var unnoticed = 0
        for page in 0..<pageCount {
            // The first bytes (the salt on page 1), content, IV, HMAC.
            let regions = [
                0..<16, 16..<pageSize - 80, pageSize - 80..<pageSize - 64, pageSize - 64..<pageSize,
            ]
            for region in regions {
                var bytes = intact
                let offset = page * pageSize + Int.random(in: region, using: &random)
                bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try directory.write(bytes, to: "b.db")
                do {
                    let read = try content("b.db", configuration)
                    if read != expected {
                        Issue.record("wrong data after a flip at \(offset) (seed \(random.seed))")
                    }
                    unnoticed += 1
                } catch {
                    expectTypedError(error, "a flip at \(offset) (seed \(random.seed))")
                    if page == 0 {
                        #expect(
                            (error as? DatabaseError)?.encryptionFailure == .damaged(pages: [1]),
                            "\(offset): \(error)")
                    }
                }
                #expect(try directory.bytes(of: "b.db") == bytes, "reading changed a damaged file")
            }
        }
        // Only flips in free pages go unnoticed.
        #expect(unnoticed < pageCount * 2)
    }

    @Test("a file that was cut anywhere gives a typed error, never wrong data, and stays unchanged")
    func truncation() throws {
        try makeDatabase("a.db")
        let intact = try directory.bytes(of: "a.db")
        let expected = try content("a.db")
        // SQLite treats a file of one byte as empty.
        var sizes = [2, 15, 16, 17, 100, 511, 512, 513, 1023, 1024, 2048, intact.count - 1]
        for page in 1..<intact.count / 4096 { sizes += [page * 4096 - 1, page * 4096, page * 4096 + 1] }
        for size in sizes {
            try directory.write(intact.prefix(size), to: "b.db")
            do {
                // The truncated page is free and is not read.
                #expect(try content("b.db") == expected, "\(size) bytes")
                #expect(size > intact.count - 2 * 4096, "\(size) bytes")
            } catch {
                expectTypedError(error, "\(size) bytes")
                #expect(
                    (error as? DatabaseError)?.encryptionFailure != nil || size > 4096,
                    "\(size) bytes: \(error)")
            }
            #expect(try directory.bytes(of: "b.db").count == size, "\(size) bytes")
        }
    }

    @Test("swapped pages cause a typed error, never wrong data")
    func movedPages() throws {
        try makeDatabase("a.db")
        let intact = try directory.bytes(of: "a.db")
        let expected = try content("a.db")
        let pages = stride(from: 0, to: intact.count, by: 4096).map { Array(intact[$0..<$0 + 4096]) }
        for index in 1..<pages.count - 1 {
            var swapped = pages
            swapped.swapAt(index, index + 1)
            try directory.write(swapped.flatMap { $0 }, to: "b.db")
            do {
                #expect(try content("b.db") == expected)
            } catch {
                expectTypedError(error, "pages \(index) and \(index + 1)")
            }
        }
    }

    @Test(
        "other files are distinguished: text, zeros, random bytes, a plaintext database, a key in the wrong format"
    )
    func otherFiles() throws {
        var random = SeededRandom("other files")
        let cases: [(String, [UInt8], EncryptionFailure)] = [
            (
                "text", Array(String(repeating: "This is a text, not a database.\n", count: 256).utf8),
                .notADatabase
            ),
            ("zeros", [UInt8](repeating: 0, count: 8192), .notADatabase),
            ("short", Array("abc".utf8), .notADatabase),
            ("random", random.bytes(8192), .wrongKey),
            ("plain", Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4080), .plaintextFile),
        ]
        for (name, bytes, reason) in cases {
            try directory.write(bytes, to: name)
            for access in Access.allCases {
                let error = #expect(throws: DatabaseError.self) { try directory.make(access, name) }
                #expect(error?.encryptionFailure == reason, "\(name): \(error as Any) (seed \(random.seed))")
                #expect(error?.resultCode == .SQLITE_NOTADB)
            }
            #expect(try directory.bytes(of: name) == bytes)
        }
        // One in several hundred random files looks like format 1 in WAL mode. Inspecting it leaves an empty
        // WAL.
        #expect(Set(directory.fileNames().filter { !$0.hasPrefix("random-") }) == Set(cases.map(\.0)))
    }

    @Test("a damaged write-ahead log loses commits from the damage on, and never shows anything else")
    func damagedLog() throws {
        var random = SeededRandom("log")
        do {
            let pool = try directory.makePool()
            try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            for value in 1...8 {
                try pool.write {
                    try $0.execute(sql: "INSERT INTO t VALUES (?), (?)", arguments: [value, value])
                }
            }
            for name in ["a.db", "a.db-wal"] {
                try directory.write(directory.bytes(of: name), to: name.replacing("a.db", with: "copy"))
            }
        }
        let database = try directory.bytes(of: "copy")
        let log = try directory.bytes(of: "copy-wal")
        try #require(log.count > 8 * 4096)
        var results: Set<Int> = []
        for _ in 0..<60 {
            var bytes = log
            let offset = Int.random(in: 0..<log.count, using: &random)
            bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try? FileManager.default.removeItem(atPath: directory.path("b.db-shm"))
            try directory.write(database, to: "b.db")
            try directory.write(bytes, to: "b.db-wal")
            do {
                let queue = try directory.makeQueue("b.db")
                let values = try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY rowid") }
                let count = values.count / 2
                let expected = (0..<count).flatMap { [$0 + 1, $0 + 1] }
                #expect(values == expected, "a flip at \(offset) (seed \(random.seed))")
                results.insert(count)
            } catch {
                expectTypedError(error, "a flip at \(offset) (seed \(random.seed))")
            }
        }
        #expect(results.count > 2)
    }

    @Test(
        "after a crash, a hot journal or WAL restores committed changes, and no uncommitted ones",
        arguments: Access.allCases)
    func crash(access: Access) throws {
        let configuration = Configuration.rawKeyed.with { $0.pageCacheSize = 8192 }
        do {
            let writer = try directory.make(access, "a.db", configuration)
            try writer.write { db in
                try db.execute(sql: "CREATE TABLE t (a, b)")
                for value in 1...100 {
                    try db.execute(sql: "INSERT INTO t VALUES (?, zeroblob(500))", arguments: [value])
                }
            }
            try writer.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.execute(sql: "UPDATE t SET a = -a, b = zeroblob(600); DELETE FROM t WHERE a < -50")
                    for name in directory.fileNames() where !name.hasSuffix("-shm") {
                        try directory.write(
                            directory.bytes(of: name), to: name.replacing("a.db", with: "b.db"))
                    }
                    return .rollback
                }
            }
        }
        #expect(directory.fileNames().contains(access == .queue ? "b.db-journal" : "b.db-wal"))
        let writer = try directory.make(access, "b.db", configuration)
        #expect(try writer.int("SELECT sum(a) FROM t") == 5050)
        #expect(try writer.problems().isEmpty)
    }
}
