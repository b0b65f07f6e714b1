// MARK: - Rows

extension Table where RowDecoder == Row {
    /// Returns a cursor over all rows.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist. The cursor throws one if a step fails.
    public func fetchCursor(_ db: Database) throws -> RowCursor { try all().fetchCursor(db) }

    /// Fetches all rows.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails.
    public func fetchAll(_ db: Database) throws -> [Row] { try all().fetchAll(db) }

    /// Fetches all distinct rows.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails.
    public func fetchSet(_ db: Database) throws -> Set<Row> { try all().fetchSet(db) }

    /// Fetches the first row, or returns nil if there is none.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails.
    public func fetchOne(_ db: Database) throws -> Row? { try all().fetchOne(db) }
}

// MARK: - Values

extension Table where RowDecoder: DatabaseValueConvertible {
    /// Returns a cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist. The cursor throws one if a step fails, and
    ///   a ``RowDecodingError`` if a value, including NULL, cannot be converted.
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> {
        try all().fetchCursor(db)
    }

    /// Fetches all values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails, and a ``RowDecodingError``
    ///   if a value cannot be converted.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// Fetches the first value of the leftmost column, or returns nil if there is no row or the value is
    /// NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails, and a ``RowDecodingError``
    ///   if a value cannot be converted.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & Hashable {
    /// Fetches the distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails, and a ``RowDecodingError``
    ///   if a value cannot be converted.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try all().fetchSet(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    /// Returns a cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist. The cursor throws one if a step fails, and
    ///   a ``RowDecodingError`` if a value, including NULL, cannot be converted.
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> {
        try all().fetchCursor(db)
    }

    /// Fetches all values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails, and a ``RowDecodingError``
    ///   if a value cannot be converted.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// Fetches the first value of the leftmost column, or returns nil if there is no row or the value is
    /// NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails, and a ``RowDecodingError``
    ///   if a value cannot be converted.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible & Hashable {
    /// Fetches the distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table does not exist or a step fails, and a ``RowDecodingError``
    ///   if a value cannot be converted.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try all().fetchSet(db) }
}
