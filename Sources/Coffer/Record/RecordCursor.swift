/// A cursor over records.
///
///     let items = try Item.fetchCursor(db)  // RecordCursor<Item>
///     let heavy = try Array(items.filter { $0.weight > 20_000 }.prefix(5))
public final class RecordCursor<Record: FetchableRecord>: DatabaseCursor {
    public typealias Element = Record

    public let _statement: Statement
    @safe @exclusivity(unchecked) public var _isDone = false
    @safe @exclusivity(unchecked) public var _failure: (any Error)?

    /// The rows. They end the execution when they are deallocated.
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

    /// Returns all remaining records.
    ///
    /// Each record goes directly from its initializer to its place in the array, and the row, which is the
    /// same for all records, is obtained once.
    @inlinable
    func all() throws -> [Record] {
        var records: [Record] = []
        guard let first = try next() else { return records }
        records.append(first)
        let statement = _statement
        let row = rows.row
        while try step(statement) {
            records.append(try Record(row: row))
        }
        return records
    }
}

@available(*, unavailable)
extension RecordCursor: Sendable {}
