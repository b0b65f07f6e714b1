/// A request that is built in Swift.
///
/// It starts from a record type or from a ``Table``, and is refined step by step:
///
///     // SELECT * FROM "item" WHERE "weight" > 20000 ORDER BY "worth" DESC LIMIT 3
///     let lift = Item.filter { $0.weight > 20_000 }.order(\.worth.desc).limit(3)
///     for item in try lift.fetchAll(db) { print(item.name) }
///     let count = try lift.fetchCount(db)
///
/// A request is a value that is not tied to a connection: it can be stored, passed on, used repeatedly, and
/// be a subquery of another request. Names are quoted and values become arguments, so they may contain any
/// characters.
public struct QueryInterfaceRequest<RowDecoder> {
    var relation: Relation

    /// Returns the request with a change of its relation.
    func with(_ change: (inout Relation) -> Void) -> Self {
        var result = self
        change(&result.relation)
        return result
    }
}

extension QueryInterfaceRequest: FetchRequest {
    public var sqlSubquery: SQLSubquery { SQLSubquery(impl: .query(relation)) }

    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        guard relation.children.isEmpty else {
            return try relation.makePreparedRequest(db, forSingleResult: singleResult)
        }
        return PreparedRequest(
            statement: try relation.makeStatement(db, forSingleResult: singleResult), adapter: nil)
    }

    /// Returns the number of rows of the request.
    ///
    ///     // SELECT COUNT(*) FROM "share" WHERE "expiry" IS NULL
    ///     let endless = try Share.filter { $0.expiry == nil }.fetchCount(db)
    ///
    /// A request for the distinct values of one expression is counted like `COUNT(DISTINCT expression)`,
    /// which ignores NULL.
    public func fetchCount(_ db: Database) throws -> Int { try relation.fetchCount(db) }

    /// Returns true if the request has no rows. This is faster than counting them.
    public func isEmpty(_ db: Database) throws -> Bool { try relation.isEmpty(db) }
}

extension QueryInterfaceRequest {
    /// Returns the same request with rows that are decoded to another type.
    public func asRequest<T>(of type: T.Type) -> QueryInterfaceRequest<T> {
        QueryInterfaceRequest<T>(relation: relation)
    }
}

// MARK: - Refining

extension QueryInterfaceRequest: DerivableRequest {
    public var databaseTableName: String { relation.source.tableName }

    public func distinct() -> QueryInterfaceRequest<RowDecoder> { with { $0.isDistinct = true } }

    public func with<T>(_ cte: CommonTableExpression<T>) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.commonTables.define([cte.definition]) }
    }

    public func _aliased(_ alias: TableAliasBase) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.source.aliases.append(alias) }
    }

    /// Returns a request for at most `limit` rows, after `offset` rows are skipped.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of rows, which replaces any previous limit. A negative limit means all
    ///     rows.
    ///   - offset: the number of rows to skip; nil skips none.
    public func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.limit = Relation.Limit(count: limit, offset: offset) }
    }

    // MARK: Selecting

    public func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.selection = .values(selection.map(\.sqlSelection)) }
    }

    public func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.selection.append(.values(selection.map(\.sqlSelection))) }
    }

    public func selectWhenConnected(
        _ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.selection = .connected { db in try selection(db).map(\.sqlSelection) } }
    }

    public func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.selection.append(.connected { db in try selection(db).map(\.sqlSelection) }) }
    }

    // MARK: Filtering

    public func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.filters.append(.values([predicate.sqlExpression])) }
    }

    public func filterWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.filters.append(.connected { db in [try predicate(db).sqlExpression] }) }
    }

    // MARK: Grouping

    public func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.groups = .connected { db in try expressions(db).map(\.sqlExpression) } }
    }

    public func havingWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.groupFilters.append(.connected { db in [try predicate(db).sqlExpression] }) }
    }

    // MARK: Sorting

    public func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<RowDecoder> {
        with { $0.ordering = Relation.Ordering(terms: .values(orderings.map(\.sqlOrdering))) }
    }

    public func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> QueryInterfaceRequest<RowDecoder> {
        with {
            $0.ordering = Relation.Ordering(terms: .connected { db in try orderings(db).map(\.sqlOrdering) })
        }
    }

    public func reversed() -> QueryInterfaceRequest<RowDecoder> { with { $0.ordering.isReversed.toggle() } }

    public func unordered() -> QueryInterfaceRequest<RowDecoder> { with { $0 = $0.unordered() } }

    public func withStableOrder() -> QueryInterfaceRequest<RowDecoder> { with { $0 = $0.withStableOrder() } }
}
