import Coffer
import CofferTestSupport
import Dispatch
import Synchronization
import Testing

/// The code blocks of the article on observation, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on observation")
struct ObservationArticleTests {
    struct Item: Codable, FetchableRecord, PersistableRecord {
        var name: String
        var worth: Int

        enum Columns {
            static let worth = Column(CodingKeys.worth)
        }
    }

    /// The display of a program.
    private actor Display {
        private(set) var shown: [[String]] = []

        func show(_ items: [Item]) { shown.append(items.map(\.name)) }
    }

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])

        func append(_ line: String) { lines.withLock { $0.append(line) } }

        func contains(_ line: String) -> Bool { lines.withLock { $0.contains(line) } }
    }

    private let directory: TestDirectory
    private let pool: DatabasePool

    init() async throws {
        directory = try TestDirectory()
        pool = try DatabasePool(path: directory.path("vault.db"), configuration: .rawKeyed)
        try await pool.write { db in
            try db.create(table: "item") { table in
                table.primaryKey("name", .text)
                table.column("worth", .integer).notNull()
            }
        }
    }

    private func wait(until isTrue: () async -> Bool) async throws {
        while await !isTrue() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("observations behave as the article describes", .timeLimit(.minutes(5)))
    func observations() async throws {
        let pool = pool
        let display = Display()
        let log = Log()
        let queue = DispatchQueue(label: "display")
        let watch: AnyDatabaseCancellable
        let dearest = ValueObservation.tracking { db in
            try Item.order(\.worth.desc).limit(3).fetchAll(db)
        }
        let watching = Task {
            for try await items in dearest.values(in: pool) {
                await display.show(items)
            }
        }
        watch = dearest.start(in: pool, scheduling: .async(onQueue: queue)) { error in
            log.append("observation ended: \(error)")
        } onChange: { items in
            log.append(items.map(\.name).joined(separator: ", "))
        }
        let numberOfItems = ValueObservation.tracking { db in try Item.fetchCount(db) }.removeDuplicates()
        let shared = dearest.shared(in: pool)
        let names = dearest.map { items in items.map(\.name) }
        let items = DatabaseRegionObservation(tracking: Item.all())
        let cache = items.start(in: pool) { error in
            log.append("cache is off: \(error)")
        } onChange: { db in
            log.append("items changed, row \(db.lastInsertedRowID)")
        }
        try await pool.write { db in
            try Item(name: "seal", worth: 30).insert(db)
            db.afterNextTransaction { _ in log.append("committed") }
        }
        try await wait {
            log.contains("committed") && log.contains("items changed, row 1") && log.contains("seal")
        }
        try await wait { await display.shown.last == ["seal"] }
        #expect(try await numberOfItems.values(in: pool).first { @Sendable _ in true } == 1)
        #expect(try await names.values(in: pool).first { @Sendable _ in true } == ["seal"])
        #expect(try await shared.values().first { @Sendable _ in true }?.map(\.worth) == [30])
        watching.cancel()
        withExtendedLifetime((watch, cache)) {}
    }
}
