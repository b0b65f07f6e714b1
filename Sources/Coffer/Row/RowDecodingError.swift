/// The error for a row value that cannot be converted to the requested Swift type, or a column that does not
/// exist.
public struct RowDecodingError: Error {
    enum Failure {
        case columnNotFound(String)
        case valueMismatch(any Any.Type, DatabaseValue)
        case unsupported(String)
    }

    let failure: Failure
    let columnName: String?
    let columnIndex: Int?
    private let columns: [(String, DatabaseValue)]?
    let sql: String?
    let arguments: StatementArguments?
    let publicStatementArguments: Bool
    /// True if the values come from a database. A copied row has no statement any more.
    private let isFetched: Bool

    init(_ failure: Failure, row: Row?, columnIndex: Int? = nil, statement: Statement? = nil) {
        let statement = statement ?? row?.storage.statement
        self.failure = failure
        self.columnIndex = columnIndex
        if let row, let columnIndex, columnIndex < row.count {
            self.columnName = row.storage.columnName(at: columnIndex)
        } else if let statement, let columnIndex, columnIndex < statement.columnCount {
            self.columnName = statement.columnNames[columnIndex]
        } else {
            self.columnName = nil
        }
        self.columns = row.map(Array.init)
        self.isFetched = statement != nil || row?.storage.isFetched ?? false
        self.sql = statement?.sql
        self.arguments = statement?.arguments
        self.publicStatementArguments = statement?.database.configuration.publicStatementArguments ?? false
    }
}

extension RowDecodingError: CustomStringConvertible {
    /// The requested type or column, and its location. The values of the row and the arguments are included
    /// only if the configuration makes them public.
    public var description: String {
        var parts: [String] = []
        switch failure {
        case .columnNotFound(let name):
            parts.append("column not found: \(String(reflecting: name))")
        case .valueMismatch(let type, let value):
            parts.append(
                "could not decode \(type) from database value "
                    + "\(showsValues || value.isNull ? value.description : value.typeName)"
            )
        case .unsupported(let message):
            parts.append(message)
        }
        if let columnName { parts.append("column: \(String(reflecting: columnName))") }
        if let columnIndex { parts.append("column index: \(columnIndex)") }
        if let columns, showsValues { parts.append("row: \(Row(columns: columns))") }
        if let sql { parts.append("sql: `\(sql)`") }
        if let arguments, publicStatementArguments { parts.append("arguments: \(arguments)") }
        return parts[0] + (parts.count > 1 ? " - " + parts.dropFirst().joined(separator: ", ") : "")
    }

    /// Other rows contain values of the program itself.
    private var showsValues: Bool { publicStatementArguments || !isFetched }
}

extension DatabaseValue {
    /// The storage class, for messages that must not show a value.
    fileprivate var typeName: String {
        switch storage {
        case .null: "NULL"
        case .int64: "INTEGER"
        case .double: "REAL"
        case .string: "TEXT"
        case .blob: "BLOB"
        }
    }
}

// MARK: - Where the fast paths end up

extension RowDecodingError {
    /// Returns the error for a value of the current row of a statement.
    @usableFromInline
    static func valueMismatch(_ type: any Any.Type, statement: Statement, index: Int) -> RowDecodingError {
        let value = unsafe DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt(index))
        return RowDecodingError(
            .valueMismatch(type, value), row: Row(liveRowOf: statement), columnIndex: index,
            statement: statement)
    }

    /// Returns the error for a value of a row.
    @usableFromInline
    static func valueMismatch(_ type: any Any.Type, row: Row, index: Int) -> RowDecodingError {
        RowDecodingError(
            .valueMismatch(type, row.storage.databaseValue(at: index)), row: row, columnIndex: index)
    }

    @usableFromInline
    static func columnNotFound(_ name: String, row: Row) -> RowDecodingError {
        RowDecodingError(.columnNotFound(name), row: row)
    }
}
