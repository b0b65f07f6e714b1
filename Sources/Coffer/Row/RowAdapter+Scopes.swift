/// An adapter that groups columns in named scopes, so that a row of a joined query can be read part by part.
///
///     let sql = "SELECT item.name, owner.name, owner.email FROM item JOIN owner ON owner.id = item.ownerId"
///     let adapter = ScopeAdapter(["owner": RangeRowAdapter(1..<3)])
///     for row in try Row.fetchAll(db, sql: sql, adapter: adapter) {
///         let item: String = row[0]
///         let email: String? = row.scopes["owner"]?["email"]  // [name:"Ada" email:"ada@example.org"]
///     }
public struct ScopeAdapter: RowAdapter {
    private let base: any RowAdapter
    private let scopes: [String: any RowAdapter]

    /// Creates an adapter that keeps all columns of the row and adds scopes.
    public init(_ scopes: [String: any RowAdapter]) {
        self.init(base: SuffixRowAdapter(fromIndex: 0), scopes: scopes)
    }

    /// Creates an adapter that shows the columns of `base` and adds scopes, which see the columns before
    /// `base` is applied.
    ///
    /// Scopes of the same name in `base` are replaced.
    ///
    /// - Parameters:
    ///   - base: the adapter of the row itself.
    ///   - scopes: the adapters of its scopes, by their names.
    public init(base: some RowAdapter, scopes: [String: any RowAdapter]) {
        self.base = base
        self.scopes = scopes
    }

    public func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        let base = try base._layoutedAdapter(from: layout)
        let scopes = try scopes.mapValues { try $0._layoutedAdapter(from: layout) }
        return ScopeLayout(_mapping: base._mapping, _scopes: base._scopes.merging(scopes) { $1 })
    }
}

/// An adapter that applies one adapter to the columns of another.
struct ChainedRowAdapter: RowAdapter {
    let first: any RowAdapter
    let second: any RowAdapter

    func _layoutedAdapter(from layout: some _RowLayout) throws -> any _LayoutedRowAdapter {
        let first = try first._layoutedAdapter(from: layout)
        // The columns of a mapping carry the indexes of the base row, so the second adapter resolves to base
        // columns too.
        let second = try second._layoutedAdapter(from: first._mapping)
        guard !first._scopes.isEmpty else { return second }
        return ScopeLayout(_mapping: second._mapping, _scopes: first._scopes.merging(second._scopes) { $1 })
    }
}
