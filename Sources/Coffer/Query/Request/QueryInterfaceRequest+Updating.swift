extension QueryInterfaceRequest {
    /// Updates the rows of the request.
    ///
    ///     // UPDATE "item" SET "amount" = "amount" - 1, "details" = 'opened' WHERE "name" = 'candle'
    ///     try Item.filter { $0.name == "candle" }.updateAll(db, [Column("amount") -= 1, Column("details").set(to: "opened")])
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses the policy of the
    ///     record type.
    ///   - assignments: the new values of columns. If there are none, no statement runs and the result is 0.
    /// - Returns: the number of updated rows, including rows that already had the new values. For a view, it
    ///   is the number of rows that its triggers changed.
    /// - Throws: a ``DatabaseError``, for example if a constraint is violated.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        guard
            let statement = try relation.makeUpdateStatement(
                db, onConflict: policy(conflictResolution), assignments)
        else { return 0 }
        let changesBefore = db.totalChangesCount
        try statement.execute()
        return try db.changesCount(in: databaseTableName, since: changesBefore)
    }

    /// Updates the rows of the request; see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: the new values of columns. If there are none, no statement runs.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Returns a statement that updates the rows of the request and returns the selected columns of each
    /// updated row.
    ///
    /// The update is complete when the statement has run to its end: with a cursor, after the last row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses the policy of the
    ///     record type.
    ///   - assignments: the new values of columns. Precondition: there is at least one.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or with `SQLITE_MISUSE` if the rows
    ///   are grouped by columns that are not a unique key.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment],
        selection: [any SQLSelectable]
    ) throws -> Statement {
        precondition(!selection.isEmpty, "A statement that returns rows needs columns to return.")
        let statement = try relation.makeUpdateStatement(
            db, onConflict: policy(conflictResolution), assignments, returning: selection.map(\.sqlSelection))
        guard let statement else { preconditionFailure("A statement that updates rows needs an assignment.") }
        return statement
    }

    /// Returns the conflict resolution of the statement: the given one, or the policy of the record type.
    private func policy(_ conflictResolution: Database.ConflictResolution?) -> Database.ConflictResolution? {
        conflictResolution
            ?? (RowDecoder.self as? any MutablePersistableRecord.Type)?.persistenceConflictPolicy
            .conflictResolutionForUpdate
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// Updates the rows of the request; see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: a closure that returns the new values of columns. If there are none, no statement
    ///     runs.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows of the request; see `updateAll(_:onConflict:_:)`.
    ///
    ///     // UPDATE "attachment" SET "fileName" = LOWER("fileName")
    ///     try Attachment.updateAll(db) { $0.fileName.set(to: $0.fileName.lowercased) }
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignment: a closure that receives the columns of the table and returns the new value of a
    ///     column.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, [assignment(RowDecoder.databaseComponents)])
    }

    /// Returns a statement that updates the rows of the request and returns the selected columns of each
    /// updated row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: a closure that returns the new values of columns. Precondition: there is at least
    ///     one.
    ///   - select: a closure that returns the columns that the statement returns. Precondition: not empty.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or with `SQLITE_MISUSE` if the rows
    ///   are grouped by columns that are not a unique key.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment],
        select: (DatabaseComponents) -> [any SQLSelectable]
    ) throws -> Statement {
        let components = RowDecoder.databaseComponents
        return try updateAndFetchStatement(
            db, onConflict: conflictResolution, assignments(components), selection: select(components))
    }
}
