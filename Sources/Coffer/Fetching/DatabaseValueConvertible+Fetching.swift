// MARK: - Fetching from a prepared statement

extension DatabaseValueConvertible {
    /// A cursor over the values of the leftmost column of a statement.
    ///
    /// - Parameters:
    ///   - statement: a statement that returns rows.
    ///   - arguments: new arguments, or nil to use those that were set before.
    ///   - adapter: what is applied to the rows, before the leftmost column is chosen.
    /// - Throws: a ``DatabaseError`` if the arguments do not fit. The cursor throws a ``RowDecodingError``
    ///   for a value that cannot be converted, NULL included: fetch optionals where there may be NULL.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> DatabaseValueCursor<Self> {
        try DatabaseValueCursor(statement: statement, arguments: arguments, adapter: adapter)
    }

    /// All values of the leftmost column of a statement: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try Array(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// The first value of the leftmost column of a statement, or nil if there is no row, or NULL: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// Fetch an optional to distinguish the two. A statement that writes is executed to its end.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        let cursor = try DatabaseValueCursor<Self?>(
            statement: statement, arguments: arguments, adapter: adapter)
        return try cursor.first { $0 } ?? nil
    }
}

extension DatabaseValueConvertible where Self: Hashable {
    /// The distinct values of the leftmost column of a statement: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }
}

// MARK: - Fetching with SQL

extension DatabaseValueConvertible {
    /// A cursor over the values of the leftmost column of a query: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> DatabaseValueCursor<Self> {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// All values of the leftmost column of a query: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The first value of the leftmost column of a query, or nil: see `fetchOne(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchOne(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable {
    /// The distinct values of the leftmost column of a query: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try fetchSet(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}
