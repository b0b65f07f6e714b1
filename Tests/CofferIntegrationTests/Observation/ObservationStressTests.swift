import CofferTestSupport
import Synchronization
import Testing

@testable import Coffer

/// Many observations that start and stop while other tasks write. With `COFFER_NIGHTLY=1`, there are 100
/// observations and 50,000 transactions.
@Suite("Observation stress", .serialized, .timeLimit(.minutes(Patience.minutes)))
struct ObservationStressTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let counterCount = 10
    private let observerCount = Nightly.pick(100, byDay: 20)
    private let transactionCount = Nightly.pick(50_000, byDay: 1_500)

    /// Reads one counter that only grows, and sometimes a second one, so the observed region changes.
    @Sendable private static func fetch(_ counter: Int, _ db: Database) throws -> [Int] {
        let value = try Int.fetchOne(db, sql: "SELECT value FROM counter\(counter)") ?? -1
        guard value.isMultiple(of: 3) else { return [value] }
        return [
            value,
            try Int.fetchOne(db, sql: "SELECT value FROM counter\((counter + 1) % counterCount)") ?? -1,
        ]
    }

    /// The number of live objects that started observations retain.
    private final class Census: Sendable {
        private let count = Atomic<Int>(0)

        var population: Int { count.load(ordering: .sequentiallyConsistent) }

        final class Member: Sendable {
            private let census: Census

            init(_ census: Census) {
                self.census = census
                census.count.add(1, ordering: .sequentiallyConsistent)
            }

            deinit { census.count.subtract(1, ordering: .sequentiallyConsistent) }
        }
    }

    /// Observes a counter through successive observations.
    private final class Observer: Sendable {
        private struct Content {
            var last: [Int] = []
            var decreases = 0
            var valueCount = 0
            var startCount = 0
            /// The values that the current observation has delivered.
            var log = ValueLog<[Int]>()
        }

        let counter: Int
        private let census: Census
        private let content = Mutex(Content())

        init(counter: Int, _ census: Census) {
            self.counter = counter
            self.census = census
        }

        func start(in writer: any DatabaseWriter) -> AnyDatabaseCancellable {
            content.withLock { content in
                content.log = ValueLog()
                content.startCount += 1
            }
            let fetching = Census.Member(census), delivering = Census.Member(census)
            return ValueObservation.tracking { [counter] db in
                withExtendedLifetime(fetching) {}
                return try ObservationStressTests.fetch(counter, db)
            }.start(
                in: writer, scheduling: .task, onError: { [self] in log.fail($0) },
                onChange: { [self] value in
                    withExtendedLifetime(delivering) {}
                    receive(value)
                })
        }

        private func receive(_ value: [Int]) {
            let log = content.withLock { content in
                if let last = content.last.first, let new = value.first, new < last { content.decreases += 1 }
                content.last = value
                content.valueCount += 1
                return content.log
            }
            log.append(value)
        }

        var log: ValueLog<[Int]> { content.withLock { $0.log } }
        var last: [Int] { content.withLock { $0.last } }
        var decreases: Int { content.withLock { $0.decreases } }
        var counts: (values: Int, starts: Int) { content.withLock { ($0.valueCount, $0.startCount) } }
    }

    /// The state that the tasks share.
    private final class Course: Sendable {
        let isWriting = Atomic<Bool>(true)
        let committed = Atomic<Int>(0)
        /// In KiB, after a tenth of the transactions.
        let memoryAfterWarmUp = Atomic<Int>(0)
    }

    @Test(
        "the last value of each observation is the database's state, and values arrive in order",
        arguments: Access.allCases)
    func everything(access: Access) async throws {
        // Without waiting for the disk at every commit.
        let writer = try directory.make(access, "a.db", .rawKeyed.with { $0.journalMode = .wal })
        try await writer.write { db in
            for counter in 0..<Self.counterCount {
                try db.execute(
                    sql:
                        "CREATE TABLE counter\(counter) (value INTEGER); INSERT INTO counter\(counter) VALUES (0)"
                )
            }
        }
        let seed = SeededRandom("observation stress").seed
        let census = Census()
        let observers = (0..<observerCount).map { Observer(counter: $0 % Self.counterCount, census) }
        let course = Course()
        let begin = ContinuousClock.now
        var cancellables = try await withThrowingTaskGroup(of: AnyDatabaseCancellable.self) { group in
            for (index, observer) in observers.enumerated() {
                group.addTask { await Self.comeAndGo(observer, writer, course, seed &+ UInt64(index)) }
            }
            try await write(writer, course)
            // Gives every observation a change to deliver, so that it notices the end of the writing.
            course.isWriting.store(false, ordering: .sequentiallyConsistent)
            try await writer.write { db in
                for counter in 0..<Self.counterCount {
                    try db.execute(sql: "UPDATE counter\(counter) SET value = value + 1")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for observer in observers {
            let value = try await writer.read { try Self.fetch(observer.counter, $0) }
            await observer.log.values(upTo: value)
            #expect(observer.log.error == nil && observer.last == value && observer.decreases == 0)
        }
        let time = ContinuousClock.now - begin
        #expect(cancellables.count == observerCount)
        cancellables = []
        // The last accesses may not have ended yet.
        while census.population > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        let growth =
            try processStatus("VmRSS") - course.memoryAfterWarmUp.load(ordering: .sequentiallyConsistent)
        let (values, starts) = observers.map(\.counts).reduce((0, 0)) { ($0.0 + $1.values, $0.1 + $1.starts) }
        print(
            "observation stress: \(access), \(transactionCount) transactions, \(observerCount) observers, \(starts) starts, \(values) values, "
                + "\(time), memory \(growth) KiB since the warm-up")
        // In the short run, other tests run in the same process at the same time.
        if Nightly.isOn { #expect(growth < 50_000) }
    }

    /// Starts observations and cancels them at random moments. The last one keeps running.
    private static func comeAndGo(
        _ observer: Observer, _ writer: any DatabaseWriter, _ course: Course, _ seed: UInt64
    ) async -> AnyDatabaseCancellable {
        var random = SeededRandom(seed: seed)
        while true {
            let cancellable = observer.start(in: writer)
            // If a writer has failed, the other tasks are canceled.
            guard course.isWriting.load(ordering: .sequentiallyConsistent), !Task.isCancelled else {
                return cancellable
            }
            let valueCount = Int.random(in: 0...25, using: &random)
            await observer.log.values {
                $0.count >= valueCount || !course.isWriting.load(ordering: .sequentiallyConsistent)
            }
            cancellable.cancel()
        }
    }

    private func write(_ writer: any DatabaseWriter, _ course: Course) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask { [transactionCount] in
                    for step in 0..<transactionCount / 4 {
                        let counter = (number + step) % Self.counterCount
                        try await writer.write { db in
                            try db.execute(sql: "UPDATE counter\(counter) SET value = value + 1")
                            guard step % 7 == 0 else { return }
                            try db.execute(
                                sql:
                                    "UPDATE counter\((counter + 1) % Self.counterCount) SET value = value + 1"
                            )
                        }
                        let committed = course.committed.add(1, ordering: .sequentiallyConsistent).newValue
                        if committed == transactionCount / 10 {
                            course.memoryAfterWarmUp.store(
                                try processStatus("VmRSS"), ordering: .sequentiallyConsistent)
                        }
                        if Nightly.isOn, committed.isMultiple(of: transactionCount / 10) {
                            print("observation stress: \(committed)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
