/// How a request sorts: an expression, its direction, and where its NULL values go.
public struct SQLOrdering: SQLOrderingTerm, Sendable {
    enum Direction: Sendable {
        case asc, desc, ascNullsLast, descNullsFirst

        var sql: String {
            switch self {
            case .asc: " ASC"
            case .desc: " DESC"
            case .ascNullsLast: " ASC NULLS LAST"
            case .descNullsFirst: " DESC NULLS FIRST"
            }
        }
    }

    enum Impl: Sendable {
        case expression(SQLExpression)
        case directed(SQLExpression, Direction)
        case literal(SQL)
    }

    let impl: Impl

    public var sqlOrdering: SQLOrdering { self }

    func write(to context: inout SQLGenerationContext) throws {
        switch impl {
        case .expression(let expression):
            try expression.write(to: &context)
        case .directed(let expression, let direction):
            try expression.write(to: &context, asOperand: true)
            context.append(direction.sql)
        case .literal(let sql):
            try sql.write(to: &context)
        }
    }
}

extension SQLSpecificExpressible {
    /// Sorts from the smallest to the greatest value. SQLite takes NULL for the smallest.
    public var asc: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .asc)) }

    /// Sorts from the greatest to the smallest value. SQLite takes NULL for the smallest.
    public var desc: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .desc)) }

    /// Sorts from the smallest to the greatest value, then NULL.
    public var ascNullsLast: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .ascNullsLast)) }

    /// Sorts NULL first, then from the greatest to the smallest value.
    public var descNullsFirst: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .descNullsFirst)) }
}
