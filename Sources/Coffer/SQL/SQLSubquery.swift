/// A query that can be a part of another one.
public struct SQLSubquery: Sendable {
    enum Impl: Sendable {
        case literal(SQL)
        case relation(SQLRelation)
    }

    let impl: Impl

    /// Writes the query, without parentheses around it.
    func write(to context: inout SQLGenerationContext) throws {
        switch impl {
        case .literal(let sql): try context.inScope({ $0.enterLiteral() }, write: { try sql.write(to: &$0) })
        case .relation(let relation): try relation.write(to: &context)
        }
    }
}

/// A type that can be a query in another query: all requests.
///
///     let maximumScore: SQLRequest<Int> = "SELECT MAX(score) FROM player"
///     let bestPlayers: SQLRequest<Row> = "SELECT * FROM player WHERE score = (\(maximumScore))"
public protocol SQLSubqueryable: SQLSpecificExpressible {
    /// The query.
    var sqlSubquery: SQLSubquery { get }
}

extension SQLSubquery: SQLSubqueryable {
    public var sqlSubquery: SQLSubquery { self }
}

extension SQLSubqueryable {
    /// The subquery as an expression, in parentheses.
    public var sqlExpression: SQLExpression { SQLExpression(impl: .subquery(sqlSubquery)) }

    /// The expression `element IN (subquery)`.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(impl: .isIn(element.sqlExpression, .subquery(sqlSubquery), isNegated: false))
    }

    /// The expression `EXISTS (subquery)`: whether the subquery has a row.
    public func exists() -> SQLExpression {
        SQLExpression(impl: .exists(sqlSubquery, isNegated: false))
    }
}
