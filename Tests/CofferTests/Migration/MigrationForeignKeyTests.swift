import Coffer
import CofferTestSupport
import Testing

@Suite("Foreign keys in migrations")
struct MigrationForeignKeyTests {
    private static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER NOT NULL REFERENCES team(id) ON DELETE \
        CASCADE);
        INSERT INTO team VALUES (1, 'Red');
        INSERT INTO player VALUES (1, 1);
        """

    private func makeQueue(_ configuration: Configuration = Configuration()) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: Self.schema) }
        return queue
    }

    private func areEnforced(_ queue: DatabaseQueue) throws -> Bool? {
        try queue.inDatabase { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") }
    }

    @Test("a table can be recreated without its children being deleted")
    func recreation() throws {
        let queue = try makeQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("NOT NULL") { db in
            try db.create(table: "new_team") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull()
            }
            try db.execute(sql: "INSERT INTO new_team SELECT * FROM team")
            try db.drop(table: "team")
            try db.rename(table: "new_team", to: "team")
        }
        try migrator.migrate(queue)
        try queue.read { (db) throws in
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM player") == [["id": 1, "teamId": 1]])
            #expect(try db.columns(in: "team")[1].isNotNull)
            #expect(try db.foreignKeys(on: "player")[0].destinationTable == "team")
        }
        #expect(try areEnforced(queue) == true)
    }

    @Test("a violation at the end is an error that shows the row, and rolls the migration back")
    func violation() throws {
        let queue = try makeQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("violation") { try $0.execute(sql: "INSERT INTO player VALUES (2, 99)") }
        #expect {
            try migrator.migrate(queue)
        } throws: {
            let error = $0 as? DatabaseError
            return error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY
                && error?.message
                    == "FOREIGN KEY constraint violation - from player(teamId) to team(id), in [id:2 teamId:99]"
        }
        try queue.read { (db) throws in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 1)
            #expect(try migrator.appliedMigrations(db) == [])
        }
        #expect(try areEnforced(queue) == true)
    }

    @Test("a violation during the migration is allowed if it is resolved at the end")
    func temporaryViolation() throws {
        let queue = try makeQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("order") { db in
            try db.execute(sql: "INSERT INTO player VALUES (2, 2); INSERT INTO team VALUES (2, 'Blue')")
        }
        try migrator.migrate(queue)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM player") } == 2)
    }

    @Test("immediate checks enforce foreign keys in the migration")
    func immediate() throws {
        let queue = try makeQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("cascade", foreignKeyChecks: .immediate) {
            try $0.execute(sql: "DELETE FROM team")
        }
        migrator.registerMigration("violation", foreignKeyChecks: .immediate) {
            try $0.execute(sql: "INSERT INTO player VALUES (2, 99)")
        }
        #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
        try queue.read { (db) throws in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 0)
            #expect(try migrator.appliedMigrations(db) == ["cascade"])
        }
    }

    @Test("with immediate checks, a foreign key is renamed with its table")
    func renaming() throws {
        let queue = try makeQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("guilds", foreignKeyChecks: .immediate) { db in
            try db.alter(table: "player") { $0.rename(column: "teamId", to: "guildId") }
            try db.rename(table: "team", to: "guild")
        }
        try migrator.migrate(queue)
        try queue.read { (db) throws in
            #expect(try db.foreignKeys(on: "player")[0].destinationTable == "guild")
            #expect(try db.foreignKeys(on: "player")[0].originColumns == ["guildId"])
        }
    }

    @Test("checks at the end can be disabled for the migrations that follow")
    func disabled() throws {
        let queue = try makeQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("checked") { _ in }
        migrator = migrator.disablingDeferredForeignKeyChecks()
        migrator.registerMigration("unchecked") { try $0.execute(sql: "INSERT INTO player VALUES (2, 99)") }
        migrator.registerMigration("immediate", foreignKeyChecks: .immediate) {
            try $0.execute(sql: "INSERT INTO player VALUES (3, 98)")
        }
        #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
        try queue.read { (db) throws in
            #expect(try migrator.appliedMigrations(db) == ["checked", "unchecked"])
            #expect(try db.foreignKeyViolations().next()?.originRowID == 2)
        }
        #expect(try areEnforced(queue) == true)
        var own = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        own.registerMigration("own check") { try $0.checkForeignKeys(in: "player") }
        #expect(throws: DatabaseError.self) { try own.migrate(queue) }
    }

    @Test("a connection with foreign keys disabled keeps them disabled, and nothing is checked")
    func withoutForeignKeys() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try makeQueue(configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("violation") { try $0.execute(sql: "INSERT INTO player VALUES (2, 99)") }
        try migrator.migrate(queue)
        #expect(try areEnforced(queue) == false)
    }
}
