/// All columns of the table of a request: `*`.
public struct AllColumns: SQLSelectable, Sendable {
    public init() {}

    public var sqlSelection: SQLSelection { .allColumns }
}

/// All columns of the table of a request but some: what `allColumns(excluding:)` makes.
///
/// Which columns there are is looked up in the schema when the request is used.
public struct AllColumnsExcluding: SQLSelectable, Sendable {
    private let excludedNames: Set<CaseInsensitiveName>

    /// Creates a selection of all columns but those of the names given, compared without regard to the case of ASCII letters.
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
    /// All columns of the table of a request but those of the names given.
    ///
    ///     static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["generated"])] }
    public static func allColumns(excluding excludedColumns: some Collection<String>) -> Self { Self(excludedColumns) }

    /// All columns of the table of a request but those given.
    public static func allColumns(excluding excludedColumns: some Collection<any ColumnExpression>) -> Self {
        Self(excludedColumns.map(\.name))
    }
}

extension SQLSelectable where Self == Column {
    /// The hidden `rowid` column: see ``Column/rowID``.
    public static var rowID: Column { Column.rowID }
}
