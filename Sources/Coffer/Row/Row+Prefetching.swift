/// The prefetched rows of a row and of its scopes.
final class PrefetchedRowsTree {
    fileprivate var rows: [String: [Row]] = [:]
    fileprivate var scopes: [String: PrefetchedRowsTree] = [:]

    /// Returns the tree of a scope, and creates it if there is none.
    func scope(_ name: String) -> PrefetchedRowsTree {
        if let tree = scopes[name] { return tree }
        let tree = PrefetchedRowsTree()
        scopes[name] = tree
        return tree
    }

    /// Returns the tree of a scope, if rows were fetched for it.
    func knownScope(_ name: String) -> PrefetchedRowsTree? { scopes[name] }

    func set(_ rows: [Row], forKey key: String) { self.rows[key] = rows }
}

extension Row {
    /// The rows that were fetched for this row by `including(all:)`.
    ///
    ///     let row = try Row.fetchOne(db, Owner.including(all: Owner.items))
    ///     let items = row?.prefetchedRows["items"]  // [Row], empty if the owner has no item
    ///
    /// They include rows that were fetched for scopes.
    public var prefetchedRows: PrefetchedRowsView { PrefetchedRowsView(tree: prefetchedTree) }

    /// The prefetched rows of a row, by the keys of associations.
    public struct PrefetchedRowsView {
        let tree: PrefetchedRowsTree?

        /// True if no association was fetched. An association without rows counts as fetched.
        public var isEmpty: Bool { keys.isEmpty }

        /// The keys of all associations that were fetched, including associations of scopes.
        public var keys: Set<String> {
            var keys: Set<String> = []
            forEachLevel { trees in
                for tree in trees { keys.formUnion(tree.rows.keys) }
                return true
            }
            return keys
        }

        /// The rows of an association, or nil if it was not fetched. If several associations have the key, it
        /// is the one nearest to the row.
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
    /// Returns true if the same associations were fetched, with equal rows.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        if lhs.tree === rhs.tree { return true }
        let keys = lhs.keys
        return keys == rhs.keys && keys.allSatisfy { lhs[$0] == rhs[$0] }
    }
}
