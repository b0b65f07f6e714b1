/// A request whose selection can be changed.
public protocol SelectionRequest {
    /// Selects what a closure returns once there is a connection, in place of what was selected before.
    func selectWhenConnected(_ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable])
        -> Self

    /// Selects what a closure returns once there is a connection, after what was selected before.
    func annotatedWhenConnected(with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable])
        -> Self

    /// Selects columns and expressions, in place of what was selected before.
    ///
    ///     // SELECT "fileName", "size" / 1024 AS "kilobytes" FROM "attachment"
    ///     Attachment.all().select([Column("fileName"), (Column("size") / 1024).forKey("kilobytes")])
    func select(_ selection: [any SQLSelectable]) -> Self

    /// Selects columns and expressions, after what was selected before.
    ///
    ///     // SELECT *, "worth" * "amount" AS "value" FROM "item"
    ///     Item.all().annotated(with: [(Column("worth") * Column("amount")).forKey("value")])
    func annotated(with selection: [any SQLSelectable]) -> Self
}

extension SelectionRequest {
    public func select(_ selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return selectWhenConnected { _ in selection }
    }

    public func annotated(with selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return annotatedWhenConnected { _ in selection }
    }

    /// Selects columns and expressions, in place of what was selected before.
    public func select(_ selection: any SQLSelectable...) -> Self { select(selection) }

    /// Selects columns and expressions, after what was selected before.
    public func annotated(with selection: any SQLSelectable...) -> Self { annotated(with: selection) }

    /// Selects what SQL says, in place of what was selected before.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public func select(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        select(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Selects what an SQL literal says, in place of what was selected before.
    public func select(literal sqlLiteral: SQL) -> Self { select([sqlLiteral]) }
}

extension SelectionRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Selects columns and expressions, in place of what was selected before.
    public func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self {
        try select(selection(RowDecoder.databaseComponents))
    }

    /// Selects a column or an expression, in place of what was selected before.
    public func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try select([selection(RowDecoder.databaseComponents)])
    }

    /// Selects columns and expressions, after what was selected before.
    public func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self
    {
        try annotated(with: selection(RowDecoder.databaseComponents))
    }

    /// Selects a column or an expression, after what was selected before.
    public func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try annotated(with: [selection(RowDecoder.databaseComponents)])
    }
}
