import Coffer
import CofferTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

/// The behavior of values, connections and observers that programs expect from GRDB 7: see the Compatibility
/// article.
@Suite("Database behavior that GRDB programs rely on")
struct DatabaseBehaviorTests {
    @Test("a fetched blob with invalid UTF-8 is read as repaired text, like invalid text")
    func blobsAsText() throws {
        try DatabaseQueue().read { (db) throws in
            #expect(try String.fetchOne(db, sql: "SELECT x'ff41'") == "\u{FFFD}A")
            let row = try #require(try Row.fetchCursor(db, sql: "SELECT x'ff41' AS a").next())
            #expect(row["a"] == "\u{FFFD}A")
            #expect(String.fromDatabaseValue(Data([0xff, 0x41]).databaseValue) == nil)
        }
    }

    @Test("migrations have no schema source")
    func schemaSourceInMigrations() throws {
        struct Source: DatabaseSchemaSource {
            func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
                ["id"]
            }
        }
        var configuration = Configuration()
        configuration.schemaSource = Source()
        let queue = try DatabaseQueue(configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            #expect(db.schemaSource == nil)
            db.withSchemaSource(Source()) { #expect(db.schemaSource != nil) }
        }
        try migrator.migrate(queue)
        #expect(try queue.read { $0.schemaSource != nil })
    }

    private final class EndObserver: TransactionObserver {
        var ends: [String] = []
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) { ends.append("commit") }
        func databaseDidRollback(_ db: Database) { ends.append("rollback") }
    }

    @Test("a failed statement reports a rollback only if it undoes changes that observers have seen")
    func rollbackOfStatements() throws {
        let observer = EndObserver()
        let queue = try DatabaseQueue()
        try queue.inDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a NOT NULL UNIQUE)")
            db.add(transactionObserver: observer)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (NULL)") }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (NULL)")
            }
            #expect(observer.ends == [])
            // An observer that was notified of a row is notified of the rollback.
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1), (NULL)") }
            #expect(observer.ends == ["rollback"])
            observer.ends = []
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(observer.ends == ["commit"])
            try db.execute(sql: "BEGIN")
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (NULL)")
            }
            #expect(observer.ends == ["commit", "rollback"])
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
        }
    }

    @Test("accesses run on the queue that they are given as target")
    func globalTargetQueue() throws {
        var configuration = Configuration()
        configuration.targetQueue = .global(qos: .background)
        try DatabaseQueue(configuration: configuration).write { _ in
            dispatchPrecondition(condition: .onQueue(.global(qos: .background)))
        }
    }

    @Test("errors are described with their primary code")
    func expandedDescription() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [1])
            }
            #expect(error?.expandedDescription.hasPrefix("SQLite error 19: ") == true)
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        }
    }

    @Test("asking for the primary key of a view fails with GRDB's message")
    func viewWithoutKey() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE VIEW v AS SELECT 1")
            let error = #expect(throws: DatabaseError.self) { try db.primaryKey("v") }
            #expect(error?.message == "database view v has no primary key")
        }
    }

    @Test("an error about unused arguments gives the total number of arguments")
    func argumentCount() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(
                    sql: "INSERT INTO t VALUES (?); INSERT INTO t VALUES (?)", arguments: [1, 2, 3])
            }
            #expect(error?.message == "wrong number of statement arguments: 3")
        }
    }

    @Test("connections of a pool are distinguished by their labels")
    func labels() throws {
        let directory = try TestDirectory()
        var configuration = Configuration.rawKeyed
        configuration.label = "Vault"
        let pool = try DatabasePool(path: directory.path("pool.db"), configuration: configuration)
        #expect(pool.writeWithoutTransaction { $0.description } == "Vault.writer")
        #expect(try pool.read { $0.description } == "Vault.reader.1")
        let snapshots = try [pool.makeSnapshot(), pool.makeSnapshot()]
        #expect(snapshots.map { $0.read(\.description) } == ["Vault.snapshot.1", "Vault.snapshot.2"])
        #expect(try DatabaseQueue(configuration: configuration).read { $0.description } == "Vault")
    }

    private final class Lines: TextOutputStream, Sendable {
        let texts = Mutex<[String]>([])
        func write(_ string: String) { texts.withLock { $0.append(string) } }
    }

    @Test("events are written into a stream without line breaks")
    @MainActor func printing() throws {
        let lines = Lines()
        let queue = try DatabaseQueue()
        let cancellable = ValueObservation.tracking { _ in 1 }.print(to: lines)
            .start(in: queue, scheduling: .immediate, onError: { _ in }, onChange: { _ in })
        cancellable.cancel()
        let texts = lines.texts.withLock { $0 }
        #expect(texts.first == "start")
        #expect(texts.contains("value: 1"))
        #expect(!texts.contains { $0.contains("\n") })
    }

    @Test("descriptions of rows have a space after the colon of a scope")
    func rowDescription() throws {
        try DatabaseQueue().read { (db) throws in
            let adapter = ScopeAdapter(["owner": SuffixRowAdapter(fromIndex: 1)])
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b", adapter: adapter))
            #expect(row.debugDescription == "▿ [a:1 b:2]\n  unadapted: [a:1 b:2]\n  - owner: [b:2]")
        }
    }

    @Test(
        "decimal numbers survive the round trip through a floating-point number",
        arguments: [10_000_000.01, 0.1, 1e-5, 123.456, -7.0])
    func decimalNumbers(value: Double) {
        let number = NSDecimalNumber(value: value)
        #expect(NSDecimalNumber.fromDatabaseValue(number.databaseValue) == number)
    }

    @Test("NSNull is stored as NULL, and is never read")
    func nullObject() {
        #expect(NSNull.fromDatabaseValue(.null) == nil)
        #expect(NSNull.fromDatabaseValue(1.databaseValue) == nil)
        #expect(NSNull().databaseValue == .null)
    }

    private final class Countdown: Cursor {
        var usesForEach = false
        func next() throws -> Int? { nil }
        func forEach(_ body: (Int) throws -> Void) throws {
            usesForEach = true
            for number in [3, 2, 1] { try body(number) }
        }
    }

    @Test("an enumerated cursor iterates with the forEach of its base")
    func numberedCursors() throws {
        let countdown = Countdown()
        let numbered = try Array(countdown.enumerated())
        #expect(numbered.map(\.0) == [0, 1, 2])
        #expect(numbered.map(\.1) == [3, 2, 1])
        #expect(countdown.usesForEach)
    }

    @Test("the schema tables do not count as existing tables")
    func masterTables() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE safe (a)")
            for name in ["sqlite_master", "SQLite_Schema", "sqlite_temp_master"] {
                #expect(try !db.tableExists(name))
            }
            #expect(try !db.tableExists("sqlite_master", in: "main"))
            #expect(try db.tableExists("SAFE", in: "main"))
            // They can be read like other tables.
            #expect(try Table("sqlite_master").fetchCount(db) == 1)
            #expect(try db.columns(in: "sqlite_master").count == 5)
        }
    }

    @Test("afterNextTransaction traps in a read, and is called after a write")
    func endsOfReads() async {
        await #expect(processExitsWith: .failure) {
            try await DatabaseQueue().read { $0.afterNextTransaction { _ in } }
        }
        await #expect(processExitsWith: .exitCode(7)) {
            try await DatabaseQueue().write { $0.afterNextTransaction { _ in exit(7) } }
        }
    }

    @Test("an observed region has the tables of a view, and not the view", arguments: Access.allCases)
    func viewsInRegions(access: Access) async throws {
        let directory = try TestDirectory()
        let writer = try directory.make(access)
        try await writer.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE safe (id INTEGER PRIMARY KEY, name); CREATE VIEW name AS SELECT name FROM safe"
            )
        }
        let regions = ValueLog<String>(), names = ValueLog<[String]>()
        let cancellable = ValueObservation.tracking { try String.fetchAll($0, sql: "SELECT name FROM name") }
            .handleEvents(willTrackRegion: { regions.append("\($0)") })
            .start(in: writer, scheduling: .task, onError: names.fail, onChange: names.append)
        await names.values(upTo: [])
        try await writer.write { try $0.execute(sql: "INSERT INTO safe (name) VALUES ('iron')") }
        await names.values(upTo: ["iron"])
        #expect(regions.values == ["safe(name)"])
        // The name now belongs to a table, not a view.
        try await writer.write {
            try $0.execute(sql: "DROP VIEW name; CREATE TABLE name (name); DELETE FROM safe")
        }
        try await writer.write { try $0.execute(sql: "INSERT INTO name VALUES ('wood')") }
        #expect(await names.values(upTo: ["wood"]).last == ["wood"])
        // A statement that is recompiled while it runs has read both. Only the next read of the connection
        // has the region of the table alone.
        var woods = ["wood"]
        while regions.values.last != "name(name)", woods.count < 10 {
            woods.append("oak \(woods.count)")
            try await writer.write { [woods] in
                try $0.execute(sql: "INSERT INTO name VALUES (?)", arguments: [woods.last])
            }
            #expect(await names.values(upTo: woods).last == woods)
        }
        #expect(regions.values.last == "name(name)")
        cancellable.cancel()
        withExtendedLifetime(directory) {}
    }

    private struct WrappedColumn: RawRepresentable, SQLSpecificExpressible { var rawValue: Column }

    @Test("a type whose raw value is a column can be used as that column")
    func wrappedColumns() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (2), (1)")
            let column = WrappedColumn(rawValue: Column("a"))
            #expect(try Table("t").select(column, as: Int.self).order(column).fetchAll(db) == [1, 2])
        }
    }
}
