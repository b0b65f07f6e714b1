import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

/// The code blocks of the article on servers, verbatim, and the examples of the types that it describes.
/// `Scripts/check-docs` compares them.
@Suite("The article on servers", .timeLimit(.minutes(5)))
struct ServersArticleTests {
    struct Note: Codable, FetchableRecord, PersistableRecord {
        var text: String
    }

    private struct Metrics: Sendable {
        private final class Values: Sendable {
            let numbers = Mutex<[String: Int]>([:])
        }

        private let values = Values()

        var numbers: [String: Int] { values.numbers.withLock { $0 } }

        func set(_ name: String, _ value: Int) { values.numbers.withLock { $0[name] = value } }

        func record(_ kind: DatabaseAccessReport.Kind, waited: Duration, ran: Duration) {
            values.numbers.withLock { $0[kind.rawValue, default: 0] += 1 }
        }
    }

    private struct Log: Sendable {
        func notice(_ text: String) {}
    }

    private final class Generation: Sendable {
        let number = Atomic<Int>(3)
    }

    private let directory: TestDirectory
    private let generationNumber = Generation()
    private let tenants: DatabasePools
    private let pool: DatabasePool
    private let metrics = Metrics()

    private static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { table in table.column("text", .text).notNull() }
        }
        return migrator
    }()

    init() async throws {
        directory = try TestDirectory()
        let (folder, keyPath) = (try directory.makeFolder("notes"), directory.path("master.key"))
        try directory.write([UInt8](repeating: 0x42, count: 32), to: "master.key")
        #expect(unsafe chmod(keyPath, 0o600) == 0)
        tenants = Self.makeTenants(folder, keyPath, generationNumber)
        pool = try await Self.makePool(directory.path("service.db"), keyPath)
    }

    private static func makePool(_ path: String, _ keyPath: String) async throws -> DatabasePool {
        var configuration = Configuration()
        configuration.key = .keyFile(keyPath)
        configuration.maximumWait = 0.5
        configuration.maximumWaiterCount = 200
        let pool = try await DatabasePool.open(path: path, configuration: configuration)
        return pool
    }

    private static func makeTenants(_ folder: String, _ masterKeyPath: String, _ number: Generation)
        -> DatabasePools
    {
        let migrator = migrator
        @Sendable func generation() -> Int { number.number.load(ordering: .sequentiallyConsistent) }
        let master = DatabaseKey.keyFile(masterKeyPath)
        var limits = DatabasePools.Limits()
        limits.poolCount = 200
        limits.maximumWait = 0.5
        let tenants = DatabasePools(folder: folder, limits: limits) { tenant in
            var configuration = Configuration()
            configuration.setKey(KeyGenerations(of: tenant, from: master), generation: generation())
            return configuration
        } prepare: { pool in
            try migrator.migrate(pool)
        }
        return tenants
    }

    private func storeNextGeneration() throws {
        generationNumber.number.add(1, ordering: .sequentiallyConsistent)
    }

    /// Adds a note of a tenant, and returns the number of notes.
    func addNote(_ text: String, for tenant: String) async throws -> Int {
        try await tenants.withPool(tenant) { pool in
            try await pool.write { db in
                try Note(text: text).insert(db)
                return try Note.fetchCount(db)
            }
        }
    }

    /// Sends the number of notes of a tenant now, and again after each change.
    func sendCounts(of tenant: String, send: @Sendable (Int) async throws -> Void) async throws {
        try await tenants.withPool(tenant) { pool in
            let counts = ValueObservation.tracking { db in try Note.fetchCount(db) }
            for try await count in counts.values(in: pool) { try await send(count) }
        }
    }

    /// Returns the status for the health of the service.
    func healthStatus() async -> Int {
        let health = await pool.health(timeout: 0.5)
        return health.readError == nil && health.writeError == nil ? 200 : 503
    }

    /// Copies the database of a tenant into a new file with the same key.
    func backUp(_ tenant: String, to path: String) async throws {
        try await tenants.withPool(tenant) { pool in try await pool.vacuum(into: path) }
    }

    /// Deletes the database of a tenant.
    func delete(_ tenant: String) async throws {
        try await tenants.withFile(of: tenant) { file in
            try file.erase(confirming: "\(tenant).db")
        }
    }

    /// Moves all databases to the newest generation, and returns the names of those that failed.
    func rotateAll() async throws -> [String] {
        try storeNextGeneration()
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse()
        let outcomes = try await tenants.rotateAll(options: options)
        return outcomes.filter { outcome in (try? outcome.result.get()) == nil }.map(\.name)
    }

    @Test("a service with a file for each tenant works as the article says")
    func service() async throws {
        try await tenants.create("7")
        #expect(try await addNote("a", for: "7") == 1)
        struct Enough: Error {}
        let sent = Metrics()
        await #expect(throws: Enough.self) {
            try await sendCounts(of: "7") { count in
                sent.set("count", count)
                if count == 2 { throw Enough() }
                #expect(try await addNote("b", for: "7") == 2)
            }
        }
        #expect(sent.numbers == ["count": 2])
        #expect(await healthStatus() == 200)
        try await backUp("7", to: directory.path("copy.db"))
        #expect(try await rotateAll().isEmpty)
        #expect(try await addNote("c", for: "7") == 3)
        #expect(try await tenants.withPool("7") { await $0.health().usedKey } == .current)
        try await tenants.close(within: .seconds(5))
        #expect(directory.fileNames().filter { $0.hasPrefix("notes/") } == ["notes/7.db"])
    }

    @Test("a service is watched as the article says")
    func watching() async throws {
        let (metrics, log) = (metrics, Log())
        var configuration = Configuration.rawKeyed
        configuration.accessObserver = { access in
            metrics.record(access.kind, waited: access.waited, ran: access.ran)
            if access.ran > .milliseconds(100), let slow = access.slowestStatement {
                log.notice("slow \(access.kind): \(slow.duration) for \(slow.sql)")
            }
        }
        let pool = try directory.makePool("watched.db", configuration)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE note (text TEXT)") }
        let statistics = pool.statistics
        metrics.set("readers_busy", statistics.busyReaderCount)
        metrics.set("writes_waiting", statistics.waitingWriteCount)
        metrics.set("log_bytes", Int(statistics.logByteCount))
        metrics.set("key_bytes_unlocked", statistics.keyMemory.unlockedByteCount)
        #expect(metrics.numbers["write"] == 1 && metrics.numbers["readers_busy"] == 0)
        #expect(try #require(metrics.numbers["log_bytes"]) > 0)
    }

    // MARK: Examples of the types

    @Test("opening, observing and closing one database")
    func one() async throws {
        let (path, log) = (directory.path("other.db"), Log())
        var printed: [String] = []
        func print(_ text: String) { printed.append(text) }
        var configuration = Configuration.rawKeyed
        configuration.measuresAccesses = true
        configuration.accessObserver = { access in
            if access.ran > .milliseconds(100), let slow = access.slowestStatement {
                log.notice("\(access.kind) of \(access.ran), most of it for \(slow.sql)")
            }
        }
        do {
            let queue = try await DatabaseQueue.open(path: path, configuration: configuration)
            try await queue.close(within: .seconds(2))
        }
        let pool = try await DatabasePool.open(path: path, configuration: configuration)
        _ = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
        if let waits = pool.statistics.reads?.waited {
            print("99 % of the reads waited for at most \(waits.quantile(0.99))")
        }
        #expect(printed.count == 1)
        let health = await pool.health(timeout: 0.5)
        let status = health.readError == nil && health.writeError == nil ? 200 : 503
        #expect(status == 200)
        try await pool.close(within: .seconds(2))
    }

    @Test("many databases")
    func many() async throws {
        var printed: [String] = []
        func print(_ value: some Any) { printed.append("\(value)") }
        let master = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
        func make() -> DatabasePools {
            let tenants = DatabasePools(folder: "/srv/notes") { tenant in
                var configuration = Configuration()
                configuration.setKey(KeyGenerations(of: tenant, from: master), generation: 3)
                return configuration
            }
            return tenants
        }
        func countOfSeventh(_ tenants: DatabasePools) async throws -> Int {
            let count = try await tenants.withPool("7") { pool in
                try await pool.read { db in try Note.fetchCount(db) }
            }
            return count
        }
        await #expect(throws: DatabaseFileError(.missing, path: "/srv/notes/7.db")) {
            try await countOfSeventh(make())
        }
        let name = "7"
        try await tenants.create("7")
        let total = try await tenants.withPool(name) { pool in
            try await pool.read { db in try Note.fetchCount(db) }
        }
        #expect(total == 0)
        for name in try await tenants.names() { print(name) }
        print(tenants.statistics.waitingCount)
        #expect(printed == ["7", "0"])
        let lease = try await tenants.lease(name)
        let counts = ValueObservation.tracking { db in try Note.fetchCount(db) }.values(in: lease.pool)
        for try await count in counts {
            #expect(count == 0)
            break
        }
        let options = DatabaseFile.RotationOptions()
        let outcomes = try await tenants.rotateAll(options: options)
        let failed = outcomes.filter { outcome in (try? outcome.result.get()) == nil }.map(\.name)
        #expect(failed.isEmpty && outcomes.count == 1)
        let (backup, key) = (directory.path("backup.db"), DatabaseKey.random())
        try await lease.pool.vacuum(into: backup, key: key)
    }

    @Test("the file of a closed database is restored and erased")
    func closedFiles() async throws {
        try await tenants.create("7")
        #expect(try await addNote("a", for: "7") == 1)
        let backup = directory.path("backup.db")
        let key = KeyGenerations(of: "7", from: .keyFile(directory.path("master.key")))[3]
        try await backUp("7", to: backup)
        #expect(try await addNote("b", for: "7") == 2)
        try await tenants.withFile(of: "7") { file in
            try file.restore(from: backup, key: key)
        }
        #expect(try await addNote("c", for: "7") == 2)
        try await delete("7")
        await #expect(throws: DatabaseFileError.self) { try await addNote("d", for: "7") }
        #expect(try await tenants.names().allSatisfy { $0.hasPrefix("7.db.replaced") })
    }
}
