/// A request whose rows can be grouped.
public protocol AggregatingRequest {
    /// Groups rows by the expressions that a closure returns once a connection is available.
    func groupWhenConnected(_ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible])
        -> Self

    /// Keeps the groups that meet the condition that a closure returns once a connection is available.
    func havingWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self
}

extension AggregatingRequest {
    /// Groups rows by expressions, replacing any previous grouping.
    ///
    ///     // SELECT "itemId", COUNT("fileName"), SUM("size") FROM "attachment" GROUP BY "itemId"
    ///     Attachment.select { [$0.itemId, count($0.fileName), sum($0.size)] }.group { [$0.itemId] }
    public func group(_ expressions: [any SQLExpressible]) -> Self {
        let expressions = expressions.map(\.sqlExpression)
        return groupWhenConnected { _ in expressions }
    }

    /// Groups rows by expressions, replacing any previous grouping.
    public func group(_ expressions: any SQLExpressible...) -> Self { group(expressions) }

    /// Groups rows by expressions written in SQL, replacing any previous grouping.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func group(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        group(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Groups rows by the expressions of an SQL literal, replacing any previous grouping.
    public func group(literal sqlLiteral: SQL) -> Self { group([sqlLiteral]) }

    /// Keeps the groups that meet a condition. Several conditions must all be met.
    public func having(_ predicate: some SQLExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return havingWhenConnected { _ in predicate }
    }

    /// Keeps the groups that meet a condition written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func having(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        having(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Keeps the groups that meet a condition written as an SQL literal.
    public func having(literal sqlLiteral: SQL) -> Self { having(sqlLiteral.sqlExpression) }
}

extension AggregatingRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Groups rows by expressions, replacing any previous grouping.
    public func group(_ expressions: (DatabaseComponents) throws -> [any SQLExpressible]) rethrows -> Self {
        try group(expressions(RowDecoder.databaseComponents))
    }

    /// Groups rows by an expression, replacing any previous grouping.
    public func group(_ expression: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        try group([expression(RowDecoder.databaseComponents)])
    }

    /// Keeps the groups that meet a condition. Several conditions must all be met.
    public func having(_ predicate: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        try having(predicate(RowDecoder.databaseComponents).sqlExpression)
    }
}
