public import SQLCipherBridge

/// A cursor over the results of a statement, which advances with each call of `next()`.
///
/// A cursor lives inside of one database access, and the database must not be changed by it in ways that invalidate the iteration.
public protocol DatabaseCursor<Element>: Cursor {
    /// Whether the statement has no more rows.
    var _isDone: Bool { get set }

    /// The statement that is iterated over.
    var _statement: Statement { get }

    /// The element made of the current row.
    func _element(sqliteStatement: SQLiteStatement) throws -> Element
}

extension DatabaseCursor {
    /// The SQL of the statement.
    public var sql: String { _statement.sql }

    /// The arguments of the statement.
    public var arguments: StatementArguments { _statement.arguments }

    /// The names of the result columns.
    public var columnNames: [String] { _statement.columnNames }

    /// The number of result columns.
    public var columnCount: Int { _statement.columnCount }

    /// The database region that the statement reads.
    public var databaseRegion: DatabaseRegion { _statement.databaseRegion }

    /// The next element, or nil at the end.
    ///
    /// - Throws: a ``DatabaseError``, a ``RowDecodingError``, or `CancellationError` in a cancelled task. The cursor ends with an error.
    @inlinable
    public func next() throws -> Element? {
        if _isDone { return nil }
        let statement = _statement
        switch statement.handle.step() {
        case EngineCode.row:
            return unsafe try _element(sqliteStatement: statement.sqliteStatement)
        case EngineCode.done:
            _isDone = true
            try statement.endExecution()
            return nil
        case let code:
            _isDone = true
            try statement.failExecution(code)
        }
    }

    /// Calls `body` with each element that is left.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        guard !_isDone else { return }
        let statement = _statement
        let handle = statement.handle
        while true {
            switch handle.step() {
            case EngineCode.row:
                unsafe try body(_element(sqliteStatement: handle.pointer))
                // The body may have used the cursor.
                if _isDone { return }
            case EngineCode.done:
                _isDone = true
                return try statement.endExecution()
            case let code:
                _isDone = true
                try statement.failExecution(code)
            }
        }
    }
}
