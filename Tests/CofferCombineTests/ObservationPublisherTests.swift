import Coffer
import CofferCombine
import CofferTestSupport
import Dispatch
import OpenCombine
import Synchronization
import Testing

@Suite("Publishers of observations", .timeLimit(.minutes(Patience.minutes)))
struct ObservationPublisherTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

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

    private func sink<T>(_ publisher: some Publisher<T, any Error>, into log: ValueLog<T>) -> AnyCancellable {
        publisher.sink { completion in
            if case .failure(let error) = completion { log.fail(error) }
        } receiveValue: {
            log.append($0)
        }
    }

    @Test(
        "the values of an observation are published until the subscription is cancelled",
        arguments: Access.allCases)
    func values(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let publisher = count.publisher(
            in: writer, scheduling: .async(onQueue: DispatchQueue(label: "values")))
        let cancellable = sink(publisher, into: log)
        await log.values(upTo: 0)
        try insert(writer)
        await log.values(upTo: 1)
        cancellable.cancel()
        try insert(writer)
        let other = ValueLog<Int>()
        let second = sink(count.publisher(in: writer), into: other)
        #expect(await other.values(upTo: 2) == [2])
        #expect(log.values == [0, 1])
        second.cancel()
    }

    @Test(
        "with the immediate scheduler the first value is published before the subscription returns",
        arguments: Access.allCases)
    @MainActor func immediate(access: Access) throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = sink(count.publisher(in: writer, scheduling: .immediate), into: log)
        #expect(log.values == [0])
        cancellable.cancel()
    }

    @Test("an error completes the publisher", arguments: Access.allCases)
    func failure(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int?>()
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT * FROM missing") }
        let cancellable = sink(observation.publisher(in: writer), into: log)
        #expect(await log.failure() is DatabaseError)
        cancellable.cancel()
    }

    @Test(
        "a subscriber gets as many values as it asks for, and the last one when it asks later",
        arguments: Access.allCases)
    func demand(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let subscription = Mutex<SubscriptionBox?>(nil)
        let subscriber = AnySubscriber<Int, any Error>(
            receiveSubscription: { received in
                let box = SubscriptionBox(subscription: received)
                subscription.withLock { $0 = box }
                received.request(.max(1))
            },
            receiveValue: { value in
                log.append(value)
                return .none
            })
        let counter = DeliveryCounter()
        count.publisher(in: writer, scheduling: counter).subscribe(subscriber)
        await log.values(upTo: 0)
        for number in 1...3 {
            try insert(writer)
            await counter.deliveries(count: number + 1)
        }
        #expect(log.values == [0])
        subscription.withLock { $0 }?.subscription.request(.max(2))
        #expect(await log.values(count: 2) == [0, 3])
        subscription.withLock { $0 }?.subscription.cancel()
    }

    // @unchecked: a subscription may be used on any thread.
    private struct SubscriptionBox: @unchecked Sendable {
        let subscription: any Subscription
    }

    @Test("a shared observation publishes the last value to each new subscriber", arguments: Access.allCases)
    func shared(access: Access) async throws {
        let writer = try makePlayers(access)
        let fetchCount = Atomic<Int>(0)
        let shared = ValueObservation.tracking { db in
            fetchCount.add(1, ordering: .relaxed)
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
        }.shared(in: writer)
        let logs = [ValueLog<Int>(), ValueLog<Int>()]
        let cancellables = [sink(shared.publisher(), into: logs[0])]
        await logs[0].values(upTo: 0)
        let second = sink(shared.publisher().map { $0 }, into: logs[1])
        await logs[1].values(upTo: 0)
        try insert(writer)
        for log in logs { #expect(await log.values(upTo: 1) == [0, 1]) }
        #expect(fetchCount.load(ordering: .relaxed) == 2)
        second.cancel()
        cancellables[0].cancel()
    }

    @Test(
        "a region publishes the connection after each transaction that has changed it",
        arguments: Access.allCases)
    func region(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let observation = DatabaseRegionObservation(tracking: SQLRequest<Row>(sql: "SELECT * FROM player"))
        let cancellable = observation.publisher(in: writer).sink { _ in
        } receiveValue: { db in
            do {
                log.append(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? -1)
            } catch {
                log.fail(error)
            }
        }
        try insert(writer)
        #expect(log.values == [1])
        try await writer.write {
            try $0.execute(sql: "INSERT INTO player VALUES ('a'), ('b'); DELETE FROM player WHERE name = 'a'")
        }
        try await writer.write { try $0.execute(sql: "CREATE TABLE other (a)") }
        #expect(log.values == [1, 2])
        cancellable.cancel()
        try insert(writer)
        #expect(log.values == [1, 2])
    }

    @Test("a database cancellable can be wrapped in a Combine AnyCancellable")
    func cancellable() {
        let log = ValueLog<Int>()
        var cancellables: Set<AnyCancellable> = []
        AnyCancellable(AnyDatabaseCancellable { log.append(1) }).store(in: &cancellables)
        cancellables = []
        #expect(log.values == [1])
    }
}
