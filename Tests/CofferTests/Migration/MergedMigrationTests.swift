import Coffer
import Synchronization
import Testing

@Suite("Merged migrations")
struct MergedMigrationTests {
    /// Returns the identifiers that the merged migration received and the list afterwards, for a database
    /// with some applied migrations.
    private func migrate(
        applied: [String], merging merged: Set<String> = ["v1", "v2"]
    ) throws -> (received: Set<String>?, identifiers: Set<String>) {
        let queue = try DatabaseQueue()
        if !applied.isEmpty {
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
                for identifier in applied {
                    try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [identifier])
                }
            }
        }
        let received = Mutex<Set<String>?>(nil)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v3", merging: merged) { _, applied in received.withLock { $0 = applied } }
        migrator.registerMigration("v4") { _ in }
        #expect(try queue.read { try !migrator.hasBeenSuperseded($0) })
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        #expect(try queue.read { try migrator.completedMigrations($0) } == ["v3", "v4"])
        return (received.withLock { $0 }, try queue.read { try migrator.appliedIdentifiers($0) })
    }

    @Test("the migration receives the applied identifiers, and replaces them in the list")
    func merging() throws {
        for applied in [[], ["v1"], ["v2"], ["v1", "v2"]] {
            let (received, identifiers) = try migrate(applied: applied)
            #expect(received == Set(applied))
            #expect(identifiers == ["v3", "v4"])
        }
    }

    @Test("it does not run again if it was applied, but still removes the others from the list")
    func alreadyApplied() throws {
        for applied in [["v3"], ["v1", "v2", "v3"], ["v2", "v3", "v4"]] {
            let (received, identifiers) = try migrate(applied: applied)
            #expect(received == nil)
            #expect(identifiers == ["v3", "v4"])
        }
    }

    @Test("its own name may be among those that it merges")
    func ownName() throws {
        let (received, identifiers) = try migrate(applied: ["v1"], merging: ["v1", "v2", "v3"])
        #expect(received == ["v1"])
        #expect(identifiers == ["v3", "v4"])
    }

    @Test("an error leaves the list unchanged")
    func error() throws {
        struct Failure: Error {}
        let queue = try DatabaseQueue()
        var old = DatabaseMigrator()
        old.registerMigration("v1") { _ in }
        try old.migrate(queue)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v2", merging: ["v1"]) { _, _ in throw Failure() }
        #expect(throws: Failure.self) { try migrator.migrate(queue) }
        #expect(try queue.read { try migrator.appliedIdentifiers($0) } == ["v1"])
    }
}
