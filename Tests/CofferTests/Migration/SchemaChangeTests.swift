import Coffer
import CofferTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Migrations that have changed")
struct SchemaChangeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makeMigrator(_ sql: [String], erasing: Bool = false) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = erasing
        for (number, sql) in sql.enumerated() {
            migrator.registerMigration("\(number + 1)") { try $0.execute(sql: sql) }
        }
        return migrator
    }

    private static let first = ["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE INDEX i ON b(x)"]

    @Test(
        "the schema has changed if it differs from the result of the migrations, up to the last applied one")
    func hasSchemaChanges() throws {
        let queue = try DatabaseQueue()
        let migrator = makeMigrator(Self.first)
        func changes(_ migrator: DatabaseMigrator) throws -> Bool {
            try queue.read { try migrator.hasSchemaChanges($0) }
        }
        #expect(try !changes(migrator))
        try migrator.migrate(queue, upTo: "1")
        #expect(try !changes(migrator))
        try migrator.migrate(queue)
        #expect(try !changes(migrator))
        #expect(try !changes(makeMigrator(Self.first + ["CREATE TABLE c (x)"])))
        #expect(try changes(makeMigrator(["CREATE TABLE a (y)", Self.first[1]])))
        #expect(try changes(makeMigrator([Self.first[0], "CREATE TABLE b (x)"])))
        #expect(try changes(makeMigrator([Self.first[0]])))
        #expect(try changes(DatabaseMigrator()))
        try queue.write { try $0.execute(sql: "CREATE VIEW v AS SELECT 1") }
        #expect(try changes(migrator))
        try queue.write { try $0.execute(sql: "DROP VIEW v; INSERT INTO a VALUES (1); ANALYZE") }
        #expect(try !changes(migrator))
        try queue.write { try $0.execute(sql: "CREATE TABLE grdb_other (a); CREATE TEMPORARY TABLE t (a)") }
        #expect(try !changes(migrator))
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('unknown')") }
        #expect(try changes(migrator))
    }

    @Test("merged migrations are not a change")
    func mergedMigrations() throws {
        let queue = try DatabaseQueue()
        try makeMigrator(Self.first).migrate(queue)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("3", merging: ["1", "2"]) { db, applied in
            if !applied.contains("1") { try db.execute(sql: Self.first[0]) }
            if !applied.contains("2") { try db.execute(sql: Self.first[1]) }
        }
        #expect(try queue.read { try !migrator.hasSchemaChanges($0) })
        try migrator.migrate(queue)
        #expect(try queue.read { try !migrator.hasSchemaChanges($0) })
    }

    @Test("a changed database is erased and migrated again, if that is asked", arguments: Access.allCases)
    func erasing(access: Access) throws {
        let writer = try directory.make(access)
        try makeMigrator(Self.first, erasing: true).migrate(writer)
        try writer.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
        // Without a schema change, the content stays.
        try makeMigrator(Self.first + ["CREATE TABLE c (x)"], erasing: true).migrate(writer)
        #expect(try writer.read { try Int.fetchAll($0, sql: "SELECT x FROM a") } == [1])
        // With a schema change, but without permission to erase.
        let changed = ["CREATE TABLE a (y)", "CREATE TABLE b (x)"]
        try makeMigrator(changed + ["SELECT 1"]).migrate(writer)
        #expect(try writer.read { try Int.fetchAll($0, sql: "SELECT x FROM a") } == [1])
        try makeMigrator(changed, erasing: true).migrate(writer)
        try writer.read { (db) throws in
            #expect(try db.columns(in: "a").map(\.name) == ["y"])
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM a") == 0)
            #expect(try !db.tableExists("c"))
            #expect(try makeMigrator(changed).appliedIdentifiers(db) == ["1", "2"])
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
        }
        try writer.close()
        let reopened = try directory.make(access)
        #expect(try reopened.read { try $0.columns(in: "a").map(\.name) } == ["y"])
    }

    @Test("the comparison has the functions and collations that migrations need")
    func preparation() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("double", argumentCount: 1, pure: true) {
                    Int.fromDatabaseValue($0[0]).map { $0 * 2 }
                })
            db.add(collation: DatabaseCollation("mine") { $0.compare($1) })
        }
        let queue = try DatabaseQueue(configuration: configuration)
        let migrator = makeMigrator(
            [
                "CREATE TABLE a (x COLLATE mine, y INTEGER AS (double(x))); INSERT INTO a (x) VALUES (double(3))"
            ], erasing: true)
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT y FROM a") } == [12])
    }

    @Test("a read-only connection, and one on a serial queue, can be compared")
    func otherConnections() throws {
        let migrator = makeMigrator(Self.first, erasing: true)
        try migrator.migrate(directory.makeQueue())
        let readOnly = try directory.makeQueue("a.db", .rawKeyed.with { $0.readonly = true })
        #expect(try readOnly.read { try !migrator.hasSchemaChanges($0) })
        let serial = try directory.makeQueue(
            "a.db", .rawKeyed.with { $0.targetQueue = DispatchQueue(label: "serial") })
        try migrator.migrate(serial)
        #expect(try serial.read { try migrator.hasCompletedMigrations($0) })
    }

    @Test(
        "a preparation that needs a file gets a temporary one, encrypted alike and removed afterwards")
    func preparationsOfFiles() throws {
        let passphrase = Configuration().with {
            $0.cipher.kdfIterations = 1000
            $0.prepareDatabase { try $0.usePassphrase("secret") }
        }
        let plain = Configuration().with { $0.allowsPlaintext = true }
        let plainHeader = Configuration().with {
            $0.key = .rawKey([UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16))
            $0.cipher.plaintextHeaderSize = 32
        }
        for (name, base) in [
            ("key", Configuration.rawKeyed), ("passphrase", passphrase), ("plain", plain),
            ("header", plainHeader),
        ] {
            let files = Mutex<[(path: String, isPlain: Bool)]>([])
            let configuration = base.with {
                $0.prepareDatabase { db in
                    let path = try #require(
                        try String.fetchOne(
                            db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'"))
                    guard !path.isEmpty else { throw DatabaseError(message: "This needs a file.") }
                    try db.execute(sql: "PRAGMA user_version = 1")
                    let isPlain = try Data(contentsOf: URL(fileURLWithPath: path)).starts(
                        with: Data("SQLite format 3".utf8))
                    files.withLock { $0.append((path, isPlain)) }
                }
            }
            let queue = try directory.makeQueue(name, configuration)
            let migrator = makeMigrator(Self.first, erasing: true)
            try migrator.migrate(queue)
            try migrator.migrate(queue)
            #expect(try queue.read { try !migrator.hasSchemaChanges($0) })
            let paths = files.withLock { $0 }
            #expect(paths.filter { $0.path != queue.path }.count == 2)
            #expect(paths.allSatisfy { $0.isPlain == (name == "plain" || name == "header") }, "\(name)")
            for file in paths where file.path != queue.path {
                #expect(
                    !FileManager.default.fileExists(
                        atPath: URL(fileURLWithPath: file.path).deletingLastPathComponent().path))
            }
        }
    }

    @Test("the comparison works if the preparation sets a passphrase")
    func passphraseInPreparation() throws {
        var configuration = Configuration()
        configuration.cipher.kdfIterations = 1000
        configuration.prepareDatabase { try $0.usePassphrase("secret") }
        let queue = try directory.makeQueue("p.db", configuration)
        let migrator = makeMigrator(Self.first, erasing: true)
        try migrator.migrate(queue)
        #expect(try queue.read { try !migrator.hasSchemaChanges($0) })
    }
}
