// Changes that return the changed records, with the columns that the record type selects.

// MARK: - Deleting

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord {
    /// Deletes the rows of the request and returns a cursor over them. All rows are deleted by the time the
    /// cursor returns its first record, or nil.
    ///
    ///     // DELETE FROM "share" WHERE "expiry" < '2026-07-01' RETURNING *
    ///     let ended = try Share.filter { $0.expiry < firstOfJuly }.deleteAndFetchCursor(db)
    ///
    /// Iterate to the end: only then is the deletion complete and reported to transaction observers.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile. The cursor throws one if a constraint
    ///   is violated, and any error from decoding a row.
    public func deleteAndFetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(deleteAndFetchStatement(db, selection: RowDecoder.databaseSelection))
    }

    /// Deletes the rows of the request and returns them.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, and
    ///   any error from decoding a row.
    public func deleteAndFetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(deleteAndFetchStatement(db, selection: RowDecoder.databaseSelection))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord & Hashable {
    /// Deletes the rows of the request and returns them.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, and
    ///   any error from decoding a row.
    public func deleteAndFetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(deleteAndFetchStatement(db, selection: RowDecoder.databaseSelection))
    }
}

// MARK: - Updating

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord {
    /// Updates the rows of the request and returns a cursor over the updated rows.
    ///
    ///     // UPDATE "item" SET "worth" = "worth" * 2 RETURNING *
    ///     let dearer = try Item.all().updateAndFetchCursor(db, [Column("worth") *= 2])
    ///
    /// Iterate to the end: only then is the update complete and reported to transaction observers.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses the policy of the
    ///     record type.
    ///   - assignments: the new values of columns. Precondition: there is at least one.
    /// - Throws: a ``DatabaseError`` if the statement does not compile. The cursor throws one if a constraint
    ///   is violated, and any error from decoding a row.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(
            updateAndFetchStatement(
                db, onConflict: conflictResolution, assignments, selection: RowDecoder.databaseSelection))
    }

    /// Updates the rows of the request and returns a cursor over the updated rows: see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: a closure that returns the new values of columns. Precondition: there is at least
    ///     one.
    /// - Throws: a ``DatabaseError`` if the statement does not compile. The cursor throws one if a constraint
    ///   is violated, and any error from decoding a row.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        try updateAndFetchCursor(
            db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows of the request and returns the updated rows: see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: the new values of columns. Precondition: there is at least one.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, and
    ///   any error from decoding a row.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(
            updateAndFetchStatement(
                db, onConflict: conflictResolution, assignments, selection: RowDecoder.databaseSelection))
    }

    /// Updates the rows of the request and returns the updated rows: see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: a closure that returns the new values of columns. Precondition: there is at least
    ///     one.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, and
    ///   any error from decoding a row.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord & Hashable {
    /// Updates the rows of the request and returns the updated rows: see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: the new values of columns. Precondition: there is at least one.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, and
    ///   any error from decoding a row.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(
            updateAndFetchStatement(
                db, onConflict: conflictResolution, assignments, selection: RowDecoder.databaseSelection))
    }

    /// Updates the rows of the request and returns the updated rows: see
    /// ``updateAndFetchCursor(_:onConflict:_:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: a closure that returns the new values of columns. Precondition: there is at least
    ///     one.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, and
    ///   any error from decoding a row.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try updateAndFetchSet(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }
}
