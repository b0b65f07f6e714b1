public import Coffer

/// Migrations that leave traces of every step, so that a database between two migrations is always detected.
public enum MigrationHistory {
    public static let count = 6
    private static let rowsInStep = 120

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameter willRun: called with the number of each migration when it begins.
    public static func migrator(willRun: @escaping @Sendable (Int) -> Void = { _ in }) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for number in 1...count {
            migrator.registerMigration(
                "m\(number)", foreignKeyChecks: number % 3 == 0 ? .immediate : .deferred
            ) { db in
                willRun(number)
                try migrate(db, number)
            }
        }
        return migrator
    }

    private static func migrate(_ db: Database, _ number: Int) throws {
        // A separate table, with rows that fill pages.
        try db.create(table: "step\(number)") { t in
            t.autoIncrementedPrimaryKey("id")
            if number > 1 { t.belongsTo("previous", inTable: "step\(number - 1)").notNull() }
            t.column("note", .blob).notNull()
        }
        for _ in 1...rowsInStep {
            let columns = number > 1 ? "(note, previousId)" : "(note)"
            let values =
                number > 1 ? "(randomblob(800), 1 + abs(random() % \(rowsInStep)))" : "(randomblob(800))"
            try db.execute(sql: "INSERT INTO step\(number) \(columns) VALUES \(values)")
        }
        // A table that every migration alters.
        if number == 1 {
            try db.create(table: "log") { $0.column("c1", .integer) }
        } else {
            try db.alter(table: "log") { $0.add(column: "c\(number)", .integer) }
        }
        try db.execute(sql: "INSERT INTO log (c\(number)) VALUES (\(number))")
        // A table that some migrations recreate, which is possible only while foreign keys are not enforced.
        if number % 3 != 0 {
            try db.create(table: "new_ledger") { t in
                t.primaryKey("id", .integer)
                t.column("amount", .integer).notNull()
            }
            if number > 1 {
                try db.execute(sql: "INSERT INTO new_ledger SELECT * FROM ledger")
                try db.drop(table: "ledger")
            }
            try db.rename(table: "new_ledger", to: "ledger")
        }
        for _ in 1...100 { try db.execute(sql: "INSERT INTO ledger (amount) VALUES (\(number))") }
        try db.execute(sql: "PRAGMA user_version = \(number)")
    }

    /// Returns the number of migrations that have been applied. Throws unless the database is in the state
    /// after the last of them.
    public static func check(_ db: Database) throws -> Int {
        let applied = try migrator().appliedIdentifiers(db)
        let number = applied.count
        try require(applied == Set((1...count).prefix(number).map { "m\($0)" }), "applied are \(applied)")
        let version = try int(db, "PRAGMA user_version")
        try require(version == number, "the version is \(version) after \(applied)")
        let steps = (1...count).prefix(number).map { "step\($0)" }
        var tables = Set(
            try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"))
        tables.remove("grdb_migrations")
        try require(
            tables == Set(number > 0 ? steps + ["log", "ledger"] : []), "after \(applied) there are \(tables)"
        )
        guard number > 0 else { return 0 }
        for step in steps {
            let rows = try int(db, "SELECT count(*) FROM \(step)")
            try require(rows == rowsInStep, "\(step) has \(rows) rows")
        }
        let columns = try db.columns(in: "log").map(\.name)
        try require(columns == (1...number).map { "c\($0)" }, "the log has \(columns)")
        try require(try int(db, "SELECT count(*) FROM log") == number, "the log is incomplete")
        try require(
            try int(db, "SELECT sum(amount) FROM ledger") == 100 * number * (number + 1) / 2,
            "the ledger is wrong")
        try db.checkForeignKeys()
        try require(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "the file is damaged")
        return number
    }

    private static func require(_ condition: Bool, _ description: @autoclosure () -> String) throws {
        guard condition else { throw Failure(description: description()) }
    }

    private static func int(_ db: Database, _ sql: String) throws -> Int {
        try Int.fetchOne(db, sql: sql) ?? 0
    }
}
