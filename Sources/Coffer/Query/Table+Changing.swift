// MARK: - Counting

extension Table {
    /// How many rows there are.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func fetchCount(_ db: Database) throws -> Int {
        try all().fetchCount(db)
    }

    /// Whether there is a row with a primary key.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func exists(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        try !all().filter(key: key).isEmpty(db)
    }

    /// Whether there is a row with a primary or unique key.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try !all().filter(key: key).isEmpty(db)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Whether there is a row with a primary key.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - id: the value of the primary key.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func exists(_ db: Database, id: RowDecoder.ID) throws -> Bool {
        guard !RequestedKey(id).isNull else { return false }
        return try !all().filter(id: id).isEmpty(db)
    }
}

// MARK: - Deleting

extension Table {
    /// Deletes all rows, and returns their number.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        try all().deleteAll(db)
    }

    /// Deletes the rows with some primary keys, and returns their number.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func deleteAll<Keys>(_ db: Database, keys: Keys) throws -> Int
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        guard !keys.isEmpty else { return 0 }
        return try all().filter(keys: keys).deleteAll(db)
    }

    /// Deletes the rows with some primary or unique keys, and returns their number.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func deleteAll(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws -> Int {
        guard !keys.isEmpty else { return 0 }
        return try all().filter(keys: keys).deleteAll(db)
    }

    /// Deletes the row with a primary key, and returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func deleteOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        guard !RequestedKey(key).isNull else { return false }
        return try all().filter(key: key).deleteAny(db)
    }

    /// Deletes the row with a primary or unique key, and returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func deleteOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try all().filter(key: key).deleteAny(db)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Deletes the rows with some primary keys, and returns their number.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - ids: values of the primary key, one for each row.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func deleteAll(_ db: Database, ids: some Collection<RowDecoder.ID>) throws -> Int {
        guard !ids.isEmpty else { return 0 }
        return try all().filter(ids: ids).deleteAll(db)
    }

    /// Deletes the row with a primary key, and returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - id: the value of the primary key.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func deleteOne(_ db: Database, id: RowDecoder.ID) throws -> Bool {
        guard !RequestedKey(id).isNull else { return false }
        return try all().filter(id: id).deleteAny(db)
    }
}

// MARK: - Updating

extension Table {
    /// Updates all rows, and returns their number; see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Updates all rows, and returns their number; see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }
}

extension Table where RowDecoder: TableRecord {
    /// Updates all rows, and returns their number; see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignments: what the columns get. An empty list runs no statement.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments: assignments)
    }

    /// Updates all rows, and returns their number; see `updateAll(_:onConflict:_:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - assignment: what a column gets; called with the columns of the table.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignment: assignment)
    }
}
