/// A request whose rows can be sorted.
public protocol OrderedRequest {
    /// Sorts by the terms that a closure returns once a connection is available, replacing any previous
    /// order.
    func orderWhenConnected(_ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm])
        -> Self

    /// Sorts by expressions, replacing any previous order.
    ///
    ///     // SELECT * FROM "share" ORDER BY "expiry" DESC NULLS FIRST, "guestId"
    ///     Share.all().order([Column("expiry").descNullsFirst, Column("guestId")])
    func order(_ orderings: [any SQLOrderingTerm]) -> Self

    /// Reverses the order. It has no effect on a request without an order.
    ///
    /// An order that is written in SQL cannot be reversed: the request throws a ``DatabaseError`` when it is
    /// used. Order by `SQL("...").sqlExpression` instead.
    func reversed() -> Self

    /// Returns the request without any order.
    func unordered() -> Self

    /// Returns the request with a deterministic order: rows that are equal by its own order are sorted by the
    /// primary key.
    ///
    /// Groups are sorted by the grouping expressions. Distinct rows and rows of views are sorted by their
    /// columns.
    func withStableOrder() -> Self
}

extension OrderedRequest {
    public func order(_ orderings: [any SQLOrderingTerm]) -> Self {
        let orderings = orderings.map(\.sqlOrdering)
        return orderWhenConnected { _ in orderings }
    }

    /// Sorts by expressions, replacing any previous order.
    public func order(_ orderings: any SQLOrderingTerm...) -> Self { order(orderings) }

    /// Sorts by terms written in SQL, replacing any previous order.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func order(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        order(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Sorts by the terms of an SQL literal, replacing any previous order.
    public func order(literal sqlLiteral: SQL) -> Self { order([sqlLiteral]) }
}

extension OrderedRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Sorts by expressions, replacing any previous order.
    public func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows -> Self {
        try order(orderings(RowDecoder.databaseComponents))
    }

    /// Sorts by an expression, replacing any previous order.
    public func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows -> Self {
        try order([ordering(RowDecoder.databaseComponents)])
    }
}
