/// The columns of an adapted row: for each one, the index of the base column that it shows, and its name.
public struct _LayoutedColumnMapping: Sendable {
    /// For each column of the adapted row, from left to right: its index in the base row, and its name.
    public let _layoutColumns: [(Int, String)]

    private let positions: ColumnNameIndex

    /// Which column of the base row is the first one, if there is one and all others follow it in the base
    /// row, too.
    let firstOfFollowingColumns: Int?

    init(layoutColumns: some Sequence<(Int, String)>) {
        _layoutColumns = Array(layoutColumns)
        positions = ColumnNameIndex(_layoutColumns.lazy.map(\.1))
        let first = _layoutColumns.first?.0
        firstOfFollowingColumns = _layoutColumns.enumerated().allSatisfy { $1.0 - $0 == first } ? first : nil
    }

    /// The name of the column at `position` in the adapted row.
    func columnName(atPosition position: Int) -> String { _layoutColumns[position].1 }
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

/// Finds the position of a column by its name: the leftmost one that has the name, in any letter case.
struct ColumnNameIndex: Sendable {
    private let names: [String]
    private let positions: [String: Int]

    init(_ names: some Sequence<String>) {
        self.names = Array(names)
        positions = Dictionary(
            self.names.enumerated().map { ($1.lowercased(), $0) },
            uniquingKeysWith: { leftmost, _ in leftmost })
    }

    subscript(name: String) -> Int? {
        // The usual name is written as the column is, and short names are compared faster than they are
        // hashed. Where two columns differ in case only, the one that is written so may not be the leftmost
        // one.
        if positions.count == names.count, let position = names.firstIndex(of: name) { return position }
        return positions[name.lowercased()]
    }
}
