/// A migrator that updates the schema of a database from any earlier version to the current one.
///
///     var vault = DatabaseMigrator()
///     vault.registerMigration("owners and their items") { db in
///         try db.execute(sql: "CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
///         try db.create(table: "item", options: .strict) { item in
///             item.primaryKey("id", .integer)
///             item.belongsTo("owner").notNull()
///             item.column("name", .text)
///         }
///     }
///     vault.registerMigration("items have a weight") { db in
///         try db.alter(table: "item") { $0.add(column: "weight", .integer).defaults(to: 0) }
///     }
///     try vault.migrate(pool)
///
/// Each migration runs once per database, in its own transaction, in the order of registration. If the
/// process ends during a migration, the database is in the state after the previous migration. The database
/// records the applied migrations in its table `grdb_migrations`. Never change a migration after it has been
/// applied anywhere.
public struct DatabaseMigrator: Sendable {
    /// The time at which the foreign keys of a migration are checked.
    public enum ForeignKeyChecks: Sendable {
        /// Foreign keys of the whole database are checked at the end of the migration. They are not enforced
        /// before that, which is required for recreating a table under its name.
        case deferred

        /// Foreign keys are checked with each statement. This is faster in large databases, but the migration
        /// must not recreate tables.
        case immediate
    }

    /// A Boolean value that indicates whether ``migrate(_:)`` erases a database whose schema differs from the
    /// result of the migrations, and starts from scratch. False by default.
    ///
    /// Use it only while you are developing migrations. **It destroys the content of the database** when
    /// ``hasSchemaChanges(_:)`` returns true: never ship it enabled.
    public var eraseDatabaseOnSchemaChange = false

    private(set) var registered: [Migration] = []
    private var checksForeignKeysAtEnd = true

    /// Creates a migrator without migrations.
    public init() {}

    /// Returns a migrator that does not check foreign keys at the end of the migrations that are registered
    /// from now on.
    ///
    /// Such a migration runs with foreign keys disabled. It has to ensure that none is violated, for example
    /// with ``Database/checkForeignKeys(in:in:)``. Migrations that are registered with immediate checks are
    /// not affected.
    public func disablingDeferredForeignKeyChecks() -> DatabaseMigrator {
        var migrator = self
        migrator.checksForeignKeysAtEnd = false
        return migrator
    }

    /// The identifiers of the registered migrations, in order.
    public var migrations: [String] { registered.map(\.identifier) }
}

// MARK: - Registration

extension DatabaseMigrator {
    /// Registers a migration.
    ///
    /// - Precondition: no other migration has the same identifier.
    /// - Parameters:
    ///   - identifier: the name of the migration, which must never change.
    ///   - foreignKeyChecks: the time at which foreign keys are checked.
    ///   - migrate: changes the schema and the content. It runs in a transaction. An error rolls it back, and
    ///     stops the migrator.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (Database) throws -> Void
    ) {
        register(identifier, merging: [], foreignKeyChecks) { db, _ in try migrate(db) }
    }

    /// Registers a migration that replaces several older ones, which are no longer registered.
    ///
    ///     migrator.registerMigration("guests", merging: ["guests 1", "guests 2"]) { db, applied in
    ///         if !applied.contains("guests 1") {
    ///             try db.create(table: "guest") { table in table.primaryKey("name", .text) }
    ///         }
    ///         if !applied.contains("guests 2") {
    ///             try db.alter(table: "guest") { table in table.add(column: "since", .date) }
    ///         }
    ///     }
    ///
    /// It does not run on a database in which a migration with its own identifier has been applied.
    ///
    /// - Precondition: none of the identifiers belongs to another registered migration.
    /// - Parameters:
    ///   - identifier: the name of the migration, which is stored in the database.
    ///   - foreignKeyChecks: the time at which foreign keys are checked.
    ///   - mergedIdentifiers: the identifiers of the older migrations, optionally including `identifier`.
    ///   - migrate: changes the schema and the content. Its second argument contains the older migrations
    ///     that
    ///     have been applied; it is empty for a new database.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        merging mergedIdentifiers: Set<String> = [],
        migrate: @escaping @Sendable (Database, Set<String>) throws -> Void
    ) {
        register(identifier, merging: mergedIdentifiers, foreignKeyChecks, migrate)
    }

    private mutating func register(
        _ identifier: String, merging mergedIdentifiers: Set<String>, _ foreignKeyChecks: ForeignKeyChecks,
        _ migrate: @escaping @Sendable (Database, Set<String>) throws -> Void
    ) {
        let migration = Migration(
            identifier: identifier, mergedIdentifiers: mergedIdentifiers.subtracting([identifier]),
            foreignKeys: Migration.ForeignKeys(foreignKeyChecks, checksAtEnd: checksForeignKeysAtEnd),
            migrate: migrate)
        for other in registered {
            let shared = migration.allIdentifiers.intersection(other.allIdentifiers)
            precondition(
                shared.isEmpty, "already registered migration: \(shared.sorted().joined(separator: ", "))")
        }
        registered.append(migration)
    }

    /// The identifiers that a database may contain unless a later version of the application has migrated it.
    var knownIdentifiers: Set<String> { registered.reduce(into: []) { $0.formUnion($1.allIdentifiers) } }
}
