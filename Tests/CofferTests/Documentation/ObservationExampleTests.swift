import Coffer
import CofferTestSupport
import Synchronization
import Testing

/// The examples of observations, as the documentation has them: `Scripts/check-docs` finds their lines in
/// this folder.
@Suite("Examples of observations", .timeLimit(.minutes(5)))
struct ObservationExampleTests {
    typealias Item = Vault.Item

    private final class Printed: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }

        var all: [String] { lines.withLock { $0 } }
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try Vault.open()
    }

    private func firstValue<Reducer>(_ observation: ValueObservation<Reducer>) async throws -> Reducer.Value?
    {
        var values = observation.values(in: queue).makeAsyncIterator()
        return try await values.next()
    }

    @Test("values")
    func values() async throws {
        let printed = Printed()
        @Sendable func print(_ text: String) { printed.add(text) }
        @Sendable func print(_ error: any Error) { printed.add("\(error)") }
        let names = ValueObservation.tracking { db in try Item.fetchAll(db) }.map { $0.map(\.name) }
        #expect(try await firstValue(names) == ["ring", "safe", "candle"])
        do {
            let count = ValueObservation.trackingConstantRegion { db in try Item.fetchCount(db) }
            #expect(try await firstValue(count) == 3)
        }
        let count = ValueObservation.tracking { db in try Item.fetchCount(db) }.removeDuplicates()
        #expect(try await firstValue(count) == 3)
        let traced = count.handleEvents(willFetch: { print("fetching") }, didFail: { print($0) })
        #expect(try await firstValue(traced) == 3)
        #expect(printed.all.first == "fetching")
        let shared = count.shared(in: queue)
        var values = shared.values().makeAsyncIterator()
        #expect(try await values.next() == 3)
    }

    @Test("the end of a transaction, and changes that SQLite does not report")
    func transactions() throws {
        let printed = Printed()
        @Sendable func print(_ text: String) { printed.add(text) }
        let watch = DatabaseRegionObservation(tracking: Item.all())
            .start(in: queue, onError: { _ in }, onChange: { _ in printed.add("changed") })
        try queue.write { db in try db.notifyChanges(in: Item.all()) }
        #expect(printed.all == ["changed"])
        try queue.write { db in _ = try Vault.Attachment.deleteAll(db) + Vault.Share.deleteAll(db) }
        try queue.write { db in
            db.afterNextTransaction { _ in print("The item is gone for good.") }
            try Item.deleteOne(db, key: 1)
        }
        #expect(Set(printed.all) == ["changed", "The item is gone for good."])
        watch.cancel()
    }
}
