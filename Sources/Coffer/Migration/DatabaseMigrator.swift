/// Brings databases from any of their former schemas to the present one.
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
/// Each migration runs in a transaction of its own, once in the life of a database, in the order of
/// registration. A process that ends in the middle of one leaves the database as the migration before it did.
/// The database itself remembers, in the table `grdb_migrations`, which migrations were applied. A migration
/// must never change once it was applied somewhere.
public struct DatabaseMigrator: Sendable {
    /// When the foreign keys of a migration are checked.
    public enum ForeignKeyChecks: Sendable {
        /// At its end, for the whole database. Meanwhile foreign keys are not enforced, as is needed to
        /// create a table anew under its name.
        case deferred

        /// With each statement. This is faster in big databases, but the migration must not create tables
        /// anew.
        case immediate
    }

    /// Whether ``migrate(_:)`` erases a database whose schema is not what the migrations make, and starts
    /// from scratch. False by default.
    ///
    /// For the time when migrations are still being written. **It destroys the content of the database** when
    /// ``hasSchemaChanges(_:)`` is true: never let it be true in what you ship.
    public var eraseDatabaseOnSchemaChange = false

    private(set) var registered: [Migration] = []
    private var checksForeignKeysAtEnd = true

    /// Creates a migrator without migrations.
    public init() {}

    /// A migrator that does not check foreign keys at the end of the migrations that are registered from now
    /// on.
    ///
    /// Such a migration runs without foreign keys, and has to take care itself that none is violated, for
    /// example with ``Database/checkForeignKeys(in:in:)``. Migrations that are registered with immediate
    /// checks are not concerned.
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
    ///   - identifier: the name of the migration, which stays the same for ever.
    ///   - foreignKeyChecks: when foreign keys are checked.
    ///   - migrate: changes the schema and the content. It runs in a transaction; an error rolls it back and
    ///     ends the migrating.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (Database) throws -> Void
    ) {
        register(identifier, merging: [], foreignKeyChecks) { db, _ in try migrate(db) }
    }

    /// Registers a migration that takes the place of several older ones, which are registered no more.
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
    /// It does not run on a database where a migration of its own name was applied.
    /// - Precondition: none of the identifiers belongs to another registered migration.
    /// - Parameters:
    ///   - identifier: the name of the migration, which is stored in the database.
    ///   - foreignKeyChecks: when foreign keys are checked.
    ///   - mergedIdentifiers: the identifiers of the older migrations. Its own may be among them.
    ///   - migrate: changes the schema and the content. Its second argument says which of the older
    ///     migrations were applied: none in a new database.
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

    /// The identifiers that a database can have without having been migrated by a later version of the
    /// application.
    var knownIdentifiers: Set<String> { registered.reduce(into: []) { $0.formUnion($1.allIdentifiers) } }
}
