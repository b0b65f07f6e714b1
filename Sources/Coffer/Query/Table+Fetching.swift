// MARK: - Rows

extension Table where RowDecoder == Row {
    /// A cursor over all rows.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchCursor(_ db: Database) throws -> RowCursor { try all().fetchCursor(db) }

    /// All rows.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchAll(_ db: Database) throws -> [Row] { try all().fetchAll(db) }

    /// All distinct rows.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchSet(_ db: Database) throws -> Set<Row> { try all().fetchSet(db) }

    /// The first row, or nil if there is none.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchOne(_ db: Database) throws -> Row? { try all().fetchOne(db) }
}

// MARK: - Values

extension Table where RowDecoder: DatabaseValueConvertible {
    /// A cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> {
        try all().fetchCursor(db)
    }

    /// All values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// The first value of the leftmost column, or nil if there is no row, or NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & Hashable {
    /// The distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try all().fetchSet(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    /// A cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> {
        try all().fetchCursor(db)
    }

    /// All values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// The first value of the leftmost column, or nil if there is no row, or NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible & Hashable {
    /// The distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the table is not there or a step fails, and what decoding a row
    ///   throws.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try all().fetchSet(db) }
}
