/// What a request selects: an expression, an expression with a name, all columns, or SQL.
public struct SQLSelection: SQLSelectable, Sendable {
    enum Impl: Sendable {
        case allColumns
        case expression(SQLExpression)
        case aliased(SQLExpression, name: String)
        case literal(SQL)
    }

    let impl: Impl

    public var sqlSelection: SQLSelection { self }

    func write(to context: inout SQLGenerationContext) throws {
        switch impl {
        case .allColumns:
            context.append("*")
        case .expression(let expression):
            try expression.write(to: &context)
        case .aliased(let expression, let name):
            try expression.write(to: &context, asOperand: true)
            context.append(" AS ")
            context.append(identifier: name)
        case .literal(let sql):
            try sql.write(to: &context)
        }
    }
}

/// All columns of the tables of a request: `*`.
public struct AllColumns: SQLSelectable, Sendable {
    public init() {}

    public var sqlSelection: SQLSelection { SQLSelection(impl: .allColumns) }
}

extension SQLSelectable where Self == AllColumns {
    /// All columns of the tables of a request: `*`.
    public static var allColumns: AllColumns { AllColumns() }
}

extension SQLSpecificExpressible {
    /// The expression, selected under a name: `expression AS "key"`.
    public func forKey(_ key: String) -> SQLSelection {
        SQLSelection(impl: .aliased(sqlExpression, name: key))
    }

    /// The expression, selected under the name of a coding key: `expression AS "key"`.
    public func forKey(_ key: some CodingKey) -> SQLSelection {
        forKey(key.stringValue)
    }
}
