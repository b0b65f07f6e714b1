/// A type that can be written as an SQL expression: values, columns, and what is built of them.
public protocol SQLExpressible {
    /// The expression that stands for this value in SQL.
    var sqlExpression: SQLExpression { get }
}

/// A type that can stand in the list of selected columns.
public protocol SQLSelectable {
    /// The selection that stands for this value in SQL.
    var sqlSelection: SQLSelection { get }
}

/// A type that can stand in an `ORDER BY` clause.
public protocol SQLOrderingTerm {
    /// The ordering that stands for this value in SQL.
    var sqlOrdering: SQLOrdering { get }
}

/// A type whose Swift operators build SQL expressions: columns and expressions, but not plain Swift values.
public protocol SQLSpecificExpressible: SQLExpressible, SQLSelectable, SQLOrderingTerm {}

extension SQLSpecificExpressible {
    public var sqlSelection: SQLSelection { SQLSelection(impl: .expression(sqlExpression)) }
    public var sqlOrdering: SQLOrdering { SQLOrdering(impl: .expression(sqlExpression)) }
}
