import CofferTestSupport
import Testing

@testable import Coffer

/// SQL functions that write while the statement that calls them writes.
@Suite("Observation of writes inside writes")
struct NestedWriteObservationTests {
    private final class Recorder: TransactionObserver {
        var counts: [String: Int] = [:]
        /// Called with each event.
        var react: (() throws -> Void)?

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {
            counts["\(event.kind) \(event.tableName)", default: 0] += 1
            let react = react
            self.react = nil
            try? react?()
        }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    private func makeQueue(writingAt id: Int) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, s); CREATE TABLE log (x);
                    INSERT INTO t SELECT value, 'new' FROM json_each('[1,2,3,4,5,6,7,8,9,10]')
                    """)
            // It is only used inside statements of the connection's own accesses.
            nonisolated(unsafe) let connection = db
            db.add(
                function: DatabaseFunction("f", argumentCount: 1) { values in
                    if Int.fromDatabaseValue(values[0]) == id {
                        unsafe try connection.execute(
                            sql: "INSERT INTO log VALUES (1); INSERT INTO log VALUES (2)")
                    }
                    return "old"
                })
        }
        return queue
    }

    @Test("all events arrive, whenever the function writes", arguments: [1, 3, 10])
    func events(id: Int) throws {
        let queue = try makeQueue(writingAt: id)
        let recorder = Recorder()
        queue.add(transactionObserver: recorder)
        try queue.write { try $0.execute(sql: "UPDATE t SET s = f(id)") }
        #expect(recorder.counts == ["update t": 10, "insert log": 2])
    }

    @Test("an observed value is not stale", arguments: [1, 3, 10])
    func values(id: Int) async throws {
        let queue = try makeQueue(writingAt: id)
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM t WHERE s = 'new'")
        }
        var values = observation.values(in: queue).makeAsyncIterator()
        #expect(try await values.next() == 10)
        try await queue.write { try $0.execute(sql: "UPDATE t SET s = f(id)") }
        #expect(try await values.next() == 0)
    }

    @Test("an observer that writes in the middle of a statement does not end the process")
    func observer() throws {
        let queue = try makeQueue(writingAt: 0)
        let recorder = Recorder()
        try queue.write { (db) throws in
            db.add(transactionObserver: recorder)
            // It is only used inside statements of the connection's own accesses.
            nonisolated(unsafe) let connection = db
            recorder.react = { unsafe try connection.execute(sql: "INSERT INTO log VALUES (1)") }
            try db.execute(sql: "UPDATE t SET s = 'x'")
        }
        #expect(recorder.counts["update t"] == 10)
    }

    /// The work of a function that an UPDATE calls for each row.
    enum Work: String, CaseIterable {
        case failingRead, failingWrite, returningCursor, cursorNeverStepped
    }

    @Test(
        "events and values are correct, regardless of the statements in a function", arguments: Work.allCases,
        [false, true])
    func works(work: Work, isInTransaction: Bool) async throws {
        let queue = try makeQueue(writingAt: 0)
        try await queue.writeWithoutTransaction { db in
            // It is only used inside statements of the connection's own accesses.
            nonisolated(unsafe) let connection = db
            db.add(
                function: DatabaseFunction("f", argumentCount: 1) { _ in
                    switch work {
                    case .failingRead:
                        _ = unsafe try? Int.fetchOne(connection, sql: "SELECT json_extract('bad', '$')")
                    case .failingWrite:
                        unsafe try? connection.execute(sql: "INSERT INTO t (id, s) VALUES (1, 1)")
                    case .returningCursor:
                        let sql = "INSERT INTO log SELECT value FROM json_each('[1,2]') RETURNING x"
                        let cursor = unsafe try Int.fetchCursor(connection, sql: sql)
                        while let id = try cursor.next() {
                            unsafe try connection.execute(
                                sql: "UPDATE log SET x = -1 WHERE x = ?", arguments: [id])
                        }
                    case .cursorNeverStepped:
                        _ = unsafe try Int.fetchCursor(
                            connection, sql: "INSERT INTO log VALUES (1) RETURNING x")
                    }
                    return "old"
                })
        }
        let recorder = Recorder()
        queue.add(transactionObserver: recorder)
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM t WHERE s = 'new'")
        }
        var values = observation.values(in: queue).makeAsyncIterator()
        #expect(try await values.next() == 10)
        if isInTransaction {
            try await queue.write { try $0.execute(sql: "UPDATE t SET s = f(id)") }
        } else {
            try await queue.writeWithoutTransaction { try $0.execute(sql: "UPDATE t SET s = f(id)") }
        }
        #expect(try await values.next() == 0)
        #expect(recorder.counts["update t"] == 10)
        queue.remove(transactionObserver: recorder)
        try queue.close()
    }
}
