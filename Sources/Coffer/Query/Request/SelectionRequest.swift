/// A request whose selection can be changed.
public protocol SelectionRequest {
    /// Selects the columns that a closure returns once a connection is available, replacing any previous
    /// selection.
    func selectWhenConnected(_ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable])
        -> Self

    /// Adds to the selection the columns that a closure returns once a connection is available.
    func annotatedWhenConnected(with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable])
        -> Self

    /// Selects columns and expressions, replacing any previous selection.
    ///
    ///     // SELECT "fileName", "size" / 1024 AS "kilobytes" FROM "attachment"
    ///     Attachment.all().select([Column("fileName"), (Column("size") / 1024).forKey("kilobytes")])
    func select(_ selection: [any SQLSelectable]) -> Self

    /// Adds columns and expressions to the selection.
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

    /// Selects columns and expressions, replacing any previous selection.
    public func select(_ selection: any SQLSelectable...) -> Self { select(selection) }

    /// Adds columns and expressions to the selection.
    public func annotated(with selection: any SQLSelectable...) -> Self { annotated(with: selection) }

    /// Selects expressions written in SQL, replacing any previous selection.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func select(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        select(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Selects the expressions of an SQL literal, replacing any previous selection.
    public func select(literal sqlLiteral: SQL) -> Self { select([sqlLiteral]) }
}

extension SelectionRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Selects columns and expressions, replacing any previous selection.
    public func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self {
        try select(selection(RowDecoder.databaseComponents))
    }

    /// Selects a column or an expression, replacing any previous selection.
    public func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try select([selection(RowDecoder.databaseComponents)])
    }

    /// Adds columns and expressions to the selection.
    public func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self
    {
        try annotated(with: selection(RowDecoder.databaseComponents))
    }

    /// Adds a column or an expression to the selection.
    public func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try annotated(with: [selection(RowDecoder.databaseComponents)])
    }
}
