/// A type that can be written as an SQL expression: values, columns, and expressions built from them.
public protocol SQLExpressible {
    /// The SQL expression for this value.
    var sqlExpression: SQLExpression { get }
}

/// A type that can be selected by a request.
public protocol SQLSelectable {
    /// The SQL selection for this value.
    var sqlSelection: SQLSelection { get }
}

/// A type that can be a term of an `ORDER BY` clause.
public protocol SQLOrderingTerm {
    /// The SQL ordering for this value.
    var sqlOrdering: SQLOrdering { get }
}

/// A type whose Swift operators build SQL expressions: columns and expressions, but not plain Swift values.
public protocol SQLSpecificExpressible: SQLExpressible, SQLSelectable, SQLOrderingTerm {}

extension SQLSpecificExpressible {
    public var sqlSelection: SQLSelection { SQLSelection(impl: .expression(sqlExpression)) }
    public var sqlOrdering: SQLOrdering { SQLOrdering(impl: .expression(sqlExpression)) }
}
