extension DatabaseMigrator {
    /// Returns the registered migrations that have been applied to a database, in the order of registration.
    ///
    ///     let names = try queue.read { db in try vault.appliedMigrations(db) }
    ///
    /// - Returns: an empty array for a database that has never been migrated.
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read.
    public func appliedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return migrations.filter { applied.contains($0) }
    }

    /// Returns the identifiers of all migrations that have been applied to a database, including unregistered
    /// ones.
    ///
    /// - Returns: an empty set for a database that has never been migrated.
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read.
    public func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        try AppliedMigrations.identifiers(db)
    }

    /// Returns the registered migrations, starting with the first, that have been applied without a gap.
    ///
    /// - Returns: an empty array for a database that has never been migrated.
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read.
    public func completedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return Array(migrations.prefix { applied.contains($0) })
    }

    /// Returns whether all registered migrations have been applied.
    ///
    ///     let isReady = try queue.read { db in try vault.hasCompletedMigrations(db) }
    ///
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read.
    public func hasCompletedMigrations(_ db: Database) throws -> Bool {
        try completedMigrations(db).count == migrations.count
    }

    /// Returns whether a later version of the application has migrated the database: an applied migration is
    /// neither registered nor merged into a registered one.
    ///
    ///     let isFromTheFuture = try queue.read { db in try vault.hasBeenSuperseded(db) }
    ///
    /// - Throws: a ``DatabaseError`` if the table of migrations cannot be read.
    public func hasBeenSuperseded(_ db: Database) throws -> Bool {
        try !appliedIdentifiers(db).isSubset(of: knownIdentifiers)
    }
}
