import CofferTestSupport
import Testing

@testable import Coffer

@Suite("Reads with limited waiting", .timeLimit(.minutes(Patience.minutes)))
struct WaitingReadTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makePool(_ change: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        try directory.makePlayersPool(
            .rawKeyed.with {
                $0.maximumReaderCount = 1
                change(&$0)
            })
    }

    @Test("reads with a time limit return while the only reader is busy")
    func timeouts() async throws {
        let pool = try makePool { $0.maximumWait = 0.02 }
        let busy = BusyConnection.reading(pool)
        let tasks =
            (0..<500).map { _ in Task { try await pool.read(hasBegun) } } + [
                Task { try await pool.unsafeRead(hasBegun) },
                Task { try await AnyDatabaseReader(pool).read(timeout: 0.02, hasBegun) },
            ]
        let jobs = [
            Job { Result { try pool.read(hasBegun) } },
            Job { Result { try pool.unsafeRead(hasBegun) } },
            Job { Result { try pool.read(timeout: 0.03, hasBegun) } },
        ]
        for task in tasks { expectTimeout(await task.result, .reader, after: 0.02) }
        for job in jobs { expectTimeout(try job.value(), .reader, after: 0.02) }
        #expect(busy.isBusy && pool.readers.waitingRequestCount == 0)
        let patient = Task { try await pool.read(timeout: .infinity) { try $0.playerCount() } }
        #expect(await eventuallyAwaited { pool.readers.waitingRequestCount == 1 })
        try busy.end()
        #expect(try await patient.value == 0)
        #expect(try await pool.read { try $0.playerCount() } == 0)
    }

    @Test("one read too many is refused at once")
    func overload() async throws {
        let pool = try makePool { $0.maximumWaiterCount = 1 }
        let busy = BusyConnection.reading(pool)
        let waiting = Task { try await pool.read { try $0.playerCount() } }
        #expect(await eventuallyAwaited { pool.readers.waitingRequestCount == 1 })
        let error = DatabaseWaitError.overloaded(.reader, waiterCount: 1)
        await #expect(throws: error) { try await pool.read(hasBegun) }
        let outcome = Result { try pool.read(hasBegun) }
        #expect(throws: error) { try outcome.get() }
        // The writer has a line of its own.
        try await pool.write { try $0.insertPlayer() }
        #expect(busy.isBusy)
        try busy.end()
        #expect(try await waiting.value == 1)
    }

    @Test(
        "a barrier that times out lets the writer and the reads queued after it proceed",
        arguments: [true, false])
    func barrier(isAwaited: Bool) async throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.maximumWait = 0.05 })
        let busy = BusyConnection.reading(pool)
        let outcome: Result<Void, any Error>
        if isAwaited {
            outcome =
                await Task { try await pool.barrierWriteWithoutTransaction(hasBegun) }
                .result
        } else {
            outcome = try Job {
                Result { try pool.barrierWriteWithoutTransaction(hasBegun) }
            }.value()
        }
        guard case .failure(let error) = outcome else {
            Issue.record("The barrier did not end.")
            return
        }
        #expect((error as? DatabaseWaitError)?.resource == .exclusiveAccess)
        try await pool.write { try $0.insertPlayer() }
        #expect(try await pool.read { try $0.playerCount() } == 1)
        #expect(busy.isBusy)
        try busy.end()
    }

    @Test("a concurrent read times out, and its write releases the writer")
    func concurrentRead() throws {
        let pool = try makePool { $0.maximumWait = 0.02 }
        let busy = BusyConnection.reading(pool)
        let write = Job {
            Result { try pool.writeWithoutTransaction { _ in pool.concurrentRead(hasBegun) }.wait() }
        }
        expectTimeout(try write.value(), .reader, after: 0.02)
        #expect(busy.isBusy && pool.readers.waitingRequestCount == 0)
        try pool.write { try $0.insertPlayer() }
        try busy.end()
        let count = pool.writeWithoutTransaction { _ in pool.concurrentRead { try $0.playerCount() } }
        #expect(try count.wait() == 1)
    }

    @Test("reads of a snapshot and of a snapshot pool have the limits of their configuration")
    func snapshots() async throws {
        let pool = try makePool { $0.maximumWait = 0.02 }
        let snapshot = try pool.makeSnapshot()
        let busy = BusyConnection.reading(snapshot)
        let one = Task { try await snapshot.read(hasBegun) }
        expectTimeout(await one.result, .connection, after: 0.02)
        let other = Job { Result { try snapshot.read(timeout: 0.03, hasBegun) } }
        expectTimeout(try other.value(), .connection, after: 0.03)
        try busy.end()

        let snapshots = try pool.makeSnapshotPool()
        let reader = BusyConnection.reading(snapshots)
        let third = Task { try await snapshots.read(hasBegun) }
        expectTimeout(await third.result, .reader, after: 0.02)
        try reader.end()
        #expect(try await snapshots.read { try $0.playerCount() } == 0)
    }

    @Test("observations get their values although no access may wait", arguments: Access.allCases)
    func observations(access: Access) throws {
        let writer = try directory.makePlayers(
            access,
            .rawKeyed.with {
                $0.maximumReaderCount = 1
                $0.maximumWait = 0
                $0.maximumWaiterCount = 0
            })
        // The first value has to wait for a connection.
        let busy = access == .queue ? BusyConnection.writing(writer) : .reading(writer)
        let counts = Notes<Int>()
        let observation = ValueObservation.tracking { try $0.playerCount() }.start(
            in: writer, scheduling: .task, onError: { Issue.record($0) }, onChange: { counts.append($0) })
        let first = access == .queue ? 1 : 0
        #expect(counts.values.isEmpty)
        try busy.end()
        #expect(eventually { counts.values.last == first })
        // A write that finds the connection in use is refused, as it should be.
        for _ in 0..<3 {
            #expect(eventually { (try? writer.write { try $0.insertPlayer() }) != nil })
        }
        #expect(eventually { counts.values.last == first + 3 })
        observation.cancel()
    }
}
