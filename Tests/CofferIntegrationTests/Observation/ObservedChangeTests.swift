import CofferTestSupport
import Testing

@testable import Coffer

/// An observation is notified of a transaction if and only if the transaction has changed the observed
/// region, regardless of how the change came about.
@Suite("Observed changes", .timeLimit(.minutes(Patience.minutes)))
struct ObservedChangeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    struct Scenario: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let schema: String
        let observed: String
        /// The statements. Each is run in a transaction and once more outside of one, in a separate database.
        let statements: [String]
    }

    static let scenarios = [
        Scenario(
            testDescription: "triggers",
            schema: """
                CREATE TABLE a (x); CREATE TABLE log (x);
                CREATE TRIGGER t AFTER INSERT ON a WHEN new.x > 10 BEGIN INSERT INTO log VALUES (new.x); END;
                """,
            observed: "SELECT * FROM log",
            statements: [
                "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (11)", "DELETE FROM a",
                "INSERT INTO a VALUES (2), (12)",
            ]),
        Scenario(
            testDescription: "triggers into a table without row IDs",
            schema: """
                CREATE TABLE a (x); CREATE TABLE log (x PRIMARY KEY) WITHOUT ROWID;
                CREATE TRIGGER t AFTER INSERT ON a WHEN new.x > 10 BEGIN INSERT INTO log VALUES (new.x); END;
                """,
            observed: "SELECT * FROM log",
            statements: [
                "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (11)", "DELETE FROM a",
                "INSERT INTO a VALUES (2), (12)",
            ]),
        Scenario(
            testDescription: "triggers that empty a table",
            schema: """
                CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO b VALUES (1), (2), (3);
                CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; END;
                """,
            observed: "SELECT * FROM b",
            statements: [
                "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)", "INSERT INTO b VALUES (4)",
                "INSERT INTO a SELECT x FROM b",
            ]),
        Scenario(
            testDescription: "foreign keys",
            schema: """
                CREATE TABLE team (id INTEGER PRIMARY KEY);
                CREATE TABLE player (id INTEGER PRIMARY KEY, team REFERENCES team ON DELETE CASCADE ON \
                UPDATE SET NULL);
                INSERT INTO team VALUES (1), (2), (3); INSERT INTO player VALUES (1, 1), (2, 2), (3, 2);
                """,
            observed: "SELECT * FROM player",
            statements: [
                "DELETE FROM team WHERE id = 3", "DELETE FROM team WHERE id = 2",
                "UPDATE team SET id = 9 WHERE id = 1", "DELETE FROM team",
            ]),
        Scenario(
            testDescription: "a table without row IDs",
            schema: "CREATE TABLE a (k TEXT PRIMARY KEY, x) WITHOUT ROWID; CREATE TABLE b (x)",
            observed: "SELECT x FROM a",
            statements: [
                "INSERT INTO a VALUES ('a', 1)", "INSERT OR IGNORE INTO a VALUES ('a', 2)",
                "INSERT INTO b VALUES (1)",
                "UPDATE a SET x = 2 WHERE k = 'b'", "UPDATE a SET x = 2 WHERE k = 'a'",
                "REPLACE INTO a VALUES ('a', 3)",
                "UPDATE a SET x = x + 1", "DELETE FROM a WHERE k = 'b'", "DELETE FROM a", "DELETE FROM a",
            ]),
        Scenario(
            testDescription: "a full-text table",
            schema: "CREATE VIRTUAL TABLE doc USING fts5(body)",
            observed: "SELECT body FROM doc",
            statements: [
                "INSERT INTO doc VALUES ('one')", "INSERT INTO doc SELECT 'two' WHERE 0",
                "UPDATE doc SET body = 'three' WHERE rowid = 7",
                "UPDATE doc SET body = 'three'", "DELETE FROM doc WHERE body = 'x'", "DELETE FROM doc",
            ]),
        Scenario(
            testDescription: "a full-text table that follows another one",
            schema: """
                CREATE TABLE page (id INTEGER PRIMARY KEY, body);
                CREATE VIRTUAL TABLE doc USING fts4(content="page", body);
                CREATE TRIGGER i AFTER INSERT ON page BEGIN INSERT INTO doc (docid, body) VALUES (new.id, \
                new.body); END;
                CREATE TRIGGER d BEFORE DELETE ON page BEGIN DELETE FROM doc WHERE docid = old.id; END;
                """,
            observed: "SELECT COUNT(*) FROM doc WHERE doc MATCH 'one'",
            statements: [
                "INSERT INTO page VALUES (1, 'one')", "DELETE FROM page WHERE id = 2",
                "DELETE FROM page WHERE id = 1",
            ]),
        Scenario(
            testDescription: "all rows at once",
            schema:
                "CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1)",
            observed: "SELECT * FROM a",
            statements: [
                "DELETE FROM b", "DELETE FROM a", "DELETE FROM a", "INSERT INTO a SELECT * FROM a",
                "INSERT INTO a VALUES (3)",
            ]),
        Scenario(
            testDescription: "upserts and conflicts",
            schema: "CREATE TABLE a (k TEXT UNIQUE, x INTEGER NOT NULL)",
            observed: "SELECT * FROM a",
            statements: [
                "INSERT INTO a VALUES ('a', 1)", "INSERT INTO a VALUES ('a', 1) ON CONFLICT DO NOTHING",
                "INSERT INTO a VALUES ('a', 1) ON CONFLICT DO UPDATE SET x = x + 1",
                "INSERT INTO a VALUES ('a', 1) ON CONFLICT DO UPDATE SET x = x + 1 WHERE x > 7",
                "INSERT OR IGNORE INTO a VALUES ('a', 5)",
                "REPLACE INTO a VALUES ('a', 6)", "INSERT INTO a VALUES ('b', 1) RETURNING x",
                "INSERT OR FAIL INTO a VALUES ('c', 1), ('a', 1)", "INSERT INTO a VALUES ('d', 1), ('a', 1)",
            ]),
        Scenario(
            testDescription: "savepoints",
            schema: "CREATE TABLE a (x); CREATE TABLE w (x PRIMARY KEY) WITHOUT ROWID",
            observed: "SELECT * FROM a, w",
            statements: [
                "SAVEPOINT s; INSERT INTO a VALUES (1); INSERT INTO w VALUES (1); ROLLBACK TO s; RELEASE s",
                "SAVEPOINT s; SAVEPOINT t; INSERT INTO w VALUES (1); ROLLBACK TO t; RELEASE s",
                "SAVEPOINT s; INSERT INTO w VALUES (2); RELEASE s",
                "SAVEPOINT s; SAVEPOINT t; INSERT INTO a VALUES (2); RELEASE s",
            ]),
        Scenario(
            testDescription: "columns",
            schema: "CREATE TABLE a (id INTEGER PRIMARY KEY, x, y); INSERT INTO a VALUES (1, 1, 1)",
            observed: "SELECT x FROM a",
            statements: [
                "UPDATE a SET y = 2", "UPDATE a SET x = 2, y = 3", "UPDATE a SET x = 3 WHERE id = 2",
                "INSERT INTO a (y) VALUES (1)",
            ]),
    ]

    @Test(
        "a transaction is reported if, and only if, it has changed the observed region", arguments: scenarios,
        Access.allCases)
    func exactness(scenario: Scenario, access: Access) async throws {
        for isInTransaction in [true, false] {
            let writer = try directory.make(access, "\(isInTransaction).db")
            try await writer.writeWithoutTransaction { try $0.execute(sql: scenario.schema) }
            let request = SQLRequest<Row>(sql: scenario.observed)
            let changes = ValueLog<String>()
            let cancellable = DatabaseRegionObservation(tracking: request).start(
                in: writer, onError: changes.fail
            ) { _ in
                changes.append("change")
            }
            let values = ValueLog<String>(), valueChanges = ValueLog<String>()
            let observation = ValueObservation.tracking { try "\(Row.fetchAll($0, request))" }
            let valueCancellable = observation.handleEvents(databaseDidChange: {
                valueChanges.append("change")
            })
            .start(in: writer, scheduling: .task, onError: values.fail, onChange: values.append)
            await values.values(count: 1)
            for statement in scenario.statements {
                let before = try await writer.read { try "\(Row.fetchAll($0, request))" }
                let count = changes.values.count
                if isInTransaction {
                    try? await writer.write { try $0.execute(sql: statement) }
                } else {
                    try? await writer.writeWithoutTransaction { try $0.execute(sql: statement) }
                }
                // A product of tables is empty as long as one of them is, even if the other one has changed.
                let after = try await writer.read { try "\(Row.fetchAll($0, request))" }
                let hasChanged =
                    scenario.testDescription == "savepoints" ? statement.contains("(2)") : before != after
                #expect(
                    changes.values.count - count == (hasChanged ? 1 : 0),
                    "\(statement), in a transaction: \(isInTransaction)")
                #expect(valueChanges.values.count == changes.values.count)
                await values.values(upTo: after)
            }
            #expect(changes.error == nil && values.error == nil)
            cancellable.cancel()
            valueCancellable.cancel()
        }
    }

    @Test("an observation continues when the key of the file changes", arguments: Access.allCases)
    func keyChange(access: Access) async throws {
        let configuration = Configuration.rawKeyed
        let writer = try directory.make(access, "a.db", configuration)
        try await writer.write { try $0.execute(sql: "CREATE TABLE a (x)") }
        let log = ValueLog<Int>()
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM a") ?? 0
        }
        let cancellable = observation.start(
            in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        let changes = ValueLog<Int>()
        let regionCancellable = DatabaseRegionObservation(tracking: SQLRequest<Row>(sql: "SELECT * FROM a"))
            .start(in: writer, onError: changes.fail) { _ in changes.append(1) }
        await log.values(upTo: 0)
        for number in 1...2 {
            // The pool may close its readers for the new key at any moment. A running fetch ends first.
            if let pool = writer as? DatabasePool { pool.invalidateReadOnlyConnections() }
            try await writer.barrierWriteWithoutTransaction { db in
                try db.changePassphrase("x'" + String(repeating: "\(number)", count: 64) + "'")
            }
            try await writer.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
            await log.values(upTo: number)
        }
        #expect(log.values == [0, 1, 2] && log.error == nil)
        #expect(changes.values.count == 2 && changes.error == nil)
        cancellable.cancel()
        regionCancellable.cancel()
    }

    @Test("closing a database ends its observations with an error", arguments: Access.allCases)
    func closing(access: Access) async throws {
        let writer = try directory.make(access)
        try await writer.write { try $0.execute(sql: "CREATE TABLE a (x)") }
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM a") ?? 0
        }
        let log = ValueLog<Int>()
        let cancellable = observation.start(
            in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        await log.values(upTo: 0)
        try writer.close()
        #expect((await log.failure() as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        #expect(log.values == [0])
        let other = ValueLog<Int>()
        let second = observation.start(
            in: writer, scheduling: .task, onError: other.fail, onChange: other.append)
        #expect((await other.failure() as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        cancellable.cancel()
        second.cancel()
    }

    @Test(
        "the cancellation of a task that writes does not affect observers",
        arguments: Access.allCases)
    func cancelledWriter(access: Access) async throws {
        let writer = try directory.make(access)
        try await writer.write { try $0.execute(sql: "CREATE TABLE a (x)") }
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM a") ?? 0
        }
        let log = ValueLog<Int>()
        let cancellable = observation.start(
            in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        for _ in 1...50 {
            let task = Task {
                try await writer.writeWithoutTransaction { db in
                    while true { try db.execute(sql: "INSERT INTO a VALUES (1)") }
                }
            }
            await Task.yield()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let count = try await writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM a") ?? 0 }
        await log.values(upTo: count)
        #expect(log.error == nil && log.values == log.values.sorted())
        cancellable.cancel()
    }

    @Test("writes of a transaction that was left open between accesses are not seen before its commit")
    func openTransaction() async throws {
        let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.allowsUnsafeTransactions = true })
        try await queue.write { try $0.execute(sql: "CREATE TABLE a (x)") }
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM a") ?? 0
        }
        for end in ["COMMIT", "ROLLBACK"] {
            let log = ValueLog<Int>()
            try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN; INSERT INTO a VALUES (1)") }
            let cancellable = observation.start(
                in: queue, scheduling: .task, onError: log.fail, onChange: log.append)
            try await queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
            #expect(log.values == [])
            try await queue.writeWithoutTransaction { try $0.execute(sql: end) }
            #expect(await log.values(count: 1) == [2])
            cancellable.cancel()
        }
    }
}
