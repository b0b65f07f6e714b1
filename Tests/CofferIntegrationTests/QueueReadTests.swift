import Coffer
import CofferTestSupport
import Testing

/// A queue keeps rejecting writes between reads, because a change of the setting would make SQLite recompile
/// all statements.
@Suite("Consecutive reads of a queue", .timeLimit(.minutes(Patience.minutes)))
struct QueueReadTests {
    private let directory: TestDirectory
    private let queue: DatabaseQueue

    init() throws {
        directory = try TestDirectory()
        queue = try directory.makeQueue("vault.db", .rawKeyed)
        try queue.write { try $0.execute(sql: "CREATE TABLE item (name TEXT)") }
    }

    private func refuses(_ db: Database) -> Bool {
        do {
            try db.execute(sql: "INSERT INTO item VALUES ('refused')")
            return false
        } catch {
            return (error as? DatabaseError)?.resultCode == .SQLITE_READONLY
        }
    }

    @Test("refuse to write, and any later access can write")
    func writesBetween() throws {
        let writes: [(DatabaseQueue) throws -> Void] = [
            { try $0.write { try $0.execute(sql: "INSERT INTO item VALUES ('a')") } },
            { try $0.inDatabase { try $0.execute(sql: "INSERT INTO item VALUES ('a')") } },
            { try $0.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO item VALUES ('a')") } },
            {
                try $0.barrierWriteWithoutTransaction { try $0.execute(sql: "INSERT INTO item VALUES ('a')") }
            },
            { try $0.unsafeRead { try $0.execute(sql: "INSERT INTO item VALUES ('a')") } },
            { try $0.unsafeReentrantWrite { try $0.execute(sql: "INSERT INTO item VALUES ('a')") } },
            { try $0.unsafeReentrantRead { try $0.execute(sql: "INSERT INTO item VALUES ('a')") } },
            {
                try $0.inTransaction { db in
                    try db.execute(sql: "INSERT INTO item VALUES ('a')")
                    return .commit
                }
            },
        ]
        for write in writes {
            for _ in 0..<2 { try queue.read { #expect(refuses($0)) } }
            try write(queue)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == writes.count)
        try queue.vacuum()
        try queue.close()
    }

    @Test("awaited reads refuse to write, and awaited writes write")
    func awaitedWrites() async throws {
        for _ in 0..<2 { try await queue.read { #expect(refuses($0)) } }
        try await queue.write { try $0.execute(sql: "INSERT INTO item VALUES ('a')") }
        try await queue.read { #expect(refuses($0)) }
        try await queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO item VALUES ('a')") }
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 2)
    }

    @Test("a read refuses to write even if the previous read executed PRAGMA query_only = 0")
    func ownPragma() throws {
        for _ in 0..<2 {
            try queue.read { try $0.execute(sql: "PRAGMA query_only = 0") }
            try queue.read { #expect(refuses($0)) }
            try queue.write { try $0.execute(sql: "INSERT INTO item VALUES ('a')") }
        }
    }

    @Test("a read-only block inside a write does not make the write read-only")
    func nested() throws {
        try queue.read { _ in }
        try queue.write { db in
            try db.readOnly { #expect(refuses(db)) }
            try db.execute(sql: "INSERT INTO item VALUES ('a')")
        }
        try queue.read { db in
            try db.readOnly { #expect(refuses(db)) }
            #expect(refuses(db))
        }
    }

    @Test("a statement that is kept stays the same from read to read")
    func keptStatements() throws {
        // All statements must be retained, because a new one could have the address of a released one.
        var statements: [Statement] = []
        for _ in 0..<4 {
            try queue.read { db in
                statements.append(try db.cachedStatement(sql: "SELECT name FROM item"))
                #expect(statements.last === statements.first)
            }
        }
        queue.inDatabase { _ in statements = [] }
    }
}
