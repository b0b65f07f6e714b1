extension DatabaseMigrator {
    /// Applies the migrations that were not applied yet.
    ///
    /// It waits for all other accesses, and lets none begin before it has ended.
    ///
    ///     try vault.migrate(queue)
    ///
    /// - Throws: the error of a migration, which is rolled back. Those before it have been applied, those
    ///   after it are not tried.
    public func migrate(_ writer: any DatabaseWriter) throws {
        guard let last = registered.last else { return }
        try migrate(writer, upTo: last.identifier)
    }

    /// Applies the migrations that were not applied yet, up to one of them and including it.
    ///
    /// - Parameters:
    ///   - writer: a queue or a pool.
    ///   - targetIdentifier: the last migration that is applied.
    /// - Precondition: the migration is registered.
    /// - Throws: as ``migrate(_:)``; also `SQLITE_MISUSE` if a later migration has been applied already, as
    ///   there is no way back.
    public func migrate(_ writer: any DatabaseWriter, upTo targetIdentifier: String) throws {
        try writer.barrierWriteWithoutTransaction { db in
            try migrate(db, upTo: targetIdentifier)
        }
    }

    /// Applies the migrations that were not applied yet, later, and then calls `completion` on the same
    /// connection.
    ///
    /// - Parameters:
    ///   - writer: a queue or a pool.
    ///   - completion: gets the connection, outside of any transaction, or the error as of ``migrate(_:)``.
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

    /// - Parameter db: a connection outside of any transaction, and without other accesses.
    func migrate(_ db: Database, upTo targetIdentifier: String) throws {
        guard let target = registered.firstIndex(where: { $0.identifier == targetIdentifier }) else {
            preconditionFailure("undefined migration: \(targetIdentifier)")
        }
        try eraseIfNeeded(db)
        try AppliedMigrations.createTable(db)
        let applied = try AppliedMigrations.identifiers(db)
        guard !registered[(target + 1)...].contains(where: { applied.contains($0.identifier) }) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "database is already migrated beyond migration \"\(targetIdentifier)\"")
        }
        for migration in registered[...target] {
            let isComplete =
                applied.contains(migration.identifier)
                && applied.isDisjoint(with: migration.mergedIdentifiers)
            guard !isComplete else { continue }
            // A schema source knows the final schema, and not those on the way to it.
            try db.withSchemaSource(nil) { try migration.run(db) }
        }
    }
}
