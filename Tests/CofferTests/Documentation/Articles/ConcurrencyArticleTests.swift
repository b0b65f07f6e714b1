import Coffer
import CofferTestSupport
import Synchronization
import Testing

/// The code blocks of the article on concurrency, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on concurrency")
struct ConcurrencyArticleTests {
    struct Item: Codable, FetchableRecord, PersistableRecord {
        var name: String
        var worth: Int

        enum Columns {
            static let worth = Column(CodingKeys.worth)
        }
    }

    private final class Totals: Sendable {
        private let results = Mutex<[Result<Int, any Error>]>([])

        func append(_ result: Result<Int, any Error>) { results.withLock { $0.append(result) } }

        var all: [Int] { get throws { try results.withLock { $0 }.map { try $0.get() } } }
    }

    actor Inventory {
        private let pool: DatabasePool
        private var lastCount = 0

        init(_ pool: DatabasePool) { self.pool = pool }

        /// Returns the change in the number of items since the last call.
        func growth() async throws -> Int {
            let count = try await pool.read { db in try Item.fetchCount(db) }
            defer { lastCount = count }
            return count - lastCount
        }
    }

    private let directory: TestDirectory
    private let pool: DatabasePool

    init() throws {
        directory = try TestDirectory()
        var configuration = Configuration.rawKeyed
        configuration.busyMode = .timeout(5)
        pool = try DatabasePool(path: directory.path("vault.db"), configuration: configuration)
        try pool.write { db in
            try db.create(table: "item") { table in
                table.primaryKey("name", .text)
                table.column("worth", .integer).notNull()
            }
        }
    }

    func lend(_ item: Item, _ db: Database) throws {
        try item.update(db)
    }

    /// Runs an operation, and cancels it after the given time.
    func withDeadline<T: Sendable>(
        _ limit: Duration, _ operation: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try await withThrowingTaskGroup(of: T.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw CancellationError()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    private func block() throws {
        let number = try pool.read { db in try Item.fetchCount(db) }

        try pool.write { db in
            try Item(name: "ring", worth: 9000).insert(db)
            try Item(name: "candle", worth: 2).insert(db)
        }
        #expect(number == 0)
        try pool.write { db in try lend(Item(name: "ring", worth: 9500), db) }
    }

    private func readConcurrently(_ totals: Totals) throws {
        try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try Item(name: "seal", worth: 30).insert(db)
                return .commit
            }
            pool.asyncConcurrentRead { result in
                totals.append(Result { try Item.fetchCount(result.get()) })
            }
        }
    }

    @Test("accesses behave as the article describes", .timeLimit(.minutes(5)))
    func accesses() async throws {
        try block()
        let dearest = try await pool.read { db in try Item.order(\.worth.desc).fetchOne(db) }
        let count = try await pool.write { db in
            try Item.filter { $0.worth < 10 }.deleteAll(db)
        }
        #expect(dearest?.worth == 9500 && count == 1)
        let totals = Totals()
        try readConcurrently(totals)
        while try totals.all.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try totals.all == [2])
        let inventory = Inventory(pool)
        #expect(try await inventory.growth() == 2)
        let snapshot = try pool.makeSnapshot()
        try await pool.write { db in _ = try Item.deleteAll(db) }
        let before = try await snapshot.read { db in try Item.fetchCount(db) }
        #expect(before == 2)
        try await pool.write { db in
            try Item(name: "key", worth: 5).insert(db)
            try db.inSavepoint {
                try Item(name: "mistake", worth: 1).insert(db)
                return .rollback
            }
        }
        #expect(try await pool.read { db in try Item.fetchAll(db).map(\.name) } == ["key"])
        #expect(try await inventory.growth() == -1)
        try snapshot.close()
    }

    @Test("a read ends with the deadline of its task", .timeLimit(.minutes(5)))
    func deadlines() async throws {
        let pool = pool
        try block()
        let cheapest = try await withDeadline(.seconds(10)) {
            try await pool.read { db in try Item.order(\.worth).fetchOne(db) }
        }
        #expect(cheapest?.name == "candle")
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT sum(i) FROM n"
        await #expect(throws: CancellationError.self) {
            try await withDeadline(.milliseconds(50)) {
                try await pool.read { db in try Int.fetchOne(db, sql: endless) }
            }
        }
    }
}
