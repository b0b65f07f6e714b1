/// A cursor over records.
///
///     let players = try Player.fetchCursor(db)  // RecordCursor<Player>
///     while let player = try players.next() { ... }
public final class RecordCursor<Record: FetchableRecord>: DatabaseCursor {
    public typealias Element = Record

    public let _statement: Statement
    public var _isDone = false

    /// The rows, which end the execution at the end of their life.
    @usableFromInline let rows: RowCursor

    @usableFromInline
    init(statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        _statement = statement
        rows = try RowCursor(statement: statement, arguments: arguments, adapter: adapter)
    }

    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Record {
        try Record(row: unsafe rows._element(sqliteStatement: sqliteStatement))
    }
}

@available(*, unavailable)
extension RecordCursor: Sendable {}
