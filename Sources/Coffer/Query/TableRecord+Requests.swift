// The request methods of a record type forward to the request for all of its rows.

// MARK: - Selecting

extension TableRecord {
    /// Selects columns and expressions.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Selects columns and expressions.
    public static func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Selects expressions written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public static func select(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// Selects the expressions of an SQL literal.
    public static func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: sqlLiteral)
    }

    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public static func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public static func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self)
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
    public static func select<T>(
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
    public static func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<
        T
    > {
        all().select(literal: sqlLiteral, as: type)
    }

    /// Selects the primary key, or the row ID if the table declares no primary key.
    public static func selectPrimaryKey<PrimaryKey>(as type: PrimaryKey.Type = PrimaryKey.self)
        -> QueryInterfaceRequest<PrimaryKey>
    {
        all().selectPrimaryKey(as: type)
    }

    /// Adds columns and expressions to the selection.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Adds columns and expressions to the selection.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Selects columns and expressions.
    public static func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().select(selection)
    }

    /// Selects a column or an expression.
    public static func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().select(selection)
    }

    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public static func select<T>(
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
    public static func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows
        -> QueryInterfaceRequest<T>
    {
        try all().select(selection, as: type)
    }

    /// Adds columns and expressions to the selection.
    public static func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection)
    }

    /// Adds a column or an expression to the selection.
    public static func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection)
    }
}

extension TableRecord where Self: Identifiable {
    /// Selects the primary key, which must have one column.
    public static func selectID() -> QueryInterfaceRequest<Self.ID> { all().selectID() }
}

// MARK: - Filtering

extension TableRecord {
    /// Returns a request for the rows that meet a condition.
    public static func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().filter(predicate)
    }

    /// Returns a request for the rows that meet a condition written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public static func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// Returns a request for the rows that meet a condition written as an SQL literal.
    public static func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: sqlLiteral)
    }

    /// Returns a request for the row with a primary key.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with the given primary keys.
    public static func filter<Keys>(keys: Keys) -> QueryInterfaceRequest<Self>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        all().filter(keys: keys)
    }

    /// Returns a request for the row with a primary or unique key, given as values by column name. The key
    /// nil matches no row.
    public static func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<Self>
    { all().filter(key: key) }

    /// Returns a request for the rows with the given primary or unique keys, each given as values by column
    /// name.
    public static func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<
        Self
    > { all().filter(keys: keys) }

    /// Returns a request for the rows that meet a condition.
    public static func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> QueryInterfaceRequest<
            Self
        >
    {
        try all().filter(predicate)
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Returns a request for the row with a primary key.
    public static func filter(id: Self.ID) -> QueryInterfaceRequest<Self> { all().filter(id: id) }

    /// Returns a request for the rows with the given primary keys.
    public static func filter(ids: some Collection<Self.ID>) -> QueryInterfaceRequest<Self> {
        all().filter(ids: ids)
    }
}

// MARK: - Sorting

extension TableRecord {
    /// Returns a request for all rows, sorted by expressions.
    public static func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// Returns a request for all rows, sorted by expressions.
    public static func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// Returns a request for all rows, sorted by terms written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Pass values as arguments, and never as a part of the text.
    ///   - arguments: the values of its parameters.
    public static func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// Returns a request for all rows, sorted by the terms of an SQL literal.
    public static func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: sqlLiteral)
    }

    /// Returns a request for all rows, sorted by the primary key, or by the row ID if the table declares no
    /// primary key.
    public static func orderByPrimaryKey() -> QueryInterfaceRequest<Self> { all().orderByPrimaryKey() }

    /// Returns a request for all rows, sorted by expressions.
    public static func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(orderings)
    }

    /// Returns a request for all rows, sorted by an expression.
    public static func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(ordering)
    }
}

extension TableRecord {
    /// Returns a request for all rows, each decoded as a record.
    ///
    ///     // SELECT * FROM "share"
    ///     let everyShare = try Share.all().fetchAll(db)
    ///
    /// It selects ``databaseSelection``.
    public static func all() -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            relation: Relation(table: databaseTableName, selection: databaseSelection.map(\.sqlSelection)))
    }

    /// Returns a request that matches no row.
    public static func none() -> QueryInterfaceRequest<Self> { all().none() }

    /// Returns a request with an alias for its table.
    public static func aliased(_ alias: TableAlias<Self>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// Returns a request with an alias for its table.
    public static func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// Returns a request that defines a common table expression.
    public static func with<RowDecoder>(_ cte: CommonTableExpression<RowDecoder>) -> QueryInterfaceRequest<
        Self
    > { all().with(cte) }

    /// Returns a request for at most `limit` rows, after `offset` rows are skipped.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of rows.
    ///   - offset: the number of rows to skip; nil skips none.
    public static func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(limit, offset: offset)
    }

    /// Returns the number of columns that requests select by default.
    public static func numberOfSelectedColumns(_ db: Database) throws -> Int {
        try all().relation.selectedColumnCount(db)
    }
}
