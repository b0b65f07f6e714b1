/// SQL text together with its arguments, written as a string literal.
///
///     try db.execute(literal: "UPDATE item SET worth = worth * \(factor) WHERE ownerId = \(owner.id)")
///
/// Interpolated values become arguments of the statement: their content never becomes SQL. Expressions,
/// columns, sequences, subqueries, collations, other literals and plain SQL can be interpolated as well: see
/// ``SQLInterpolation``.
public struct SQL: Sendable {
    /// A part of a literal. Parts are generated as late as possible, because only a request knows how its
    /// columns must be qualified.
    enum Element: Sendable {
        case sql(String, StatementArguments)
        case expression(SQLExpression)
        case selection(SQLSelection)
        case ordering(SQLOrdering)
        case subquery(SQLSubquery)
        case identifier(String)
        /// The selected columns of a table, which are qualified.
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
    ///     let overweight = SQL(sql: "weight > ? AND amount > ?", arguments: [limit, 1])
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public init(sql: String, arguments: StatementArguments = StatementArguments()) {
        self.init(elements: [.sql(sql, arguments)])
    }

    /// Creates a literal from an expression.
    public init(_ expression: some SQLSpecificExpressible) {
        self.init(elements: [.expression(expression.sqlExpression)])
    }

    /// A Boolean value that indicates whether the literal is the empty string.
    public var isEmpty: Bool { elements.allSatisfy(\.isEmpty) }

    /// Returns the SQL text, with a question mark for each interpolated value, and the arguments.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if a named argument has two values.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        var writer = SQLWriter(db)
        try write(to: &writer)
        return (writer.sql, writer.arguments)
    }

    func write(to writer: inout SQLWriter) throws {
        for (index, element) in elements.enumerated() {
            switch element {
            case .sql(let sql, let arguments): try writer.append(sql: sql, arguments: arguments)
            case .expression(let expression):
                try expression.write(to: &writer, asOperand: !standsAlone(index))
            case .selection(let selection): try selection.write(to: &writer)
            case .ordering(let ordering): try ordering.write(to: &writer)
            case .subquery(let subquery): try subquery.write(to: &writer)
            case .identifier(let name): writer.append(identifier: name)
            case .columns(let selections, let table, let qualifier):
                try writer.inScope({ $0.qualifyColumns(ofTable: table, with: qualifier) }) { writer in
                    try writer.append(selections, separator: ", ") { try $0.write(to: &$1) }
                }
            case .commonTable(let table): try table.write(to: &writer)
            }
        }
    }
}

// MARK: - Parentheses

extension SQL {
    /// Returns true if the plain SQL around an expression shows that it is not the operand of an operator, as
    /// in `SELECT \(a + 1) AS b`. Then it needs no parentheses, and the text is the same as in views created
    /// with GRDB.
    ///
    /// The ends of the literal are such places, because a literal that is an operand has its own parentheses,
    /// and a literal in another one is written as a part of it.
    private func standsAlone(_ index: Int) -> Bool {
        stands(after: elements[..<index]) && stands(before: elements[(index + 1)...])
    }

    private func stands(after elements: ArraySlice<Element>) -> Bool {
        guard let element = elements.last(where: { !$0.isEmpty }) else { return true }
        return if case .sql(let text, _) = element { SQL.endsBeforeExpression(text) } else { false }
    }

    private func stands(before elements: ArraySlice<Element>) -> Bool {
        guard let element = elements.first(where: { !$0.isEmpty }) else { return true }
        return if case .sql(let text, _) = element { SQL.beginsAfterExpression(text) } else { false }
    }

    private static func endsBeforeExpression(_ sql: String) -> Bool {
        var rest = sql.utf8[...]
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        guard let last = rest.last else { return false }
        if last == UInt8(ascii: "(") || last == UInt8(ascii: ",") { return true }
        // Without a space before the expression, the preceding letters are not a separate word.
        guard rest.endIndex < sql.utf8.endIndex else { return false }
        let word = rest.suffix(while: isLetter)
        let isWhole = rest.dropLast(word.count).last.map { isSpace($0) || $0 == UInt8(ascii: "(") } ?? true
        return isWhole && wordsBefore.contains(String(Substring(word)).uppercased())
    }

    private static func beginsAfterExpression(_ sql: String) -> Bool {
        let rest = sql.utf8.drop(while: isSpace)
        guard let first = rest.first else { return false }
        if endsExpression(first) { return true }
        guard rest.startIndex > sql.utf8.startIndex else { return false }
        let word = rest.prefix(while: isLetter)
        let isWhole = rest.dropFirst(word.count).first.map { isSpace($0) || endsExpression($0) } ?? true
        return isWhole && wordsAfter.contains(String(Substring(word)).uppercased())
    }

    private static let wordsBefore: Set<String> = [
        "SELECT", "DISTINCT", "WHERE", "HAVING", "BY", "CASE", "WHEN", "THEN", "ELSE", "LIMIT", "OFFSET",
        "RETURNING",
    ]
    private static let wordsAfter: Set<String> = [
        "AS", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "WHEN", "THEN", "ELSE", "END",
        "ASC", "DESC", "UNION",
        "EXCEPT", "INTERSECT",
    ]

    private static func endsExpression(_ byte: UInt8) -> Bool {
        [UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";")].contains(byte)
    }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte & 0xdf) || byte == UInt8(ascii: "_")
    }
}

extension BidirectionalCollection {
    /// Returns the longest suffix whose elements meet a condition.
    fileprivate func suffix(while predicate: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, predicate(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}

// MARK: - Composing

extension SQL {
    /// Appends another literal.
    public mutating func append(literal sqlLiteral: SQL) {
        elements.append(contentsOf: sqlLiteral.elements)
    }

    /// Appends plain SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements.append(.sql(sql, arguments))
    }

    /// Appends another literal.
    public static func += (lhs: inout SQL, rhs: SQL) {
        lhs.append(literal: rhs)
    }

    /// Returns both literals, one after the other.
    public static func + (lhs: SQL, rhs: SQL) -> SQL {
        SQL(elements: lhs.elements + rhs.elements)
    }
}

extension Sequence where Element == SQL {
    /// Returns the literals, one after the other, with a separator between them. The separator is plain SQL.
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

    public init(stringInterpolation sqlInterpolation: SQLInterpolation) {
        self.init(elements: sqlInterpolation.elements)
    }
}
