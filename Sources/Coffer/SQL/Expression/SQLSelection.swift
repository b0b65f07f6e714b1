/// The selection of a request: an expression, an expression with a name, all columns, or SQL.
public struct SQLSelection: SQLSelectable, Sendable {
    enum Impl: Sendable {
        case allColumns
        case allColumnsExcluding(Set<CaseInsensitiveName>)
        case expression(SQLExpression)
        case aliased(SQLExpression, name: String)
        case literal(SQL)
        /// A selection whose columns belong to the table of an alias.
        indirect case qualified(SQLSelection, TableAliasBase)
    }

    let impl: Impl

    static let allColumns = SQLSelection(impl: .allColumns)

    public var sqlSelection: SQLSelection { self }

    func write(to writer: inout SQLWriter) throws {
        switch impl {
        case .allColumns:
            if let qualifier = writer.scope.columnQualifier {
                writer.append(identifier: qualifier)
                writer.append(".")
            }
            writer.append("*")
        case .allColumnsExcluding(let names):
            try writer.appendColumns(excluding: names)
        case .expression(let expression):
            try expression.write(to: &writer)
        case .aliased(let expression, let name):
            try expression.write(to: &writer)
            writer.append(" AS ")
            writer.append(identifier: name)
        case .literal(let sql):
            try sql.write(to: &writer)
        case .qualified(let selection, let alias):
            try writer.inScope(
                { try $0.qualifyColumns(with: alias) }, write: { try selection.write(to: &$0) })
        }
    }
}

extension SQLWriter {
    /// Writes the columns of the current table except those with the given names.
    fileprivate mutating func appendColumns(excluding excludedNames: Set<CaseInsensitiveName>) throws {
        guard let tableName = scope.tableName else {
            throw DatabaseError.misuse(
                "allColumns(excluding:) needs a request that selects from a known table.")
        }
        let names = try db.columns(in: tableName).map(\.name)
        let selectedNames = names.filter { !excludedNames.contains(CaseInsensitiveName($0)) }
        if selectedNames.count == names.count {
            try SQLSelection.allColumns.write(to: &self)
        } else {
            append(selectedNames, separator: ", ") { $1.append(column: $0) }
        }
    }
}

extension SQLSpecificExpressible {
    /// Returns the expression, selected under a name: `expression AS "key"`.
    public func forKey(_ key: String) -> SQLSelection {
        SQLSelection(impl: .aliased(sqlExpression, name: key))
    }

    /// Returns the expression, selected under the name of a coding key: `expression AS "key"`.
    public func forKey(_ key: some CodingKey) -> SQLSelection {
        forKey(key.stringValue)
    }
}

/// All columns of the table of a request: `*`.
public struct AllColumns: SQLSelectable, Sendable {
    public init() {}

    public var sqlSelection: SQLSelection { .allColumns }
}

/// All columns of the table of a request except some: the result of `allColumns(excluding:)`.
///
/// The columns are looked up in the schema when the request is used.
public struct AllColumnsExcluding: SQLSelectable, Sendable {
    private let excludedNames: Set<CaseInsensitiveName>

    /// Creates a selection of all columns except those with the given names, which are compared without
    /// regard to the case of ASCII letters.
    public init(_ excludedColumns: some Collection<String>) {
        excludedNames = Set(excludedColumns.map(CaseInsensitiveName.init))
    }

    public var sqlSelection: SQLSelection { SQLSelection(impl: .allColumnsExcluding(excludedNames)) }
}

extension SQLSelectable where Self == AllColumns {
    /// All columns of the table of a request: `*`.
    public static var allColumns: AllColumns { AllColumns() }
}

extension SQLSelectable where Self == AllColumnsExcluding {
    /// Returns all columns of the table of a request except those with the given names.
    ///
    ///     static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["generated"])] }
    public static func allColumns(excluding excludedColumns: some Collection<String>) -> Self {
        Self(excludedColumns)
    }

    /// Returns all columns of the table of a request except the given ones.
    public static func allColumns(excluding excludedColumns: some Collection<any ColumnExpression>) -> Self {
        Self(excludedColumns.map(\.name))
    }
}

extension SQLSelectable where Self == Column {
    /// The hidden `rowid` column: see ``Column/rowID``.
    public static var rowID: Column { Column.rowID }
}
