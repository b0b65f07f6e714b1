import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// The guarantees in the documentation of `DatabaseWriter`, with their numbers in the Guarantees article.
@Suite("Guarantees of writers")
struct WriterGuaranteeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("W1: a write runs in a transaction and returns its result", arguments: Access.allCases)
    func write(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let sync = try { () throws in
            try writer.write { db in
                #expect(db.isInsideTransaction)
                try db.insertPlayer()
                return try db.playerCount()
            }
        }()
        #expect(sync == 1)
        let async = try await writer.write { db in
            #expect(db.isInsideTransaction)
            try db.insertPlayer()
            return try db.playerCount()
        }
        #expect(async == 2)
    }

    @Test("W2: an error rolls a write back and is rethrown", arguments: Access.allCases)
    func failedWrite(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        #expect(throws: TestFailure.self) {
            try writer.write { db in
                try db.insertPlayer()
                throw TestFailure()
            }
        }
        await #expect(throws: TestFailure.self) {
            try await writer.write { db in
                try db.insertPlayer()
                throw TestFailure()
            }
        }
        #expect(try await writer.read { try $0.playerCount() } == 0)
    }

    @Test(
        "W3: a write waits for the end of the one before it, also when it is asynchronous",
        arguments: Access.allCases)
    func serializedWrites(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let isWriting = Notes<Void>()
        let overlaps = Notes<Void>()
        let running = Notes<Void>()
        let jobs = (0..<8).map { number in
            Job {
                for round in 0..<20 {
                    let body: @Sendable (Database) throws -> Void = { db in
                        if !running.values.isEmpty, running.values.count % 2 == 1 { overlaps.append(()) }
                        running.append(())
                        try db.insertPlayer()
                        running.append(())
                    }
                    switch (number + round) % 4 {
                    case 0: try writer.write(body)
                    case 1: try writer.writeWithoutTransaction(body)
                    case 2: try writer.barrierWriteWithoutTransaction(body)
                    default: writer.asyncWrite(body) { _, _ in }
                    }
                }
            }
        }
        for job in jobs { try job.value() }
        try writer.write { _ in }
        #expect(overlaps.values.isEmpty && isWriting.values.isEmpty)
        #expect(try writer.read { try $0.playerCount() } == 160)
    }

    @Test("W4: no part of a write is visible to others", arguments: Access.allCases)
    func noPartialWrite(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let reads = Notes<Int>()
        let job = Job {
            while reads.values.count < 200 { reads.append(try writer.read { try $0.playerCount() }) }
        }
        while !job.isDone {
            try writer.write { db in
                try db.insertPlayer()
                try db.insertPlayer()
            }
        }
        try job.value()
        #expect(reads.values.allSatisfy { $0 % 2 == 0 })
        #expect(reads.values == reads.values.sorted(), "a later read sees no older state")
    }

    @Test("W5: a write inside a write traps", arguments: Access.allCases)
    func nestedWrite(access: Access) async {
        switch access {
        case .queue:
            await #expect(processExitsWith: .failure) {
                try nest(.queue) { w in try w.write { _ in try w.write { _ in } } }
            }
        case .pool:
            await #expect(processExitsWith: .failure) {
                try nest(.pool) { w in try w.write { _ in try w.write { _ in } } }
            }
        }
    }

    @Test(
        "W6: without a transaction, others may see each change at once; with an explicit one they see all or nothing"
    )
    func withoutTransaction() throws {
        let pool = try directory.makePlayersPool()
        let count: @Sendable () throws -> Int = { try Job { try pool.read { try $0.playerCount() } }.value() }
        try pool.writeWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.insertPlayer()
            #expect(try count() == 1)
            try db.inTransaction {
                try db.insertPlayer()
                #expect(try count() == 1)
                return .commit
            }
            #expect(try count() == 2)
        }
    }

    @Test(
        "W7: a write that leaves a transaction open traps, unless the configuration allows it",
        arguments: Access.allCases)
    func leftTransaction(access: Access) async throws {
        let writer = try directory.makePlayers(access, .rawKeyed.with { $0.allowsUnsafeTransactions = true })
        try await writer.writeWithoutTransaction { try $0.beginTransaction() }
        try await writer.writeWithoutTransaction { try $0.commit() }
        switch access {
        case .queue:
            await #expect(processExitsWith: .failure) {
                try nest(.queue) { try $0.writeWithoutTransaction { try $0.beginTransaction() } }
            }
        case .pool:
            await #expect(processExitsWith: .failure) {
                try nest(.pool) { try $0.writeWithoutTransaction { try $0.beginTransaction() } }
            }
        }
    }

    @Test("W8: a barrier waits for the reads before it, and makes later reads wait")
    func barrier() throws {
        let pool = try directory.makePlayersPool()
        let order = Notes<String>()
        let hasBegun = Gate(), mayEnd = Gate(), isInBarrier = Gate(), barrierMayEnd = Gate()
        let first = Job {
            try pool.read { _ in
                hasBegun.open()
                mayEnd.pass()
                order.append("read 1")
            }
        }
        hasBegun.pass()
        let barrier = Job {
            try pool.barrierWriteWithoutTransaction { db in
                isInBarrier.open()
                barrierMayEnd.pass()
                try db.insertPlayer()
                order.append("barrier")
            }
        }
        #expect(eventually { pool.readers.waitingRequestCount == 1 })
        let second = Job {
            try pool.read { db in
                order.append("read 2")
                return try db.playerCount()
            }
        }
        #expect(eventually { pool.readers.waitingRequestCount == 2 })
        mayEnd.open()
        isInBarrier.pass()
        let write = Job { try pool.write { _ in order.append("write") } }
        barrierMayEnd.open()
        try first.value()
        try barrier.value()
        try write.value()
        #expect(try second.value() == 1)
        #expect(order.values.prefix(2) == ["read 1", "barrier"])
        #expect(Set(order.values) == ["read 1", "barrier", "read 2", "write"])
    }

    @Test("W8b: a barrier inside an access traps, and so does a read inside a barrier")
    func nestedBarrier() async {
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in try w.write { _ in try w.barrierWriteWithoutTransaction { _ in } } }
        }
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in try w.read { _ in try w.barrierWriteWithoutTransaction { _ in } } }
        }
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in try w.barrierWriteWithoutTransaction { _ in try w.read { _ in } } }
        }
        await #expect(processExitsWith: .failure) {
            try nest(.queue) { w in try w.write { _ in try w.barrierWriteWithoutTransaction { _ in } } }
        }
    }

    @Test("W9: an asynchronous barrier is a barrier", arguments: Access.allCases)
    func asyncBarrier(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let running = Notes<Int>()
        let violations = Notes<Void>()
        let jobs = (0..<4).map { _ in
            Job {
                for _ in 0..<50 {
                    try writer.read { _ in
                        running.append(1)
                        running.append(-1)
                    }
                }
            }
        }
        for _ in 0..<50 {
            writer.asyncBarrierWriteWithoutTransaction { result in
                if (try? result.get().insertPlayer()) == nil { violations.append(()) }
                let before = running.values
                if before.reduce(0, +) != 0 { violations.append(()) }
                for _ in 0..<10 where running.values.count != before.count { violations.append(()) }
            }
        }
        for job in jobs { try job.value() }
        let count = try writer.barrierWriteWithoutTransaction { try $0.playerCount() }
        #expect(count == 50)
        #expect(violations.values.isEmpty)
    }

    @Test(
        "W10: asyncWrite calls its completion after the transaction and before the next write",
        arguments: Access.allCases)
    func asyncWrite(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let notes = Notes<String>()
        writer.asyncWrite { db in
            #expect(db.isInsideTransaction)
            try db.insertPlayer()
            return try db.playerCount()
        } completion: { db, result in
            #expect(!db.isInsideTransaction)
            notes.append("\((try? result.get()) ?? -1)")
        }
        writer.asyncWrite { db in
            try db.insertPlayer()
            throw TestFailure()
        } completion: { (db: Database, result: Result<Void, any Error>) in
            #expect(throws: TestFailure.self) { try result.get() }
            notes.append("failed, \((try? db.playerCount()) ?? -1)")
        }
        writer.asyncWrite { db in
            // A deferred foreign key makes the commit fail.
            try db.execute(
                sql: """
                    CREATE TABLE team (playerId INTEGER REFERENCES player (id) DEFERRABLE INITIALLY DEFERRED);
                    INSERT INTO team VALUES (42)
                    """)
        } completion: { db, result in
            #expect { try result.get() } throws: { isError(.SQLITE_CONSTRAINT)($0) }
            #expect(!db.isInsideTransaction)
            notes.append("not committed")
        }
        try writer.write { _ in notes.append("next") }
        #expect(notes.values == ["1", "failed, 1", "not committed", "next"])
    }

    @Test(
        "W11: asyncWriteWithoutTransaction runs later, in order, outside of any transaction",
        arguments: Access.allCases)
    func asyncWriteWithoutTransaction(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let notes = Notes<Int>()
        for number in 0..<10 {
            writer.asyncWriteWithoutTransaction { db in
                #expect(!db.isInsideTransaction)
                notes.append(number)
            }
        }
        try writer.write { _ in }
        #expect(notes.values == Array(0..<10))
    }

    @Test("W12: unsafeReentrantWrite runs inside any write, on its connection", arguments: Access.allCases)
    func reentrantWrite(access: Access) throws {
        let writer = try directory.makePlayers(access)
        try writer.write { db in
            try writer.unsafeReentrantWrite { inner in
                #expect(inner === db)
                try inner.insertPlayer()
            }
        }
        try writer.unsafeReentrantWrite { try $0.insertPlayer() }
        try writer.barrierWriteWithoutTransaction { _ in
            try writer.unsafeReentrantWrite { try $0.insertPlayer() }
        }
        #expect(try writer.read { try $0.playerCount() } == 3)
    }

    @Test(
        "W13: a concurrent read sees the last commit before it, and no later writes",
        arguments: Access.allCases)
    func concurrentRead(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let future = try writer.writeWithoutTransaction { db in
            try db.insertPlayer()
            try db.execute(sql: "DELETE FROM player")
            let future = writer.concurrentRead { try $0.playerCount() }
            try db.insertPlayer()
            // A future can be awaited anywhere, and repeatedly.
            #expect(try future.wait() == 0)
            return future
        }
        #expect(try future.wait() == 0)
        #expect(try writer.read { try $0.playerCount() } == 1)
        let failed = writer.writeWithoutTransaction { _ in writer.concurrentRead { try $0.insertPlayer() } }
        #expect { try failed.wait() } throws: { isError(.SQLITE_READONLY)($0) }
    }

    @Test(
        "W13b: a concurrent read inside a barrier does not wait for the barrier",
        arguments: Access.allCases)
    func concurrentReadInBarrier(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let count = try writer.barrierWriteWithoutTransaction { db in
            try db.insertPlayer()
            let future = writer.concurrentRead { try $0.playerCount() }
            try db.insertPlayer()
            return try future.wait()
        }
        #expect(count == 1)
    }

    @Test(
        "W13c: a concurrent read traps outside a write, and inside a transaction",
        arguments: Access.allCases)
    func misplacedConcurrentRead(access: Access) async {
        switch access {
        case .queue:
            await #expect(processExitsWith: .failure) {
                try nest(.queue) { w in _ = w.concurrentRead { _ in } }
            }
            await #expect(processExitsWith: .failure) {
                try nest(.queue) { w in try w.write { _ in _ = w.concurrentRead { _ in } } }
            }
        case .pool:
            await #expect(processExitsWith: .failure) {
                try nest(.pool) { w in _ = w.concurrentRead { _ in } }
            }
            await #expect(processExitsWith: .failure) {
                try nest(.pool) { w in try w.write { _ in _ = w.concurrentRead { _ in } } }
            }
        }
    }

    @Test("W14: an observer is added and removed through the writer", arguments: Access.allCases)
    func observer(access: Access) throws {
        final class Observer: TransactionObserver {
            let events = Notes<String>()
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) { events.append("change") }
            func databaseDidCommit(_ db: Database) { events.append("commit") }
            func databaseDidRollback(_ db: Database) { events.append("rollback") }
        }
        let writer = try directory.makePlayers(access)
        let observer = Observer()
        writer.add(transactionObserver: observer)
        try writer.write { try $0.insertPlayer() }
        try? writer.write { db in
            try db.insertPlayer()
            throw TestFailure()
        }
        try writer.writeWithoutTransaction { db in
            writer.remove(transactionObserver: observer)
            try db.insertPlayer()
        }
        #expect(observer.events.values == ["change", "commit", "change", "rollback"])
    }

    @Test(
        "W17: an awaited write without a transaction and an awaited barrier run outside a transaction",
        arguments: Access.allCases)
    func awaited(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        try await writer.writeWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.insertPlayer()
        }
        let count = try await writer.barrierWriteWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            return try db.playerCount()
        }
        #expect(count == 1)
    }

    @Test("AnyDatabaseWriter behaves like the writer that it wraps", arguments: Access.allCases)
    func anyWriter(access: Access) async throws {
        let writer = AnyDatabaseWriter(try directory.makePlayers(access))
        try await writer.write { try $0.insertPlayer() }
        try await writer.write { try $0.insertPlayer() }
        try await writer.barrierWriteWithoutTransaction { try $0.insertPlayer() }
        await withCheckedContinuation { continuation in
            writer.asyncWrite {
                try $0.insertPlayer()
            } completion: { _, _ in
                continuation.resume()
            }
        }
        let reader = AnyDatabaseReader(writer)
        #expect(try await reader.read { try $0.playerCount() } == 4)
        #expect(try await reader.read { try $0.playerCount() } == 4)
        try reader.close()
        #expect { try writer.read { _ in } } throws: { isError(.SQLITE_MISUSE)($0) }
    }
}
