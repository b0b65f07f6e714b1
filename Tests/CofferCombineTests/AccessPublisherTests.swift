import Coffer
import CofferCombine
import CofferTestSupport
import Dispatch
import OpenCombine
import OpenCombineDispatch
import Synchronization
import Testing

@Suite("Publishers of accesses", .timeLimit(.minutes(Patience.minutes)))
struct AccessPublisherTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makePlayers(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE player (name TEXT UNIQUE)") }
        return writer
    }

    @Test(
        "a read publishes its result, on the main queue, and completes; each subscription reads anew",
        arguments: Access.allCases)
    func read(access: Access) async throws {
        let writer = try makePlayers(access)
        let publisher = writer.readPublisher { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
        }
        #expect(type(of: publisher) == DatabasePublishers.Read<Int?>.self)
        #expect(await results(of: publisher) == [.value(0), .mainQueue, .finished])
        try await writer.write { try $0.execute(sql: "INSERT INTO player VALUES ('Arthur')") }
        #expect(await results(of: publisher) == [.value(1), .mainQueue, .finished])
    }

    @Test("a read that tries to write fails", arguments: Access.allCases)
    func readOnly(access: Access) async throws {
        let writer = try makePlayers(access)
        let publisher = writer.readPublisher { db -> Int? in
            try db.execute(sql: "INSERT INTO player VALUES ('Arthur')")
            return 1
        }
        #expect(await results(of: publisher) == [.failed(.SQLITE_READONLY)])
    }

    @Test("a write publishes its value after the commit, on the given scheduler", arguments: Access.allCases)
    func write(access: Access) async throws {
        let writer = try makePlayers(access)
        let newPlayerCount = writer.writePublisher { db -> Int? in
            try db.execute(sql: "INSERT INTO player VALUES ('Arthur')")
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
        }
        #expect(await results(of: newPlayerCount) == [.value(1), .mainQueue, .finished])
        #expect(await results(of: newPlayerCount) == [.failed(.SQLITE_CONSTRAINT)])
        let elsewhere = writer.writePublisher(
            receiveOn: DispatchQueue.global(),
            updates: { db -> Int? in
                try db.execute(sql: "INSERT INTO player VALUES ('Barbara')")
                return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
            })
        #expect(await results(of: elsewhere) == [.value(2), .finished])
    }

    @Test("a write can be followed by a read of the state that it committed", arguments: Access.allCases)
    func writeThenRead(access: Access) async throws {
        let writer = try makePlayers(access)
        let newPlayerCount = writer.writePublisher(
            updates: { db in try db.execute(sql: "INSERT INTO player VALUES ('Arthur')") },
            thenRead: { db, _ in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") })
        #expect(await results(of: newPlayerCount) == [.value(1), .mainQueue, .finished])
        let other = writer.writePublisher(
            receiveOn: DispatchQueue.global(),
            updates: { db in
                try db.execute(sql: "INSERT INTO player VALUES ('Barbara')")
                return 10
            },
            thenRead: { db, number in
                number + (try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0) as Int?
            })
        #expect(await results(of: other) == [.value(12), .finished])
        let writing = writer.writePublisher(
            updates: { _ in },
            thenRead: { db, _ -> Int? in
                try db.execute(sql: "DELETE FROM player")
                return nil
            })
        #expect(await results(of: writing) == [.failed(.SQLITE_READONLY)])
    }

    @Test("nothing happens before the first demand, nor after a cancellation", arguments: Access.allCases)
    func demand(access: Access) async throws {
        let writer = try makePlayers(access)
        let publisher = writer.writePublisher { db in
            try db.execute(sql: "INSERT INTO player VALUES ('Arthur')")
        }
        publisher.subscribe(AnySubscriber<Void, any Error>(receiveSubscription: { $0.cancel() }))
        publisher.subscribe(AnySubscriber<Void, any Error>(receiveSubscription: { _ in }))
        #expect(try await writer.write { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") } == 0)
    }

    @Test(
        "the value is published before the completion, even if the scheduler does not preserve order",
        arguments: Access.allCases)
    func order(access: Access) async throws {
        let writer = try makePlayers(access)
        let backwards = BackwardScheduler()
        let log = ValueLog<Event>()
        let read = writer.readPublisher(receiveOn: backwards) {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player")
        }
        let write = writer.writePublisher(receiveOn: backwards, updates: { _ in 1 as Int? })
        let writeThenRead = writer.writePublisher(
            receiveOn: backwards, updates: { _ in 2 }, thenRead: { _, number in number as Int? })
        let publishers = [
            read.eraseToAnyPublisher(), write.eraseToAnyPublisher(), writeThenRead.eraseToAnyPublisher(),
        ]
        for publisher in publishers {
            let cancellable = publisher.sink(
                receiveCompletion: { _ in log.append(.finished) }, receiveValue: { log.append(.value($0)) })
            await backwards.scheduled.values(count: 1)
            // By now the access has scheduled everything.
            try await writer.barrierWriteWithoutTransaction { _ in }
            backwards.run()
            cancellable.cancel()
        }
        #expect(log.values == [.value(0), .finished, .value(1), .finished, .value(2), .finished])
    }

    @Test("a subscriber that cancels when it has the value receives nothing more", arguments: Access.allCases)
    func cancellationByValue(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Event>()
        let queue = DispatchQueue(label: "values")
        let subscription = Mutex<SubscriptionBox?>(nil)
        let subscriber = AnySubscriber<Int?, any Error>(
            receiveSubscription: { received in
                let box = SubscriptionBox(subscription: received)
                subscription.withLock { $0 = box }
                received.request(.unlimited)
            },
            receiveValue: { value in
                subscription.withLock { $0 }?.subscription.cancel()
                log.append(.value(value))
                return .none
            },
            receiveCompletion: { _ in log.append(.finished) })
        writer.readPublisher(receiveOn: queue) { _ in 1 }.subscribe(subscriber)
        await log.values(count: 1)
        // The completion would be part of the same action.
        queue.sync {}
        #expect(log.values == [.value(1)])
    }

    // @unchecked: a subscription may be used on any thread.
    private struct SubscriptionBox: @unchecked Sendable {
        let subscription: any Subscription
    }

    @Test("a migration publishes its end, or its error", arguments: Access.allCases)
    func migration(access: Access) async throws {
        let writer = try directory.make(access)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("player") { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
        #expect(
            await results(of: migrator.migratePublisher(writer).map { 1 as Int? }) == [
                .value(1), .mainQueue, .finished,
            ])
        #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") } == 0)
        migrator.registerMigration("broken") { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
        #expect(
            await results(of: migrator.migratePublisher(writer).map { 1 as Int? }) == [.failed(.SQLITE_ERROR)]
        )
    }

    // MARK: -

    private enum Event: Equatable, Sendable {
        case value(Int?)
        case mainQueue
        case finished
        case failed(ResultCode)
    }

    /// Returns the events of a publisher, up to and including its completion.
    private func results(of publisher: some Publisher<Int?, any Error>) async -> [Event] {
        let log = ValueLog<Event>()
        let cancellable = publisher.sink { completion in
            switch completion {
            case .finished: log.append(.finished)
            case .failure(let error): log.append(.failed((error as? DatabaseError)?.resultCode ?? .SQLITE_OK))
            }
        } receiveValue: { value in
            log.append(.value(value))
            if isMainQueue { log.append(.mainQueue) }
        }
        defer { withExtendedLifetime(cancellable) {} }
        return await log.values { events in
            switch events.last {
            case .finished, .failed: true
            default: false
            }
        }
    }
}

private let mainQueueKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
}()

/// True if this code runs on the main queue.
private var isMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueKey) == true }

/// A scheduler that runs its actions on request, in reverse order.
private final class BackwardScheduler: Scheduler, Sendable {
    typealias SchedulerTimeType = DispatchQueue.SchedulerTimeType
    typealias SchedulerOptions = DispatchQueue.SchedulerOptions

    // @unchecked: an action is passed on by the thread that schedules it, and run once.
    private struct Action: @unchecked Sendable {
        let run: () -> Void
    }

    private let actions = Mutex<[Action]>([])

    /// Records each scheduled action that has not run.
    private let notes = Mutex(ValueLog<Void>())

    var scheduled: ValueLog<Void> { notes.withLock { $0 } }
    var now: SchedulerTimeType { SchedulerTimeType(.now()) }
    var minimumTolerance: SchedulerTimeType.Stride { .zero }

    func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let action = Action(run: action)
        actions.withLock { $0.append(action) }
        scheduled.append(())
    }

    func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        schedule(options: options, action)
    }

    func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride,
        tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        schedule(options: options, action)
        return AnyCancellable {}
    }

    func run() {
        notes.withLock { $0 = ValueLog() }
        let waiting = actions.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in waiting.reversed() { action.run() }
    }
}
