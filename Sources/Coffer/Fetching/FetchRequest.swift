/// A request that fetches rows, with a type that they are decoded to.
///
/// To implement your own, wrap another request and forward to it, or implement
/// ``SQLSubqueryable/sqlSubquery``, ``makePreparedRequest(_:forSingleResult:)`` and ``fetchCount(_:)``.
public protocol FetchRequest<RowDecoder>: DatabaseRegionConvertible, SQLSubqueryable {
    /// The type that rows are decoded to: ``Row``, a value, or a record.
    associatedtype RowDecoder

    /// Prepares the statement of the request and sets its arguments.
    ///
    /// - Parameter singleResult: true if only the first row will be read, so that the request can be limited
    ///   to one row.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest

    /// Returns the number of rows of the request.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    func fetchCount(_ db: Database) throws -> Int
}

extension FetchRequest {
    /// Returns the region that the request reads: tables, columns, and rows if they are known.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
    }

    /// Returns the request with an adapter applied to its rows, after any adapter that it already has.
    ///
    /// - Parameter adapter: a closure that returns the adapter. It is called each time the request is
    ///   prepared.
    public func adapted(_ adapter: @escaping @Sendable (Database) throws -> any RowAdapter)
        -> AdaptedFetchRequest<Self>
    {
        AdaptedFetchRequest(self, adapter)
    }
}

extension SQLSubquery {
    /// Returns the number of rows of the query.
    func fetchCount(_ db: Database) throws -> Int {
        var writer = SQLWriter(db)
        writer.append("SELECT COUNT(*) FROM (")
        try write(to: &writer)
        // If the query ends with a comment, the parenthesis must not become part of it.
        writer.append(writer.sql.contains("--") ? "\n)" : ")")
        let statement = try db.makeStatement(sql: writer.sql)
        // An aggregate without GROUP BY always has one row.
        return try Row.fetchOne(statement, arguments: writer.arguments)?[0] ?? 0
    }
}

/// A statement that is ready to be executed, and the adapter for its rows.
public struct PreparedRequest {
    /// The statement, with its arguments set.
    public var statement: Statement

    /// The adapter for the rows.
    public var adapter: (any RowAdapter)?

    /// The supplement that fetches associated rows; nil for most requests.
    @usableFromInline var supplement: RequestSupplement?

    /// Creates a prepared request.
    public init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        self.adapter = adapter
    }
}

/// The closures that fetch the associated rows of a request's rows, with requests of their own.
@usableFromInline
final class RequestSupplement {
    /// A closure that fetches the associated rows of the given rows, and attaches them. The given rows must
    /// be copies, and there must be at least one.
    let attach: (Database, [Row]) throws -> Void

    /// A closure that returns the requests for the associated rows, with the names that lead to these rows. A
    /// name has several requests only if the engine does not allow one request for all rows.
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
    /// Fetches all rows, with their associated rows.
    @usableFromInline
    func supplementedRows(_ db: Database, _ supplement: RequestSupplement) throws -> [Row] {
        let rows = try Row.fetchAll(statement, adapter: adapter)
        if !rows.isEmpty { try supplement.attach(db, rows) }
        return rows
    }

    /// Fetches the first row, with its associated rows.
    @usableFromInline
    func supplementedRow(_ db: Database, _ supplement: RequestSupplement) throws -> Row? {
        guard let row = try Row.fetchOne(statement, adapter: adapter) else { return nil }
        try supplement.attach(db, [row])
        return row
    }

    /// Throws a ``DatabaseError`` with `SQLITE_MISUSE` if the rows need a supplement. A cursor cannot provide
    /// it, because it does not know all rows.
    @usableFromInline
    func checkCursor() throws {
        guard supplement != nil else { return }
        throw DatabaseError.misuse(
            "A request with including(all:) cannot be fetched with a cursor, because associated rows are "
                + "fetched for all rows at once. Use fetchAll, fetchSet or fetchOne.", sql: statement.sql)
    }
}

@available(*, unavailable)
extension PreparedRequest: Sendable {}
