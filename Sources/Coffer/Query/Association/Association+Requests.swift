// Refining an association refines the request of its destination.

extension Association {
    private func with(_ change: (inout Relation) -> Void) -> Self {
        var result = self
        result._sqlAssociation = _sqlAssociation.with(change)
        return result
    }

    public var databaseTableName: String { _sqlAssociation.destination.relation.source.tableName }

    public func distinct() -> Self { with { $0.isDistinct = true } }

    public func with<T>(_ cte: CommonTableExpression<T>) -> Self {
        with { $0.commonTables.define([cte.definition]) }
    }

    public func _aliased(_ alias: TableAliasBase) -> Self { with { $0.source.aliases.append(alias) } }

    // MARK: Selecting

    public func select(_ selection: [any SQLSelectable]) -> Self {
        with { $0.selection = .values(selection.map(\.sqlSelection)) }
    }

    public func annotated(with selection: [any SQLSelectable]) -> Self {
        with { $0.selection.append(.values(selection.map(\.sqlSelection))) }
    }

    public func selectWhenConnected(_ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable])
        -> Self
    {
        with { $0.selection = .connected { db in try selection(db).map(\.sqlSelection) } }
    }

    public func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        with { $0.selection.append(.connected { db in try selection(db).map(\.sqlSelection) }) }
    }

    // MARK: Filtering

    public func filter(_ predicate: some SQLSpecificExpressible) -> Self {
        with { $0.filters.append(.values([predicate.sqlExpression])) }
    }

    public func filterWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible)
        -> Self
    {
        with { $0.filters.append(.connected { db in [try predicate(db).sqlExpression] }) }
    }

    // MARK: Grouping

    public func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> Self {
        with { $0.groups = .connected { db in try expressions(db).map(\.sqlExpression) } }
    }

    public func havingWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible)
        -> Self
    {
        with { $0.groupFilters.append(.connected { db in [try predicate(db).sqlExpression] }) }
    }

    // MARK: Sorting

    public func order(_ orderings: [any SQLOrderingTerm]) -> Self {
        with { $0.ordering = Relation.Ordering(terms: .values(orderings.map(\.sqlOrdering))) }
    }

    public func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> Self {
        with {
            $0.ordering = Relation.Ordering(terms: .connected { db in try orderings(db).map(\.sqlOrdering) })
        }
    }

    public func reversed() -> Self { with { $0.ordering.isReversed.toggle() } }

    public func unordered() -> Self { with { $0 = $0.unordered() } }

    public func withStableOrder() -> Self { with { $0 = $0.withStableOrder() } }

    // MARK: Joining

    public func _including(all association: _SQLAssociation) -> Self {
        with { $0.add(association, .prefetched) }
    }
    public func _including(optional association: _SQLAssociation) -> Self {
        with { $0.add(association, .optional) }
    }
    public func _including(required association: _SQLAssociation) -> Self {
        with { $0.add(association, .required) }
    }
    public func _joining(optional association: _SQLAssociation) -> Self {
        with { $0.add(association, .optional, selects: false) }
    }
    public func _joining(required association: _SQLAssociation) -> Self {
        with { $0.add(association, .required, selects: false) }
    }
}
