import CofferTestSupport
import Dispatch
import Foundation
import Testing

@testable import Coffer

/// Writes that wait for their turn, and end without it. No test measures a time: an access that returns while
/// the connection is still busy has not waited for it.
@Suite("Waiting writes", .timeLimit(.minutes(Patience.minutes)))
struct WaitingWriteTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    // MARK: Cancellation

    @Test("a write that waits for its turn can be cancelled, and does nothing", arguments: Access.allCases)
    func cancellation(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let busy = BusyConnection.writing(writer)
        let tasks = [
            Task { try await writer.write { try $0.insertPlayer() } },
            Task { try await writer.writeWithoutTransaction { try $0.insertPlayer() } },
            Task { try await writer.barrierWriteWithoutTransaction { try $0.insertPlayer() } },
            Task { try await writer.write(timeout: .infinity) { try $0.insertPlayer() } },
        ]
        #expect(await eventuallyAwaited { writer.waitingWriteCount == tasks.count })
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(busy.isBusy && writer.waitingWriteCount == 0)
        try busy.end()
        try await writer.write { try $0.insertPlayer() }
        #expect(try await writer.read { try $0.playerCount() } == 2)
    }

    @Test("a read that waits for the connection of a queue can be cancelled")
    func cancelledQueueRead() async throws {
        let queue = try directory.makePlayers(.queue)
        let busy = BusyConnection.writing(queue)
        let tasks = [
            Task { try await queue.read(hasBegun) },
            Task { try await queue.unsafeRead(hasBegun) },
        ]
        #expect(await eventuallyAwaited { queue.waitingWriteCount == tasks.count })
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(busy.isBusy)
        try busy.end()
    }

    @Test("thousands of cancelled writes return while the writer is busy", arguments: Access.allCases)
    func manyCancellations(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let busy = BusyConnection.writing(writer)
        let tasks = (0..<5000).map { _ in Task { try await writer.write { try $0.insertPlayer() } } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == tasks.count })
        for task in tasks.shuffled() { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(busy.isBusy && writer.waitingWriteCount == 0)
        try busy.end()
        try await writer.write { try $0.insertPlayer() }
        #expect(try await writer.read { try $0.playerCount() } == 2)
    }

    // MARK: Time limits

    @Test("1,000 writes with a time limit return while the writer is busy", arguments: Access.allCases)
    func manyTimeouts(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let busy = BusyConnection.writing(writer)
        let tasks = (0..<1000).map { _ in
            Task { try await writer.write(timeout: 0.05) { try $0.insertPlayer() } }
        }
        for task in tasks { expectTimeout(await task.result, access.resource, after: 0.05) }
        #expect(busy.isBusy && writer.waitingWriteCount == 0)
        try busy.end()
        try await writer.write(timeout: 0.05) { try $0.insertPlayer() }
        #expect(try await writer.read { try $0.playerCount() } == 2)
    }

    @Test("threads with a time limit return while the writer is busy", arguments: Access.allCases)
    func threads(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let busy = BusyConnection.writing(writer)
        let jobs = (0..<50).map { number in
            Job {
                Result { try writer.write(timeout: 0.001 * Double(number + 1)) { try $0.insertPlayer() } }
            }
        }
        for (number, job) in jobs.enumerated() {
            expectTimeout(try job.value(), access.resource, after: 0.001 * Double(number + 1))
        }
        #expect(busy.isBusy)
        try busy.end()
        try writer.write(timeout: 0.05) { try $0.insertPlayer() }
        #expect(try writer.read { try $0.playerCount() } == 2)
    }

    @Test(
        "with a time limit of zero or less, only accesses that need not wait succeed",
        arguments: Access.allCases, [0, -1, -.infinity, .nan] as [Double])
    func noWait(access: Access, timeout: Double) async throws {
        let writer = try directory.makePlayers(access)
        let insert: () throws -> Void = { try writer.write(timeout: timeout) { try $0.insertPlayer() } }
        let count: () throws -> Int = { try writer.read(timeout: timeout) { try $0.playerCount() } }
        try insert()
        try await writer.write(timeout: timeout) { try $0.insertPlayer() }
        #expect(try count() == 2)
        #expect(try await writer.read(timeout: timeout) { try $0.playerCount() } == 2)

        let busy = BusyConnection.writing(writer)
        let error = DatabaseWaitError.timedOut(access.resource, waited: 0)
        let outcome = Result { try writer.write(timeout: timeout, hasBegun) }
        #expect(throws: error) { try outcome.get() }
        await #expect(throws: error) {
            try await writer.write(timeout: timeout, hasBegun)
        }
        await #expect(throws: error) {
            try await writer.writeWithoutTransaction(timeout: timeout, hasBegun)
        }
        #expect(busy.isBusy && writer.waitingWriteCount == 0)
        try busy.end()
    }

    @Test("the configured time limit applies to each access that can throw", arguments: Access.allCases)
    func configuredLimit(access: Access) async throws {
        let writer = try directory.makePlayers(access, .rawKeyed.with { $0.maximumWait = 0.02 })
        let busy = BusyConnection.writing(writer)
        let outcomes = [
            Job { Result { try writer.write(hasBegun) } },
            Job {
                Result { try writer.writeWithoutTransaction(timeout: nil, hasBegun) }
            },
            Job { Result { try writer.writeInOwnTransaction() } },
            Job { Result { try AnyDatabaseWriter(writer).write(hasBegun) } },
        ]
        for outcome in outcomes { expectTimeout(try outcome.value(), access.resource, after: 0.02) }
        let tasks = [
            Task { try await writer.write(hasBegun) },
            Task { try await writer.writeWithoutTransaction(hasBegun) },
            Task { try await writer.barrierWriteWithoutTransaction(hasBegun) },
            Task { try await AnyDatabaseWriter(writer).write(hasBegun) },
        ]
        for task in tasks { expectTimeout(await task.result, access.resource, after: 0.02) }
        if access == .queue {
            let reads = [
                Task { try await writer.read(hasBegun) },
                Task { try await writer.unsafeRead(hasBegun) },
            ]
            for task in reads { expectTimeout(await task.result, access.resource, after: 0.02) }
            let read = Job { Result { try writer.read(hasBegun) } }
            expectTimeout(try read.value(), access.resource, after: 0.02)
        }
        // Another limit for one access.
        let patient = Task { try await writer.write(timeout: .infinity) { try $0.insertPlayer() } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 1 })
        try busy.end()
        try await patient.value
        #expect(try await writer.read { try $0.playerCount() } == 2)
    }

    @Test("accesses that cannot throw wait without a limit", arguments: Access.allCases)
    func withoutLimit(access: Access) async throws {
        let writer = try directory.makePlayers(
            access,
            .rawKeyed.with {
                $0.maximumWait = 0
                $0.maximumWaiterCount = 0
            })
        let busy = BusyConnection.writing(writer)
        let thread = Job { try writer.writeWithoutTransaction { try $0.insertPlayer() } }
        let (done, results) = (Gate(), Notes<Bool>())
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 1 })
        writer.asyncWriteWithoutTransaction { db in results.append((try? db.insertPlayer()) != nil) }
        writer.asyncBarrierWriteWithoutTransaction { result in
            results.append((try? result.get().insertPlayer()) != nil)
            done.open()
        }
        #expect(writer.waitingWriteCount == 3)
        try busy.end()
        try thread.value()
        done.pass()
        #expect(results.values == [true, true])
        #expect(try writer.unsafeReentrantRead { try $0.playerCount() } == 4)
    }

    @Test("nested accesses do not wait, and are not limited", arguments: Access.allCases)
    func nested(access: Access) throws {
        let writer = try directory.makePlayers(
            access,
            .rawKeyed.with {
                $0.maximumWait = 0
                $0.maximumWaiterCount = 0
            })
        try writer.write { db in
            try db.insertPlayer()
            try writer.unsafeReentrantWrite { try $0.insertPlayer() }
            #expect(try writer.unsafeReentrantRead { try $0.playerCount() } == 2)
            if access == .pool { #expect(try writer.read { try $0.playerCount() } == 0) }
        }
        try writer.read { _ in
            #expect(try writer.unsafeReentrantRead { try $0.playerCount() } == 2)
            if access == .pool { try writer.write { try $0.insertPlayer() } }
        }
    }

    // MARK: The number of waiting writes

    @Test("one write too many is refused at once, until a waiting write leaves", arguments: Access.allCases)
    func overload(access: Access) async throws {
        let writer = try directory.makePlayers(access, .rawKeyed.with { $0.maximumWaiterCount = 2 })
        let busy = BusyConnection.writing(writer)
        let cancelled = Task { try await writer.write { try $0.insertPlayer() } }
        let done = Task { try await writer.write { try $0.insertPlayer() } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 2 })
        let error = DatabaseWaitError.overloaded(access.resource, waiterCount: 2)
        await #expect(throws: error) { try await writer.write(hasBegun) }
        await #expect(throws: error) { try await writer.write(timeout: 9, hasBegun) }
        let outcome = Result { try writer.write(hasBegun) }
        #expect(throws: error) { try outcome.get() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let admitted = Task { try await writer.write { try $0.insertPlayer() } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 2 })
        #expect(busy.isBusy)
        try busy.end()
        try await done.value
        try await admitted.value
        #expect(try await writer.read { try $0.playerCount() } == 3)
    }

    // MARK: Order and closing

    @Test("writes of threads, tasks and callbacks run in order, even if others stop waiting")
    func order() async throws {
        let pool = try directory.makePlayersPool()
        let busy = BusyConnection.writing(pool)
        let notes = Notes<Int>()
        var (jobs, tasks, leaving): ([Job<Void>], [Task<Void, any Error>], [Task<Void, any Error>]) = (
            [], [], []
        )
        var count = 0
        for number in 0..<200 {
            switch number % 5 {
            case 0: jobs.append(Job { try pool.write { _ in notes.append(number) } })
            case 1: tasks.append(Task { try await pool.write { _ in notes.append(number) } })
            case 2: pool.asyncWriteWithoutTransaction { _ in notes.append(number) }
            case 3: leaving.append(Task { try await pool.write { _ in notes.append(number) } })
            default: jobs.append(Job { try pool.write(timeout: .infinity) { _ in notes.append(number) } })
            }
            count += 1
            #expect(await eventuallyAwaited { pool.waitingWriteCount == count })
        }
        for task in leaving { task.cancel() }
        for task in leaving { await #expect(throws: CancellationError.self) { try await task.value } }
        try busy.end()
        for job in jobs { try job.value() }
        for task in tasks { try await task.value }
        try await pool.write { _ in }
        #expect(notes.values == (0..<200).filter { $0 % 5 != 3 })
    }

    @Test(
        "writes requested before close() run, and later ones throw SQLITE_MISUSE", arguments: Access.allCases)
    func closing(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let busy = BusyConnection.writing(writer)
        let before = Task { try await writer.write { try $0.insertPlayer() } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 1 })
        let closing = Job { try writer.close() }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 2 })
        let cancelled = Task { try await writer.write(hasBegun) }
        let late = Task { try await writer.write(timeout: 0.02, hasBegun) }
        #expect(await eventuallyAwaited { writer.waitingWriteCount >= 3 })
        expectTimeout(await late.result, access.resource, after: 0.02)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let after = Task { try await writer.write(hasBegun) }
        let thread = Job { Result { try writer.write(timeout: .infinity, hasBegun) } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 4 })
        try busy.end()
        try await before.value
        try closing.value()
        await #expect(performing: { try await after.value }, throws: isError(.SQLITE_MISUSE))
        #expect(performing: { try thread.value().get() }, throws: isError(.SQLITE_MISUSE))
        let again = try directory.make(access, "players.db")
        #expect(try await again.read { try $0.playerCount() } == 2)
    }

    // MARK: Races

    @Test(
        "a write that is cancelled or times out when its turn comes runs completely or not at all",
        arguments: Access.allCases)
    func races(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        var expected = 0
        for round in 0..<200 {
            let busy = BusyConnection.writing(writer)
            let tasks = (0..<8).map { number in
                Task {
                    // Half of them expire at about the time at which the others are cancelled.
                    try await writer.write(timeout: number % 2 == 0 ? .infinity : 0.0005) { db in
                        try db.insertPlayer()
                        try db.insertPlayer()
                    }
                }
            }
            if round % 2 == 0 { #expect(await eventuallyAwaited { writer.waitingWriteCount > 0 }) }
            let cancelling = Task.detached { for task in tasks { task.cancel() } }
            try busy.end()
            await cancelling.value
            expected += 1
            for task in tasks {
                switch await task.result {
                case .success: expected += 2
                case .failure(let error):
                    #expect(error is CancellationError || error is DatabaseWaitError)
                }
            }
        }
        #expect(try await writer.read { try $0.playerCount() } == expected)
        #expect(writer.waitingWriteCount == 0)
    }

    // MARK: Target queues

    @Test("a write runs on the target queue, if there is one, or else on the caller's thread")
    func targetQueue() async throws {
        let target = DispatchQueue(label: "target")
        let key = DispatchSpecificKey<Int>()
        target.setSpecific(key: key, value: 7)
        let pool = try directory.makePool("target.db", .rawKeyed.with { $0.writeTargetQueue = target })
        #expect(try await pool.write { _ in DispatchQueue.getSpecific(key: key) } == 7)
        #expect(specific(key, in: pool) == 7)
        let own = try directory.makePool("own.db")
        #expect(specific(key, in: own) == nil)
        #expect(runsOnThisThread(own))
    }

    private func specific(_ key: DispatchSpecificKey<Int>, in pool: DatabasePool) -> Int? {
        pool.writeWithoutTransaction { _ in DispatchQueue.getSpecific(key: key) }
    }

    private func runsOnThisThread(_ pool: DatabasePool) -> Bool {
        let caller = currentThreadID()
        return pool.writeWithoutTransaction { _ in currentThreadID() } == caller
    }

    // MARK: Statistics

    @Test("the statistics of a pool count open and busy connections and waiting accesses")
    func statistics() async throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.maximumReaderCount = 2 })
        let idle = pool.statistics
        #expect(idle.openReaderCount == 0 && idle.busyReaderCount == 0 && idle.waitingReadCount == 0)
        #expect(!idle.isWriterBusy && idle.waitingWriteCount == 0)
        let busy = [BusyConnection.writing(pool), .reading(pool), .reading(pool)]
        let write = Task { try await pool.write { _ in } }
        let reads = (0..<3).map { _ in Task { try await pool.read { _ in } } }
        #expect(await eventuallyAwaited { pool.statistics.waitingReadCount == 3 })
        #expect(await eventuallyAwaited { pool.statistics.waitingWriteCount == 1 })
        #expect(pool.statistics.openReaderCount == 2 && pool.statistics.busyReaderCount == 2)
        #expect(pool.statistics.isWriterBusy)
        for access in busy { try access.end() }
        try await write.value
        for read in reads { try await read.value }
        #expect(
            await eventuallyAwaited {
                let end = pool.statistics
                return end.busyReaderCount == 0 && !end.isWriterBusy && end.openReaderCount == 2
            })
    }
}

extension DatabaseReader {
    /// The number of accesses that wait for the writer of a pool, or the connection of a queue.
    var waitingWriteCount: Int {
        switch self {
        case let pool as DatabasePool: pool.writer.turns.waiting
        case let queue as DatabaseQueue: queue.connection.turns.waiting
        default: 0
        }
    }
}

extension DatabaseWriter {
    fileprivate func writeInOwnTransaction() throws {
        if let pool = self as? DatabasePool { try pool.writeInTransaction { _ in .commit } }
        if let queue = self as? DatabaseQueue { try queue.inTransaction { _ in .commit } }
    }
}

extension Access {
    /// The resource that a write waits for.
    fileprivate var resource: DatabaseWaitError.Resource { self == .pool ? .writer : .connection }
}

/// The body of an access that must not begin.
func hasBegun(_: Database) { Issue.record("The access has begun.") }

/// Expects the error of an access that has waited for the whole time that was allowed.
func expectTimeout(
    _ outcome: Result<Void, any Error>, _ resource: DatabaseWaitError.Resource, after timeout: TimeInterval,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard case .failure(let error) = outcome,
        case .timedOut(resource, let waited)? = error as? DatabaseWaitError
    else {
        Issue.record("\(outcome)", sourceLocation: sourceLocation)
        return
    }
    #expect(waited >= timeout, sourceLocation: sourceLocation)
}
