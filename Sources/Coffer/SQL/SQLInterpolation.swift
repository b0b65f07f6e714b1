/// The interpolations in string literals of ``SQL`` and ``SQLRequest``.
///
///     let averageWorth = Item.select { average($0.worth) }
///     let isShared: SQL = "id IN (SELECT itemId FROM share)"
///     "SELECT * FROM item WHERE ownerId = \(owner.id)"               // values become arguments
///     "SELECT * FROM item WHERE name IN \(["ring", "letter"])"       // (?,?)
///     "SELECT \(Column("worth") * Column("amount")) FROM item"       // "worth" * "amount"
///     "SELECT \(CodingKeys.weight) FROM item"                        // "weight"
///     "SELECT * FROM item ORDER BY \(Column("weight").asc)"          // "weight" ASC
///     "SELECT * FROM owner ORDER BY email COLLATE \(.nocase)"        // NOCASE
///     "SELECT * FROM item WHERE worth > (\(averageWorth))"           // requests become subqueries
///     "SELECT * FROM item WHERE \(literal: isShared)"                // other SQL literals
///     "SELECT * FROM \(sql: tableName)"                              // plain SQL: keep user input out of it
public struct SQLInterpolation: StringInterpolationProtocol, Sendable {
    private(set) var elements: [SQL.Element] = []

    public init(literalCapacity: Int, interpolationCount: Int) {
        elements.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends the text between two interpolations.
    public mutating func appendLiteral(_ sql: String) {
        guard !sql.isEmpty else { return }
        elements.append(.sql(sql, StatementArguments()))
    }

    mutating func append(_ element: SQL.Element) {
        elements.append(element)
    }
}

// MARK: - SQL

extension SQLInterpolation {
    /// Appends plain SQL and its arguments. The text is not checked in any way.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public mutating func appendInterpolation(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) {
        append(.sql(sql, arguments))
    }

    /// Appends another literal.
    public mutating func appendInterpolation(literal sqlLiteral: SQL) {
        sqlLiteral.elements.forEach { append($0) }
    }

    /// Appends another literal.
    public mutating func appendInterpolation(_ sqlLiteral: SQL) {
        appendInterpolation(literal: sqlLiteral)
    }

    /// Appends the SQL of a request, without parentheses around it.
    public mutating func appendInterpolation(_ subquery: some SQLSubqueryable) {
        append(.subquery(subquery.sqlSubquery))
    }
}

// MARK: - Values and expressions

extension SQLInterpolation {
    /// Appends a value as an argument, NULL for nil, or an expression.
    public mutating func appendInterpolation(_ expressible: (any SQLExpressible)?) {
        append(.expression(expressible?.sqlExpression ?? .databaseValue(.null)))
    }

    /// Appends an expression. It is put in parentheses if it has an operator, unless the surrounding SQL
    /// shows that it is not an operand, for example after `SELECT` or `,` and before `AS` or `)`. The ends of
    /// the literal show it, too.
    public mutating func appendInterpolation(
        _ expressible: some SQLExpressible & SQLOrderingTerm & SQLSelectable
    ) {
        append(.expression(expressible.sqlExpression))
    }

    /// Appends a string as an argument.
    public mutating func appendInterpolation<S: StringProtocol>(_ string: S) {
        append(.expression(.databaseValue(String(string).databaseValue)))
    }

    /// Appends a value that is a sequence as well, such as `Data`, as one argument.
    public mutating func appendInterpolation<S>(_ expressible: S)
    where S: SQLExpressible, S: Sequence, S.Element: SQLExpressible {
        append(.expression(expressible.sqlExpression))
    }

    /// Appends the values of a sequence, in parentheses and separated by commas.
    ///
    /// An empty sequence becomes a subquery without rows, so that `IN` is always false and `NOT IN` always
    /// true.
    public mutating func appendInterpolation<S: Sequence>(_ sequence: S) where S.Element: SQLExpressible {
        append(list: sequence.map(\.sqlExpression))
    }

    /// Appends the values of a sequence, in parentheses and separated by commas.
    public mutating func appendInterpolation(_ sequence: some Sequence<any SQLExpressible>) {
        append(list: sequence.map(\.sqlExpression))
    }

    private mutating func append(list expressions: [SQLExpression]) {
        guard !expressions.isEmpty else { return appendLiteral("(SELECT NULL WHERE NULL)") }
        appendLiteral("(")
        for (index, expression) in expressions.enumerated() {
            if index > 0 { appendLiteral(",") }
            append(.expression(expression))
        }
        appendLiteral(")")
    }
}

// MARK: - Names

extension SQLInterpolation {
    /// Appends a coding key as the name of a column.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        append(.expression(Column(key.stringValue).sqlExpression))
    }

    /// Appends a coding key as the name of a column.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ key: any CodingKey) {
        append(.expression(Column(key.stringValue).sqlExpression))
    }

    /// Appends a quoted identifier: the name of a table, a column, or anything else.
    ///
    ///     // SELECT * FROM "item 2026"
    ///     "SELECT * FROM \(identifier: "item 2026")"
    public mutating func appendInterpolation(identifier: String) {
        append(.identifier(identifier))
    }

    /// Appends a coding key that is itself an expression.
    public mutating func appendInterpolation(
        _ key: some SQLExpressible & SQLOrderingTerm & SQLSelectable & CodingKey
    ) {
        append(.expression(key.sqlExpression))
    }

    /// Appends the name of a collation.
    public mutating func appendInterpolation(_ collation: Database.CollationName) {
        append(.sql(collation.rawValue.quotedUnlessWord, []))
    }

    /// Appends the name of a collation.
    public mutating func appendInterpolation(_ collation: DatabaseCollation) {
        append(.sql(collation.name.quotedUnlessWord, []))
    }
}

// MARK: - Selections and orderings

extension SQLInterpolation {
    /// Appends a selection.
    public mutating func appendInterpolation(_ selection: some SQLSelectable) {
        append(.selection(selection.sqlSelection))
    }

    /// Appends a selection, or NULL for nil.
    public mutating func appendInterpolation(_ selection: (any SQLSelectable)?) {
        append(selection.map { .selection($0.sqlSelection) } ?? .expression(.databaseValue(.null)))
    }

    /// Appends an ordering.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ orderingTerm: any SQLOrderingTerm) {
        append(.ordering(orderingTerm.sqlOrdering))
    }

    /// Appends an ordering.
    public mutating func appendInterpolation(_ orderingTerm: some SQLOrderingTerm) {
        append(.ordering(orderingTerm.sqlOrdering))
    }
}
