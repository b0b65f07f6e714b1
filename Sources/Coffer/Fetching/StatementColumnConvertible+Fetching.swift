// The same functions for types that need no intermediate `DatabaseValue`. The compiler prefers them if both
// apply.

// MARK: - Fetching from a prepared statement

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    /// Returns a cursor over the values of the leftmost column of a statement.
    ///
    /// - Parameters:
    ///   - statement: a statement that returns rows.
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that is applied to each row before its leftmost column is read.
    /// - Throws: a ``DatabaseError`` if the arguments do not match the parameters. The cursor throws a
    ///   ``RowDecodingError`` if a value, including NULL, cannot be converted. Fetch optionals if values may
    ///   be NULL.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> FastDatabaseValueCursor<Self> {
        try FastDatabaseValueCursor(statement: statement, arguments: arguments, adapter: adapter)
    }

    /// Fetches all values of the leftmost column of a statement: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try Array(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Fetches the first value of the leftmost column of a statement, or returns nil if there is no row or
    /// the value is NULL: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// Fetch an optional to distinguish the two cases. A statement that writes is executed to its end.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        let cursor = try FastDatabaseValueCursor<Self?>(
            statement: statement, arguments: arguments, adapter: adapter)
        return try cursor.first { $0 } ?? nil
    }
}

extension DatabaseValueConvertible where Self: Hashable & StatementColumnConvertible {
    /// Fetches the distinct values of the leftmost column of a statement: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }
}

// MARK: - Fetching with SQL

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    /// Returns a cursor over the values of the leftmost column of a query: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> FastDatabaseValueCursor<Self> {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches all values of the leftmost column of a query: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches the first value of the leftmost column of a query, or returns nil: see
    /// `fetchOne(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchOne(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable & StatementColumnConvertible {
    /// Fetches the distinct values of the leftmost column of a query: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try fetchSet(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}
