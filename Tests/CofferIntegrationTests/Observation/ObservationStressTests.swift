import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// Many observations that come and go while others write. `COFFER_NIGHTLY=1` has 100 observations and 50,000 transactions.
@Suite("Observation stress", .serialized, .timeLimit(.minutes(10)))
struct ObservationStressTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let counterCount = 10

    /// One counter that only grows, and another that is read only now and then: the region comes and goes.
    private static func observation(of counter: Int) -> ValueObservation<ValueReducers.Fetch<[Int]>> {
        ValueObservation.tracking { db in
            let value = try Int.fetchOne(db, sql: "SELECT value FROM counter\(counter)") ?? -1
            guard value.isMultiple(of: 3) else { return [value] }
            return [value, try Int.fetchOne(db, sql: "SELECT value FROM counter\((counter + 1) % counterCount)") ?? -1]
        }
    }

    /// One observation after the other: what the last one has delivered.
    private final class Observer: Sendable {
        private struct Content {
            var last: [Int] = []
            var decreases = 0
            var log = ValueLog<[Int]>()
        }

        private let content = Mutex(Content())

        func receive(_ value: [Int]) {
            let log = content.withLock { content in
                if let last = content.last.first, let new = value.first, new < last { content.decreases += 1 }
                content.last = value
                return content.log
            }
            log.append(value)
        }

        /// Begins with a log of its own, whose values need not be kept for long.
        func restart() {
            content.withLock { $0.log = ValueLog() }
        }

        var decreases: Int { content.withLock { $0.decreases } }
        var last: [Int] { content.withLock { $0.last } }

        func settle(at value: [Int]) async -> (any Error)? {
            let log = content.withLock { $0.log }
            await log.values { $0.last == value }
            return log.error
        }

        func fail(_ error: any Error) {
            content.withLock { $0.log }.fail(error)
        }
    }

    private final class Phase: Sendable {
        let isUnderWay = Atomic<Bool>(true)
    }

    @Test("the last value of each observation is that of the database, and no value comes before an older one", arguments: Access.allCases)
    func everything(access: Access) async throws {
        let observerCount = Nightly.pick(100, byDay: 20)
        let transactionCount = Nightly.pick(50_000, byDay: 1_500)
        let writer = try directory.make(access)
        try await writer.write { db in
            for counter in 0..<Self.counterCount {
                try db.execute(sql: "CREATE TABLE counter\(counter) (value INTEGER); INSERT INTO counter\(counter) VALUES (0)")
            }
        }
        let memory = try residentMemory()
        let observers = (0..<observerCount).map { _ in Observer() }
        let writing = Phase()
        let cancellables: [Int: AnyDatabaseCancellable] = try await withThrowingTaskGroup(
            of: (Int, AnyDatabaseCancellable)?.self
        ) { group in
            for index in 0..<observerCount {
                group.addTask {
                    var random = SystemRandomNumberGenerator()
                    while true {
                        let observer = observers[index]
                        observer.restart()
                        let cancellable = Self.observation(of: index % Self.counterCount).start(
                            in: writer, scheduling: .task, onError: observer.fail, onChange: observer.receive)
                        guard writing.isUnderWay.load(ordering: .relaxed) else { return (index, cancellable) }
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0...200, using: &random)))
                        cancellable.cancel()
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for number in 0..<4 {
                    writers.addTask {
                        for step in 0..<transactionCount / 4 {
                            let counter = (number + step) % Self.counterCount
                            try await writer.write { db in
                                try db.execute(sql: "UPDATE counter\(counter) SET value = value + 1")
                                if step % 7 == 0 { try db.execute(sql: "UPDATE counter\((counter + 1) % 10) SET value = value + 1") }
                            }
                        }
                    }
                }
                try await writers.waitForAll()
            }
            writing.isUnderWay.store(false, ordering: .relaxed)
            return try await group.reduce(into: [Int: AnyDatabaseCancellable]()) { result, started in
                if let (index, cancellable) = started { result[index] = cancellable }
            }
        }
        for (index, observer) in observers.enumerated() {
            let value = try await writer.read { db in
                let value = try Int.fetchOne(db, sql: "SELECT value FROM counter\(index % Self.counterCount)") ?? -1
                guard value.isMultiple(of: 3) else { return [value] }
                return [value, try Int.fetchOne(db, sql: "SELECT value FROM counter\((index + 1) % Self.counterCount)") ?? -1]
            }
            let error = await observer.settle(at: value)
            #expect(error == nil && observer.last == value)
            #expect(observer.decreases == 0)
        }
        #expect(cancellables.count == observerCount)
        for cancellable in cancellables.values { cancellable.cancel() }
        let growth = try residentMemory() - memory
        print("observation stress: \(transactionCount) transactions, \(observerCount) observations, memory +\(growth) KiB")
        #expect(growth < 100_000)
    }

    /// In KiB.
    private func residentMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.split(separator: " ").dropLast().last ?? ""))
    }
}
