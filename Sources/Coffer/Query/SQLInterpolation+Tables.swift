extension SQLInterpolation {
    /// Appends the name of the table of a record type.
    ///
    ///     // SELECT * FROM "attachment"
    ///     "SELECT * FROM \(Attachment.self)"
    public mutating func appendInterpolation(_ table: (some TableRecord).Type) {
        append(.identifier(table.databaseTableName))
    }

    /// Appends the name of the table of a record type.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ table: any TableRecord.Type) {
        append(.identifier(table.databaseTableName))
    }

    /// Appends the name of the table of a record.
    public mutating func appendInterpolation(tableOf record: some TableRecord) {
        append(.identifier(type(of: record).databaseTableName))
    }

    /// Appends the name of the table of a record.
    public mutating func appendInterpolation(tableOf record: any TableRecord) {
        append(.identifier(type(of: record).databaseTableName))
    }

    /// Appends the name of a table.
    public mutating func appendInterpolation<T>(_ table: Table<T>) {
        append(.identifier(table.tableName))
    }

    /// Appends the selection of a record type, with the name of the table before each column.
    ///
    ///     // SELECT "item".* FROM "item" JOIN "share" ON itemId = item.id
    ///     "SELECT \(columnsOf: Item.self) FROM \(Item.self) JOIN \(Share.self) ON itemId = item.id"
    ///
    /// - Parameters:
    ///   - recordType: the type whose ``TableRecord/databaseSelection`` is selected.
    ///   - tableAlias: the alias of the table in this SQL; nil uses the name of the table.
    public mutating func appendInterpolation(
        columnsOf recordType: (some TableRecord).Type, tableAlias: String? = nil
    ) {
        let tableName = recordType.databaseTableName
        append(
            .columns(
                recordType.databaseSelection.map(\.sqlSelection), table: tableName,
                qualifier: tableAlias ?? tableName))
    }

    /// Appends the name of a common table expression.
    public mutating func appendInterpolation(_ cte: CommonTableExpression<some Any>) {
        append(.identifier(cte.tableName))
    }

    /// Appends the definition of a common table expression. Write the keyword before it yourself: `WITH` or
    /// `WITH RECURSIVE`.
    ///
    ///     // WITH "heavy" AS (SELECT * FROM "item" WHERE "weight" > ?) SELECT * FROM "heavy"
    ///     "WITH \(definitionFor: heavy) SELECT * FROM \(heavy)"
    public mutating func appendInterpolation(definitionFor cte: CommonTableExpression<some Any>) {
        append(.commonTable(cte.definition))
    }
}
