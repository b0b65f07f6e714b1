/// The columns of an adapted row: for each one, the index of the base column that it shows, and its name.
public struct _LayoutedColumnMapping: Sendable {
    /// For each column of the adapted row, from left to right: its index in the base row, and its name.
    public let _layoutColumns: [(Int, String)]

    private let positions: ColumnNameIndex

    /// The position of the first column in the base row, if there is one and all columns are contiguous
    /// there.
    let firstOfFollowingColumns: Int?

    init(layoutColumns: some Sequence<(Int, String)>) {
        _layoutColumns = Array(layoutColumns)
        positions = ColumnNameIndex(_layoutColumns.lazy.map(\.1))
        let first = _layoutColumns.first?.0
        firstOfFollowingColumns = _layoutColumns.enumerated().allSatisfy { $1.0 - $0 == first } ? first : nil
    }
}

extension _LayoutedColumnMapping: _RowLayout {
    public func _layoutIndex(ofColumn name: String) -> Int? { positions[name] }
}

extension _LayoutedColumnMapping: _LayoutedRowAdapter {
    public var _mapping: _LayoutedColumnMapping { self }
    public var _scopes: [String: any _LayoutedRowAdapter] { [:] }
}

/// A resolved adapter that has scopes.
struct ScopeLayout: _LayoutedRowAdapter {
    let _mapping: _LayoutedColumnMapping
    let _scopes: [String: any _LayoutedRowAdapter]
}
