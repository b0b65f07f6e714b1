import Coffer
import CofferTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Migrating a database")
struct DatabaseMigratorTests {
    struct Failure: Error {}

    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Makes a migrator with three migrations that create one table each.
    private func makeMigrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for name in ["a", "b", "c"] {
            migrator.registerMigration(name) { db in try db.create(table: name) { $0.column("x") } }
        }
        return migrator
    }

    private func tables(_ writer: some DatabaseReader) throws -> [String] {
        try writer.read { db in
            try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'grdb_*' ORDER BY rowid"
            )
        }
    }

    @Test("migrations run in the order of registration, once", arguments: Access.allCases)
    func order(access: Access) throws {
        let order = Mutex<[String]>([])
        var migrator = DatabaseMigrator()
        for name in ["b", "a", "c"] {
            migrator.registerMigration(name) { db in
                order.withLock { $0.append(name) }
                try db.create(table: name) { $0.column("x") }
            }
        }
        #expect(migrator.migrations == ["b", "a", "c"])
        let writer = try directory.make(access)
        try migrator.migrate(writer)
        try migrator.migrate(writer)
        try writer.close()
        let reopened = try directory.make(access)
        try migrator.migrate(reopened)
        #expect(order.withLock { $0 } == ["b", "a", "c"])
        #expect(try tables(reopened) == ["b", "a", "c"])
        // Later versions add migrations.
        migrator.registerMigration("d") { db in try db.create(table: "d") { $0.column("x") } }
        try migrator.migrate(reopened)
        #expect(try tables(reopened) == ["b", "a", "c", "d"])
    }

    @Test("the SQL of a migration: transaction, migration table and foreign key check")
    func sql() throws {
        let recorder = SQLRecorder()
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        let queue = try DatabaseQueue(configuration: configuration)
        queue.inDatabase { recorder.record($0) }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in try db.create(table: "a") { $0.column("x") } }
        migrator.registerMigration("2", foreignKeyChecks: .immediate) { db in
            try db.create(table: "b") { $0.column("x") }
        }
        try migrator.migrate(queue)
        let writing = recorder.statements.filter { !$0.hasPrefix("SELECT") && $0 != "PRAGMA foreign_keys" }
        #expect(
            writing == [
                "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)",
                "PRAGMA foreign_keys = OFF", "BEGIN IMMEDIATE TRANSACTION", #"CREATE TABLE "a" ("x")"#,
                "INSERT OR IGNORE INTO grdb_migrations (identifier) VALUES ('1')",
                "-- PRAGMA 'main'.foreign_key_check",
                "COMMIT TRANSACTION", "PRAGMA foreign_keys = ON", "BEGIN IMMEDIATE TRANSACTION",
                #"CREATE TABLE "b" ("x")"#,
                "INSERT OR IGNORE INTO grdb_migrations (identifier) VALUES ('2')", "COMMIT TRANSACTION",
            ])
    }

    @Test("a database can be migrated up to a migration, and not back", arguments: Access.allCases)
    func target(access: Access) throws {
        let writer = try directory.make(access)
        let migrator = makeMigrator()
        try migrator.migrate(writer, upTo: "b")
        #expect(try tables(writer) == ["a", "b"])
        try migrator.migrate(writer, upTo: "b")
        #expect {
            try migrator.migrate(writer, upTo: "a")
        } throws: {
            ($0 as? DatabaseError)?.message == #"database is already migrated beyond migration "a""#
        }
        try migrator.migrate(writer)
        #expect(try tables(writer) == ["a", "b", "c"])
    }

    @Test(
        "an error rolls back its migration, keeps the earlier ones, and stops the migrator",
        arguments: Access.allCases)
    func error(access: Access) throws {
        let fails = Mutex(true)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { db in try db.create(table: "a") { $0.column("x") } }
        migrator.registerMigration("b") { db in
            try db.create(table: "b") { $0.column("x") }
            try db.execute(sql: "INSERT INTO a VALUES (1)")
            if fails.withLock({ $0 }) { throw Failure() }
        }
        migrator.registerMigration("c") { db in try db.create(table: "c") { $0.column("x") } }
        let writer = try directory.make(access)
        #expect(throws: Failure.self) { try migrator.migrate(writer) }
        #expect(try tables(writer) == ["a"])
        #expect(try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM a") } == 0)
        #expect(try writer.read { try migrator.appliedIdentifiers($0) } == ["a"])
        #expect(try writer.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") } == true)
        fails.withLock { $0 = false }
        try migrator.migrate(writer)
        #expect(try tables(writer) == ["a", "b", "c"])
    }

    @Test("a database that GRDB has migrated can be migrated further")
    func existingList() throws {
        let queue = try directory.makeQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('a'), ('b');
                    CREATE TABLE a (x); CREATE TABLE b (x);
                    """)
        }
        try makeMigrator().migrate(queue)
        #expect(try tables(queue) == ["a", "b", "c"])
    }

    @Test("the applied migrations can be queried")
    func state() throws {
        let queue = try DatabaseQueue()
        let migrator = makeMigrator()
        let check = {
            (
                applied: [String], identifiers: Set<String>, completed: [String], hasCompleted: Bool,
                hasBeenSuperseded: Bool
            ) throws in
            try queue.read { (db) throws in
                #expect(try migrator.appliedMigrations(db) == applied)
                #expect(try migrator.appliedIdentifiers(db) == identifiers)
                #expect(try migrator.completedMigrations(db) == completed)
                #expect(try migrator.hasCompletedMigrations(db) == hasCompleted)
                #expect(try migrator.hasBeenSuperseded(db) == hasBeenSuperseded)
            }
        }
        try check([], [], [], false, false)
        try migrator.migrate(queue, upTo: "a")
        try check(["a"], ["a"], ["a"], false, false)
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('c'), ('future')") }
        try check(["a", "c"], ["a", "c", "future"], ["a"], false, true)
        try migrator.migrate(queue, upTo: "c")
        try check(["a", "b", "c"], ["a", "b", "c", "future"], ["a", "b", "c"], true, true)
        #expect(try queue.read { try DatabaseMigrator().hasCompletedMigrations($0) })
    }

    @Test("without migrations, nothing happens")
    func empty() throws {
        let queue = try DatabaseQueue()
        try DatabaseMigrator().migrate(queue)
        #expect(try queue.read { try !$0.tableExists("grdb_migrations") })
    }

    @Test("readers see the database before a migration or after it, not in between", arguments: [1, 2, 3])
    func isolation(round: Int) throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("double") { db in
            try db.alter(table: "t") { $0.add(column: "b", .integer) }
            for _ in 1...50 { try db.execute(sql: "UPDATE t SET b = a * 2") }
            try db.alter(table: "t") { $0.drop(column: "a") }
        }
        let group = DispatchGroup()
        for _ in 1...4 {
            DispatchQueue.global().async(group: group) {
                for _ in 1...50 {
                    let columns = try? pool.read { try $0.columns(in: "t").map(\.name) }
                    #expect(columns == ["a"] || columns == ["b"])
                }
            }
        }
        try migrator.migrate(pool)
        group.wait()
        #expect(try pool.read { try Int.fetchAll($0, sql: "SELECT b FROM t") } == [2, 4])
    }

    @Test("a migration can be asynchronous, and reports its end or its error", arguments: Access.allCases)
    func asynchronous(access: Access) async throws {
        let writer = try directory.make(access)
        let migrator = makeMigrator()
        let columns = try await withCheckedThrowingContinuation { continuation in
            migrator.asyncMigrate(writer) { result in
                continuation.resume(
                    with: Result {
                        let db = try result.get()
                        #expect(!db.isInsideTransaction)
                        return try db.columns(in: "c").map(\.name)
                    })
            }
        }
        #expect(columns == ["x"])

        let failing = {
            var result = migrator
            result.registerMigration("d") { _ in throw Failure() }
            return result
        }()
        await #expect(throws: Failure.self) {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                failing.asyncMigrate(writer) { result in continuation.resume(with: result.map { _ in }) }
            }
        }
        #expect(try await writer.read { try failing.appliedIdentifiers($0) } == ["a", "b", "c"])

        try writer.close()
        await #expect(throws: DatabaseError.self) {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                migrator.asyncMigrate(writer) { result in continuation.resume(with: result.map { _ in }) }
            }
        }
    }

    @Test("two migrations with one identifier trap")
    func sameIdentifiers() async {
        await #expect(processExitsWith: .failure) {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { _ in }
            migrator.registerMigration("a") { _ in }
        }
        await #expect(processExitsWith: .failure) {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { _ in }
            migrator.registerMigration("b", merging: ["a"]) { _, _ in }
        }
        await #expect(processExitsWith: .failure) {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("b", merging: ["a"]) { _, _ in }
            migrator.registerMigration("a") { _ in }
        }
    }

    @Test("a target that is not registered traps")
    func undefinedTarget() async {
        await #expect(processExitsWith: .failure) {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { _ in }
            try migrator.migrate(DatabaseQueue(), upTo: "b")
        }
    }
}
