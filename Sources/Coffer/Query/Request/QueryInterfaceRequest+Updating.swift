extension QueryInterfaceRequest {
    /// Updates the rows of the request.
    ///
    ///     // UPDATE "item" SET "amount" = "amount" - 1, "details" = 'opened' WHERE "name" = 'candle'
    ///     try Item.filter { $0.name == "candle" }.updateAll(db, [Column("amount") -= 1, Column("details").set(to: "opened")])
    ///
    /// - Parameters:
    ///   - db: a connection.
    ///   - conflictResolution: what happens to a row that violates a constraint; nil for what the record type
    ///     says.
    ///   - assignments: the new values. Without any, nothing happens.
    /// - Returns: how many rows were updated, those that already had the values counted too. Of a view, it is
    ///   the number of rows that its triggers have changed.
    /// - Throws: a ``DatabaseError``, as when a constraint is violated.
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
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// A statement that updates the rows of the request, and returns what is selected of each, as it is after
    /// the update.
    ///
    /// The rows are updated when the statement has been executed to its end. With a cursor, that is when it
    /// has given its last row.
    ///
    /// - Parameters:
    ///   - db: a connection.
    ///   - conflictResolution: what happens to a row that violates a constraint; nil for what the record type
    ///     says.
    ///   - assignments: the new values. Precondition: there is at least one.
    ///   - selection: what is returned. Precondition: it is not empty.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
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

    /// What happens to a row that violates a constraint, where the statement has to say it.
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
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
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
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignment: what a column gets; called with the columns of the table.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, [assignment(RowDecoder.databaseComponents)])
    }

    /// A statement that updates the rows of the request, and returns what is selected of each.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get.
    ///   - select: what the statement returns.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
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
