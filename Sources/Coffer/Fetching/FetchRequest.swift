/// A request that fetches rows, and knows what the rows become.
///
/// To make your own, wrap another request and forward to it, or conform with ``SQLSubqueryable/sqlSubquery``,
/// ``makePreparedRequest(_:forSingleResult:)`` and ``fetchCount(_:)``.
public protocol FetchRequest<RowDecoder>: DatabaseRegionConvertible, SQLSubqueryable {
    /// What the rows become: ``Row``, a value, or a record.
    associatedtype RowDecoder

    /// Prepares the statement of the request and sets its arguments.
    ///
    /// - Parameter singleResult: whether only the first row will be read, so that the request may ask for no more.
    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest

    /// How many rows the request has.
    func fetchCount(_ db: Database) throws -> Int
}

extension FetchRequest {
    /// The region that the request reads: tables, columns, and where it is known, rows.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
    }

    /// The request with an adapter applied to its rows, after those that it already has.
    ///
    /// - Parameter adapter: a closure that returns the adapter; it is called each time that the request is prepared.
    public func adapted(_ adapter: @escaping @Sendable (Database) throws -> any RowAdapter) -> AdaptedFetchRequest<Self> {
        AdaptedFetchRequest(self, adapter)
    }
}

extension SQLSubquery {
    /// How many rows the query has.
    func fetchCount(_ db: Database) throws -> Int {
        var writer = SQLWriter(db)
        writer.append("SELECT COUNT(*) FROM (")
        try write(to: &writer)
        // A query that ends with a comment must not comment the parenthesis out.
        writer.append(writer.sql.contains("--") ? "\n)" : ")")
        let statement = try db.makeStatement(sql: writer.sql)
        // An aggregate without GROUP BY always has one row.
        return try Row.fetchOne(statement, arguments: writer.arguments)?[0] ?? 0
    }
}
