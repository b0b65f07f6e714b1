// MARK: - Records

extension Table where RowDecoder: FetchableRecord {
    /// A cursor over the records of all rows.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> { try all().fetchCursor(db) }

    /// The records of all rows.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// The record of the first row, or nil if there is none.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }
}

extension Table where RowDecoder: FetchableRecord & Hashable {
    /// The distinct records of all rows.
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, or
    ///   `SQLITE_ERROR` where the table is not there.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try all().fetchSet(db) }
}
