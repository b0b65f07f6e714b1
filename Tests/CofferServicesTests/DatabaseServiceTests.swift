#if Services
import Coffer
import CofferServices
import CofferTestSupport
import Dispatch
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing
import UnixSignals

@Suite("Databases as services", .timeLimit(.minutes(Patience.minutes)))
struct DatabaseServiceTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makePool() throws -> DatabasePool {
        try DatabasePool(path: directory.path("note.db"), configuration: .rawKeyed)
    }

    private func makeTenants() async throws -> DatabasePools {
        let tenants = DatabasePools(folder: directory.path) { _ in .rawKeyed }
        try await tenants.create("7")
        return tenants
    }

    private func isClosed(_ pool: DatabasePool) async -> Bool {
        do {
            try await pool.read { _ in }
            return false
        } catch {
            return DatabaseError.SQLITE_MISUSE ~= error
        }
    }

    @Test("a pool stays open until the program shuts down, and is closed then")
    func pool() async throws {
        let pool = try makePool()
        try await testGracefulShutdown { trigger in
            async let ended: Void = DatabaseService(pool).run()
            try await pool.write { db in try db.execute(sql: "CREATE TABLE note (text)") }
            trigger.triggerGracefulShutdown()
            try await ended
        }
        #expect(await isClosed(pool))
        #expect(!directory.fileNames().contains("note.db-wal"))
    }

    @Test("the databases of a folder are closed although one is leased")
    func pools() async throws {
        let tenants = try await makeTenants()
        let lease = try await tenants.lease("7")
        try await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            try await DatabaseService(tenants, closingWithin: .zero).run()
        }
        #expect(await isClosed(lease.pool))
        await #expect(throws: DatabaseError.self) { try await tenants.lease("7") }
    }

    @Test("the failure of another service closes the databases")
    func failure() async throws {
        struct Failure: Error {}
        struct Failing: Service {
            func run() async throws { throw Failure() }
        }
        let (pool, logger) = (try makePool(), Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let server = Failing()
        let group = ServiceGroup(
            services: [DatabaseService(pool), server], gracefulShutdownSignals: [.sigterm], logger: logger)
        await #expect(throws: Failure.self) { try await group.run() }
        #expect(await isClosed(pool))
    }

    @Test("a service whose databases cannot be closed throws")
    func stuckAccess() async throws {
        let pool = try makePool()
        let (hasBegun, begin) = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        pool.asyncRead { _ in
            begin.finish()
            end.wait()
        }
        for await _ in hasBegun {}
        await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            await #expect(throws: DatabaseWaitError.self) {
                try await DatabaseService(pool, closingWithin: .zero, grace: .zero).run()
            }
        }
        end.signal()
        try pool.close()
    }
}
#endif
