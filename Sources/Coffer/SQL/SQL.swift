/// SQL text together with its arguments, written as a string literal.
///
///     try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(id)")
///
/// Interpolated values become arguments of the statement: whatever they contain, they never become SQL. Other interpolations are
/// those of expressions, columns, sequences, subqueries, collations, other literals and plain SQL: see ``SQLInterpolation``.
public struct SQL: Sendable {
    /// The parts of a literal, which are generated as late as possible: only a request knows what its columns have to be called.
    enum Element: Sendable {
        case sql(String, StatementArguments)
        case expression(SQLExpression)
        case selection(SQLSelection)
        case ordering(SQLOrdering)
        case subquery(SQLSubquery)
        case identifier(String)
        /// Selections of a table, whose columns are qualified.
        case columns([SQLSelection], table: String, qualifier: String)
        /// The definition of a common table expression.
        case commonTable(SQLCommonTable)

        var isEmpty: Bool {
            if case .sql(let sql, let arguments) = self { sql.isEmpty && arguments.isEmpty } else { false }
        }
    }

    private(set) var elements: [Element]

    init(elements: [Element]) {
        self.elements = elements
    }

    /// Creates a literal from plain SQL.
    ///
    ///     let query = SQL(sql: "UPDATE player SET name = ? WHERE id = ?", arguments: [name, id])
    public init(sql: String, arguments: StatementArguments = StatementArguments()) {
        self.init(elements: [.sql(sql, arguments)])
    }

    /// Creates a literal from an expression.
    public init(_ expression: some SQLSpecificExpressible) {
        self.init(elements: [.expression(expression.sqlExpression)])
    }

    /// Whether the literal is the empty string.
    public var isEmpty: Bool { elements.allSatisfy(\.isEmpty) }

    /// The SQL text, with a question mark for each interpolated value, and the arguments.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if a named argument has two values.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        var context = SQLGenerationContext(db)
        try write(to: &context)
        return (context.sql, context.arguments)
    }

    func write(to context: inout SQLGenerationContext) throws {
        for element in elements {
            switch element {
            case .sql(let sql, let arguments): try context.append(sql: sql, arguments: arguments)
            case .expression(let expression): try expression.write(to: &context, asOperand: true)
            case .selection(let selection): try selection.write(to: &context)
            case .ordering(let ordering): try ordering.write(to: &context)
            case .subquery(let subquery): try subquery.write(to: &context)
            case .identifier(let name): context.append(identifier: name)
            case .columns(let selections, let table, let qualifier):
                try context.inScope({ $0.qualifyColumns(ofTable: table, with: qualifier) }) { context in
                    try context.append(selections, separator: ", ") { try $0.write(to: &$1) }
                }
            case .commonTable(let table): try table.write(to: &context)
            }
        }
    }
}

// MARK: - Composing

extension SQL {
    /// Appends another literal.
    public mutating func append(literal sqlLiteral: SQL) {
        elements.append(contentsOf: sqlLiteral.elements)
    }

    /// Appends plain SQL.
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements.append(.sql(sql, arguments))
    }

    /// Appends another literal.
    public static func += (lhs: inout SQL, rhs: SQL) {
        lhs.append(literal: rhs)
    }

    /// Both literals, one after the other.
    public static func + (lhs: SQL, rhs: SQL) -> SQL {
        SQL(elements: lhs.elements + rhs.elements)
    }
}

extension Sequence where Element == SQL {
    /// The literals, one after the other, with a separator between them. The separator is plain SQL.
    public func joined(separator: String = "") -> SQL {
        var result: [SQL.Element] = []
        for (index, sql) in enumerated() {
            if index > 0, !separator.isEmpty { result.append(.sql(separator, StatementArguments())) }
            result.append(contentsOf: sql.elements)
        }
        return SQL(elements: result)
    }
}

// MARK: - In expressions, selections and orderings

extension SQL: SQLSpecificExpressible {
    public var sqlExpression: SQLExpression { SQLExpression(impl: .literal(self)) }
    public var sqlSelection: SQLSelection { SQLSelection(impl: .literal(self)) }
    public var sqlOrdering: SQLOrdering { SQLOrdering(impl: .literal(self)) }
}

// MARK: - As a string literal

extension SQL: ExpressibleByStringInterpolation {
    public init(unicodeScalarLiteral: String) { self.init(sql: unicodeScalarLiteral) }
    public init(extendedGraphemeClusterLiteral: String) { self.init(sql: extendedGraphemeClusterLiteral) }

    /// Creates a literal without interpolation: the string is plain SQL.
    public init(stringLiteral: String) { self.init(sql: stringLiteral) }

    public init(stringInterpolation sqlInterpolation: SQLInterpolation) { self.init(elements: sqlInterpolation.elements) }
}
