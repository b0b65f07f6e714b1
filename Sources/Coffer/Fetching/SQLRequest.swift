/// A request that is written in SQL.
///
///     extension Item {
///         /// What was lent to a guest, and should be back by now.
///         static func overdue(on day: Date) -> SQLRequest<Item> {
///             "SELECT item.* FROM item JOIN share ON share.itemId = item.id WHERE share.expiry < \(day)"
///         }
///     }
///
/// `RowDecoder` says what the rows become: ``Row``, a value, or a record.
public struct SQLRequest<RowDecoder> {
    /// The adapter that is applied to the rows.
    public var adapter: (any RowAdapter)?

    private var sqlLiteral: SQL
    private let isCached: Bool

    /// Creates a request from plain SQL.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement.
    ///   - arguments: its arguments.
    ///   - adapter: what is applied to the rows.
    ///   - cached: whether the statement stays prepared for the next use of the same SQL. Do not iterate over
    ///     two cursors of the same cached request at the same time.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(literal: SQL(sql: sql, arguments: arguments), adapter: adapter, cached: cached)
    }

    /// Creates a request of a literal, whose values become arguments; see
    /// `init(sql:arguments:adapter:cached:)`.
    ///
    /// - Parameters:
    ///   - sqlLiteral: the statement, in which values are arguments.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    ///   - cached: whether the connection keeps the prepared statement for the next time.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.sqlLiteral = sqlLiteral
        self.adapter = adapter
        self.isCached = cached
    }
}

extension SQLRequest where RowDecoder == Row {
    /// Creates a request of rows from plain SQL; see `init(sql:arguments:adapter:cached:)`.
    ///
    /// - Parameters:
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    ///   - cached: whether the connection keeps the prepared statement for the next time.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(literal: SQL(sql: sql, arguments: arguments), adapter: adapter, cached: cached)
    }

    /// Creates a request of rows from an SQL literal; see `init(sql:arguments:adapter:cached:)`.
    ///
    /// - Parameters:
    ///   - sqlLiteral: the statement, in which values are arguments.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    ///   - cached: whether the connection keeps the prepared statement for the next time.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.sqlLiteral = sqlLiteral
        self.adapter = adapter
        self.isCached = cached
    }
}

extension SQLRequest: FetchRequest {
    public var sqlSubquery: SQLSubquery { SQLSubquery(impl: .literal(sqlLiteral)) }

    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        let statement =
            try isCached ? db.cachedStatement(literal: sqlLiteral) : db.makeStatement(literal: sqlLiteral)
        return PreparedRequest(statement: statement, adapter: adapter)
    }

    /// How many rows the request has, counted by SQLite.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    public func fetchCount(_ db: Database) throws -> Int {
        try sqlSubquery.fetchCount(db)
    }
}

extension SQLRequest: ExpressibleByStringInterpolation {
    public init(unicodeScalarLiteral: String) { self.init(sql: unicodeScalarLiteral) }
    public init(extendedGraphemeClusterLiteral: String) { self.init(sql: extendedGraphemeClusterLiteral) }

    /// Creates a request from a string literal without interpolation: plain SQL.
    public init(stringLiteral: String) { self.init(sql: stringLiteral) }

    public init(stringInterpolation sqlInterpolation: SQLInterpolation) {
        self.init(literal: SQL(stringInterpolation: sqlInterpolation))
    }
}
