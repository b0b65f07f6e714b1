// MARK: - Fetching from a prepared statement

extension FetchableRecord {
    /// A cursor over the records of a statement.
    ///
    /// - Parameters:
    ///   - statement: a statement that returns rows.
    ///   - arguments: new arguments, or nil to use those that were set before.
    ///   - adapter: what is applied to the rows.
    /// - Throws: a ``DatabaseError`` if the arguments do not fit. The cursor throws what ``init(row:)``
    ///   throws.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try RecordCursor(statement: statement, arguments: arguments, adapter: adapter)
    }

    /// All records of a statement: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    ///     let statement = try db.makeStatement(sql: "SELECT * FROM item WHERE weight > ?")
    ///     let heavy = try Item.fetchAll(statement, arguments: [20_000])
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchCursor(statement, arguments: arguments, adapter: adapter).all()
    }

    /// The first record of a statement, or nil if there is none: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// A statement that writes is executed to its end.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchCursor(statement, arguments: arguments, adapter: adapter).first { $0 }
    }
}

extension FetchableRecord where Self: Hashable {
    /// The distinct records of a statement: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }
}

// MARK: - Fetching with SQL

extension FetchableRecord {
    /// A cursor over the records of a query: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: one statement that returns rows.
    ///   - arguments: a value for each placeholder of it.
    ///   - adapter: what is applied to the rows before records are made of them.
    /// - Throws: a ``DatabaseError`` if `sql` is no SQL, or the arguments do not fit. The cursor throws what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// All records of a query: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: one statement that returns rows.
    ///   - arguments: a value for each placeholder of it.
    ///   - adapter: what is applied to the rows before records are made of them.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The first record of a query, or nil if there is none: see ``fetchOne(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: one statement that returns rows.
    ///   - arguments: a value for each placeholder of it.
    ///   - adapter: what is applied to the rows before records are made of them.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchOne(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

extension FetchableRecord where Self: Hashable {
    /// The distinct records of a query: see ``fetchCursor(_:arguments:adapter:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: one statement that returns rows.
    ///   - arguments: a value for each placeholder of it.
    ///   - adapter: what is applied to the rows before records are made of them.
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
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
    /// A cursor over the records of a request, whatever the request's own rows become.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: any request, also one that was made for another type, or for rows.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if associated rows have to be fetched with it,
    ///   or any other of the statement.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> RecordCursor<Self>
    {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        try request.checkCursor()
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// All records of a request: see `fetchCursor(_:_:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the request has no SQL or its statement fails, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        if let supplement = request.supplement {
            return try request.supplementedRows(db, supplement).map { try Self(row: $0) }
        }
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// The first record of a request, or nil if there is none: see `fetchCursor(_:_:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the request has no SQL or its statement fails, and what
    ///   ``init(row:)`` throws.
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
    /// The distinct records of a request: see `fetchCursor(_:_:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the request has no SQL or its statement fails, and what
    ///   ``init(row:)`` throws.
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
    /// A cursor over the records.
    ///
    /// Records are made one by one, while the cursor advances: it is the way to read more than fits into
    /// memory.
    ///
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` for a request with `including(all:)`, which has
    ///   no cursor.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// All records.
    ///
    ///     let items = try Item.filter { $0.worth > 500 }.order(\.name).fetchAll(db)
    ///
    /// - Throws: a ``DatabaseError`` if the request has no SQL or its statement fails, and what
    ///   ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try RowDecoder.fetchAll(db, self) }

    /// The first record, or nil if there is none.
    ///
    /// The statement gets `LIMIT 1`, unless the request has a limit or can have one row only.
    ///
    /// - Throws: a ``DatabaseError`` if the request has no SQL or its statement fails, and what
    ///   ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try RowDecoder.fetchOne(db, self) }
}

extension FetchRequest where RowDecoder: FetchableRecord & Hashable {
    /// The distinct records.
    ///
    /// - Throws: a ``DatabaseError`` if the request has no SQL or its statement fails, and what
    ///   ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try RowDecoder.fetchSet(db, self) }
}
