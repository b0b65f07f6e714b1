// MARK: - Fetching from a prepared statement

extension FetchableRecord {
    /// Returns a cursor over the records of a statement.
    ///
    /// - Parameters:
    ///   - statement: a statement that returns rows.
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that is applied to each row.
    /// - Throws: a ``DatabaseError`` if the arguments do not match the parameters. The cursor throws any
    ///   error that ``init(row:)`` throws.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try RecordCursor(statement: statement, arguments: arguments, adapter: adapter)
    }

    /// Fetches all records of a statement: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    ///     let statement = try db.makeStatement(sql: "SELECT * FROM item WHERE weight > ?")
    ///     let heavy = try Item.fetchAll(statement, arguments: [20_000])
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchCursor(statement, arguments: arguments, adapter: adapter).all()
    }

    /// Fetches the first record of a statement, or returns nil if there is none: see
    /// ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// A statement that writes is executed to its end.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchCursor(statement, arguments: arguments, adapter: adapter).first { $0 }
    }
}

extension FetchableRecord where Self: Hashable {
    /// Fetches the distinct records of a statement: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }
}

// MARK: - Fetching with SQL

extension FetchableRecord {
    /// Returns a cursor over the records of a query: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - sql: a single statement that returns rows.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that is applied to each row before it is decoded.
    /// - Throws: a ``DatabaseError`` if `sql` does not compile, or the arguments do not match its parameters.
    ///   The cursor throws any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches all records of a query: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - sql: a single statement that returns rows.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that is applied to each row before it is decoded.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches the first record of a query, or returns nil if there is none: see
    /// ``fetchOne(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - sql: a single statement that returns rows.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that is applied to each row before it is decoded.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchOne(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

extension FetchableRecord where Self: Hashable {
    /// Fetches the distinct records of a query: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - sql: a single statement that returns rows.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that is applied to each row before it is decoded.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try fetchSet(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

// MARK: - Fetching from requests

extension FetchableRecord {
    /// Returns a cursor over the records of a request, regardless of the type that the request itself decodes
    /// to.
    ///
    /// - Parameter request: any request, including one for another type or for rows.
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared, or with `SQLITE_MISUSE` if it
    ///   prefetches associated rows.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> RecordCursor<Self>
    {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        try request.checkCursor()
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// Fetches all records of a request: see `fetchCursor(_:_:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared or its statement fails, and any error
    ///   that ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        if let supplement = request.supplement {
            return try request.supplementedRows(db, supplement).map { try Self(row: $0) }
        }
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// Fetches the first record of a request, or returns nil if there is none: see `fetchCursor(_:_:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared or its statement fails, and any error
    ///   that ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let request = try request.makePreparedRequest(db, forSingleResult: true)
        if let supplement = request.supplement {
            return try request.supplementedRow(db, supplement).map { try Self(row: $0) }
        }
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}

extension FetchableRecord where Self: Hashable {
    /// Fetches the distinct records of a request: see `fetchCursor(_:_:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared or its statement fails, and any error
    ///   that ``init(row:)`` throws.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        if let supplement = request.supplement {
            return try Set(request.supplementedRows(db, supplement).map { try Self(row: $0) })
        }
        return try fetchSet(request.statement, adapter: request.adapter)
    }
}

extension FetchRequest where RowDecoder: FetchableRecord {
    /// Returns a cursor over the records.
    ///
    /// Records are decoded one by one as the cursor advances. Use a cursor to read more than fits into
    /// memory.
    ///
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` for a request with `including(all:)`, which does
    ///   not support cursors.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Fetches all records.
    ///
    ///     let items = try Item.filter { $0.worth > 500 }.order(\.name).fetchAll(db)
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared or its statement fails, and any error
    ///   that ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try RowDecoder.fetchAll(db, self) }

    /// Fetches the first record, or returns nil if there is none.
    ///
    /// The statement is limited to one row, unless it cannot return more.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared or its statement fails, and any error
    ///   that ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try RowDecoder.fetchOne(db, self) }
}

extension FetchRequest where RowDecoder: FetchableRecord & Hashable {
    /// Fetches the distinct records.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared or its statement fails, and any error
    ///   that ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try RowDecoder.fetchSet(db, self) }
}
