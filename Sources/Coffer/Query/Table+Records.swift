// MARK: - Records

extension Table where RowDecoder: FetchableRecord {
    /// Returns a cursor over the records of all rows.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist. The cursor
    ///   throws any error that ``FetchableRecord/init(row:)`` throws.
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> { try all().fetchCursor(db) }

    /// Fetches the records of all rows.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist, and any
    ///   error that ``FetchableRecord/init(row:)`` throws.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// Fetches the record of the first row, or returns nil if there is none.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist, and any
    ///   error that ``FetchableRecord/init(row:)`` throws.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }
}

extension Table where RowDecoder: FetchableRecord & Hashable {
    /// Fetches the distinct records of all rows.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_ERROR` if the table does not exist, and any
    ///   error that ``FetchableRecord/init(row:)`` throws.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try all().fetchSet(db) }
}
