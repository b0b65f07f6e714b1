/// An adapter that shows no columns, for rows that are used only for their scopes.
public struct EmptyRowAdapter: RowAdapter {
    public init() {}

    public func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        _LayoutedColumnMapping(layoutColumns: [])
    }
}

/// An adapter that hides the leftmost columns.
public struct SuffixRowAdapter: RowAdapter {
    private let index: Int

    /// Creates an adapter that shows the columns from position `index`, counted from 0.
    ///
    /// For a row with fewer than `index` columns, the adapter throws a ``DatabaseError`` with
    /// `SQLITE_MISUSE`.
    public init(fromIndex index: Int) {
        precondition(index >= 0, "The index of a column must not be negative.")
        self.index = index
    }

    public func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        let columns = layout._layoutColumns
        guard index <= columns.count else {
            throw DatabaseError.missingColumns(upTo: index, in: columns)
        }
        return _LayoutedColumnMapping(layoutColumns: columns[index...])
    }
}

/// An adapter that shows a range of columns.
public struct RangeRowAdapter: RowAdapter {
    private let range: CountableRange<Int>

    /// Creates an adapter that shows the columns of a range of positions, counted from 0.
    ///
    /// For a row that lacks some of these columns, the adapter throws a ``DatabaseError`` with
    /// `SQLITE_MISUSE`.
    public init(_ range: CountableRange<Int>) {
        precondition(range.lowerBound >= 0, "The position of a column must not be negative.")
        self.range = range
    }

    /// Creates an adapter that shows the columns of a range of positions; see
    /// ``init(_:)-(CountableRange<Int>)``.
    public init(_ range: CountableClosedRange<Int>) {
        self.init(range.lowerBound..<(range.upperBound + 1))
    }

    public func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        let columns = layout._layoutColumns
        guard range.upperBound <= columns.count else {
            throw DatabaseError.missingColumns(upTo: range.upperBound, in: columns)
        }
        return _LayoutedColumnMapping(layoutColumns: columns[range])
    }
}

/// Returns adapters that cut a row into consecutive parts of the given widths, and one more for all remaining
/// columns.
///
///     let tables = try ["owner", "item"].map { try db.columns(in: $0).count }
///     // One adapter for the columns of owner, one for the columns of item, and one for all later columns.
///     let parts = splittingRowAdapters(columnCounts: tables)
public func splittingRowAdapters(columnCounts: [Int]) -> [any RowAdapter] {
    var start = 0
    var adapters: [any RowAdapter] = []
    for count in columnCounts {
        adapters.append(RangeRowAdapter(start..<(start + count)))
        start += count
    }
    adapters.append(SuffixRowAdapter(fromIndex: start))
    return adapters
}

extension DatabaseError {
    fileprivate static func missingColumns(upTo end: Int, in columns: [(Int, String)]) -> DatabaseError {
        DatabaseError.misuse("The row adapter needs \(end) columns, but the row has \(columns.count).")
    }
}
