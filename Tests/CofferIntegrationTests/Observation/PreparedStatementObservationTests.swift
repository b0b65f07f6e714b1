import CofferTestSupport
import Testing

@testable import Coffer

/// Statements that were prepared before a schema change. SQLite prepares them again when they are executed,
/// and they may then change other tables than before.
@Suite("Observation of statements prepared before a schema change")
struct PreparedStatementObservationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    struct Player: Codable, PersistableRecord {
        var id: Int64
    }

    static let trigger = "CREATE TRIGGER t AFTER INSERT ON player BEGIN INSERT INTO log VALUES (new.id); END"

    @Test("changes by a new trigger are reported", arguments: Access.allCases, [true, false])
    func newTrigger(access: Access, isMadeElsewhere: Bool) async throws {
        let writer = try directory.make(access)
        try await writer.write {
            try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY); CREATE TABLE log (x)")
        }
        let changes = ValueLog<String>()
        let cancellable = DatabaseRegionObservation(tracking: Table("log")).start(
            in: writer, onError: changes.fail
        ) { _ in
            changes.append("change")
        }
        defer { cancellable.cancel() }
        try await writer.write { db in
            try Player(id: 1).insert(db)
            try db.cachedStatement(sql: "INSERT INTO player VALUES (?)").execute(arguments: [2])
            try db.execute(sql: "INSERT INTO player VALUES (:id)", arguments: ["id": 3])
        }
        #expect(changes.values.isEmpty)
        if isMadeElsewhere {
            let other = try directory.makeQueue()
            try await other.write { try $0.execute(sql: Self.trigger) }
            try other.close()
        } else {
            try await writer.write { try $0.execute(sql: Self.trigger) }
        }
        for (count, number) in (11...13).enumerated() {
            try await writer.write { db in
                switch number {
                case 11: try Player(id: 11).insert(db)
                case 12: try db.cachedStatement(sql: "INSERT INTO player VALUES (?)").execute(arguments: [12])
                default: try db.execute(sql: "INSERT INTO player VALUES (:id)", arguments: ["id": 13])
                }
            }
            #expect(changes.values.count == count + 1, "\(number)")
        }
        for number in 21...22 {  // Again, with statements that SQLite does not recompile.
            let count = changes.values.count
            try await writer.write { db in
                guard number == 22 else { return try Player(id: 21).insert(db) }
                try db.cachedStatement(sql: "INSERT INTO player VALUES (?)").execute(arguments: [22])
            }
            #expect(changes.values.count == count + 1, "\(number)")
        }
    }

    @Test(
        "each row that a new trigger deletes is reported", arguments: Access.allCases,
        [true, false])
    func newTriggerThatEmptiesATable(access: Access, isMadeElsewhere: Bool) async throws {
        let writer = try directory.make(access)
        try await writer.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE player (id INTEGER PRIMARY KEY); CREATE TABLE log (x); INSERT INTO log VALUES (1), (2), (3)"
            )
        }
        let deletions = ValueLog<Int64>()
        let observer = DeletionObserver(log: deletions)
        writer.add(transactionObserver: observer)
        let insert = "INSERT INTO player VALUES (?)"
        try await writer.write { try $0.cachedStatement(sql: insert).execute(arguments: [1]) }
        let trigger = "CREATE TRIGGER t AFTER INSERT ON player BEGIN DELETE FROM log; END"
        if isMadeElsewhere {
            let other = try directory.makeQueue()
            try await other.write { try $0.execute(sql: trigger) }
            try other.close()
        } else {
            try await writer.write { try $0.execute(sql: trigger) }
        }
        try await writer.write { try $0.cachedStatement(sql: insert).execute(arguments: [2]) }
        #expect(deletions.values.sorted() == [1, 2, 3])
        try await writer.write { db in
            try db.execute(sql: "INSERT INTO log VALUES (4)")
            try db.cachedStatement(sql: insert).execute(arguments: [3])
        }
        #expect(deletions.values.count == 4)
        withExtendedLifetime(observer) {}
    }

    private final class DeletionObserver: TransactionObserver {
        let log: ValueLog<Int64>

        init(log: ValueLog<Int64>) { self.log = log }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            eventKind == .delete(tableName: "log")
        }
        func databaseDidChange(with event: DatabaseEvent) { log.append(event.rowID) }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    @Test("the tables of a changed view are observed", arguments: Access.allCases, [true, false])
    func changedView(access: Access, isMadeElsewhere: Bool) async throws {
        let writer = try directory.make(access)
        try await writer.write { db in
            try db.execute(
                sql: "CREATE TABLE a (x); CREATE TABLE b (x); CREATE VIEW v AS SELECT count(*) AS n FROM a")
        }
        let values = ValueLog<Int>()
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db.cachedStatement(sql: "SELECT n FROM v")) ?? -1
        }
        let cancellable = observation.start(
            in: writer, scheduling: .task, onError: values.fail, onChange: values.append)
        defer { cancellable.cancel() }
        await values.values(count: 1)
        try await writer.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
        await values.values(count: 2)
        // The schema change is not observed. The change to the table is, and the next fetch reads the other
        // table.
        let change = "DROP VIEW v; CREATE VIEW v AS SELECT 10 + count(*) AS n FROM b"
        if isMadeElsewhere {
            let other = try directory.makeQueue()
            try await other.write { try $0.execute(sql: change) }
            try other.close()
        } else {
            try await writer.write { try $0.execute(sql: change) }
        }
        try await writer.write { try $0.execute(sql: "INSERT INTO a VALUES (2)") }
        #expect(await values.values(upTo: 10).contains(10))
        try await writer.write { try $0.execute(sql: "INSERT INTO b VALUES (1)") }
        #expect(await values.values(upTo: 11).last == 11)
    }
}
