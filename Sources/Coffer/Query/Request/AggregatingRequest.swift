/// A request whose rows can be grouped.
public protocol AggregatingRequest {
    /// Groups rows by expressions, which a closure returns once there is a connection.
    func groupWhenConnected(_ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible])
        -> Self

    /// Keeps the groups that meet a condition, which a closure returns once there is a connection.
    func havingWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self
}

extension AggregatingRequest {
    /// Groups rows by expressions, in place of any grouping before.
    ///
    ///     // SELECT "itemId", COUNT("fileName"), SUM("size") FROM "attachment" GROUP BY "itemId"
    ///     Attachment.select { [$0.itemId, count($0.fileName), sum($0.size)] }.group { [$0.itemId] }
    public func group(_ expressions: [any SQLExpressible]) -> Self {
        let expressions = expressions.map(\.sqlExpression)
        return groupWhenConnected { _ in expressions }
    }

    /// Groups rows by expressions, in place of any grouping before.
    public func group(_ expressions: any SQLExpressible...) -> Self { group(expressions) }

    /// Groups rows by what SQL says, in place of any grouping before.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public func group(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        group(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Groups rows by what an SQL literal says, in place of any grouping before.
    public func group(literal sqlLiteral: SQL) -> Self { group([sqlLiteral]) }

    /// Keeps the groups that meet a condition. Several conditions must all be met.
    public func having(_ predicate: some SQLExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return havingWhenConnected { _ in predicate }
    }

    /// Keeps the groups that meet a condition written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public func having(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        having(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Keeps the groups that meet a condition written as an SQL literal.
    public func having(literal sqlLiteral: SQL) -> Self { having(sqlLiteral.sqlExpression) }
}

extension AggregatingRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Groups rows by expressions, in place of any grouping before.
    public func group(_ expressions: (DatabaseComponents) throws -> [any SQLExpressible]) rethrows -> Self {
        try group(expressions(RowDecoder.databaseComponents))
    }

    /// Groups rows by an expression, in place of any grouping before.
    public func group(_ expression: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        try group([expression(RowDecoder.databaseComponents)])
    }

    /// Keeps the groups that meet a condition. Several conditions must all be met.
    public func having(_ predicate: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        try having(predicate(RowDecoder.databaseComponents).sqlExpression)
    }
}
