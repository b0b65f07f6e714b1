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
        case directed(SQLExpression, Direction)
        case literal(SQL)
        /// An ordering whose columns belong to the table of an alias.
        indirect case qualified(SQLOrdering, TableAliasBase)
    }

    let impl: Impl

    public var sqlOrdering: SQLOrdering { self }

    /// The opposite ordering.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` for an ordering that is written in SQL.
    func reversed() throws -> SQLOrdering {
        switch impl {
        case .expression(let expression):
            return SQLOrdering(impl: .directed(expression, .desc))
        case .directed(let expression, let direction):
            return SQLOrdering(impl: .directed(expression, direction.reversed))
        case .qualified(let ordering, let alias):
            return SQLOrdering(impl: .qualified(try ordering.reversed(), alias))
        case .literal:
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "An ordering that is written in SQL cannot be reversed. Order by expressions instead: "
                    + "SQL(\"...\").sqlExpression.desc, for instance.")
        }
    }

    func write(to writer: inout SQLWriter) throws {
        switch impl {
        case .expression(let expression):
            try expression.write(to: &writer)
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
    /// Sorts from the smallest to the greatest value. SQLite takes NULL for the smallest.
    public var asc: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .asc)) }

    /// Sorts from the greatest to the smallest value. SQLite takes NULL for the smallest.
    public var desc: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .desc)) }

    /// Sorts from the smallest to the greatest value, then NULL.
    public var ascNullsLast: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .ascNullsLast)) }

    /// Sorts NULL first, then from the greatest to the smallest value.
    public var descNullsFirst: SQLOrdering { SQLOrdering(impl: .directed(sqlExpression, .descNullsFirst)) }
}
