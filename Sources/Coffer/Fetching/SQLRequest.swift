/// A request that is written in SQL.
///
///     extension Item {
///         /// Items that were lent to a guest and are overdue.
///         static func overdue(on day: Date) -> SQLRequest<Item> {
///             "SELECT item.* FROM item JOIN share ON share.itemId = item.id WHERE share.expiry < \(day)"
///         }
///     }
///
/// `RowDecoder` is the type that rows are decoded to: ``Row``, a value, or a record.
public struct SQLRequest<RowDecoder> {
    /// The adapter that is applied to the rows.
    public var adapter: (any RowAdapter)?

    private var sqlLiteral: SQL
    private let isCached: Bool

    /// Creates a request from plain SQL.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that is applied to each row.
    ///   - cached: true to keep the prepared statement for the next use of the same SQL. Do not iterate over
    ///     two cursors of the same cached request at the same time.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(literal: SQL(sql: sql, arguments: arguments), adapter: adapter, cached: cached)
    }

    /// Creates a request from an SQL literal, whose values become arguments: see
    /// `init(sql:arguments:adapter:cached:)`.
    ///
    /// - Parameters:
    ///   - sqlLiteral: the statement, with values as arguments.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    ///   - cached: true to keep the prepared statement for the next use of the same SQL.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.sqlLiteral = sqlLiteral
        self.adapter = adapter
        self.isCached = cached
    }
}

extension SQLRequest where RowDecoder == Row {
    /// Creates a request of rows from plain SQL; see `init(sql:arguments:adapter:cached:)`.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(literal: SQL(sql: sql, arguments: arguments), adapter: adapter, cached: cached)
    }

    /// Creates a request of rows from an SQL literal; see `init(literal:adapter:cached:)`.
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

    /// Returns the number of rows of the request, counted by SQLite.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
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
