import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// Like ``OtherProcessReadTests``, for the guarantees of writers and snapshots.
@Suite("Guarantees of writers with another process")
struct OtherProcessWriteTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "W3: a write during a write of the other process fails at once with SQLITE_BUSY, or waits",
        arguments: Access.allCases)
    func locks(access: Access) async throws {
        let impatient = try directory.makePlayers(access)
        // In rollback mode, a waiting connection briefly reads the file before each attempt, which can block
        // a commit.
        let other = try OtherProcess(path: impatient.path, access, patience: Patience.seconds)
        #expect(try other.tell("begin") == "done")
        #expect(try other.tell("part") == "done")
        #expect { try impatient.write { try $0.insertPlayer() } } throws: { isError(.SQLITE_BUSY)($0) }
        await #expect { try await impatient.write { try $0.insertPlayer() } } throws: {
            isError(.SQLITE_BUSY)($0)
        }

        let isWaiting = Gate()
        let patient = try directory.make(
            access, "players.db",
            .rawKeyed.with {
                $0.busyMode = .callback { number in
                    if number == 0 { isWaiting.open() }
                    return true
                }
            })
        let write = Job {
            try patient.write { db in
                try db.insertPlayer()
                return try db.playerCount()
            }
        }
        isWaiting.pass()
        #expect(try other.tell("commit") == "done")
        #expect(try write.value() == 2, "a write begins with the commits before it")
    }

    @Test(
        "W4, W6: the other process sees no partial write, but each change made without a transaction",
        arguments: Access.allCases)
    func visibility(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        try writer.write { db in
            try db.insertPlayer()
            #expect(try other.tell("count") == "0")
            #expect(try other.tell("insert") == "busy", "there is one writer at a time")
            try db.insertPlayer()
            #expect(try other.tell("count") == "0")
        }
        #expect(try other.tell("count") == "2")
        #expect(throws: TestFailure.self) {
            try writer.write { db in
                try db.insertPlayer()
                throw TestFailure()
            }
        }
        #expect(try other.tell("count") == "2")
        try writer.writeWithoutTransaction { db in
            try db.insertPlayer()
            #expect(try other.tell("count") == "3")
            #expect(try other.tell("insert") == "done")
            try db.inTransaction {
                #expect(try db.playerCount() == 4)
                try db.insertPlayer()
                #expect(try other.tell("count") == "4")
                return .commit
            }
        }
        #expect(try other.tell("count") == "5")
    }

    @Test("W8: a barrier waits for the reads of its own pool, and not for reads of the other process")
    func barrier() throws {
        let pool = try directory.makePlayersPool()
        let other = try OtherProcess(path: pool.path, .pool)
        try pool.barrierWriteWithoutTransaction { db in
            try db.insertPlayer()
            #expect(try other.tell("count") == "1")
            #expect(try other.tell("insert") == "done")
            #expect(try db.playerCount() == 2)
        }
    }

    @Test(
        "W13, P4: a concurrent read sees the last commit before it, not a later one of the other process",
        arguments: Access.allCases)
    func concurrentRead(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        let mayRead = Gate()
        // A queue has read the value before the function returns.
        if access == .queue { mayRead.open() }
        let future = try writer.writeWithoutTransaction { db in
            try db.insertPlayer()
            #expect(try other.tell("insert") == "done")
            let future = writer.concurrentRead { db in
                mayRead.pass()
                return try db.playerCount()
            }
            #expect(try other.tell("insert") == "done")
            mayRead.open()
            return future
        }
        #expect(try future.wait() == 2)
        #expect(try writer.read { try $0.playerCount() } == 3)
    }

    @Test("P7: a snapshot does not change when the other process commits")
    func snapshots() throws {
        let pool = try directory.makePlayersPool()
        let other = try OtherProcess(path: pool.path, .pool)
        #expect(try other.tell("insert") == "done")
        let snapshots: [any DatabaseSnapshotReader] = [
            try pool.makeSnapshot(), try pool.makeSnapshotPool(),
            try pool.writeWithoutTransaction { _ in try pool.makeSnapshotPool() },
            try DatabaseSnapshotPool(path: pool.path, configuration: .rawKeyed),
        ]
        for command in ["insert", "alter", "delete"] {
            #expect(try other.tell(command) == "done")
            for snapshot in snapshots {
                #expect(try snapshot.read { try $0.playerCount() } == 1)
                #expect(try snapshot.read { try $0.columns(in: "player").count } == 2)
            }
        }
        #expect(try pool.read { try $0.playerCount() } == 0)
    }

    @Test(
        "P10: the connections of a snapshot pool see one state while the other process commits again and again",
        arguments: [false, true])
    func sameState(isReadOnly: Bool) throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.busyMode = .timeout(Patience.seconds) })
        let other = try OtherProcess(path: pool.path, .pool, patience: Patience.seconds)
        #expect(try other.tell("pairs") == "done")
        let configuration = Configuration.rawKeyed.with {
            $0.readonly = isReadOnly
            $0.busyMode = .timeout(Patience.seconds)
        }
        for _ in 0..<20 {
            for snapshot in [
                try DatabaseSnapshotPool(path: pool.path, configuration: configuration),
                try pool.makeSnapshotPool(),
            ] {
                let counts = Set(try inAllReaders(of: snapshot) { try $0.playerCount() })
                #expect(counts.count == 1)
                #expect(counts.allSatisfy { $0 % 2 == 0 })
            }
        }
        #expect(try Int(other.tell("end pairs")) ?? 0 > 0)
    }

    @Test(
        "observers are only notified of the transactions of their own connection", arguments: Access.allCases)
    func observers(access: Access) throws {
        final class Observer: TransactionObserver {
            let commits = Notes<Void>()
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) { commits.append(()) }
            func databaseDidRollback(_ db: Database) {}
        }
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        let observer = Observer()
        writer.add(transactionObserver: observer)
        #expect(try other.tell("insert") == "done")
        try writer.write { try $0.insertPlayer() }
        #expect(observer.commits.values.count == 1)
    }
}
