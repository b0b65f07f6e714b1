/// A term of an `ORDER BY` clause: an expression, its direction, and the place of its NULL values.
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

        var reversed: Direction {
            switch self {
            case .asc: .desc
            case .desc: .asc
            case .ascNullsLast: .descNullsFirst
            case .descNullsFirst: .ascNullsLast
            }
        }
    }

    enum Impl: Sendable {
        case expression(SQLExpression)
        /// The reverse of an ordering without a direction. Reversed again, it has none.
        case reversed(SQLExpression)
        case directed(SQLExpression, Direction)
        case literal(SQL)
        /// An ordering whose columns belong to the table of an alias.
        indirect case qualified(SQLOrdering, TableAliasBase)
    }

    let impl: Impl

    public var sqlOrdering: SQLOrdering { self }

    /// Returns the opposite ordering.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` for an ordering that is written in SQL.
    func reversed() throws -> SQLOrdering {
        switch impl {
        case .expression(let expression):
            return SQLOrdering(impl: .reversed(expression))
        case .reversed(let expression):
            return SQLOrdering(impl: .expression(expression))
        case .directed(let expression, let direction):
            return SQLOrdering(impl: .directed(expression, direction.reversed))
        case .qualified(let ordering, let alias):
            return SQLOrdering(impl: .qualified(try ordering.reversed(), alias))
        case .literal:
            throw DatabaseError.misuse(
                "An ordering that is written in SQL cannot be reversed. Order by expressions instead, "
                    + "for example SQL(\"...\").sqlExpression.desc.")
        }
    }

    func write(to writer: inout SQLWriter) throws {
        switch impl {
        case .expression(let expression):
            try expression.write(to: &writer)
        case .reversed(let expression):
            try expression.write(to: &writer)
            writer.append(Direction.desc.sql)
        case .directed(let expression, let direction):
            try expression.write(to: &writer)
            writer.append(direction.sql)
        case .literal(let sql):
            try sql.write(to: &writer)
        case .qualified(let ordering, let alias):
            try writer.inScope({ try $0.qualifyColumns(with: alias) }, write: { try ordering.write(to: &$0) })
        }
    }
}

extension SQLSpecificExpressible {
    /// Sorts in ascending order. SQLite treats NULL as the smallest value.
    public var asc: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .asc)) }

    /// Sorts in descending order. SQLite treats NULL as the smallest value.
    public var desc: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .desc)) }

    /// Sorts in ascending order, with NULL last.
    public var ascNullsLast: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .ascNullsLast)) }

    /// Sorts in descending order, with NULL first.
    public var descNullsFirst: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .descNullsFirst)) }
}
