/// An adapter that shows the columns of the first table of a join, and a scope for each of the others.
struct JoinedRowAdapter: RowAdapter, Equatable {
    /// The total number of columns.
    let columnCount: Int

    /// The number of columns of the first table.
    let rootColumnCount: Int

    /// The tables that are joined to the first one.
    let scopes: [Scope]

    /// A joined table.
    struct Scope: Equatable {
        let name: String
        let columns: Range<Int>

        /// The tables that are joined to it.
        let scopes: [Scope]

        fileprivate var adapter: any RowAdapter { RangeRowAdapter(columns).addingScopes(scopes.adapters) }
    }

    func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        if let statement = layout as? Statement { return try layoutedAdapter(of: statement) }
        return try newLayoutedAdapter(from: layout)
    }

    /// Returns the resolved adapter. It is cached for a statement that is executed repeatedly.
    private func layoutedAdapter(of statement: Statement) throws -> any _LayoutedRowAdapter {
        let columns = statement.currentColumnLayout()
        if let known = columns.layoutedAdapter as? LayoutedJoin, known.adapter == self {
            return known.layouted
        }
        let layouted = try newLayoutedAdapter(from: statement)
        columns.layoutedAdapter = LayoutedJoin(adapter: self, layouted: layouted)
        return layouted
    }

    private func newLayoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        // If another process has changed the schema since the columns were counted, values must not move from
        // one table to another.
        guard layout._layoutColumns.count == columnCount else {
            throw DatabaseError(
                resultCode: .SQLITE_SCHEMA,
                message:
                    "The statement has \(layout._layoutColumns.count) columns, but \(columnCount) were "
                    + "expected: the schema has changed."
            )
        }
        return try ScopeAdapter(base: RangeRowAdapter(0..<rootColumnCount), scopes: scopes.adapters)
            ._layoutedAdapter(from: layout)
    }
}

extension [JoinedRowAdapter.Scope] {
    fileprivate var adapters: [String: any RowAdapter] {
        // Tables that are joined to the same table have different names.
        Dictionary(map { ($0.name, $0.adapter) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The adapter as resolved for the columns of a statement.
private final class LayoutedJoin {
    let adapter: JoinedRowAdapter
    let layouted: any _LayoutedRowAdapter

    init(adapter: JoinedRowAdapter, layouted: any _LayoutedRowAdapter) {
        self.adapter = adapter
        self.layouted = layouted
    }
}
