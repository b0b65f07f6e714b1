import Coffer

/// A note of a tenant.
struct Note: Codable, Equatable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var text: String

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("text", .text).notNull()
            }
        }
        return migrator
    }()
}

/// The number of notes, and the newest one: the event that the followers of a tenant get.
struct NoteSummary: Codable, Equatable {
    var count: Int
    var newest: Note?

    static func fetch(_ db: Database) throws -> NoteSummary {
        try NoteSummary(count: Note.fetchCount(db), newest: Note.order(Column("id").desc).fetchOne(db))
    }
}
