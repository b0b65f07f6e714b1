import SQLCipherBridge
import Synchronization
import Testing

@testable import Coffer

@Suite("The statement cache of a connection")
struct StatementStoreTests {
    private static let limit = 2 * 1024 * 1024

    private func list(_ count: Int) -> String {
        "SELECT 1 IN (\(Array(repeating: "?", count: count).joined(separator: ",")))"
    }

    @Test("hundreds of usual statements are all kept")
    func manyStatements() throws {
        try DatabaseQueue().read { db throws in
            let texts = (0..<500).map { "SELECT \($0), ?" }
            let first = try texts.map { try db.cachedStatement(sql: $0) }
            let again = try texts.map { try db.cachedStatement(sql: $0) }
            #expect(zip(first, again).allSatisfy { $0 === $1 })
            #expect(db.statementCaches[.application].count == texts.count)
        }
    }

    @Test(
        "a statement in use is not handed out again, and a function in it can request the same SQL"
    )
    func statementInUse() throws {
        let queue = try DatabaseQueue()
        let sql = "SELECT f(x), x, 'text ' || x FROM (SELECT 1 AS x UNION SELECT 2 UNION SELECT 3) ORDER BY 3"
        let depth = Mutex(0)
        let function = DatabaseFunction("f", argumentCount: 1) { _ in
            let isOutermost = depth.withLock { depth in
                defer { depth += 1 }
                return depth == 0
            }
            defer { depth.withLock { $0 -= 1 } }
            guard isOutermost else { return 0 }
            return try queue.unsafeReentrantRead { try Row.fetchAll($0.cachedStatement(sql: sql)).count }
        }
        try queue.inDatabase { db in
            db.add(function: function)
            #expect(try Int.fetchAll(db.cachedStatement(sql: sql)) == [3, 3, 3])
            let text = "SELECT 1 UNION SELECT 2"
            let cursor = try Int.fetchCursor(db.cachedStatement(sql: text))
            #expect(try cursor.next() == 1)
            #expect(try Int.fetchAll(db.cachedStatement(sql: text)) == [1, 2])
            #expect(try cursor.next() == 2)
        }
    }

    @Test("statements with long lists are evicted at the memory limit, and still work")
    func longStatements() throws {
        try DatabaseQueue().read { db throws in
            var largestMemory = 0
            for count in 500..<800 {
                let statement = try db.cachedStatement(sql: list(count))
                #expect(try Bool.fetchOne(statement, arguments: StatementArguments(Array(1...count))) == true)
                largestMemory = max(largestMemory, db.statementCaches[.application].memory)
            }
            // The limit was reached but not exceeded.
            #expect(largestMemory > Self.limit / 2)
            #expect(largestMemory <= Self.limit)
            #expect((1..<300).contains(db.statementCaches[.application].count))
        }
    }

    @Test("requests with lists of many lengths keep within the same limit")
    func requests() throws {
        let queue = try DatabaseQueue()
        try queue.write { db throws in try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
        try queue.read { db throws in
            var largestMemory = 0
            for count in 500..<800 {
                #expect(
                    try Table("player").filter(Array(1...count).contains(Column("id"))).fetchAll(db).isEmpty)
                largestMemory = max(largestMemory, db.statementCaches[.request].memory)
            }
            #expect(largestMemory > Self.limit / 2)
            #expect(largestMemory <= Self.limit)
        }
    }

    @Test("a removed statement no longer counts")
    func removal() throws {
        try DatabaseQueue().read { db throws in
            var cache = StatementStore(capacity: 2, memoryLimit: Self.limit)
            let statements = try (0..<3).map { try db.makeStatement(sql: "SELECT \($0)") }
            // The sizes of statements that differ only in a number depend on the engine.
            let sizes = statements.map { Int($0.handle.memoryUsed) }
            cache.insert(statements[0], for: "0")
            #expect(cache.memory == sizes[0] && sizes[0] > 0)
            cache.insert(statements[0], for: "0")
            #expect(cache.memory == sizes[0])
            cache.insert(statements[1], for: "1")
            #expect(cache.memory == sizes[0] + sizes[1])
            cache.remove(statements[0])
            #expect(cache.memory == sizes[1])
            #expect(cache["0"] == nil)
            #expect(cache["1"] === statements[1])
            cache.insert(statements[0], for: "0")
            cache.insert(statements[2], for: "2")
            #expect(cache.count == 1)
            #expect(cache.memory == sizes[2])
        }
    }
}
