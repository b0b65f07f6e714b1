internal import SQLCipherBridge

/// Reads the rows of a table in the order of its b-tree.
///
/// If the columns leave no room for the row ID in a result, two statements read the table. In one transaction
/// they return the same rows in the same order.
final class StoredRows {
    private let connection: ConnectionHandle
    private let fields: EngineStatement
    private let rowIDs: RowIDs?

    /// A statement that reads only the row IDs.
    private final class RowIDs {
        let statement: EngineStatement

        init(_ statement: consuming EngineStatement) { self.statement = statement }
    }

    /// - Parameters:
    ///   - schema: the schema name of the database on the connection.
    ///   - condition: an SQL expression that selects rows of a table without row IDs; nil for all rows.
    init(
        of table: StoredTable, in connection: ConnectionHandle, schema: String = "main",
        where condition: String? = nil
    ) throws {
        func prepare(_ sql: String) throws -> EngineStatement {
            guard let statement = try connection.prepare(trusted: sql) else {
                throw EngineError(code: EngineCode.error, message: "A table cannot be read")
            }
            return statement
        }
        let selections = table.selections(from: schema, where: condition)
        self.connection = connection
        fields = try prepare(selections.fields)
        rowIDs = try selections.rowIDs.map { RowIDs(try prepare($0)) }
    }

    /// The statement to which the values of the condition are bound.
    var statement: StatementHandle { fields.handle }

    /// Moves to the next row, and returns false after the last one.
    func step() throws -> Bool {
        let hasRow = try connection.step(fields.handle)
        guard let rowIDs else { return hasRow }
        guard try connection.step(rowIDs.statement.handle) == hasRow else {
            throw EngineError.corrupt("Two reads of a table returned different rows")
        }
        return hasRow
    }

    /// The current row.
    var row: StoredRow { StoredRow(fields: fields.handle, rowID: rowIDs?.statement.handle) }
}

/// A row of a stored table. It is valid until its reader moves on.
struct StoredRow {
    fileprivate let fields: StatementHandle
    fileprivate let rowID: StatementHandle?

    /// Returns the statement and the column that contain a field.
    func field(_ index: Int) -> (statement: StatementHandle, column: CInt) {
        guard let rowID else { return (fields, CInt(index)) }
        return index == 0 ? (rowID, 0) : (fields, CInt(index - 1))
    }
}

extension StoredTable {
    /// Calls `body` with each row, in the order of the b-tree.
    ///
    /// - Parameters:
    ///   - schema: the schema name of the database on the connection.
    ///   - body: throws to stop.
    func forEachRow(
        in connection: ConnectionHandle, schema: String = "main", _ body: (StoredRow) throws -> Void
    ) throws {
        let rows = try StoredRows(of: self, in: connection, schema: schema)
        while try rows.step() { try body(rows.row) }
    }
}

extension ContentHash {
    /// Adds all fields of a row.
    func add(_ row: StoredRow, of table: StoredTable, encoding: TextEncoding) throws {
        for index in table.fields.indices {
            let (statement, column) = row.field(index)
            try add(column: column, of: statement, encoding: encoding)
        }
    }
}
