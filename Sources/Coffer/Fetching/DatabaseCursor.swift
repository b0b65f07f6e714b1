/// A cursor over the results of a statement, which advances with each call of `next()`.
///
/// A cursor lives inside of one database access, and the database must not be changed by it in ways that
/// invalidate the iteration.
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
    /// - Throws: a ``DatabaseError``, a ``RowDecodingError``, or `CancellationError` in a cancelled task. The
    ///   cursor ends with an error.
    @inlinable
    public func next() throws -> Element? {
        if _isDone { return nil }
        let statement = _statement
        guard try statement.step({ _ in _isDone = true }) else { return nil }
        return unsafe try _element(sqliteStatement: statement.sqliteStatement)
    }

    /// Calls `body` with each element that is left.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails; and a ``RowDecodingError`` for a value that is not of the type.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        guard !_isDone else { return }
        let statement = _statement
        while try statement.step({ _ in _isDone = true }) {
            unsafe try body(_element(sqliteStatement: statement.sqliteStatement))
            // The body may have used the cursor.
            if _isDone { return }
        }
    }
}

extension DatabaseCursor {
    /// The first element, of a cursor that is given up afterwards.
    ///
    /// A statement that writes and returns rows is executed to its end, also when the element cannot be
    /// decoded: before its end it has neither committed nor notified the observers, and the failure of a
    /// commit would go unnoticed.
    @inlinable
    func first<Value>(_ transform: (Element) throws -> Value) throws -> Value? {
        let result = Result { try next().map(transform) }
        if !_isDone, !_statement.isReadonly {
            try finish()
        }
        return try result.get()
    }

    /// Executes the statement to its end without looking at the rows that are left.
    @usableFromInline
    func finish() throws {
        while try _statement.step({ _ in _isDone = true }) {}
    }
}
