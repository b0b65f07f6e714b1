import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// All operations at once, on a bank whose balances must add up in every read. With `COFFER_NIGHTLY=1`, each
/// test takes half a minute.
@Suite("Stress", .serialized)
struct StressTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "a pool is consistent under reads, writes, snapshots, barriers, memory release and cancellation"
    )
    func everything() async throws {
        let pool = try directory.makePool(
            "bank.db", .rawKeyed.with { $0.readonlyBusyMode = .timeout(Patience.seconds) })
        try await pool.write { try Bank.open($0) }
        try await pool.read { try Bank.glance($0) }
        pool.releaseMemory()
        let memory = try processStatus("VmRSS")

        let end = Date(timeIntervalSinceNow: Nightly.pick(30, byDay: 5))
        let counts = Counts()
        let observer = AuditingObserver(pool, counts)
        pool.add(transactionObserver: observer)
        let committed = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await repeatUntil(end) { try await read(pool, counts) }
                    return 0
                }
            }
            for teller in 1...2 {
                group.addTask { try await transfers(pool, teller: teller, until: end, counts) }
            }
            group.addTask {
                try await repeatUntil(end) { try await disturb(pool, counts) }
                return 0
            }
            group.addTask {
                try await repeatUntil(end) { try await takeSnapshots(pool, counts) }
                return 0
            }
            group.addTask {
                try await repeatUntil(end) { try await cancelSomething(pool, counts) }
                return 0
            }
            return try await group.reduce(0, +)
        }
        try await pool.barrierWriteWithoutTransaction { _ in }
        #expect(
            try await pool.read { try Row.fetchOne($0, sql: "SELECT COUNT(*) FROM transfer")?[0] as Int? }
                == committed)
        #expect(
            counts.values["commits seen", default: 0] == committed,
            "the observer is notified of each commit once")
        #expect(counts.values["concurrent reads", default: 0] == committed)
        try await pool.read { try Bank.audit($0) }
        try Bank.inspect(pool)
        pool.remove(transactionObserver: observer)
        pool.releaseMemory()
        // Each connection has its own descriptor of the WAL file, and all share one of the WAL index. Only
        // the writer's descriptors remain.
        #expect(openDescriptors(of: pool.path + "-wal") == 1)
        #expect(openDescriptors(of: pool.path + "-shm") == 1)
        let descriptors = try spareDescriptors(of: pool)
        let memoryAfter = try processStatus("VmRSS")
        print("stress: \(counts), \(descriptors) spare descriptors, memory \(memory) -> \(memoryAfter) KiB")
        // The allocator retains a bounded amount of memory from short-lived page caches. A leak of
        // connections would amount to hundreds of megabytes.
        #expect(memoryAfter - memory < 150_000)
        try pool.close()
        #expect(openFiles(in: directory) == 0)
    }

    @Test(
        "two processes write and read: no acknowledged write is lost, and no page is damaged",
        arguments: Access.allCases)
    func twoProcesses(access: Access) async throws {
        let seconds = Nightly.pick(30.0, byDay: 4)
        let configuration = Configuration.rawKeyed.with { $0.busyMode = .timeout(Patience.seconds) }
        let writer = try directory.make(access, "bank.db", configuration)
        try await writer.write { try Bank.open($0) }
        let counts = Counts()
        let teller = try BankTeller(path: writer.path, access, teller: 2, seconds: seconds)
        let end = Date(timeIntervalSinceNow: seconds)
        let mine = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await repeatUntil(end) { try await read(writer, counts) }
                    return 0
                }
            }
            group.addTask {
                var number = 0
                while Date() < end {
                    number += 1
                    try await writer.write { [number] db in
                        try Bank.transfer(db, teller: 1, number: number, noteSize: number % 20 * 1000)
                    }
                }
                return number
            }
            return try await group.reduce(0, +)
        }
        let acknowledged = teller.acknowledged()
        #expect(teller.succeeded, "\(teller.errorText)")
        #expect(mine > 0 && acknowledged.count > 0)
        #expect(acknowledged == Array(1...acknowledged.count))
        let found = try await writer.read { db in
            try Bank.audit(db)
            return [try Bank.lastNumber(db, teller: 1), try Bank.lastNumber(db, teller: 2)]
        }
        #expect(found == [mine, acknowledged.count])
        try Bank.inspect(writer)
        print("two processes, \(access): \(mine) and \(acknowledged.count) writes in \(seconds) s, \(counts)")
    }
}

/// Returns the number of descriptors that SQLite keeps open on the database file for future connections, in
/// addition to the writer's: see `DescriptorTests`.
///
/// A leaked descriptor is not among them: opening that many connections uses up all spare descriptors before
/// any new one is opened.
private func spareDescriptors(of pool: DatabasePool) throws -> Int {
    let count = openDescriptors(of: pool.path) - 1
    let readers = try (0..<count).map { _ in
        try DatabaseQueue(path: pool.path, configuration: .rawKeyed.with { $0.readonly = true })
    }
    for reader in readers { _ = try reader.read { try Bank.lastNumber($0, teller: 1) } }
    #expect(openDescriptors(of: pool.path) == count + 1)
    for reader in readers { try reader.close() }
    return count
}

// MARK: - Tasks

private func repeatUntil(_ end: Date, _ body: () async throws -> Void) async throws {
    while Date() < end { try await body() }
}

private func read(_ reader: any DatabaseReader, _ counts: Counts) async throws {
    switch Int.random(in: 0..<4) {
    case 0:
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            reader.asyncRead { result in continuation.resume(with: Result { try Bank.glance(result.get()) }) }
        }
    case 1:
        let job = Job { try reader.read { try Bank.glance($0) } }
        while !job.isDone { await Task.yield() }
        try job.value()
    default:
        try await reader.read { try Bank.glance($0) }
    }
    counts.add("reads")
}

/// Transfers money until `end` and returns the number of committed transfers.
private func transfers(_ pool: DatabasePool, teller: Int, until end: Date, _ counts: Counts) async throws
    -> Int
{
    var number = 0
    while Date() < end {
        let next = number + 1
        switch Int.random(in: 0..<10) {
        case 0:
            do {
                try await pool.write { db in
                    try Bank.transfer(db, teller: teller, number: next)
                    throw TestFailure()
                }
            } catch is TestFailure {
                counts.add("rollbacks")
            }
            continue
        case 1:
            try await pool.barrierWriteWithoutTransaction { db in
                try db.inTransaction {
                    try Bank.transfer(db, teller: teller, number: next)
                    return .commit
                }
            }
        default:
            try await pool.write {
                try Bank.transfer($0, teller: teller, number: next, noteSize: Int.random(in: 0..<2000))
            }
        }
        number = next
    }
    counts.add("transfers", number)
    return number
}

private func disturb(_ pool: DatabasePool, _ counts: Counts) async throws {
    switch Int.random(in: 0..<6) {
    case 0: pool.invalidateReadOnlyConnections()
    case 1: pool.releaseMemoryEventually()
    case 2:
        let job = Job { pool.releaseMemory() }
        while !job.isDone { await Task.yield() }
    case 3: try await pool.barrierWriteWithoutTransaction { try Bank.glance($0) }
    case 4:
        let function = DatabaseFunction("disturbance", argumentCount: 0) { _ in 1 }
        let job = Job {
            pool.add(function: function)
            pool.remove(function: function)
        }
        while !job.isDone { await Task.yield() }
    default: _ = try? await pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
    counts.add("disturbances")
    try await Task.sleep(for: .milliseconds(2))
}

private func takeSnapshots(_ pool: DatabasePool, _ counts: Counts) async throws {
    let snapshot: any DatabaseSnapshotReader =
        Bool.random() ? try pool.makeSnapshot() : try pool.makeSnapshotPool()
    let last: @Sendable (Database) throws -> Int? = {
        try Row.fetchOne($0, sql: "SELECT MAX(seq) FROM transfer")?[0]
    }
    let before = try await snapshot.read(last)
    for _ in 0..<5 {
        try await snapshot.read { try Bank.glance($0) }
        await Task.yield()
    }
    let after = try await snapshot.read(last)
    #expect(before == after)
    counts.add("snapshots")
}

private func cancelSomething(_ pool: DatabasePool, _ counts: Counts) async throws {
    let task = Task {
        switch Int.random(in: 0..<3) {
        case 0: try await pool.read { try Bank.audit($0) }
        case 1: try await pool.barrierWriteWithoutTransaction { try Bank.glance($0) }
        default:
            try await pool.write { db in
                try Bank.transfer(db, teller: 99, number: 1)
                // Never committed: the task is either canceled, or fails here.
                throw CancellationError()
            }
        }
    }
    for _ in 0..<Int.random(in: 0..<200) { await Task.yield() }
    task.cancel()
    do {
        try await task.value
        counts.add("too late to cancel")
    } catch is CancellationError {
        counts.add("cancellations")
    }
}

/// Reads concurrently after every commit, as value observations do.
private final class AuditingObserver: TransactionObserver, Sendable {
    private let pool: DatabasePool
    private let counts: Counts

    init(_ pool: DatabasePool, _ counts: Counts) {
        self.pool = pool
        self.counts = counts
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "transfer" }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseDidCommit(_ db: Database) {
        let last = try? Row.fetchOne(db, sql: "SELECT MAX(seq) FROM transfer")?[0] as Int?
        guard last != nil else { return }
        counts.add("commits seen")
        pool.spawnConcurrentRead { [counts] result in
            do {
                let db = try result.get()
                try Bank.glance(db)
                #expect(try Row.fetchOne(db, sql: "SELECT MAX(seq) FROM transfer")?[0] as Int? == last)
            } catch {
                Issue.record(error)
            }
            counts.add("concurrent reads")
        }
    }

    func databaseDidRollback(_ db: Database) {}
}

private final class Counts: Sendable, CustomStringConvertible {
    private let storage = Mutex<[String: Int]>([:])

    var values: [String: Int] { storage.withLock { $0 } }

    func add(_ name: String, _ count: Int = 1) { storage.withLock { $0[name, default: 0] += count } }

    var description: String {
        values.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
