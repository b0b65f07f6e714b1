/// A statement that is ready to be executed, and how to look at its rows.
public struct PreparedRequest {
    /// The statement, with its arguments set.
    public var statement: Statement

    /// The adapter for the rows.
    public var adapter: (any RowAdapter)?

    /// Fetches what belongs to the rows, and gives it to them; nil for most requests. The rows are copies.
    @usableFromInline var supplement: ((Database, [Row]) throws -> Void)?

    /// Creates a prepared request.
    public init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        self.adapter = adapter
    }
}

extension PreparedRequest {
    /// All rows, with what belongs to them.
    @usableFromInline
    func supplementedRows(_ db: Database, _ supplement: (Database, [Row]) throws -> Void) throws -> [Row] {
        let rows = try Row.fetchAll(statement, adapter: adapter)
        if !rows.isEmpty { try supplement(db, rows) }
        return rows
    }

    /// The first row, with what belongs to it.
    @usableFromInline
    func supplementedRow(_ db: Database, _ supplement: (Database, [Row]) throws -> Void) throws -> Row? {
        guard let row = try Row.fetchOne(statement, adapter: adapter) else { return nil }
        try supplement(db, [row])
        return row
    }

    /// Refuses a request whose rows need a supplement, which a cursor cannot give them: it does not know all rows.
    @usableFromInline
    func checkCursor() throws {
        guard supplement != nil else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "fetchCursor with supplementary fetch is not possible: a request with including(all:) has to know all of its rows. "
                + "Use fetchAll, fetchSet or fetchOne.", sql: statement.sql)
    }
}

@available(*, unavailable)
extension PreparedRequest: Sendable {}
