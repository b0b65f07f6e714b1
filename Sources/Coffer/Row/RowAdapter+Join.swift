/// Shows the columns of the first table of a join, and a scope for each of the others.
struct JoinedRowAdapter: RowAdapter, Equatable {
    /// How many columns there are in all.
    let columnCount: Int

    /// How many of them belong to the first table.
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

    /// A statement that is executed again and again keeps what its rows are seen through.
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
        // A process that has changed the schema since the columns were counted must not shift values from one
        // table to another.
        guard layout._layoutColumns.count == columnCount else {
            throw DatabaseError(
                resultCode: .SQLITE_SCHEMA,
                message:
                    "The statement has \(layout._layoutColumns.count) columns, and \(columnCount) were "
                    + "expected: the schema has changed."
            )
        }
        return try ScopeAdapter(base: RangeRowAdapter(0..<rootColumnCount), scopes: scopes.adapters)
            ._layoutedAdapter(from: layout)
    }
}

extension [JoinedRowAdapter.Scope] {
    fileprivate var adapters: [String: any RowAdapter] {
        // Tables that are joined to one have names of their own.
        Dictionary(map { ($0.name, $0.adapter) }, uniquingKeysWith: { first, _ in first })
    }
}

/// What an adapter has become for the columns of a statement.
private final class LayoutedJoin {
    let adapter: JoinedRowAdapter
    let layouted: any _LayoutedRowAdapter

    init(adapter: JoinedRowAdapter, layouted: any _LayoutedRowAdapter) {
        self.adapter = adapter
        self.layouted = layouted
    }
}
