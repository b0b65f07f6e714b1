public import SQLCipherBridge

/// A cursor over the results of a statement, which advances with each call of `next()`.
///
/// A cursor is valid within one database access. Do not change the database in ways that invalidate the
/// iteration.
public protocol DatabaseCursor<Element>: Cursor {
    /// True if the statement has no more rows.
    var _isDone: Bool { get set }

    /// The error that ended the iteration; nil if there was none.
    var _failure: (any Error)? { get set }

    /// The statement that is iterated over.
    var _statement: Statement { get }

    /// Returns the element for the current row.
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

    /// Returns the next element, or nil at the end.
    ///
    /// - Throws: a ``DatabaseError``, or `CancellationError` in a canceled task. Later calls throw the same
    ///   error again, and do not run the statement. A ``RowDecodingError`` concerns only one row: the next
    ///   call continues after it.
    @inlinable
    public func next() throws -> Element? {
        guard !_isDone else {
            try throwFailure()
            return nil
        }
        let statement = _statement
        guard try step(statement) else { return nil }
        return unsafe try _element(sqliteStatement: statement.sqliteStatement)
    }

    /// Calls `body` with each remaining element.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails; and a ``RowDecodingError`` if a value cannot be converted.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        guard !_isDone else { return try throwFailure() }
        let statement = _statement
        while try step(statement) {
            unsafe try body(_element(sqliteStatement: statement.sqliteStatement))
            // `body` may have used the cursor.
            if _isDone { return try throwFailure() }
        }
    }

    /// Steps to the next row.
    ///
    /// Only this much is compiled into the loops of applications: the end of the iteration is a call, so that
    /// the optimizer sees no writes in them.
    ///
    /// - Returns: true if there is a row.
    @inlinable @inline(__always)
    func step(_ statement: Statement) throws -> Bool {
        if unsafe statement.interruptionsAtStart != statement.executions.endCount {
            try checkIsNotInterrupted(statement)
        }
        if unsafe statement.isStepping { try statement.checkIsNotStepping() }
        let code = statement.step()
        if code == EngineCode.row { return true }
        try end(statement, code)
        return false
    }

    /// Ends the iteration, and keeps the error, if an interruption has ended the execution.
    @usableFromInline
    func checkIsNotInterrupted(_ statement: Statement) throws {
        do {
            try statement.checkIsNotInterrupted()
        } catch {
            (_isDone, _failure) = (true, error)
            throw error
        }
    }

    /// Ends the iteration with the result of the last step, and keeps the error if it failed.
    @usableFromInline
    func end(_ statement: Statement, _ code: CInt) throws {
        _isDone = true
        do {
            try statement.endExecution(withResult: code)
        } catch {
            _failure = error
            throw error
        }
    }

    /// Throws the error of a step that has failed, if any.
    @usableFromInline
    func throwFailure() throws {
        if let _failure { throw _failure }
    }
}

extension DatabaseCursor {
    /// Returns the first element. The cursor must not be used afterwards.
    ///
    /// A statement that writes and returns rows is executed to its end, even if the element cannot be
    /// decoded. Before its end, it has neither committed nor notified the observers, and a failed commit
    /// would go unnoticed.
    @inlinable
    func first<Value>(_ transform: (Element) throws -> Value) throws -> Value? {
        let result = Result { try next().map(transform) }
        if !_isDone, !_statement.isReadonly {
            try finish()
        }
        return try result.get()
    }

    /// Executes the statement to its end, without reading the remaining rows.
    @usableFromInline
    func finish() throws {
        while try step(_statement) {}
    }
}
