import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Calls every public symbol of readers, writers and snapshots as an application does, in each form that its
/// signature allows. The test is that this compiles without `@testable`.
@Suite("Symbols of readers and writers")
struct ConcurrencySymbolTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makeConfiguration() -> Configuration {
        var configuration = Configuration.rawKeyed
        configuration.label = "symbols"
        configuration.readonly = false
        configuration.foreignKeysEnabled = true
        configuration.allowsUnsafeTransactions = false
        configuration.busyMode = .immediateError
        configuration.busyMode = .timeout(5)
        let callback: Database.BusyCallback = { $0 < 3 }
        configuration.readonlyBusyMode = .callback(callback)
        configuration.journalMode = .default
        configuration.journalMode = .wal
        configuration.maximumReaderCount = 2
        configuration.persistentReadOnlyConnections = false
        configuration.targetQueue = DispatchQueue(label: "reads", attributes: .concurrent)
        configuration.writeTargetQueue = DispatchQueue(label: "writes")
        configuration.qos = .userInitiated
        configuration.readQoS = .default
        configuration.writeQoS = .default
        configuration.transactionClock = .default
        configuration.observesSuspensionNotifications = false
        configuration.prepareDatabase { db in _ = db.configuration.label }
        return configuration
    }

    @Test("all forms of reading and writing, by the protocols", arguments: Access.allCases)
    func protocols(access: Access) async throws {
        let writer: any DatabaseWriter = try directory.make(access, "a.db", makeConfiguration())
        try await writer.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
        for writer in [writer, AnyDatabaseWriter(writer)] as [any DatabaseWriter] {
            try synchronousWrites(writer)
            try synchronousReads(writer)
            try synchronousReads(AnyDatabaseReader(writer))
            try await awaited(writer)
            await callbacks(writer)
        }
        #expect(writer.configuration.label == "symbols")
        #expect(writer.path == directory.path("a.db"))
        #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") } == 2 * 9)
        try writer.close()
    }

    private func synchronousWrites(_ writer: any DatabaseWriter) throws {
        let insert = "INSERT INTO player DEFAULT VALUES"
        let id: Int64 = try writer.write { db in
            try db.execute(sql: insert)
            return db.lastInsertedRowID
        }
        #expect(id > 0)
        // Functions that do not throw need no `try`.
        let isInside = writer.writeWithoutTransaction { $0.isInsideTransaction }
        let isInsideReentrant = writer.unsafeReentrantWrite { $0.isInsideTransaction }
        #expect(!isInside && !isInsideReentrant)
        try writer.barrierWriteWithoutTransaction { db in
            try db.inTransaction(.exclusive) {
                try db.execute(sql: insert)
                return .commit
            }
            try db.inSavepoint {
                try db.execute(sql: insert)
                return .rollback
            }
            try db.beginTransaction(.deferred)
            try db.rollback()
            _ = try db.checkpoint()
            _ = try db.checkpoint(.full, on: "main")
            _ = try db.checkpoint(.restart)
            _ = try db.checkpoint(.truncate, on: nil)
        }
        let future: DatabaseFuture<Int?> = writer.writeWithoutTransaction { _ in
            writer.concurrentRead { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") }
        }
        #expect(try future.wait() ?? 0 > 0)
        let observer = Observer()
        writer.add(transactionObserver: observer)
        writer.add(transactionObserver: observer, extent: .nextTransaction)
        writer.remove(transactionObserver: observer)
        let existential: any TransactionObserver = observer
        writer.add(transactionObserver: existential, extent: .databaseLifetime)
        writer.remove(transactionObserver: existential)
        try writer.writeWithoutTransaction { db in
            db.afterNextTransaction { _ in }
            db.afterNextTransaction(onCommit: { _ in }, onRollback: { _ in })
            try db.notifyChanges(in: .fullDatabase)
        }
        writer.interrupt()
    }

    private func synchronousReads(_ reader: any DatabaseReader) throws {
        let count: (Database) throws -> Int? = { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") }
        #expect(try reader.read(count) == reader.unsafeRead(count))
        #expect(try reader.unsafeReentrantRead(count) != nil)
        let function = DatabaseFunction("one", argumentCount: 0) { _ in 1 }
        let collation = DatabaseCollation("exact") {
            $0 < $1 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending
        }
        reader.add(function: function)
        reader.add(collation: collation)
        #expect(try reader.read { try Int.fetchOne($0, sql: "SELECT one() ORDER BY 'a' COLLATE exact") } == 1)
        reader.remove(function: function)
        reader.remove(collation: collation)
        let copy = try DatabaseQueue(named: nil, configuration: .rawKeyed)
        try reader.backup(to: copy)
        try reader.backup(to: copy, pagesPerStep: 1) { _ = $0.completedPageCount }
        reader.interrupt()
    }

    private func awaited(_ writer: any DatabaseWriter) async throws {
        let insert = "INSERT INTO player DEFAULT VALUES"
        try await writer.write { try $0.execute(sql: insert) }
        try await writer.writeWithoutTransaction { try $0.execute(sql: insert) }
        try await writer.barrierWriteWithoutTransaction { try $0.execute(sql: insert) }
        let read = try await writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") }
        let unsafelyRead = try await writer.unsafeRead {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player")
        }
        #expect(read == unsafelyRead)
        // A function passed by name, and a task that returns the result.
        async let count = writer.read(countPlayers)
        #expect(try await count == read)
    }

    private func callbacks(_ writer: any DatabaseWriter) async {
        let insert = "INSERT INTO player DEFAULT VALUES"
        await withCheckedContinuation { continuation in
            writer.asyncRead { result in
                #expect(throws: Never.self) { try result.get() }
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            writer.asyncUnsafeRead { result in
                #expect(throws: Never.self) { try result.get() }
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            writer.asyncWrite {
                try $0.execute(sql: insert)
            } completion: { (_: Database, result: Result<Void, any Error>) in
                #expect(throws: Never.self) { try result.get() }
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            writer.asyncWriteWithoutTransaction { db in
                #expect(throws: Never.self) { try db.execute(sql: insert) }
                writer.spawnConcurrentRead { result in
                    #expect(throws: Never.self) { try result.get() }
                    continuation.resume()
                }
            }
        }
        await withCheckedContinuation { continuation in
            writer.asyncBarrierWriteWithoutTransaction { result in
                #expect(throws: Never.self) { try result.get().execute(sql: insert) }
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            oldForms.asyncBarrier(writer) { db in
                #expect(throws: Never.self) { try db.execute(sql: insert) }
                continuation.resume()
            }
        }
    }

    @Test("the members that only a pool, a queue or a snapshot has")
    func concreteTypes() async throws {
        let pool = try DatabasePool(path: directory.path("a.db"), configuration: makeConfiguration())
        try pool.writeInTransaction { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
            return .commit
        }
        try pool.writeInTransaction(.exclusive) { _ in .rollback }
        await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { _ in
                pool.asyncConcurrentRead { _ in continuation.resume() }
            }
        }
        pool.invalidateReadOnlyConnections()
        pool.releaseMemory()
        pool.releaseMemoryEventually()

        let snapshot: DatabaseSnapshot = try pool.makeSnapshot()
        #expect(isInsideTransaction(snapshot))
        let snapshotPool: DatabaseSnapshotPool = try pool.makeSnapshotPool()
        let others = [
            try DatabaseSnapshotPool(path: pool.path, configuration: makeConfiguration()),
            try pool.unsafeReentrantWrite { try DatabaseSnapshotPool($0) },
            try pool.unsafeReentrantWrite {
                try DatabaseSnapshotPool($0, configuration: makeConfiguration())
            },
        ]
        for snapshot in [snapshot, snapshotPool] + others as [any DatabaseSnapshotReader] {
            try synchronousReads(snapshot)
            #expect(try await snapshot.read(countPlayers) == 0)
            #expect(try await snapshot.unsafeRead(countPlayers) == 0)
            #expect(snapshot.path == pool.path && snapshot.configuration.label == "symbols")
            snapshot.interrupt()
            try snapshot.close()
        }
        try pool.close()

        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: makeConfiguration())
        let isInside = queue.inDatabase { $0.isInsideTransaction }
        #expect(!isInside)
        try queue.inTransaction { _ in .commit }
        try queue.inTransaction(.exclusive) { _ in .rollback }
        queue.releaseMemory()
        queue.interrupt()
        try queue.close()
    }

    /// Calls without `try`, because the functions do not throw. In an asynchronous function, the compiler
    /// would choose the async overloads.
    private func isInsideTransaction(_ snapshot: DatabaseSnapshot) -> Bool {
        snapshot.read { $0.isInsideTransaction } && snapshot.unsafeRead { $0.isInsideTransaction }
    }

    private final class Observer: TransactionObserver {
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {
            stopObservingDatabaseChangesUntilNextTransaction()
        }
        func databaseDidChange() {}
        func databaseWillCommit() throws {}
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }
}

@Sendable private func countPlayers(_ db: Database) throws -> Int? {
    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
}

// A deprecated function can be called without a warning from another deprecated function, which in turn is
// called through a protocol.
private protocol OldForms: Sendable {
    func asyncBarrier(_ writer: any DatabaseWriter, _ updates: @escaping @Sendable (Database) -> Void)
}

private struct DeprecatedForms: OldForms {
    @available(*, deprecated)
    func asyncBarrier(_ writer: any DatabaseWriter, _ updates: @escaping @Sendable (Database) -> Void) {
        writer.asyncBarrierWriteWithoutTransaction { (db: Database) in updates(db) }
    }
}

private let oldForms: any OldForms = DeprecatedForms()
