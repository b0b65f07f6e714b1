// The request methods of a table are those of the request for all of its rows.

// MARK: - Selecting

extension Table {
    /// Selects columns and expressions.
    public func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// Selects columns and expressions.
    public func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// Selects what SQL says.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public func select(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// Selects what an SQL literal says.
    public func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().select(literal: sqlLiteral)
    }

    /// Selects columns and expressions, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: what each row becomes.
    public func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// Selects columns and expressions, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: what each row becomes.
    public func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// Selects what SQL says, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - sql: the text of the selection.
    ///   - arguments: the values of its parameters.
    ///   - type: what each row becomes.
    public func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self
    )
        -> QueryInterfaceRequest<T>
    {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// Selects what an SQL literal says, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - sqlLiteral: the selection, in which values are arguments.
    ///   - type: what each row becomes.
    public func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        all().select(literal: sqlLiteral, as: type)
    }

    /// Selects the primary key, or the row ID if the table declares none.
    public func selectPrimaryKey<PrimaryKey>(as type: PrimaryKey.Type = PrimaryKey.self)
        -> QueryInterfaceRequest<PrimaryKey>
    {
        all().selectPrimaryKey(as: type)
    }

    /// Selects columns and expressions after all columns.
    public func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    /// Selects columns and expressions after all columns.
    public func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }
}

extension Table where RowDecoder: TableRecord {
    /// Selects columns and expressions.
    public func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().select(selection)
    }

    /// Selects a column or an expression.
    public func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().select(selection)
    }

    /// Selects columns and expressions, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: what each row becomes.
    public func select<T>(
        _ selection: (DatabaseComponents) throws -> [any SQLSelectable], as type: T.Type = T.self
    ) rethrows
        -> QueryInterfaceRequest<T>
    {
        try all().select(selection, as: type)
    }

    /// Selects a column or an expression, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: what each row becomes.
    public func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows
        -> QueryInterfaceRequest<T>
    {
        try all().select(selection, as: type)
    }

    /// Selects columns and expressions after all columns.
    public func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().annotated(with: selection)
    }

    /// Selects a column or an expression after all columns.
    public func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().annotated(with: selection)
    }
}

extension Table where RowDecoder: Identifiable {
    /// Selects the primary key, which must have one column.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> { all().selectID() }
}

// MARK: - Filtering

extension Table {
    /// The rows that meet a condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(predicate)
    }

    /// The rows that meet a condition written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// The rows that meet a condition written as an SQL literal.
    public func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(literal: sqlLiteral)
    }

    /// The row with a primary key.
    public func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// The rows with some primary keys.
    public func filter<Keys>(keys: Keys) -> QueryInterfaceRequest<RowDecoder>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        all().filter(keys: keys)
    }

    /// The row with a primary or unique key: a value for each of its columns. No row has the key nil.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// The rows with some primary or unique keys: each a value for each of its columns.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<RowDecoder>
    { all().filter(keys: keys) }
}

extension Table where RowDecoder: TableRecord {
    /// The rows that meet a condition.
    public func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().filter(predicate)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// The row with a primary key.
    public func filter(id: RowDecoder.ID) -> QueryInterfaceRequest<RowDecoder> { all().filter(id: id) }

    /// The rows with some primary keys.
    public func filter(ids: some Collection<RowDecoder.ID>) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(ids: ids)
    }
}

// MARK: - Sorting

extension Table {
    /// All rows, sorted by expressions.
    public func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// All rows, sorted by expressions.
    public func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// All rows, sorted by what SQL says.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// All rows, sorted by what an SQL literal says.
    public func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().order(literal: sqlLiteral)
    }

    /// All rows, sorted by the primary key, or by the row ID if the table declares none.
    public func orderByPrimaryKey() -> QueryInterfaceRequest<RowDecoder> { all().orderByPrimaryKey() }
}

extension Table where RowDecoder: TableRecord {
    /// All rows, sorted by expressions.
    public func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().order(orderings)
    }

    /// All rows, sorted by an expression.
    public func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().order(ordering)
    }
}
