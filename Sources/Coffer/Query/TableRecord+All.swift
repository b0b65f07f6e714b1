extension TableRecord {
    /// The request for all rows, of which each becomes a record.
    ///
    ///     // SELECT * FROM "player"
    ///     let players = try Player.all().fetchAll(db)
    ///
    /// What it selects is ``databaseSelection``.
    public static func all() -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            relation: Relation(table: databaseTableName, selection: databaseSelection.map(\.sqlSelection)))
    }

    /// The request for no row.
    public static func none() -> QueryInterfaceRequest<Self> { all().none() }

    /// The request whose table an alias refers to.
    public static func aliased(_ alias: TableAlias<Self>) -> QueryInterfaceRequest<Self> { all().aliased(alias) }

    /// The request whose table an alias refers to.
    public static func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<Self> { all().aliased(alias) }

    /// The request with the definition of a common table expression.
    public static func with<RowDecoder>(_ cte: CommonTableExpression<RowDecoder>) -> QueryInterfaceRequest<Self> { all().with(cte) }

    /// The request for at most so many rows, after leaving out some.
    public static func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> { all().limit(limit, offset: offset) }

    /// How many columns requests select unless they say otherwise.
    public static func numberOfSelectedColumns(_ db: Database) throws -> Int { try all().relation.selectedColumnCount(db) }
}
