/// An SQL expression, ready to be written into a request.
///
/// Build expressions with operators and functions on columns, such as `Column("score") + 10`, or from SQL, such as
/// `SQL("DATE(\(Column("createdAt")))").sqlExpression`.
public struct SQLExpression: SQLSpecificExpressible, Sendable {
    /// The forms of an expression. How each one is written is in one place: ``write(to:asOperand:)``.
    indirect enum Impl: Sendable {
        case databaseValue(DatabaseValue)
        /// A boolean constant, written as 1 or 0, so that SQLite can match the conditions of partial indexes.
        case boolean(Bool)
        case column(String)
        case literal(SQL)
        case subquery(SQLSubquery)
        case unary(UnaryOperator, SQLExpression)
        case binary(BinaryOperator, SQLExpression, SQLExpression)
        case associative(AssociativeBinaryOperator, [SQLExpression])
        case not(SQLExpression)
        case like(SQLExpression, pattern: SQLExpression, escape: SQLExpression?, isNegated: Bool)
        case between(SQLExpression, SQLExpression, SQLExpression, isNegated: Bool)
        case isIn(SQLExpression, Members, isNegated: Bool)
        case exists(SQLSubquery, isNegated: Bool)
        case collated(SQLExpression, Database.CollationName)
        case function(String, [SQLExpression])
    }

    /// The right-hand side of `IN`.
    enum Members: Sendable {
        case list([SQLExpression])
        case subquery(SQLSubquery)
    }

    let impl: Impl

    /// The expression of a plain value, which is bound as an argument and never written into the SQL text.
    static func databaseValue(_ value: DatabaseValue) -> SQLExpression { SQLExpression(impl: .databaseValue(value)) }

    /// The call of an SQL function. The name is written as it is: it must never come from outside.
    static func function(_ name: String, _ arguments: [SQLExpression]) -> SQLExpression {
        SQLExpression(impl: .function(name, arguments))
    }

    public var sqlExpression: SQLExpression { self }
}

extension SQLExpression.Impl {
    /// Whether the expression needs parentheses when it is the operand of an operator.
    var isComposite: Bool {
        switch self {
        case .databaseValue, .boolean, .column, .subquery, .collated, .function: false
        case .exists(_, let isNegated): isNegated
        case .literal, .unary, .binary, .associative, .not, .like, .between, .isIn: true
        }
    }

    /// Whether the expression is the value NULL.
    var isNull: Bool {
        if case .databaseValue(let value) = self { value.isNull } else { false }
    }
}

// MARK: - SQL

extension SQLExpression {
    /// Writes the expression, in parentheses if it is the operand of an operator and has an operator itself.
    func write(to context: inout SQLGenerationContext, asOperand: Bool = false) throws {
        guard asOperand, impl.isComposite else { return try writeBare(to: &context) }
        context.append("(")
        try writeBare(to: &context)
        context.append(")")
    }

    private func writeBare(to context: inout SQLGenerationContext) throws {
        switch impl {
        case .databaseValue(let value):
            context.append(value)
        case .boolean(let value):
            context.append(value ? "1" : "0")
        case .column(let name):
            context.append(identifier: name)
        case .literal(let sql):
            try sql.write(to: &context)
        case .subquery(let subquery):
            try subquery.writeInParentheses(to: &context)
        case .unary(let op, let operand):
            context.append(op.sql)
            // Never two signs in a row: `--` would start a comment.
            try operand.write(to: &context, asOperand: true)
        case .binary(let op, let lhs, let rhs):
            try lhs.write(to: &context, asOperand: true)
            context.append(" \(op.sql) ")
            try rhs.write(to: &context, asOperand: true)
        case .associative(let op, let operands):
            try context.append(operands, separator: " \(op.sql) ") { try $0.write(to: &$1, asOperand: true) }
        case .not(let operand):
            context.append("NOT ")
            try operand.write(to: &context, asOperand: true)
        case .like(let operand, let pattern, let escape, let isNegated):
            try operand.write(to: &context, asOperand: true)
            context.append(isNegated ? " NOT LIKE " : " LIKE ")
            try pattern.write(to: &context, asOperand: true)
            if let escape {
                context.append(" ESCAPE ")
                try escape.write(to: &context, asOperand: true)
            }
        case .between(let operand, let lower, let upper, let isNegated):
            try operand.write(to: &context, asOperand: true)
            context.append(isNegated ? " NOT BETWEEN " : " BETWEEN ")
            try lower.write(to: &context, asOperand: true)
            context.append(" AND ")
            try upper.write(to: &context, asOperand: true)
        case .isIn(let operand, let members, let isNegated):
            try operand.write(to: &context, asOperand: true)
            context.append(isNegated ? " NOT IN " : " IN ")
            try members.write(to: &context)
        case .exists(let subquery, let isNegated):
            context.append(isNegated ? "NOT EXISTS " : "EXISTS ")
            try subquery.writeInParentheses(to: &context)
        case .collated(let operand, let collation):
            try operand.write(to: &context, asOperand: true)
            context.append(" COLLATE ")
            context.append(identifier: collation.rawValue)
        case .function(let name, let arguments):
            context.append(name)
            try context.writeList(arguments)
        }
    }
}

extension SQLExpression.Members {
    fileprivate func write(to context: inout SQLGenerationContext) throws {
        switch self {
        case .list(let expressions): try context.writeList(expressions)
        case .subquery(let subquery): try subquery.writeInParentheses(to: &context)
        }
    }
}

extension SQLSubquery {
    fileprivate func writeInParentheses(to context: inout SQLGenerationContext) throws {
        context.append("(")
        try write(to: &context)
        context.append(")")
    }
}

extension SQLGenerationContext {
    /// Writes expressions in parentheses, separated by commas.
    fileprivate mutating func writeList(_ expressions: [SQLExpression]) throws {
        append("(")
        try append(expressions, separator: ", ") { try $0.write(to: &$1) }
        append(")")
    }
}
