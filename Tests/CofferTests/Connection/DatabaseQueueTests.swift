import Coffer
import Testing

@Suite("DatabaseQueue")
struct DatabaseQueueTests {
    @Test("rows that were written can be read, by position and by name")
    func writeAndRead() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score DOUBLE)")
            try db.execute(sql: "INSERT INTO t (name, score) VALUES (?, ?)", arguments: ["Arthur", 1.5])
            try db.execute(
                sql: "INSERT INTO t (name, score) VALUES (:name, :score)",
                arguments: ["name": "Barbara", "score": nil])
        }
        try queue.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM t ORDER BY id")
            #expect(rows.count == 2)
            #expect(rows[0] == ["id": 1, "name": "Arthur", "score": 1.5])
            #expect(rows[1]["NAME"] as String == "Barbara")
            #expect(rows[1][2] as Double? == nil)
        }
    }

    @Test("an error in a write rolls all of it back")
    func rollback() throws {
        struct Failure: Error {}
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(throws: Failure.self) {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                throw Failure()
            }
        }
        let count = try queue.read { try Row.fetchOne($0, sql: "SELECT COUNT(*) FROM t")?[0] as Int? }
        #expect(count == 0)
    }

    @Test("a read refuses to write")
    func readOnly() throws {
        let queue = try DatabaseQueue()
        #expect {
            try queue.read { try $0.execute(sql: "CREATE TABLE t (a)") }
        } throws: {
            ($0 as? DatabaseError)?.resultCode == .SQLITE_READONLY
        }
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
    }

    @Test("a task awaits reads and writes")
    func asynchronous() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") }
        let count = try await queue.read { try Row.fetchOne($0, sql: "SELECT COUNT(*) FROM t")?[0] as Int? }
        #expect(count == 2)
    }

    @Test("calling a queue inside its own access traps")
    func reentrancy() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            try queue.read { _ in try queue.read { _ in } }
        }
    }
}
