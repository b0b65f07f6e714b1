import Coffer
import CofferTestSupport
import Testing

/// The code blocks of the article on testing, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on testing", .timeLimit(.minutes(5)))
struct TestingWithCofferArticleTests {
    struct Store {
        let database: any DatabaseWriter

        init(_ database: any DatabaseWriter) throws {
            self.database = database
            try Self.migrator.migrate(database)
        }

        static var migrator: DatabaseMigrator {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("items") { db in
                try db.create(table: "item") { table in
                    table.autoIncrementedPrimaryKey("id")
                    table.column("name", .text).notNull().unique()
                }
            }
            migrator.registerMigration("items have a worth") { db in
                try db.alter(table: "item") { table in
                    table.add(column: "worth", .integer).notNull().defaults(to: 0)
                }
            }
            return migrator
        }

        func add(_ name: String) throws {
            try database.write { db in
                try db.execute(literal: "INSERT INTO item (name) VALUES (\(name))")
            }
        }

        func names() throws -> [String] {
            try database.read { db in try String.fetchAll(db, sql: "SELECT name FROM item ORDER BY name") }
        }
    }

    private let directory: TestDirectory
    private var folder: String { directory.path }

    init() throws {
        directory = try TestDirectory()
    }

    @Test("names are unique")
    func names() throws {
        let store = try Store(DatabaseQueue())
        try store.add("ring")
        #expect(throws: DatabaseError.self) { try store.add("ring") }
        #expect(try store.names() == ["ring"])
    }

    @Test("a stranger cannot read it")
    func encryption() throws {
        var configuration = Configuration()
        configuration.key = .rawKey([UInt8](repeating: 7, count: 32))
        let path = folder + "/vault.db"
        let pool = try DatabasePool(path: path, configuration: configuration)
        try Store(pool).add("ring")
        try pool.close()

        configuration.key = .rawKey([UInt8](repeating: 8, count: 32))
        let failure = #expect(throws: DatabaseError.self) {
            try DatabasePool(path: path, configuration: configuration)
        }
        #expect(failure?.encryptionFailure == .wrongKey)
    }

    @Test("old items are worth nothing")
    func migration() throws {
        let queue = try DatabaseQueue()
        try Store.migrator.migrate(queue, upTo: "items")
        try queue.write { db in try db.execute(sql: "INSERT INTO item (name) VALUES ('ring')") }
        try Store.migrator.migrate(queue)
        #expect(try queue.read { db in try Int.fetchAll(db, sql: "SELECT worth FROM item") } == [0])
    }

    @Test("a fixture without encryption is copied if the configuration allows plaintext")
    func fixture() throws {
        let path = folder + "/fixture.db"
        _ = try SQLCipherShell(plaintextPath: path).run(
            "CREATE TABLE item (name TEXT); INSERT INTO item VALUES ('ring');")
        let failure = #expect(throws: DatabaseError.self) { try DatabaseQueue.inMemoryCopy(fromPath: path) }
        #expect(failure?.encryptionFailure == .noKey)
        var keyed = Configuration()
        keyed.key = .rawKey([UInt8](repeating: 7, count: 32))
        let refusal = #expect(throws: DatabaseError.self) {
            try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: keyed)
        }
        #expect(refusal?.encryptionFailure == .plaintextFile)

        var configuration = Configuration()
        configuration.allowsPlaintext = true
        let copy = try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
        #expect(try copy.read { db in try String.fetchAll(db, sql: "SELECT name FROM item") } == ["ring"])
    }

    @Test("the list follows the table")
    func observation() async throws {
        let store = try Store(DatabaseQueue())
        let names = ValueObservation.tracking { db in try String.fetchAll(db, sql: "SELECT name FROM item") }
        for try await value in names.values(in: store.database) {
            if value == ["ring"] { break }
            if value.isEmpty { try store.add("ring") }
        }
    }
}
