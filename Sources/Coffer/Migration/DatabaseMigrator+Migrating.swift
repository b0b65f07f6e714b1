extension DatabaseMigrator {
    /// Applies the pending migrations.
    ///
    /// It waits for all other accesses to end, and blocks new ones until it has finished.
    ///
    ///     try vault.migrate(queue)
    ///
    /// - Throws: the error of a migration, which is rolled back. The migrations before it have been applied;
    ///   the migrations after it are not run.
    public func migrate(_ writer: any DatabaseWriter) throws {
        guard let last = registered.last else { return }
        try migrate(writer, upTo: last.identifier)
    }

    /// Applies the pending migrations up to and including a given one.
    ///
    /// - Parameter targetIdentifier: the last migration to apply.
    /// - Precondition: the migration is registered.
    /// - Throws: the errors of ``migrate(_:)``, and `SQLITE_MISUSE` if a later migration has already been
    ///   applied, because migrations cannot be reverted.
    public func migrate(_ writer: any DatabaseWriter, upTo targetIdentifier: String) throws {
        try writer.barrierWriteWithoutTransaction { db in
            try migrate(db, upTo: targetIdentifier)
        }
    }

    /// Applies the pending migrations asynchronously, and then calls `completion` on the same connection.
    ///
    /// - Parameter completion: receives the connection, outside any transaction, or an error of
    ///   ``migrate(_:)``.
    public func asyncMigrate(
        _ writer: any DatabaseWriter, completion: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.asyncBarrierWriteWithoutTransaction { db in
            completion(
                Result {
                    let db = try db.get()
                    if let last = registered.last { try migrate(db, upTo: last.identifier) }
                    return db
                })
        }
    }

    /// - Parameter db: a connection outside any transaction, with no concurrent accesses.
    func migrate(_ db: Database, upTo targetIdentifier: String) throws {
        guard let target = registered.firstIndex(where: { $0.identifier == targetIdentifier }) else {
            preconditionFailure("undefined migration: \(targetIdentifier)")
        }
        try eraseIfNeeded(db)
        try AppliedMigrations.createTable(db)
        let applied = try AppliedMigrations.identifiers(db)
        guard !registered[(target + 1)...].contains(where: { applied.contains($0.identifier) }) else {
            throw DatabaseError.misuse(
                "database is already migrated beyond migration \"\(targetIdentifier)\"")
        }
        for migration in registered[...target] {
            let isComplete =
                applied.contains(migration.identifier)
                && applied.isDisjoint(with: migration.mergedIdentifiers)
            guard !isComplete else { continue }
            // The schema source describes the final schema, not the intermediate ones.
            try db.withSchemaSource(nil) { try migration.run(db) }
        }
    }
}
