import Coffer
import CofferTestSupport
import Synchronization
import Testing

/// The documentation's examples of observations. `Scripts/check-docs` looks for their lines in this folder.
@Suite("Examples of observations", .timeLimit(.minutes(5)))
struct ObservationExampleTests {
    typealias Item = Vault.Item
    typealias Attachment = Vault.Attachment
    typealias Share = Vault.Share

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

    @Test("values in a loop")
    func loops() async throws {
        final class Badge { var number = 0 }
        let (pool, guest, badge, printed) = (queue, 3 as Int64, Badge(), Printed())
        func revoke(_ shares: [Vault.Share]) async throws { printed.add("\(shares.count)") }
        let sharesOfGuest = ValueObservation.tracking { db in
            try Share.filter { $0.guestId == guest }.fetchCount(db)
        }
        for try await count in sharesOfGuest.removeDuplicates().values(in: pool) {
            badge.number = count
            break
        }
        #expect(badge.number == 1)
        let expiredShares = ValueObservation.tracking { db in
            try Share.filter { $0.expiry == nil }.fetchAll(db)
        }
        for try await expired in expiredShares.values(in: pool, bufferingPolicy: .bufferingNewest(1)) {
            try await revoke(expired)
            break
        }
        #expect(printed.all == ["1"])
        // Counts the attachments again only when the name of an item changes.
        let counts = ValueObservation.tracking(region: Item.select(\.name)) { db in
            try Attachment.fetchCount(db)
        }
        #expect(try await firstValue(counts) == 2)
    }

    @Test("transactions that change a region")
    func regions() throws {
        struct Log: Sendable {
            let printed: Printed
            func error(_ line: String) { printed.add(line) }
            func info(_ line: String) { printed.add(line) }
        }
        let (pool, printed) = (queue, Printed())
        let log = Log(printed: printed)
        let watch = DatabaseRegionObservation(tracking: Share.all(), Table("attachment"))
        let cancellable = watch.start(in: pool, onError: { log.error("no longer watched: \($0)") }) { db in
            let count = try? Share.fetchCount(db)
            log.info("shares or attachments have changed: \(count ?? 0) shares")
        }
        try queue.write { db in _ = try Attachment.filter { $0.size == 0 }.deleteAll(db) }
        #expect(printed.all == ["shares or attachments have changed: 1 shares"])
        cancellable.cancel()
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
