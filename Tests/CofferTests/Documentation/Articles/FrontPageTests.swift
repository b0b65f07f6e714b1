import Coffer
import CofferTestSupport
import Testing

/// The code blocks of the README, of the documentation's front page and of the article on rotation that no
/// other suite tests.
@Suite("The front page")
struct FrontPageTests {
    private let directory: TestDirectory
    private var path: String { directory.path("vault.db") }

    init() throws {
        directory = try TestDirectory()
    }

    @Test("an encrypted database is created, and a wrong key is reported")
    func opening() throws {
        var configuration = Configuration()
        configuration.key = .passphrase("correct horse battery staple")
        let queue = try DatabaseQueue(path: path, configuration: configuration)

        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (name TEXT NOT NULL)")
            try db.execute(sql: "INSERT INTO item VALUES (?)", arguments: ["ring"])
        }
        let names = try queue.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM item")
        }
        #expect(names == ["ring"])
        try queue.close()

        var reason: EncryptionFailure?
        func open() throws {
            do {
                _ = try DatabaseQueue(path: path, configuration: configuration)
            } catch let error as DatabaseError where error.encryptionFailure == .wrongKey {
                // error.resultCode is SQLITE_NOTADB, as in SQLite. Coffer adds the reason.
                reason = error.encryptionFailure
            }
        }
        try open()
        #expect(reason == nil)
        configuration.key = .passphrase("battery staple")
        try open()
        #expect(reason == .wrongKey)
        // Created by: coffer keygen --out /etc/vault/key
        configuration.key = .keyFile("/etc/vault/key")
        // For files whose key has not been rotated yet.
        configuration.previousKeys = [.credential("former-key")]
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    private func runFirstProgram() throws -> (names: [String], worths: [Int]) {
        struct Item: Codable, FetchableRecord, PersistableRecord {
            var name: String
            var worth: Int
        }

        var configuration = Configuration()
        configuration.key = .passphrase("correct horse battery staple")
        let queue = try DatabaseQueue(path: path, configuration: configuration)

        try queue.write { db in
            try db.create(table: "item", options: .ifNotExists) { table in
                table.primaryKey("name", .text)
                table.column("worth", .integer).notNull()
            }
            try Item(name: "ring", worth: 900).upsert(db)
        }
        let items = try queue.read { db in try Item.order(Column("worth").desc).fetchAll(db) }
        return (items.map(\.name), items.map(\.worth))
    }

    @Test("the first program of the README stores one record, however often it runs")
    func firstProgram() throws {
        for _ in 1...2 {
            let found = try runFirstProgram()
            #expect(found.names == ["ring"] && found.worths == [900])
        }
    }

    @Test("the rotation of the README changes the key of an open pool")
    func rotationInUse() async throws {
        var configuration = Configuration()
        configuration.key = .passphrase("old")
        let pool = try DatabasePool(path: path, configuration: configuration)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE item (name TEXT)") }
        func rotate() async throws {
            var options = DatabaseFile.RotationOptions()
            options.whileInUse = DatabaseFile.WhileInUse()
            try await pool.rotateKey(to: .keyFile("/etc/vault/next-key"), options: options)
        }
        await #expect(throws: (any Error).self) { try await rotate() }
        #expect(try await pool.read { db in try db.tableExists("item") })
        try pool.close()
    }

    @Test("a closed file and an open pool get other keys")
    func rotation() async throws {
        let path = path
        var configuration = Configuration()
        configuration.key = .passphrase("old")
        try DatabaseQueue(path: path, configuration: configuration).close()
        // A closed file.
        let result = try DatabaseFile(path: path).rotate(from: .passphrase("old"), to: .passphrase("new"))
        #expect(result.isChanged)
        configuration.key = .passphrase("new")
        let pool = try DatabasePool(path: path, configuration: configuration)
        let newKey = DatabaseKey.rawKey([UInt8](repeating: 7, count: 32))
        // A queue or pool that stays open.
        try await pool.rotateKey(to: newKey)
        configuration.key = newKey
        try pool.close()
        try DatabaseQueue(path: path, configuration: configuration).close()
    }
}
