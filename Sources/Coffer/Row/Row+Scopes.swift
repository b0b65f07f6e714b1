extension Row {
    /// The scopes that row adapters define, by name.
    public var scopes: ScopesView { ScopesView(row: self, adapters: storage.scopeAdapters) }

    /// The scopes at any depth, by name: a breadth-first search.
    public var scopesTree: ScopesTreeView { ScopesTreeView(scopes: scopes) }

    /// The scopes of a row.
    public struct ScopesView: Collection {
        public typealias Index = Dictionary<String, any _LayoutedRowAdapter>.Index

        private let row: Row
        private let adapters: [String: any _LayoutedRowAdapter]

        init(row: Row, adapters: [String: any _LayoutedRowAdapter]) {
            self.row = row
            self.adapters = adapters
        }

        /// The names of the scopes.
        public var names: Dictionary<String, any _LayoutedRowAdapter>.Keys { adapters.keys }

        /// The row of a scope, or nil if there is no scope with this name.
        public subscript(name: String) -> Row? {
            adapters[name].map { scope(name, $0) }
        }

        private func scope(_ name: String, _ adapter: any _LayoutedRowAdapter) -> Row {
            let scope = row.storage.scope(adapter)
            scope.prefetchedTree = row.prefetchedTree?.knownScope(name)
            return scope
        }

        public var startIndex: Index { adapters.startIndex }
        public var endIndex: Index { adapters.endIndex }
        public func index(after index: Index) -> Index { adapters.index(after: index) }

        /// The scope at a position, with its name.
        public subscript(position: Index) -> (name: String, row: Row) {
            let (name, adapter) = adapters[position]
            return (name: name, row: scope(name, adapter))
        }
    }

    /// The scopes of a row, and their scopes.
    public struct ScopesTreeView {
        let scopes: ScopesView

        /// The names of all scopes.
        public var names: Set<String> {
            scopes.reduce(into: Set()) { names, scope in
                names.insert(scope.name)
                names.formUnion(scope.row.scopesTree.names)
            }
        }

        /// The first row with this scope name, nearest to the root.
        public subscript(name: String) -> Row? {
            var level = [scopes]
            while !level.isEmpty {
                for scopes in level {
                    if let row = scopes[name] { return row }
                }
                level = level.flatMap { scopes in scopes.map(\.row.scopes) }
            }
            return nil
        }
    }
}
