import Coffer
import CofferTestSupport
import Testing

/// The code block of the article on guarantees, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on guarantees")
struct GuaranteesArticleTests {
    private static let normal = 1
    private static let full = 2

    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func synchronous(_ writer: any DatabaseWriter) throws -> Int? {
        try writer.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA synchronous") }
    }

    @Test("a pool syncs at checkpoints only, unless its writer is set to FULL after the pool is open")
    func pool() throws {
        var configuration = Configuration.rawKeyed
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        let pool = try DatabasePool(path: directory.path("pool.db"), configuration: configuration)
        var setting = try synchronous(pool)
        #expect(setting == Self.normal)

        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
        }
        setting = try synchronous(pool)
        #expect(setting == Self.full)

        try pool.rotateKey(to: .rawKey([UInt8](repeating: 0x17, count: 32)))
        setting = try synchronous(pool)
        #expect(setting == Self.normal)
    }

    @Test("a queue syncs at each commit, also in a file in WAL mode")
    func queue() throws {
        let path = directory.path("queue.db")
        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed)
        var setting = try synchronous(queue)
        #expect(setting == Self.full)
        try queue.close()

        let pool = try DatabasePool(path: path, configuration: .rawKeyed)
        try pool.close()
        let reopened = try DatabaseQueue(path: path, configuration: .rawKeyed)
        let mode = try reopened.writeWithoutTransaction { db in
            try String.fetchOne(db, sql: "PRAGMA journal_mode")
        }
        #expect(mode == "wal")
        setting = try synchronous(reopened)
        #expect(setting == Self.full)

        var configuration = Configuration.rawKeyed
        configuration.journalMode = .wal
        let other = try DatabaseQueue(path: directory.path("other.db"), configuration: configuration)
        setting = try synchronous(other)
        #expect(setting == Self.normal)
    }
}
