/// An adapter that shows some columns under other names.
///
///     // [foo:"b"]
///     let adapter = ColumnMapping(["foo": "bar"])
///     let row = try Row.fetchOne(db, sql: "SELECT 'a' AS qux, 'b' AS bar", adapter: adapter)
public struct ColumnMapping: RowAdapter {
    private let mapping: [String: String]

    /// Creates an adapter from a dictionary: its keys are the names in the adapted row, its values the names
    /// in the base row.
    ///
    /// The columns keep their order. For a row that lacks one of these columns, the adapter throws a
    /// ``DatabaseError`` with `SQLITE_MISUSE`.
    public init(_ mapping: [String: String]) {
        self.mapping = mapping
    }

    public func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        let baseColumns = layout._layoutColumns
        let columns = try mapping.map { name, baseName in
            guard let position = layout._layoutIndex(ofColumn: baseName) else {
                throw DatabaseError.missingColumn(baseName, in: baseColumns)
            }
            return (position: position, name: name)
        }
        // If one column is shown twice, its names are sorted, so that the result is the same at each run.
        let sortedColumns = columns.sorted { ($0.position, $0.name) < ($1.position, $1.name) }
        return _LayoutedColumnMapping(
            layoutColumns: sortedColumns.map { (baseColumns[$0.position].0, $0.name) })
    }
}

/// An adapter that renames every column.
public struct RenameColumnAdapter: RowAdapter {
    private let transform: @Sendable (String) -> String

    /// Creates an adapter that gives each column the name that `transform` returns for its old name.
    public init(_ transform: @escaping @Sendable (String) -> String) {
        self.transform = transform
    }

    public func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        _LayoutedColumnMapping(layoutColumns: layout._layoutColumns.map { ($0.0, transform($0.1)) })
    }
}

extension DatabaseError {
    fileprivate static func missingColumn(_ name: String, in columns: [(Int, String)]) -> DatabaseError {
        let names = columns.map { "\"\($0.1)\"" }.joined(separator: ", ")
        return DatabaseError.misuse(
            "The row adapter maps the column \"\(name)\", which the row does not have. Its columns are: "
                + "\(names).")
    }
}
