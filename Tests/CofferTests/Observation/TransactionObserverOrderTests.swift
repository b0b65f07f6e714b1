import CofferTestSupport
import Synchronization
import Testing

@testable import Coffer

@Suite struct TransactionObserverOrderTests {
    private final class Notes: Sendable {
        private let texts = Mutex<[String]>([])

        func append(_ text: String) { texts.withLock { $0.append(text) } }

        /// Returns the notes since the last call.
        func take() -> [String] {
            texts.withLock { texts in
                defer { texts = [] }; return texts
            }
        }
    }

    private final class Observer: TransactionObserver {
        let name: String
        let notes: Notes

        init(_ name: String, _ notes: Notes) {
            self.name = name
            self.notes = notes
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) { notes.append("\(name) change") }
        func databaseWillCommit() throws { notes.append("\(name) question") }
        func databaseDidCommit(_ db: Database) { notes.append("\(name) commit") }
        func databaseDidRollback(_ db: Database) { notes.append("\(name) rollback") }
    }

    @Test(
        "observers are notified in the order of their addition, regardless of their extents",
        arguments: Access.allCases)
    func order(access: Access) throws {
        try withTestDirectory { directory in
            let writer = try directory.make(access)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            let notes = Notes()
            let observers = ["1", "2", "3"].map { Observer($0, notes) }
            let extents: [Database.TransactionObservationExtent] = [
                .databaseLifetime, .nextTransaction, .observerLifetime,
            ]
            for (observer, extent) in zip(observers, extents) {
                writer.add(transactionObserver: observer, extent: extent)
            }
            try writer.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                db.afterNextTransaction { _ in notes.append("4 commit") }
            }
            #expect(
                notes.take() == [
                    "1 change", "2 change", "3 change", "1 question", "2 question", "3 question", "1 commit",
                    "2 commit", "3 commit",
                    "4 commit",
                ])
            try writer.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    return .rollback
                }
            }
            #expect(notes.take() == ["1 change", "3 change", "1 rollback", "3 rollback"])
        }
    }
}
