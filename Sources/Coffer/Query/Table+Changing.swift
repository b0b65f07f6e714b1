// MARK: - Counting

extension Table {
    /// Returns the number of rows.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist.
    public func fetchCount(_ db: Database) throws -> Int {
        try all().fetchCount(db)
    }

    /// Returns true if there is a row with a primary key.
    ///
    /// - Parameter key: the value of the primary key, which must have one column.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist.
    public func exists(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        try !all().filter(key: key).isEmpty(db)
    }

    /// Returns true if there is a row with a primary or unique key.
    ///
    /// - Parameter key: the values of a primary or unique key, by column name.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist.
    public func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try !all().filter(key: key).isEmpty(db)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Returns true if there is a row with a primary key.
    ///
    /// - Parameter id: the value of the primary key.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist.
    public func exists(_ db: Database, id: RowDecoder.ID) throws -> Bool {
        guard !RequestedKey(id).isNull else { return false }
        return try !all().filter(id: id).isEmpty(db)
    }
}

// MARK: - Deleting

extension Table {
    /// Deletes all rows and returns their number.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        try all().deleteAll(db)
    }

    /// Deletes the rows with the given primary keys and returns their number.
    ///
    /// - Parameter keys: values of the primary key, which must have one column.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func deleteAll<Keys>(_ db: Database, keys: Keys) throws -> Int
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        guard !keys.isEmpty else { return 0 }
        return try all().filter(keys: keys).deleteAll(db)
    }

    /// Deletes the rows with the given primary or unique keys and returns their number.
    ///
    /// - Parameter keys: the values of primary or unique keys, by column name.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func deleteAll(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws -> Int {
        guard !keys.isEmpty else { return 0 }
        return try all().filter(keys: keys).deleteAll(db)
    }

    /// Deletes the row with a primary key and returns true if it existed.
    ///
    /// - Parameter key: the value of the primary key, which must have one column.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func deleteOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        guard !RequestedKey(key).isNull else { return false }
        return try all().filter(key: key).deleteAny(db)
    }

    /// Deletes the row with a primary or unique key and returns true if it existed.
    ///
    /// - Parameter key: the values of a primary or unique key, by column name.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func deleteOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try all().filter(key: key).deleteAny(db)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Deletes the rows with the given primary keys and returns their number.
    ///
    /// - Parameter ids: values of the primary key.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func deleteAll(_ db: Database, ids: some Collection<RowDecoder.ID>) throws -> Int {
        guard !ids.isEmpty else { return 0 }
        return try all().filter(ids: ids).deleteAll(db)
    }

    /// Deletes the row with a primary key and returns true if it existed.
    ///
    /// - Parameter id: the value of the primary key.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func deleteOne(_ db: Database, id: RowDecoder.ID) throws -> Bool {
        guard !RequestedKey(id).isNull else { return false }
        return try all().filter(id: id).deleteAny(db)
    }
}

// MARK: - Updating

extension Table {
    /// Updates all rows and returns their number: see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: the new values of columns. If there are none, no statement runs.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Updates all rows and returns their number: see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: the new values of columns. If there are none, no statement runs.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }
}

extension Table where RowDecoder: TableRecord {
    /// Updates all rows and returns their number: see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: a closure that returns the new values of columns. If there are none, no statement
    ///     runs.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments: assignments)
    }

    /// Updates all rows and returns their number: see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignment: a closure that receives the columns of the table and returns the new value of a
    ///     column.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_ERROR` if the table does not exist.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignment: assignment)
    }
}
