/// A type that changes how the columns of a fetched row appear: renamed, sliced, or grouped in scopes.
///
/// The adapters are ``ColumnMapping``, ``EmptyRowAdapter``, ``RangeRowAdapter``, ``RenameColumnAdapter``,
/// ``ScopeAdapter`` and ``SuffixRowAdapter``. An adapter is resolved once per statement, not once per row.
public protocol RowAdapter: Sendable {
    /// Resolves the adapter for the columns of a statement or of a row. Throws an error if it does not fit
    /// them.
    func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter
}

/// The columns that an adapter is applied to.
public protocol _RowLayout {
    /// For each column, from left to right: its index in the base row, and its name.
    var _layoutColumns: [(Int, String)] { get }

    /// Returns the position in ``_layoutColumns`` of the leftmost column with this name, compared
    /// case-insensitively.
    func _layoutIndex(ofColumn name: String) -> Int?
}

/// An adapter that has been resolved for the columns of one statement or row.
public protocol _LayoutedRowAdapter: Sendable {
    /// The columns that the adapted row shows.
    var _mapping: _LayoutedColumnMapping { get }

    /// The scopes of the adapted row; their columns refer to the same base row.
    var _scopes: [String: any _LayoutedRowAdapter] { get }
}

extension RowAdapter {
    /// Returns an adapter that also defines scopes, which see the columns without this adapter.
    ///
    /// Scopes of the same name that the adapter already defines are replaced.
    public func addingScopes(_ scopes: [String: any RowAdapter]) -> any RowAdapter {
        scopes.isEmpty ? self : ScopeAdapter(base: self, scopes: scopes)
    }
}
