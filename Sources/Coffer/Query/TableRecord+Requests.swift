// The request methods of a record type are those of the request for all of its rows.

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

    /// Selects what SQL says.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public static func select(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// Selects what an SQL literal says.
    public static func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: sqlLiteral)
    }

    /// Selects columns and expressions, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: what each row becomes.
    public static func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// Selects columns and expressions, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: what each row becomes.
    public static func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self)
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
    public static func select<T>(
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
    public static func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<
        T
    > {
        all().select(literal: sqlLiteral, as: type)
    }

    /// Selects the primary key, or the row ID if the table declares none.
    public static func selectPrimaryKey<PrimaryKey>(as type: PrimaryKey.Type = PrimaryKey.self)
        -> QueryInterfaceRequest<PrimaryKey>
    {
        all().selectPrimaryKey(as: type)
    }

    /// Selects columns and expressions after all columns.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Selects columns and expressions after all columns.
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

    /// Selects columns and expressions, of which each row becomes a value of some type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: what each row becomes.
    public static func select<T>(
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
    public static func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows
        -> QueryInterfaceRequest<T>
    {
        try all().select(selection, as: type)
    }

    /// Selects columns and expressions after all columns.
    public static func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection)
    }

    /// Selects a column or an expression after all columns.
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
    /// The rows that meet a condition.
    public static func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().filter(predicate)
    }

    /// The rows that meet a condition written in SQL.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public static func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// The rows that meet a condition written as an SQL literal.
    public static func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: sqlLiteral)
    }

    /// The row with a primary key.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// The rows with some primary keys.
    public static func filter<Keys>(keys: Keys) -> QueryInterfaceRequest<Self>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        all().filter(keys: keys)
    }

    /// The row with a primary or unique key: a value for each of its columns. No row has the key nil.
    public static func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<Self>
    { all().filter(key: key) }

    /// The rows with some primary or unique keys: each a value for each of its columns.
    public static func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<
        Self
    > { all().filter(keys: keys) }

    /// The rows that meet a condition.
    public static func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> QueryInterfaceRequest<
            Self
        >
    {
        try all().filter(predicate)
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// The row with a primary key.
    public static func filter(id: Self.ID) -> QueryInterfaceRequest<Self> { all().filter(id: id) }

    /// The rows with some primary keys.
    public static func filter(ids: some Collection<Self.ID>) -> QueryInterfaceRequest<Self> {
        all().filter(ids: ids)
    }
}

// MARK: - Sorting

extension TableRecord {
    /// All rows, sorted by expressions.
    public static func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// All rows, sorted by expressions.
    public static func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// All rows, sorted by what SQL says.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never put values into it: use arguments.
    ///   - arguments: the values of its parameters.
    public static func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// All rows, sorted by what an SQL literal says.
    public static func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: sqlLiteral)
    }

    /// All rows, sorted by the primary key, or by the row ID if the table declares none.
    public static func orderByPrimaryKey() -> QueryInterfaceRequest<Self> { all().orderByPrimaryKey() }

    /// All rows, sorted by expressions.
    public static func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(orderings)
    }

    /// All rows, sorted by an expression.
    public static func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(ordering)
    }
}

extension TableRecord {
    /// The request for all rows, of which each becomes a record.
    ///
    ///     // SELECT * FROM "share"
    ///     let everyShare = try Share.all().fetchAll(db)
    ///
    /// What it selects is ``databaseSelection``.
    public static func all() -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            relation: Relation(table: databaseTableName, selection: databaseSelection.map(\.sqlSelection)))
    }

    /// The request for no row.
    public static func none() -> QueryInterfaceRequest<Self> { all().none() }

    /// The request whose table an alias refers to.
    public static func aliased(_ alias: TableAlias<Self>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// The request whose table an alias refers to.
    public static func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// The request with the definition of a common table expression.
    public static func with<RowDecoder>(_ cte: CommonTableExpression<RowDecoder>) -> QueryInterfaceRequest<
        Self
    > { all().with(cte) }

    /// The request for at most so many rows, after leaving out some.
    ///
    /// - Parameters:
    ///   - limit: how many rows there are at most.
    ///   - offset: how many rows are passed over before; nil is none.
    public static func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(limit, offset: offset)
    }

    /// How many columns requests select unless they say otherwise.
    public static func numberOfSelectedColumns(_ db: Database) throws -> Int {
        try all().relation.selectedColumnCount(db)
    }
}
