#if Services
import Coffer
import CofferServices
import CofferTestSupport
import Logging
import ServiceLifecycle
import Testing
import UnixSignals

/// The examples of this product's types, and of the article on servers, verbatim. `Scripts/check-docs`
/// compares them.
@Suite("Examples of services", .timeLimit(.minutes(Patience.minutes)))
struct ServicesExampleTests {
    struct Note: Codable, FetchableRecord, PersistableRecord {
        var text: String
    }

    /// A service that has done its work when it starts.
    struct Server: Service {
        func run() async throws {}
    }

    let directory: TestDirectory
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws { directory = try TestDirectory() }

    private func makeConfiguration(_ tenant: String) throws -> Configuration { .rawKeyed }

    private func makePool() async throws -> DatabasePool {
        let pool = try DatabasePool(path: directory.path("note.db"), configuration: .rawKeyed)
        try await pool.write { db in
            try db.create(table: "note") { table in table.column("text", .text).notNull() }
        }
        return pool
    }

    @Test("the services of the article run, and the group ends when the server has ended")
    func tenants() async throws {
        let folder = directory.path
        let server = Server()
        let makeConfiguration = makeConfiguration
        let log = AccessLog(logger, slowerThan: .milliseconds(50))
        let timers = AccessTimers(name: "notes")
        let tenants = DatabasePools(folder: folder) { tenant in
            var configuration = try makeConfiguration(tenant)
            configuration.addAccessObserver(log.record)
            configuration.addAccessObserver(timers.record)
            return configuration
        }
        let metrics = DatabaseMetrics(tenants, name: "notes", every: .seconds(15))
        try await tenants.create("7")
        await #expect(throws: ServiceGroupError.self) { try await run(tenants, metrics, server) }
        await #expect(throws: DatabaseError.self) { try await tenants.lease("7") }
    }

    private func run(_ tenants: DatabasePools, _ metrics: DatabaseMetrics, _ server: Server) async throws {
        let group = ServiceGroup(
            services: [DatabaseService(tenants), metrics, server], gracefulShutdownSignals: [.sigterm],
            logger: logger)
        try await group.run()
    }

    @Test("the examples of the types compile and run")
    func types() async throws {
        let pool = try await makePool()
        let note = Note(text: "a")
        let notes = try await pool.read(span: "list notes") { db in try Note.fetchAll(db) }
        try await pool.write(span: "add note") { db in try note.insert(db) }
        #expect(notes.isEmpty)
        #expect(try await pool.read { db in try Note.fetchCount(db) } == 1)
        let server = Server()
        let metrics = DatabaseMetrics(pool, name: "notes", every: .seconds(15))
        let group = ServiceGroup(services: [DatabaseService(pool), metrics, server], logger: logger)
        await #expect(throws: ServiceGroupError.self) { try await group.run() }
    }

    @Test("the examples of observers compile")
    func observers() async throws {
        let tenants = DatabasePools(folder: directory.path) { _ in .rawKeyed }
        let server = Server()
        let group = ServiceGroup(
            services: [DatabaseService(tenants), server], gracefulShutdownSignals: [.sigterm], logger: logger)
        var configuration = Configuration.rawKeyed
        let log = AccessLog(logger, slowerThan: .milliseconds(50))
        configuration.addAccessObserver(log.record)
        configuration.addAccessObserver(AccessLog(logger).record)
        configuration.addAccessObserver(AccessTimers(name: "notes").record)
        #expect(configuration.accessObserver != nil)
        await #expect(throws: ServiceGroupError.self) {
            try await group.run()
        }
    }
}
#endif
