/// A query that can be part of another one.
public struct SQLSubquery: Sendable {
    enum Impl: Sendable {
        case literal(SQL)
        case query(any WritableQuery)
    }

    let impl: Impl

    /// Writes the query, without parentheses around it.
    func write(to writer: inout SQLWriter) throws {
        switch impl {
        case .literal(let sql): try writer.inScope({ $0.enterLiteral() }, write: { try sql.write(to: &$0) })
        case .query(let query): try query.writeAsSubquery(to: &writer)
        }
    }
}

/// A type that can be used as a subquery: all requests.
///
///     let shared: SQLRequest<Int64> = "SELECT itemId FROM share WHERE guestId = \(guest.id)"
///     let visible: SQLRequest<Item> = "SELECT * FROM item WHERE id IN (\(shared)) OR ownerId = \(guest.id)"
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

    /// Returns the expression `element IN (subquery)`.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(impl: .isIn(element.sqlExpression, .subquery(sqlSubquery), isNegated: false))
    }

    /// Returns the expression `EXISTS (subquery)`, which is true if the subquery has a row.
    public func exists() -> SQLExpression {
        SQLExpression(impl: .exists(sqlSubquery, isNegated: false))
    }
}

/// A query that writes itself: the requests of the query interface.
protocol WritableQuery: Sendable {
    /// Writes the query, without parentheses around it.
    func write(to writer: inout SQLWriter) throws

    /// Writes the query as a value, an operand of `EXISTS` or a table, without parentheses around it.
    func writeAsSubquery(to writer: inout SQLWriter) throws
}

/// The name and the definition of a common table expression.
struct SQLCommonTable: Sendable {
    let name: String
    let columns: [String]?
    let query: SQLSubquery
    let isRecursive: Bool

    /// Writes the definition, without the keyword `WITH`.
    func write(to writer: inout SQLWriter) throws {
        writer.append(identifier: name)
        if let columns, !columns.isEmpty {
            writer.append("(")
            writer.append(columns, separator: ", ") { $1.append(identifier: $0) }
            writer.append(")")
        }
        writer.append(" AS (")
        try query.write(to: &writer)
        writer.append(")")
    }
}
