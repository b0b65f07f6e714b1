/// A step from one schema to the next.
struct Migration: Sendable {
    /// The handling of foreign keys during a migration.
    enum ForeignKeys: Sendable {
        /// They are not enforced, but checked at the end.
        case checkedAtEnd

        /// They are not enforced, and not checked.
        case unchecked

        /// They are enforced.
        case enforced

        init(_ checks: DatabaseMigrator.ForeignKeyChecks, checksAtEnd: Bool) {
            switch checks {
            case .immediate: self = .enforced
            case .deferred: self = checksAtEnd ? .checkedAtEnd : .unchecked
            }
        }
    }

    let identifier: String

    /// The migrations that this one replaces.
    let mergedIdentifiers: Set<String>

    let foreignKeys: ForeignKeys
    let migrate: @Sendable (Database, Set<String>) throws -> Void

    var allIdentifiers: Set<String> { mergedIdentifiers.union([identifier]) }
}

extension Migration {
    /// Applies the migration unless it has been applied, possibly by another process just before.
    func run(_ db: Database) throws {
        // The pragma has no effect inside a transaction:
        // https://www.sqlite.org/pragma.html#pragma_foreign_keys
        guard foreignKeys != .enforced, try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false else {
            return try runInTransaction(db, checksForeignKeys: false)
        }
        try db.execute(sql: "PRAGMA foreign_keys = OFF")
        let result = Result { try runInTransaction(db, checksForeignKeys: foreignKeys == .checkedAtEnd) }
        // Foreign keys must be enforced again even after a cancellation or an interruption.
        try db.withoutInterruption { try db.execute(sql: "PRAGMA foreign_keys = ON") }
        try result.get()
    }

    private func runInTransaction(_ db: Database, checksForeignKeys: Bool) throws {
        // Immediate, so that the state read here stays valid until the commit.
        try db.inTransaction(.immediate) {
            let applied = try AppliedMigrations.identifiers(db)
            let merged = applied.intersection(mergedIdentifiers)
            if !applied.contains(identifier) {
                try migrate(db, merged)
            }
            try AppliedMigrations.remove(merged, from: db)
            try AppliedMigrations.insert(identifier, into: db)
            if checksForeignKeys, !applied.contains(identifier) {
                try db.checkForeignKeys()
            }
            return .commit
        }
    }
}

/// The table of applied migrations. Its name and columns are the same as in GRDB.
enum AppliedMigrations {
    static func createTable(_ db: Database) throws {
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    }

    /// Returns the identifiers of all applied migrations; an empty set if the table does not exist.
    static func identifiers(_ db: Database) throws -> Set<String> {
        guard try db.tableExists("grdb_migrations", in: "main") else { return [] }
        return try String.fetchSet(db, sql: "SELECT identifier FROM main.grdb_migrations")
    }

    static func insert(_ identifier: String, into db: Database) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO grdb_migrations (identifier) VALUES (?)", arguments: [identifier])
    }

    static func remove(_ identifiers: Set<String>, from db: Database) throws {
        for identifier in identifiers {
            try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = ?", arguments: [identifier])
        }
    }
}
