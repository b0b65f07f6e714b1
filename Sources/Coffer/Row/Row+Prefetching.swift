/// The rows that were fetched for a row and for its scopes.
final class PrefetchedRowsTree {
    fileprivate var rows: [String: [Row]] = [:]
    fileprivate var scopes: [String: PrefetchedRowsTree] = [:]

    /// The tree of a scope, made if there is none.
    func scope(_ name: String) -> PrefetchedRowsTree {
        if let tree = scopes[name] { return tree }
        let tree = PrefetchedRowsTree()
        scopes[name] = tree
        return tree
    }

    /// The tree of a scope, if something was fetched for it.
    func knownScope(_ name: String) -> PrefetchedRowsTree? { scopes[name] }

    func set(_ rows: [Row], forKey key: String) { self.rows[key] = rows }
}

extension Row {
    /// The rows that were fetched for this row by `including(all:)`.
    ///
    ///     let row = try Row.fetchOne(db, Owner.including(all: Owner.items))
    ///     let items = row?.prefetchedRows["items"]  // [Row], empty if the owner has no item
    ///
    /// Rows that were fetched for scopes are among them.
    public var prefetchedRows: PrefetchedRowsView { PrefetchedRowsView(tree: prefetchedTree) }

    /// The rows that were fetched for a row, by the keys of associations.
    public struct PrefetchedRowsView {
        let tree: PrefetchedRowsTree?

        /// Whether no association was fetched. An association without rows is one, too.
        public var isEmpty: Bool { keys.isEmpty }

        /// The keys of all associations that were fetched, those of scopes included.
        public var keys: Set<String> {
            var keys: Set<String> = []
            forEachLevel { trees in
                for tree in trees { keys.formUnion(tree.rows.keys) }
                return true
            }
            return keys
        }

        /// The rows of an association, or nil if it was not fetched. Of equal keys, that nearest to the row
        /// counts.
        public subscript(key: String) -> [Row]? {
            var rows: [Row]?
            forEachLevel { trees in
                rows = trees.lazy.compactMap { $0.rows[key] }.first
                return rows == nil
            }
            return rows
        }

        private func forEachLevel(_ body: ([PrefetchedRowsTree]) -> Bool) {
            var level = tree.map { [$0] } ?? []
            while !level.isEmpty, body(level) {
                level = level.flatMap { tree in tree.scopes.sorted { $0.key < $1.key }.map(\.value) }
            }
        }
    }
}

extension Row.PrefetchedRowsView: Equatable {
    /// Whether the same associations were fetched, with equal rows.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        if lhs.tree === rhs.tree { return true }
        let keys = lhs.keys
        return keys == rhs.keys && keys.allSatisfy { lhs[$0] == rhs[$0] }
    }
}
