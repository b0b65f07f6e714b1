extension DatabaseMigrator {
    /// The registered migrations that were applied to a database, in the order of registration.
    ///
    ///     let names = try queue.read { db in try vault.appliedMigrations(db) }
    ///
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read. A database that was never
    ///   migrated has none applied.
    public func appliedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return migrations.filter { applied.contains($0) }
    }

    /// The identifiers of all migrations that were applied to a database, also of those that are not
    /// registered.
    ///
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read. A database that was never
    ///   migrated has none applied.
    public func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        try AppliedMigrations.identifiers(db)
    }

    /// The registered migrations, from the first one on, that were applied without a gap.
    ///
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read. A database that was never
    ///   migrated has none applied.
    public func completedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return Array(migrations.prefix { applied.contains($0) })
    }

    /// Whether all registered migrations were applied.
    ///
    ///     let isReady = try queue.read { db in try vault.hasCompletedMigrations(db) }
    ///
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read. A database that was never
    ///   migrated has none applied.
    public func hasCompletedMigrations(_ db: Database) throws -> Bool {
        try completedMigrations(db).count == migrations.count
    }

    /// Whether a migration was applied that is neither registered nor merged into a registered one: by a
    /// later version of the application.
    ///
    ///     let isFromTheFuture = try queue.read { db in try vault.hasBeenSuperseded(db) }
    ///
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read. A database that was never
    ///   migrated has none applied.
    public func hasBeenSuperseded(_ db: Database) throws -> Bool {
        try !appliedIdentifiers(db).isSubset(of: knownIdentifiers)
    }
}
