// The request methods of a table forward to the request for all of its rows.

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

    /// Selects expressions written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func select(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// Selects the expressions of an SQL literal.
    public func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().select(literal: sqlLiteral)
    }

    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// Selects expressions written in SQL, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - sql: the text of the selection.
    ///   - arguments: the values of its parameters.
    ///   - type: the type that each row is decoded to.
    public func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self
    )
        -> QueryInterfaceRequest<T>
    {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// Selects the expressions of an SQL literal, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - sqlLiteral: the selection, with values as arguments.
    ///   - type: the type that each row is decoded to.
    public func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        all().select(literal: sqlLiteral, as: type)
    }

    /// Selects the primary key, or the row ID if the table declares no primary key.
    public func selectPrimaryKey<PrimaryKey>(as type: PrimaryKey.Type = PrimaryKey.self)
        -> QueryInterfaceRequest<PrimaryKey>
    {
        all().selectPrimaryKey(as: type)
    }

    /// Adds columns and expressions to the selection.
    public func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    /// Adds columns and expressions to the selection.
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

    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(
        _ selection: (DatabaseComponents) throws -> [any SQLSelectable], as type: T.Type = T.self
    ) rethrows
        -> QueryInterfaceRequest<T>
    {
        try all().select(selection, as: type)
    }

    /// Selects a column or an expression, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows
        -> QueryInterfaceRequest<T>
    {
        try all().select(selection, as: type)
    }

    /// Adds columns and expressions to the selection.
    public func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().annotated(with: selection)
    }

    /// Adds a column or an expression to the selection.
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
    /// Returns a request for the rows that meet a condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(predicate)
    }

    /// Returns a request for the rows that meet a condition written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// Returns a request for the rows that meet a condition written as an SQL literal.
    public func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(literal: sqlLiteral)
    }

    /// Returns a request for the row with a primary key.
    public func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with the given primary keys.
    public func filter<Keys>(keys: Keys) -> QueryInterfaceRequest<RowDecoder>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        all().filter(keys: keys)
    }

    /// Returns a request for the row with a primary or unique key, given as values by column name. The key
    /// nil matches no row.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with the given primary or unique keys, each given as values by column
    /// name.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<RowDecoder>
    { all().filter(keys: keys) }
}

extension Table where RowDecoder: TableRecord {
    /// Returns a request for the rows that meet a condition.
    public func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().filter(predicate)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Returns a request for the row with a primary key.
    public func filter(id: RowDecoder.ID) -> QueryInterfaceRequest<RowDecoder> { all().filter(id: id) }

    /// Returns a request for the rows with the given primary keys.
    public func filter(ids: some Collection<RowDecoder.ID>) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(ids: ids)
    }
}

// MARK: - Sorting

extension Table {
    /// Returns a request for all rows, sorted by expressions.
    public func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// Returns a request for all rows, sorted by expressions.
    public func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// Returns a request for all rows, sorted by terms written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// Returns a request for all rows, sorted by the terms of an SQL literal.
    public func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().order(literal: sqlLiteral)
    }

    /// Returns a request for all rows, sorted by the primary key, or by the row ID if the table declares no
    /// primary key.
    public func orderByPrimaryKey() -> QueryInterfaceRequest<RowDecoder> { all().orderByPrimaryKey() }
}

extension Table where RowDecoder: TableRecord {
    /// Returns a request for all rows, sorted by expressions.
    public func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().order(orderings)
    }

    /// Returns a request for all rows, sorted by an expression.
    public func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().order(ordering)
    }
}
