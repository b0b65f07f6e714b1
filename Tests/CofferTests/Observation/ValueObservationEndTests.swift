import CofferTestSupport
import Dispatch
import Testing

@testable import Coffer

/// The end of observations, and the release of their resources.
@Suite("The end of observations of values", .timeLimit(.minutes(Patience.minutes)))
struct ValueObservationEndTests {
    let directory: TestDirectory
    let queue = DispatchQueue(label: "values")

    init() throws { directory = try TestDirectory() }

    private struct Failure: Error {}

    private func makePlayers(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
        return writer
    }

    private let count = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
    }

    private func insert(_ writer: any DatabaseWriter) throws {
        try writer.write { try $0.execute(sql: "INSERT INTO player VALUES ('Arthur')") }
    }

    @Test(
        "after the error of an operator nothing is delivered, not even values that were already fetched",
        arguments: Access.allCases)
    func errorBeforeOtherValues(access: Access) async throws {
        let writer = try makePlayers(access)
        let mapping = ValueLog<Int>(), log = ValueLog<Int>()
        let mayFail = DispatchSemaphore(value: 0)
        let observation = count.map { value in
            guard value == 1 else { return value }
            mapping.append(value)
            mayFail.wait()
            throw Failure()
        }
        let cancellable = observation.start(
            in: writer, scheduling: .async(onQueue: queue), onError: log.fail, onChange: log.append)
        await log.values(upTo: 0)
        try insert(writer)
        await mapping.values(upTo: 1)
        // In a queue, three more values are fetched before the first one is mapped.
        for _ in 1...3 { try insert(writer) }
        try await writer.read { _ in }
        mayFail.signal()
        #expect(await log.failure() is Failure)
        queue.sync {}
        #expect(log.values == [0])
        cancellable.cancel()
    }

    @Test(
        "an error comes after the values that were fetched before it, and the events have the same order",
        arguments: Access.allCases)
    func errorAfterValues(access: Access) async throws {
        let writer = try makePlayers(access)
        let events = ValueLog<String>()
        let observation = ValueObservation.tracking { db in
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
            if count == 2 { throw Failure() }
            return count
        }.handleEvents(
            didReceiveValue: { events.append("value \($0)") }, didFail: { events.append("failure \($0)") },
            didCancel: { events.append("cancel") })
        let log = ValueLog<Int>()
        let cancellable = observation.start(
            in: writer, scheduling: .async(onQueue: queue), onError: log.fail, onChange: log.append)
        await log.values(upTo: 0)
        try insert(writer)
        await log.values(upTo: 1)
        try insert(writer)
        #expect(await log.failure() is Failure)
        cancellable.cancel()
        queue.sync {}
        #expect(log.values == [0, 1])
        #expect(events.values == ["value 0", "value 1", "failure Failure()"])
    }

    @Test("a pending error is not delivered after a cancellation", arguments: Access.allCases)
    func cancelledError(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>(), fetches = ValueLog<Int>()
        let observation = ValueObservation.tracking { _ -> Int in
            fetches.append(1)
            throw Failure()
        }
        let mayDeliver = DispatchSemaphore(value: 0)
        queue.async { mayDeliver.wait() }
        let cancellable = observation.start(
            in: writer, scheduling: .async(onQueue: queue), onError: log.fail, onChange: log.append)
        await fetches.values(count: 1)
        try await writer.barrierWriteWithoutTransaction { _ in }
        cancellable.cancel()
        mayDeliver.signal()
        queue.sync {}
        #expect(log.error == nil && log.values.isEmpty)
    }

    @Test(
        "closing the database while a value is mapped ends the observation with an error",
        arguments: Access.allCases)
    func closingMeanwhile(access: Access) async throws {
        let writer = try makePlayers(access)
        let mapping = ValueLog<Int>(), log = ValueLog<Int>()
        let mayGoOn = DispatchSemaphore(value: 0)
        let observation = count.map { value in
            mapping.append(value)
            mayGoOn.wait()
            return value
        }
        let cancellable = observation.start(
            in: writer, scheduling: .async(onQueue: queue), onError: log.fail, onChange: log.append)
        await mapping.values(count: 1)
        try writer.close()
        mayGoOn.signal()
        #expect((await log.failure() as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        #expect(log.values == [0])
        cancellable.cancel()
    }

    // MARK: Released objects

    /// An object whose deallocation shows that a function that captures it was released.
    private final class Token: Sendable {}

    @Test(
        "a cancelled or failed observation releases the database and its closures",
        arguments: Access.allCases)
    func release(access: Access) async throws {
        for (fails, isOpen) in [(false, false), (false, true), (true, false), (true, true)] {
            var writer: (any DatabaseWriter)? = try directory.make(access, "\(fails) \(isOpen).db")
            try await writer?.write { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
            weak let weakWriter = writer
            var tokens: [Token] = [Token(), Token(), Token()]
            weak let fetching = tokens[0]
            weak let mapping = tokens[1]
            weak let telling = tokens[2]
            let log = ValueLog<Int>()
            var cancellable: AnyDatabaseCancellable?
            do {
                let (first, second, third) = (tokens[0], tokens[1], tokens[2])
                let observation = ValueObservation.tracking { db in
                    withExtendedLifetime(first) {}
                    return try Int.fetchOne(
                        db, sql: fails ? "SELECT * FROM missing" : "SELECT COUNT(*) FROM player") ?? 0
                }.map { value in
                    withExtendedLifetime(second) {}
                    return value
                }
                cancellable = observation.start(
                    in: try #require(writer), scheduling: .async(onQueue: queue), onError: log.fail
                ) { value in
                    withExtendedLifetime(third) {}
                    log.append(value)
                }
            }
            await log.values(count: 1)
            tokens = []
            // In one case the database is still in use; in the other, only the observation keeps it open.
            let other = isOpen ? writer : nil
            writer = nil
            if !fails { #expect(weakWriter != nil && fetching != nil && mapping != nil && telling != nil) }
            cancellable?.cancel()
            cancellable = nil
            // The last access, and the last action of a queue, may not have ended yet.
            while fetching != nil || mapping != nil || telling != nil || (weakWriter != nil) != isOpen {
                try Task.checkCancellation()
                await Task.yield()
            }
            withExtendedLifetime(other) {}
        }
    }

    @Test(
        "ended loops, shared observations and region observations release the database",
        arguments: Access.allCases)
    func releaseOfOthers(access: Access) async throws {
        var writer: (any DatabaseWriter)? = try makePlayers(access)
        weak let weakWriter = writer
        do {
            let open = try #require(writer)
            for try await _ in count.values(in: open) { break }
            _ = try await count.values(in: open).makeAsyncIterator().nextValue()
            let shared = count.shared(in: open, scheduling: .task, extent: .observationLifetime)
            for try await _ in shared.values() { break }
            let regions = DatabaseRegionObservation(tracking: .fullDatabase)
            regions.start(in: open, onError: { _ in }, onChange: { _ in }).cancel()
            let log = ValueLog<Int>()
            let cancellable = regions.start(in: open, onError: log.fail) { _ in log.append(1) }
            try await open.write { try $0.execute(sql: "INSERT INTO player VALUES ('Arthur')") }
            #expect(log.values == [1])
            withExtendedLifetime(cancellable) {}
        }
        writer = nil
        while weakWriter != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

extension AsyncIteratorProtocol {
    /// Returns the next value of a temporary iterator.
    fileprivate func nextValue() async throws -> Element? {
        var iterator = self
        return try await iterator.next()
    }
}
