import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

/// Intentional differences from GRDB 7 that no other suite covers: see the Compatibility article.
@Suite("Intended differences from GRDB", .timeLimit(.minutes(Patience.minutes)))
struct KeptDifferenceTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("FTS5.api does not exist, but the engine's fts5() function does")
    func fullTextInterface() throws {
        try DatabaseQueue().read { (db) throws in
            // A function of the library would be preferred to the one in this file.
            #expect(type(of: FTS5.api(db)) == NotThere.self)
            // The SQL function passes the interface to callers that bind a pointer to it, which is possible
            // with the product CSQLCipher.
            #expect(try db.makeStatement(sql: "SELECT fts5(?)").columnCount == 1)
        }
    }

    @Test("a failed cursor rethrows its error without running its statement again")
    func endedCursor() throws {
        struct Item: FetchableRecord, Decodable { let a: Int }
        try DatabaseQueue().read { (db) throws in
            let calls = Mutex(0)
            db.add(
                function: DatabaseFunction("failing", argumentCount: 0) { _ in
                    calls.withLock { $0 += 1 }
                    throw DatabaseError(message: "It fails.")
                })
            let sql = "SELECT 1 AS a UNION ALL SELECT failing()"
            func check(_ cursor: some DatabaseCursor) throws {
                calls.withLock { $0 = 0 }
                _ = try #require(try cursor.next())
                for _ in 1...3 {
                    let error = #expect(throws: DatabaseError.self) { _ = try cursor.next() }
                    #expect(error?.message == "It fails.")
                }
                #expect(throws: DatabaseError.self) { try cursor.forEach { _ in } }
                #expect(throws: DatabaseError.self) { _ = try Array(cursor.map { _ in 1 }) }
                #expect(calls.withLock { $0 } == 1)
            }
            try check(Row.fetchCursor(db, sql: sql))
            try check(Int.fetchCursor(db, sql: sql))
            try check(Item.fetchCursor(db, sql: sql))
            // Once another execution of the statement has ended well, too.
            let statement = try db.makeStatement(sql: "SELECT json(?)")
            let failed = try Row.fetchCursor(statement, arguments: ["{"])
            #expect(throws: DatabaseError.self) { try failed.next() }
            #expect(try String.fetchAll(statement, arguments: ["{}"]) == ["{}"])
            #expect(throws: DatabaseError.self) { try failed.next() }
        }
    }

    @Test("expressions in literals keep their parentheses, and so their meaning")
    func parentheses() throws {
        try DatabaseQueue().write { (db) throws in
            let sum = [1.databaseValue.sqlExpression, Column("a").sqlExpression].joined(operator: .add)
            try db.execute(sql: "CREATE TABLE item (a); INSERT INTO item VALUES (2)")
            #expect(try Int.fetchOne(db, SQLRequest<Int>("SELECT \(sum) * 2 FROM item")) == 6)
            func sql(_ literal: SQL) throws -> String { try literal.build(db).sql }
            for (literal, expected) in [
                ("SELECT 2 * \(sum) AS b FROM item", #"SELECT 2 * (? + "a") AS b FROM item"#),
                ("\(literal: "\(sum)") * 2", #"(? + "a") * 2"#),
                (SQL(sum) + " * 2", #"(? + "a") * 2"#),
                ("2 * \(SQL(sum).sqlExpression)", #"2 * (? + "a")"#),
                ("\(SQL(sum).sqlExpression * 2)", #"(? + "a") * ?"#),
                ("SELECT \(sum)*2", #"SELECT (? + "a")*2"#),
                ("SELECT NOT \(sum) FROM item", #"SELECT NOT (? + "a") FROM item"#),
                ("SELECT a.BY\(sum) FROM item", #"SELECT a.BY(? + "a") FROM item"#),
                ("SELECT \(sum) COLLATE NOCASE", #"SELECT (? + "a") COLLATE NOCASE"#),
                ("SELECT \(sum)FROM item", #"SELECT (? + "a")FROM item"#),
                ("SELECT x_by \(sum) AS b", #"SELECT x_by (? + "a") AS b"#),
            ] as [(SQL, String)] {
                #expect(try sql(literal) == expected)
            }
        }
    }

    @Test("an expression has no parentheses in a literal where none are needed, as in views made by GRDB")
    func noParentheses() throws {
        try DatabaseQueue().read { (db) throws in
            let sum = Column("a") + Column("b")
            let request: SQLRequest<Int> = "SELECT id FROM t"
            for (literal, expected) in [
                ("\(sum)", #""a" + "b""#),
                ("\(request > 3)", "(SELECT id FROM t) > ?"),
                ("\(sum) AS c", #""a" + "b" AS c"#),
                ("SELECT a FROM item WHERE \(sum)", #"SELECT a FROM item WHERE "a" + "b""#),
                ("SELECT \(sum) AS c FROM item", #"SELECT "a" + "b" AS c FROM item"#),
                (
                    "SELECT max(\(sum), 1), \(sum)\n\tFROM item",
                    "SELECT max(\"a\" + \"b\", 1), \"a\" + \"b\"\n\tFROM item"
                ),
                (
                    "select case when \(sum) then \(sum) end",
                    #"select case when "a" + "b" then "a" + "b" end"#
                ),
                (
                    "SELECT 1 ORDER BY \(sum) DESC, \(sum) LIMIT 1",
                    #"SELECT 1 ORDER BY "a" + "b" DESC, "a" + "b" LIMIT 1"#
                ),
            ] as [(SQL, String)] {
                #expect(try literal.build(db).sql == expected)
            }
        }
    }

    @Test("more than three decimal digits of a second are read")
    func digits() throws {
        let date = try #require(Date.fromDatabaseValue("1970-01-01 00:00:03.6789".databaseValue))
        #expect(abs(date.timeIntervalSince1970 - 3.6789) < 1e-6)
        let components = try #require(
            DatabaseDateComponents.fromDatabaseValue("2018-12-31 23:59:59.999123".databaseValue))
        #expect(components.dateComponents.nanosecond == 999_123_000)
    }

    @Test("errors of decoding show no values, unless arguments are public")
    func decodingErrors() throws {
        for isPublic in [false, true] {
            let queue = try DatabaseQueue(
                configuration: Configuration().with { $0.publicStatementArguments = isPublic })
            try queue.read { (db) throws in
                let cursor = try Row.fetchCursor(db, sql: "SELECT upper(?) AS name", arguments: ["safe"])
                let row = try #require(try cursor.next())
                let error = #expect(throws: RowDecodingError.self) {
                    try row.decode(Date.self, forColumn: "name")
                }
                let text = "\(try #require(error))"
                #expect(text.contains("SAFE") == isPublic)
                #expect(text.contains("\"safe\"") == isPublic)
            }
        }
    }

    @Test("the library's schema queries are not traced")
    func traces() throws {
        let recorder = SQLRecorder()
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY)")
            recorder.record(db)
            #expect(try db.tableExists("item"))
            #expect(try db.primaryKey("item").columns == ["id"])
            _ = try db.columns(in: "item")
            #expect(recorder.statements == [])
        }
    }

    @Test("the writer of a pool reports a lock after fifty milliseconds, the writer of a queue at once")
    func patience() throws {
        let timeout: (Database) throws -> Int? = { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
        #expect(try directory.makePool().writeWithoutTransaction(timeout) == 50)
        #expect(try directory.makeQueue().writeWithoutTransaction(timeout) == 0)
    }

    @Test("a pool observation fetches on readers, even if its region can change")
    func observedReaders() async throws {
        let pool = try directory.makePool("vault.db", .rawKeyed.with { $0.label = "vault" })
        try await pool.write { try $0.execute(sql: "CREATE TABLE item (a)") }
        let labels = ValueLog<String>()
        let cancellable = ValueObservation.tracking { db -> String in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
            return db.description
        }.start(in: pool, scheduling: .task, onError: labels.fail, onChange: labels.append)
        await labels.values(count: 1)
        try await pool.write { try $0.execute(sql: "INSERT INTO item VALUES (1)") }
        #expect(await labels.values(count: 2).allSatisfy { $0.hasPrefix("vault.reader") })
        cancellable.cancel()
    }

    @Test("a database whose applied migration was since merged into another one is not superseded")
    func supersededMigrations() throws {
        let queue = try DatabaseQueue()
        var old = DatabaseMigrator()
        old.registerMigration("1") { try $0.execute(sql: "CREATE TABLE item (a)") }
        try old.migrate(queue)
        var merged = DatabaseMigrator()
        merged.registerMigration("2", merging: ["1"]) { _, _ in }
        #expect(try queue.read { try !merged.hasBeenSuperseded($0) })
        #expect(try queue.read { try DatabaseMigrator().hasBeenSuperseded($0) })
    }

    @Test("an immediate observation traps unless it is started on the main queue")
    func immediateObservation() async {
        await #expect(processExitsWith: .failure) {
            let scheduler: any ValueObservationScheduler = ImmediateValueObservationScheduler()
            _ = ValueObservation.tracking { _ in 1 }
                .start(in: try DatabaseQueue(), scheduling: scheduler, onError: { _ in }, onChange: { _ in })
        }
        await #expect(processExitsWith: .exitCode(7)) { @MainActor in
            let scheduler: any ValueObservationScheduler = ImmediateValueObservationScheduler()
            _ = ValueObservation.tracking { _ in 1 }
                .start(
                    in: try DatabaseQueue(), scheduling: scheduler, onError: { _ in },
                    onChange: { _ in exit(7) })
        }
    }
}

/// The result type of calls for which the library has no function of that name.
private struct NotThere {}

extension FTS5 {
    @_disfavoredOverload
    fileprivate static func api(_ db: Database) -> NotThere { NotThere() }
}
