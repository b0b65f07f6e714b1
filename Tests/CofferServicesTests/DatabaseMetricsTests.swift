#if Services
import Coffer
import CofferTestSupport
import Metrics
import MetricsTestKit
import ServiceLifecycleTestKit
import Testing

@testable import CofferServices

@Suite("Metrics of databases", .timeLimit(.minutes(Patience.minutes)))
struct DatabaseMetricsTests {
    let directory: TestDirectory
    let metrics = TestMetrics()
    private let notes = [("database", "notes")]

    init() throws { directory = try TestDirectory() }

    private func makePool(_ change: (inout Configuration) -> Void) throws -> DatabasePool {
        let path = directory.path("customer of 1984.db")
        return try DatabasePool(path: path, configuration: .rawKeyed.with(change))
    }

    private func gauge(_ label: String, kind: String? = nil) throws -> Double? {
        let dimensions = notes + (kind.map { [("kind", $0)] } ?? [])
        return try metrics.expectRecorder(label, dimensions).lastValue
    }

    private func count(_ label: String, kind: String? = nil) -> Int64 {
        let dimensions = notes + (kind.map { [("kind", $0)] } ?? [])
        return metrics.counterTotal(label: label, dimensions: dimensions)
    }

    @Test("the statistics of a pool are recorded when the service starts")
    func pool() async throws {
        let pool = try makePool { $0.measuresAccesses = true }
        try await pool.write { db in try db.execute(sql: "CREATE TABLE note (text)") }
        try await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            try await DatabaseMetrics(pool, name: "notes", factory: metrics).run()
        }
        #expect(try gauge("coffer_open_readers") == Double(pool.statistics.openReaderCount))
        #expect(try gauge("coffer_busy_writers") == 0 && gauge("coffer_waiting_writes") == 0)
        #expect(try #require(try gauge("coffer_log_bytes")) > 0)
        #expect(try #require(try gauge("coffer_checkpoint_age_seconds")) >= 0)
        #expect(count("coffer_accesses", kind: "write") >= 1)
        // The record at the shutdown is about an interval without accesses.
        let times = try metrics.expectRecorder("coffer_access_run_p99_seconds", notes + [("kind", "write")])
        #expect(try #require(times.values.first) > 0)
        try pool.close()
    }

    @Test("counters grow by the accesses since the last record")
    func counters() async throws {
        let pool = try makePool { $0.measuresAccesses = true }
        var recorder = PoolRecorder(pool, Instruments("notes", metrics))
        recorder.record()
        let before = count("coffer_accesses", kind: "read")
        for _ in 0..<3 { try await pool.read { _ in } }
        recorder.record()
        recorder.record()
        #expect(count("coffer_accesses", kind: "read") == before + 3)
        // There was no access between the last two records.
        #expect(try gauge("coffer_access_run_p99_seconds", kind: "read") == 0)
        try pool.close()
    }

    @Test("a number that is reset adds its growth since the reset to the counter")
    func restart() {
        var count = GrowingCount(counter: Counter(label: "derivations", factory: metrics))
        for number in [2, 5, 5, 1, 4] { count.record(number) }
        #expect(metrics.counterTotal(label: "derivations") == 9)
    }

    @Test("the statistics of many databases are recorded without their names")
    func pools() async throws {
        let tenants = DatabasePools(folder: directory.path) { _ in .rawKeyed }
        try await tenants.create("ada")
        try await tenants.withPool("ada") { _ in
            PoolsRecorder(tenants, Instruments("notes", metrics)).record()
        }
        #expect(try gauge("coffer_open_databases") == 1 && gauge("coffer_leased_databases") == 1)
        #expect(try gauge("coffer_slots") == Double(tenants.statistics.maximumOpenCount))
        #expect(!metrics.recorders.contains { "\($0.dimensions)".contains("ada") })
        try await tenants.close()
    }

    @Test("timers record each access, and a counter the failed ones")
    func timers() async throws {
        let timers = AccessTimers(name: "notes", factory: metrics)
        let pool = try makePool { configuration in configuration.addAccessObserver(timers.record) }
        let former = count("coffer_failed_accesses", kind: "write")
        await #expect(throws: DatabaseError.self) {
            try await pool.write { db in try db.execute(sql: "INSERT INTO missing VALUES (1)") }
        }
        await #expect(throws: CancellationError.self) {
            try await pool.read { _ in throw CancellationError() }
        }
        #expect(count("coffer_failed_accesses", kind: "write") == former + 1)
        #expect(count("coffer_failed_accesses", kind: "read") == 0)
        let reads = try metrics.expectTimer("coffer_access_run", notes + [("kind", "read")])
        #expect(!reads.values.isEmpty && reads.values.allSatisfy { $0 >= 0 })
        try pool.close()
    }

    @Test("all observers are called, in the order in which they were added")
    func observers() async throws {
        let calls = ValueLog<Int>()
        let pool = try makePool { configuration in
            for number in 1...3 { configuration.addAccessObserver { _ in calls.append(number) } }
        }
        try await pool.write { _ in }
        try pool.close()
        let values = await calls.values { !$0.isEmpty && $0.count.isMultiple(of: 3) }
        #expect(values == values.indices.map { $0 % 3 + 1 })
    }
}
#endif
