import CofferTestSupport
import Dispatch
import Synchronization
import Testing

@testable import Coffer

@Suite("DatabaseRegionObservation", .timeLimit(.minutes(Patience.minutes)))
struct DatabaseRegionObservationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makePlayers(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access)
        try writer.write {
            try $0.execute(
                sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, score INTEGER); CREATE TABLE team (name)")
        }
        return writer
    }

    private let players = SQLRequest<Row>(sql: "SELECT * FROM player")

    private func start(
        _ writer: any DatabaseWriter, _ log: ValueLog<Int>, _ regions: any DatabaseRegionConvertible...
    ) -> AnyDatabaseCancellable {
        DatabaseRegionObservation(tracking: regions).start(in: writer, onError: log.fail) { db in
            log.append(log.values.count + 1)
            #expect(!db.isInsideTransaction)
        }
    }

    @Test(
        "each transaction is reported once, right after its commit, until the cancellation",
        arguments: Access.allCases)
    func transactions(access: Access) throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = start(writer, log, players)
        try writer.write {
            try $0.execute(sql: "INSERT INTO player VALUES (1, 1), (2, 2); UPDATE player SET score = 3")
        }
        #expect(log.values == [1])
        try writer.write { try $0.execute(sql: "INSERT INTO team VALUES ('Reds')") }
        try writer.write { _ = try Int.fetchOne($0, sql: "SELECT id FROM player") }
        #expect(log.values == [1])
        try writer.writeWithoutTransaction { db in
            for _ in 1...3 { try db.execute(sql: "UPDATE player SET score = score + 1") }
        }
        #expect(log.values == [1, 2, 3, 4])
        cancellable.cancel()
        try writer.write { try $0.execute(sql: "DELETE FROM player") }
        #expect(log.values.count == 4)
    }

    @Test(
        "observers of a commit can read even if the writing task is cancelled",
        arguments: Access.allCases)
    func cancelledTask(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let task = Mutex<Task<Void, any Error>?>(nil)
        let count: @Sendable (Database) -> Void = { db in
            task.withLock { $0 }?.cancel()
            do {
                // Takes several times as long as the time between two interruptions.
                let sql = """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
                    SELECT count(*) FROM n, player
                    """
                log.append(try Int.fetchOne(db, sql: sql) ?? -1)
            } catch {
                log.fail(error)
            }
        }
        let cancellable = DatabaseRegionObservation(tracking: players)
            .start(in: writer, onError: log.fail, onChange: count)
        let (isReady, mayWrite) = (ValueLog<Bool>(), DispatchSemaphore(value: 0))
        let writing = Task {
            try await writer.write { db in
                isReady.append(true)
                mayWrite.wait()
                db.afterNextTransaction(onCommit: count)
                try db.execute(sql: "INSERT INTO player VALUES (1, 1)")
            }
        }
        await isReady.values(count: 1)
        task.withLock { $0 = writing }
        mayWrite.signal()
        try await writing.value
        #expect(log.error == nil)
        #expect(log.values == [1_000_000, 1_000_000])
        cancellable.cancel()
    }

    @Test(
        "an observer can use its connection and write, and its writes are reported too",
        arguments: Access.allCases)
    func writing(access: Access) throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = DatabaseRegionObservation(tracking: players).start(in: writer, onError: log.fail) {
            db in
            do {
                let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
                log.append(count)
                if count < 3 { try db.execute(sql: "INSERT INTO player DEFAULT VALUES") }
            } catch {
                log.fail(error)
            }
        }
        try writer.write { try $0.execute(sql: "INSERT INTO player DEFAULT VALUES") }
        #expect(log.values == [1, 2, 3] && log.error == nil)
        cancellable.cancel()
    }

    @Test("several regions, some rows, and the full database can be observed", arguments: Access.allCases)
    func regions(access: Access) throws {
        let writer = try makePlayers(access)
        let logs = (0..<3).map { _ in ValueLog<Int>() }
        let cancellables = [
            start(writer, logs[0], DatabaseRegion(table: "player", rowIds: [1])),
            start(writer, logs[1], players, SQLRequest<Row>(sql: "SELECT * FROM team")),
            start(writer, logs[2], .fullDatabase),
        ]
        try writer.write { try $0.execute(sql: "INSERT INTO player VALUES (1, 1)") }
        try writer.write { try $0.execute(sql: "INSERT INTO player VALUES (2, 1)") }
        try writer.write { try $0.execute(sql: "INSERT INTO team VALUES ('Reds')") }
        #expect(logs.map(\.values.count) == [1, 3, 3])
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test(
        "a change of an observed row is reported even if SQLite does not report the row",
        arguments: ["", "CREATE TABLE r (a UNIQUE ON CONFLICT REPLACE)"], Access.allCases)
    func untoldRows(schema: String, access: Access) throws {
        let writer = try makePlayers(access)
        try writer.write { db in
            try db.execute(
                sql:
                    "CREATE UNIQUE INDEX score ON player (score); INSERT INTO player VALUES (1, 10), (2, 20), (3, 30)"
            )
            try db.execute(sql: schema)
        }
        let log = ValueLog<Int>()
        let cancellable = start(writer, log, DatabaseRegion(table: "player", rowIds: [2]))
        try writer.write {
            try $0.execute(sql: "UPDATE player SET score = 11 WHERE id = 1; DELETE FROM player WHERE id = 3")
        }
        let unrelatedCount = log.values.count
        #expect(unrelatedCount == (schema.isEmpty ? 0 : 1), "the mere word makes it careful")
        try writer.write { try $0.execute(sql: "REPLACE INTO player VALUES (4, 20)") }
        #expect(log.values.count == unrelatedCount + 1)
        try writer.write { try $0.execute(sql: "INSERT INTO player VALUES (2, 21)") }
        #expect(log.values.count == unrelatedCount + 2)
        try writer.write { try $0.execute(sql: "UPDATE player SET id = 7 WHERE id = 2") }
        #expect(log.values.count == unrelatedCount + 3)
        cancellable.cancel()
    }

    @Test("announced changes are reported, also outside transactions", arguments: Access.allCases)
    func notifyChanges(access: Access) throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = start(writer, log, players)
        try writer.write { try $0.notifyChanges(in: players) }
        try writer.writeWithoutTransaction { try $0.notifyChanges(in: .fullDatabase) }
        #expect(log.values == [1, 2])
        try writer.write { try $0.notifyChanges(in: SQLRequest<Row>(sql: "SELECT * FROM team")) }
        #expect(log.values == [1, 2])
        cancellable.cancel()
    }

    @Test(
        "an unresolvable region is an error, and so is a closed database",
        arguments: Access.allCases)
    func errors(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        var cancellable = start(writer, log, SQLRequest<Row>(sql: "SELECT * FROM missing"))
        #expect(await log.failure() is DatabaseError)
        let other = ValueLog<Int>()
        cancellable = start(writer, other, players)
        try await writer.writeWithoutTransaction { _ in }
        try writer.close()
        #expect((await other.failure() as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        let last = ValueLog<Int>()
        cancellable = start(writer, last, players)
        #expect((await last.failure() as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        cancellable.cancel()
    }
}
