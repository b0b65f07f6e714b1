/// A cursor over the values of one column, which are converted from ``DatabaseValue``.
///
/// ```swift
/// // DatabaseValueCursor<UUID>
/// let identifiers = try UUID.fetchCursor(db, sql: "SELECT id FROM attachment")
/// while let identifier = try identifiers.next() { print(identifier) }
/// ```
public final class DatabaseValueCursor<Value: DatabaseValueConvertible>: DatabaseCursor {
    public typealias Element = Value

    public let _statement: Statement
    @safe @exclusivity(unchecked) public var _isDone = false
    @safe @exclusivity(unchecked) public var _failure: (any Error)?
    @usableFromInline let columnIndex: CInt
    private let execution: Int

    @usableFromInline
    init(statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        _statement = statement
        columnIndex = try statement.leftmostColumn(adapter: adapter)
        try statement.prepareExecution(arguments: arguments)
        execution = statement.executionNumber
    }

    deinit {
        if !_isDone { _statement.abandonExecution(execution) }
    }

    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Value {
        if let value = unsafe Value.fromDatabaseValue(
            DatabaseValue(sqliteStatement: sqliteStatement, index: columnIndex))
        {
            return value
        }
        throw RowDecodingError.valueMismatch(
            nonOptionalType(of: Value.self), statement: _statement, index: Int(columnIndex))
    }
}

@available(*, unavailable)
extension DatabaseValueCursor: Sendable {}

/// A cursor over the values of one column, which are read directly from the statement.
public final class FastDatabaseValueCursor<Value: DatabaseValueConvertible & StatementColumnConvertible>:
    DatabaseCursor
{
    public typealias Element = Value

    public let _statement: Statement
    @safe @exclusivity(unchecked) public var _isDone = false
    @safe @exclusivity(unchecked) public var _failure: (any Error)?
    @usableFromInline let columnIndex: CInt
    private let execution: Int

    @usableFromInline
    init(statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        _statement = statement
        columnIndex = try statement.leftmostColumn(adapter: adapter)
        try statement.prepareExecution(arguments: arguments)
        execution = statement.executionNumber
    }

    deinit {
        if !_isDone { _statement.abandonExecution(execution) }
    }

    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Value {
        if let value = unsafe Value.fromStatement(sqliteStatement, atUncheckedIndex: columnIndex) {
            return value
        }
        throw RowDecodingError.valueMismatch(
            nonOptionalType(of: Value.self), statement: _statement, index: Int(columnIndex))
    }
}

@available(*, unavailable)
extension FastDatabaseValueCursor: Sendable {}

extension Statement {
    /// Returns the column that the adapter shows as the leftmost one.
    fileprivate func leftmostColumn(adapter: (any RowAdapter)?) throws -> CInt {
        guard let adapter else { return 0 }
        guard let column = try adapter._layoutedAdapter(from: self)._mapping._layoutColumns.first else {
            throw DatabaseError.misuse(
                "Values are read from the leftmost column, but the row adapter has no columns.",
                sql: sql)
        }
        return CInt(column.0)
    }
}

/// Returns the type to name in a message: an optional fails to decode if its wrapped type does.
@usableFromInline
func nonOptionalType(of type: any Any.Type) -> any Any.Type {
    (type as? any OptionalType.Type)?.wrappedType ?? type
}

private protocol OptionalType {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrappedType: any Any.Type { nonOptionalType(of: Wrapped.self) }
}
