import CofferTestSupport
import Dispatch
import Synchronization
import Testing

@testable import Coffer

/// The functions that receive values may do anything.
@Suite("Actions during the delivery of values", .timeLimit(.minutes(Patience.minutes)))
struct ValueObservationReentrancyTests {
    let directory: TestDirectory
    let queue = DispatchQueue(label: "values")

    init() throws { directory = try TestDirectory() }

    private func makePlayers(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
        return writer
    }

    private let count = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
    }

    @Sendable private static func insert(_ writer: any DatabaseWriter) throws {
        try writer.write { try $0.execute(sql: "INSERT INTO player VALUES ('Arthur')") }
    }

    /// A cancellable that is accessible to its own observation.
    private final class Holder: Sendable {
        private let cancellables = Mutex<[AnyDatabaseCancellable]>([])

        func add(_ cancellable: AnyDatabaseCancellable) { cancellables.withLock { $0.append(cancellable) } }
        func cancel() { cancellables.withLock { $0 }.forEach { $0.cancel() } }
    }

    @Test("a write is delivered as the next value", arguments: Access.allCases)
    func write(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = count.start(in: writer, scheduling: .async(onQueue: queue), onError: log.fail) {
            value in
            log.append(value)
            guard value < 5 else { return }
            do { try Self.insert(writer) } catch { log.fail(error) }
        }
        #expect(await log.values(upTo: 5) == [0, 1, 2, 3, 4, 5])
        cancellable.cancel()
    }

    @Test(
        "a write is possible with the immediate scheduler, before start returns", arguments: Access.allCases)
    @MainActor func immediateWrite(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = count.removeDuplicates().start(
            in: writer, scheduling: .immediate, onError: { log.fail($0) }
        ) { value in
            log.append(value)
            guard value < 3 else { return }
            do { try Self.insert(writer) } catch { log.fail(error) }
        }
        #expect(log.values == [0])
        #expect(await log.values(upTo: 3) == [0, 1, 2, 3])
        cancellable.cancel()
    }

    @Test("another observation can be started", arguments: Access.allCases)
    func start(access: Access) async throws {
        let writer = try makePlayers(access)
        let holder = Holder()
        let outer = ValueLog<Int>(), inner = ValueLog<Int>()
        let count = count
        holder.add(
            count.start(in: writer, scheduling: .async(onQueue: queue), onError: outer.fail) {
                [queue] value in
                outer.append(value)
                guard value == 0 else { return }
                holder.add(
                    count.start(
                        in: writer, scheduling: .async(onQueue: queue), onError: inner.fail,
                        onChange: inner.append))
            })
        await inner.values(upTo: 0)
        try Self.insert(writer)
        #expect(await inner.values(upTo: 1) == [0, 1])
        #expect(await outer.values(upTo: 1) == [0, 1])
        holder.cancel()
    }

    @Test(
        "no value is delivered after a cancellation, even if more have been fetched",
        arguments: Access.allCases
    )
    func cancel(access: Access) async throws {
        let writer = try makePlayers(access)
        let holder = Holder()
        let log = ValueLog<Int>(), reduced = ValueLog<Int>()
        // The queue is blocked until several values wait on it.
        let mayDeliver = DispatchSemaphore(value: 0)
        queue.async { mayDeliver.wait() }
        let observation = count.handleEvents(didReceiveValue: reduced.append)
        holder.add(
            observation.start(in: writer, scheduling: .async(onQueue: queue), onError: log.fail) { value in
                log.append(value)
                if value == 1 { holder.cancel() }
            })
        for number in 0...3 {
            await reduced.values(upTo: number)
            try Self.insert(writer)
        }
        mayDeliver.signal()
        await log.values(upTo: 1)
        queue.sync {}
        #expect(log.values == [0, 1] && log.error == nil)
    }

    @Test("closing the database ends the observation", arguments: Access.allCases)
    func close(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = count.start(in: writer, scheduling: .async(onQueue: queue), onError: log.fail) {
            value in
            log.append(value)
            do { try writer.close() } catch { log.fail(error) }
        }
        #expect((await log.failure() as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        #expect(log.values == [0])
        cancellable.cancel()
    }

    @Test("clients of a shared observation can be added and cancelled", arguments: Access.allCases)
    func shared(access: Access) async throws {
        let writer = try makePlayers(access)
        let holder = Holder()
        let shared = count.shared(in: writer, scheduling: .async(onQueue: queue))
        let first = ValueLog<Int>(), second = ValueLog<Int>()
        holder.add(
            shared.start(onError: first.fail) { value in
                first.append(value)
                switch value {
                case 0: holder.add(shared.start(onError: second.fail, onChange: second.append))
                case 1: holder.cancel()
                default: break
                }
            })
        await second.values(upTo: 0)
        try Self.insert(writer)
        await first.values(upTo: 1)
        // The cancellation happens in the same action, after the note.
        queue.sync {}
        try Self.insert(writer)
        // A new run, because the previous one ended with its last client.
        let third = ValueLog<Int>()
        let cancellable = shared.start(onError: third.fail, onChange: third.append)
        #expect(await third.values(count: 1) == [2])
        #expect(first.values == [0, 1])
        #expect(second.values == [0])
        cancellable.cancel()
    }
}
