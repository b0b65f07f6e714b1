/// A request whose rows can be filtered. Several filters must all be met.
public protocol FilteredRequest {
    /// Keeps the rows that meet the condition that a closure returns once a connection is available.
    func filterWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self

    /// Keeps the rows that meet a condition.
    ///
    ///     // SELECT * FROM "attachment" WHERE "size" BETWEEN 1 AND 4096
    ///     Attachment.all().filter((1...4096).contains(Column("size")))
    func filter(_ predicate: some SQLSpecificExpressible) -> Self
}

extension FilteredRequest {
    public func filter(_ predicate: some SQLSpecificExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return filterWhenConnected { _ in predicate }
    }

    /// Keeps the rows that meet a condition written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        filter(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Keeps the rows that meet a condition written as an SQL literal.
    public func filter(literal sqlLiteral: SQL) -> Self { filter(sqlLiteral.sqlExpression) }

    /// Returns the request unchanged.
    public func all() -> Self { self }

    /// Returns a request that matches no row.
    public func none() -> Self { filter(SQLExpression(impl: .boolean(false))) }
}

extension FilteredRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Keeps the rows that meet a condition.
    public func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> Self
    {
        try filter(predicate(RowDecoder.databaseComponents).sqlExpression)
    }
}
