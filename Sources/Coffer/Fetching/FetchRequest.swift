/// A request that fetches rows, and knows what the rows become.
///
/// To make your own, wrap another request and forward to it, or conform with ``SQLSubqueryable/sqlSubquery``,
/// ``makePreparedRequest(_:forSingleResult:)`` and ``fetchCount(_:)``.
public protocol FetchRequest<RowDecoder>: DatabaseRegionConvertible, SQLSubqueryable {
    /// What the rows become: ``Row``, a value, or a record.
    associatedtype RowDecoder

    /// Prepares the statement of the request and sets its arguments.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - singleResult: whether only the first row will be read, so that the request may ask for no more.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest

    /// How many rows the request has.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    func fetchCount(_ db: Database) throws -> Int
}

extension FetchRequest {
    /// The region that the request reads: tables, columns, and where it is known, rows.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
    }

    /// The request with an adapter applied to its rows, after those that it already has.
    ///
    /// - Parameter adapter: a closure that returns the adapter; it is called each time that the request is
    ///   prepared.
    public func adapted(_ adapter: @escaping @Sendable (Database) throws -> any RowAdapter)
        -> AdaptedFetchRequest<Self>
    {
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

/// A statement that is ready to be executed, and how to look at its rows.
public struct PreparedRequest {
    /// The statement, with its arguments set.
    public var statement: Statement

    /// The adapter for the rows.
    public var adapter: (any RowAdapter)?

    /// What fetches the rows that belong to those of the request; nil for most requests.
    @usableFromInline var supplement: RequestSupplement?

    /// Creates a prepared request.
    public init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        self.adapter = adapter
    }
}

/// What fetches the rows that belong to those of a request, by requests of their own.
@usableFromInline
final class RequestSupplement {
    /// Fetches what belongs to rows, which are copies and of which there is one at least, and gives it to
    /// them.
    let attach: (Database, [Row]) throws -> Void

    /// The requests by which that is fetched, with the names that lead to their rows. There are several for
    /// one name only where the engine allows no request for all of the rows.
    let requests: (Database, [Row]) throws -> [(names: [String], requests: [PreparedRequest])]

    init(
        attach: @escaping (Database, [Row]) throws -> Void,
        requests: @escaping (Database, [Row]) throws -> [(names: [String], requests: [PreparedRequest])]
    ) {
        self.attach = attach
        self.requests = requests
    }
}

extension PreparedRequest {
    /// All rows, with what belongs to them.
    @usableFromInline
    func supplementedRows(_ db: Database, _ supplement: RequestSupplement) throws -> [Row] {
        let rows = try Row.fetchAll(statement, adapter: adapter)
        if !rows.isEmpty { try supplement.attach(db, rows) }
        return rows
    }

    /// The first row, with what belongs to it.
    @usableFromInline
    func supplementedRow(_ db: Database, _ supplement: RequestSupplement) throws -> Row? {
        guard let row = try Row.fetchOne(statement, adapter: adapter) else { return nil }
        try supplement.attach(db, [row])
        return row
    }

    /// Refuses a request whose rows need a supplement, which a cursor cannot give them: it does not know all
    /// rows.
    @usableFromInline
    func checkCursor() throws {
        guard supplement != nil else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "A request has no cursor if it fetches associated rows, too: including(all:) has to know "
                + "all of the rows. "
                + "Use fetchAll, fetchSet or fetchOne.", sql: statement.sql)
    }
}

@available(*, unavailable)
extension PreparedRequest: Sendable {}
