import CofferTestSupport
import Dispatch
import Testing

@testable import Coffer

@Suite("Sequences and sharing of observations", .timeLimit(.minutes(Patience.minutes)))
struct ValueObservationSequenceTests {
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

    private func insert(_ writer: any DatabaseWriter) async throws {
        try await writer.write { try $0.execute(sql: "INSERT INTO player VALUES ('Arthur')") }
    }

    @Test(
        "a loop receives initial and fresh values, and its end cancels the observation",
        arguments: Access.allCases)
    func loop(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<String>()
        let observation = count.handleEvents(
            willStart: { log.append("start") }, didCancel: { log.append("cancel") })
        var values: [Int] = []
        for try await value in observation.values(in: writer) {
            values.append(value)
            if value == 3 { break }
            try await insert(writer)
        }
        #expect(values == [0, 1, 2, 3])
        #expect(await log.values(count: 2) == ["start", "cancel"])
    }

    @Test("each iteration of one sequence starts the observation", arguments: Access.allCases)
    func iterations(access: Access) async throws {
        let writer = try makePlayers(access)
        let values = count.values(in: writer)
        for expected in 0...2 {
            var iterator = values.makeAsyncIterator()
            #expect(try await iterator.next() == expected)
            try await insert(writer)
        }
    }

    @Test("the cancellation of the task ends the loop and the observation", arguments: Access.allCases)
    func cancellation(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<String>()
        let observation = count.handleEvents(
            didReceiveValue: { log.append("\($0)") }, didCancel: { log.append("cancel") })
        let task = Task {
            var values: [Int] = []
            for try await value in observation.values(in: writer) { values.append(value) }
            return values
        }
        await log.values(upTo: "0")
        task.cancel()
        _ = try await task.value
        #expect(await log.values(upTo: "cancel") == ["0", "cancel"])
    }

    @Test("an error is thrown from the loop", arguments: Access.allCases)
    func failure(access: Access) async throws {
        let writer = try makePlayers(access)
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT * FROM missing") }
        await #expect(throws: DatabaseError.self) {
            for try await _ in observation.values(in: writer) {}
        }
    }

    @Test("with a buffer for the newest value, a loop that is busy skips values", arguments: Access.allCases)
    func bufferingNewest(access: Access) async throws {
        let writer = try makePlayers(access)
        let counter = DeliveryCounter()
        var iterator = count.values(in: writer, scheduling: counter, bufferingPolicy: .bufferingNewest(1))
            .makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        for number in 1...3 {
            try await insert(writer)
            await counter.deliveries(count: number + 1)
        }
        #expect(try await iterator.next() == 3)
    }

    @Test("the other buffers keep all values, or the oldest ones", arguments: Access.allCases)
    func otherBuffers(access: Access) async throws {
        let writer = try makePlayers(access)
        let counters = [DeliveryCounter(), DeliveryCounter()]
        let policies: [AsyncValueObservation<Int>.BufferingPolicy] = [.unbounded, .bufferingOldest(2)]
        var iterators = zip(counters, policies).map { counter, policy in
            var values = count.values(in: writer, scheduling: counter)
            values.bufferingPolicy = policy
            return values.makeAsyncIterator()
        }
        for number in 0...3 {
            for counter in counters { await counter.deliveries(count: number + 1) }
            if number < 3 { try await insert(writer) }
        }
        for number in 0...3 { #expect(try await iterators[0].next() == number) }
        for number in 0...1 { #expect(try await iterators[1].next() == number) }
        // There is room again, and the earlier values are lost.
        try await insert(writer)
        #expect(try await iterators[1].next() == 4)
    }

    @Test("values can be delivered by a task of a given priority", arguments: Access.allCases)
    func taskPriority(access: Access) async throws {
        let writer = try makePlayers(access)
        let priorities = ValueLog<TaskPriority>()
        let cancellable = count.start(
            in: writer, scheduling: .task(priority: .background), onError: { _ in },
            onChange: { _ in priorities.append(Task.currentPriority) })
        await priorities.values(count: 1)
        #expect(priorities.values == [.background])
        cancellable.cancel()
    }

    @Test("sequences support the main actor and the immediate scheduler", arguments: Access.allCases)
    @MainActor func mainActor(access: Access) async throws {
        let writer = try makePlayers(access)
        var delayed = count.values(in: writer, scheduling: .mainActor).makeAsyncIterator()
        var immediate = count.values(in: writer, scheduling: .immediate).makeAsyncIterator()
        #expect(try await delayed.next() == 0)
        #expect(try await immediate.next() == 0)
        try await insert(writer)
        #expect(try await immediate.next() == 1)
        #expect(try await delayed.next() == 1)
    }

    @Test(
        "snapshots, read-only connections and erased readers deliver the current value",
        arguments: Access.allCases)
    func constantReaders(access: Access) async throws {
        let writer = try makePlayers(access)
        var readers: [any DatabaseReader] = [
            try directory.make(access, "a.db", .rawKeyed.with { $0.readonly = true })
        ]
        if let pool = writer as? DatabasePool {
            readers += [try pool.makeSnapshot(), try pool.makeSnapshotPool(), AnyDatabaseReader(pool)]
        }
        for reader in readers {
            var iterator = count.values(in: reader).makeAsyncIterator()
            #expect(try await iterator.next() == 0)
        }
    }

    // MARK: Sharing

    @Test(
        "clients share one fetch for each change, and begin with the last value", arguments: Access.allCases)
    func shared(access: Access) async throws {
        let writer = try makePlayers(access)
        let fetches = ValueLog<String>()
        let observation = count.handleEvents(
            willStart: { fetches.append("start") }, willFetch: { fetches.append("fetch") })
        let shared = observation.shared(
            in: writer, scheduling: .async(onQueue: DispatchQueue(label: "values")))
        #expect(fetches.values.isEmpty)
        let logs = [ValueLog<Int>(), ValueLog<Int>()]
        var cancellables: [AnyDatabaseCancellable] = []
        for log in logs {
            cancellables.append(shared.start(onError: log.fail, onChange: log.append))
            await log.values(upTo: 0)
        }
        try await insert(writer)
        for log in logs { #expect(await log.values(upTo: 1) == [0, 1]) }
        #expect(fetches.values == ["start", "fetch", "fetch"])

        cancellables.removeFirst()
        try await insert(writer)
        #expect(await logs[1].values(upTo: 2) == [0, 1, 2])
        #expect(logs[0].values == [0, 1])
    }

    @Test(
        "a shared observation ends with its last client or its own release, depending on its extent",
        arguments: Access.allCases)
    func extents(access: Access) async throws {
        for (extent, starts) in [(SharedValueObservationExtent.whileObserved, 2), (.observationLifetime, 1)] {
            let writer = try directory.make(access, "\(extent).db")
            try await writer.write { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
            let log = ValueLog<String>()
            let observation = count.handleEvents(
                willStart: { log.append("start") }, didCancel: { log.append("cancel") })
            var shared: SharedValueObservation? = observation.shared(
                in: writer, scheduling: .task, extent: extent)
            for expected in 0...1 {
                var iterator = try #require(shared).values().makeAsyncIterator()
                #expect(try await iterator.next() == expected || extent == .observationLifetime)
                try await insert(writer)
            }
            shared = nil
            let events = await log.values { $0.filter { $0 == "cancel" }.count == starts }
            #expect(events.filter { $0 == "start" }.count == starts)
        }
    }

    @Test("an error reaches all clients, and the next client starts anew", arguments: Access.allCases)
    func sharedFailure(access: Access) async throws {
        let writer = try makePlayers(access)
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM later") ?? 0
        }
        let shared = observation.shared(in: writer, scheduling: .task)
        let log = ValueLog<Int>()
        let cancellable = shared.start(onError: log.fail, onChange: log.append)
        #expect(await log.failure() is DatabaseError)
        try await writer.write { try $0.execute(sql: "CREATE TABLE later (a)") }
        var iterator = shared.values().makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        cancellable.cancel()
    }

    @Test(
        "with the immediate scheduler, each client has a value before start returns",
        arguments: Access.allCases)
    @MainActor func sharedImmediate(access: Access) throws {
        let writer = try makePlayers(access)
        let shared = count.shared(in: writer, scheduling: .immediate)
        var cancellables: [AnyDatabaseCancellable] = []
        for _ in 1...2 {
            let log = ValueLog<Int>()
            cancellables.append(shared.start(onError: log.fail, onChange: log.append))
            #expect(log.values == [0])
        }
        cancellables = []
    }
}
