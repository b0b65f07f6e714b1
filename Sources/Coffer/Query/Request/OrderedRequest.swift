/// A request whose rows can be sorted.
public protocol OrderedRequest {
    /// Sorts by what a closure returns once there is a connection, in place of any order before.
    func orderWhenConnected(_ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm])
        -> Self

    /// Sorts by expressions, in place of any order before.
    ///
    ///     // SELECT * FROM "share" ORDER BY "expiry" DESC NULLS FIRST, "guestId"
    ///     Share.all().order([Column("expiry").descNullsFirst, Column("guestId")])
    func order(_ orderings: [any SQLOrderingTerm]) -> Self

    /// Sorts the other way round. It has no effect on a request without an order.
    ///
    /// An order that is written in SQL cannot be reversed: the request throws a ``DatabaseError`` when it is
    /// used. Order by `SQL("...").sqlExpression` instead.
    func reversed() -> Self

    /// The request without any order.
    func unordered() -> Self

    /// The request with an order that is always the same: where its own order leaves rows equal, they are
    /// sorted by the primary key.
    ///
    /// Groups are sorted by what they are grouped by; distinct rows, and those of views, by their columns.
    func withStableOrder() -> Self
}

extension OrderedRequest {
    public func order(_ orderings: [any SQLOrderingTerm]) -> Self {
        let orderings = orderings.map(\.sqlOrdering)
        return orderWhenConnected { _ in orderings }
    }

    /// Sorts by expressions, in place of any order before.
    public func order(_ orderings: any SQLOrderingTerm...) -> Self { order(orderings) }

    /// Sorts by what SQL says, in place of any order before.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public func order(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        order(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Sorts by what an SQL literal says, in place of any order before.
    public func order(literal sqlLiteral: SQL) -> Self { order([sqlLiteral]) }
}

extension OrderedRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Sorts by expressions, in place of any order before.
    public func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows -> Self {
        try order(orderings(RowDecoder.databaseComponents))
    }

    /// Sorts by an expression, in place of any order before.
    public func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows -> Self {
        try order([ordering(RowDecoder.databaseComponents)])
    }
}
