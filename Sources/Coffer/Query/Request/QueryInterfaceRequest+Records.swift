// Changes that return the records they have changed. They select what the record type selects.

// MARK: - Deleting

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord {
    /// A cursor over the rows of the request, which are deleted: all of them by the time of the first record
    /// or the end.
    ///
    ///     // DELETE FROM "share" WHERE "expiry" < '2026-07-01' RETURNING *
    ///     let ended = try Share.filter { $0.expiry < firstOfJuly }.deleteAndFetchCursor(db)
    ///
    /// Iterate to the end: only then is the deletion complete, and known to transaction observers.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func deleteAndFetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(deleteAndFetchStatement(db, selection: RowDecoder.databaseSelection))
    }

    /// Deletes the rows of the request, and returns them.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func deleteAndFetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(deleteAndFetchStatement(db, selection: RowDecoder.databaseSelection))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord & Hashable {
    /// Deletes the rows of the request, and returns them.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func deleteAndFetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(deleteAndFetchStatement(db, selection: RowDecoder.databaseSelection))
    }
}

// MARK: - Updating

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord {
    /// A cursor over the rows of the request, as they are after the update.
    ///
    ///     // UPDATE "item" SET "worth" = "worth" * 2 RETURNING *
    ///     let dearer = try Item.all().updateAndFetchCursor(db, [Column("worth") *= 2])
    ///
    /// Iterate to the end: only then is the update complete, and known to transaction observers.
    ///
    /// - Parameters:
    ///   - db: a connection.
    ///   - conflictResolution: what happens to a row that violates a constraint; nil for what the record type
    ///     says.
    ///   - assignments: the new values. Precondition: there is at least one.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(
            updateAndFetchStatement(
                db, onConflict: conflictResolution, assignments, selection: RowDecoder.databaseSelection))
    }

    /// A cursor over the rows of the request, as they are after the update; see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        try updateAndFetchCursor(
            db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows of the request, and returns them as they are after it; see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(
            updateAndFetchStatement(
                db, onConflict: conflictResolution, assignments, selection: RowDecoder.databaseSelection))
    }

    /// Updates the rows of the request, and returns them as they are after it; see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord & Hashable {
    /// Updates the rows of the request, and returns them as they are after it; see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(
            updateAndFetchStatement(
                db, onConflict: conflictResolution, assignments, selection: RowDecoder.databaseSelection))
    }

    /// Updates the rows of the request, and returns them as they are after it; see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try updateAndFetchSet(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }
}
