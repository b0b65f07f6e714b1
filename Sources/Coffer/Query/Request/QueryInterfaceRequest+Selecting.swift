extension QueryInterfaceRequest {
    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    ///     // SELECT SUM("size") FROM "attachment" WHERE "itemId" = 4
    ///     let bytes = try Attachment.filter { $0.itemId == 4 }.select([sum(Column("size"))], as: Int.self).fetchOne(db)
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        select(selection).asRequest(of: type)
    }

    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        select(selection, as: type)
    }

    /// Selects expressions written in SQL, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - sql: the text of the selection.
    ///   - arguments: the values of its parameters.
    ///   - type: the type that each row is decoded to.
    public func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        select(literal: SQL(sql: sql, arguments: arguments), as: type)
    }

    /// Selects the expressions of an SQL literal, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - sqlLiteral: the selection, with values as arguments.
    ///   - type: the type that each row is decoded to.
    public func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select([sqlLiteral], as: type)
    }

    /// Selects the primary key, or the row ID if the table declares no primary key.
    ///
    ///     // SELECT "id" FROM "attachment"
    ///     let known = try Attachment.selectPrimaryKey(as: UUID.self).fetchSet(db)
    public func selectPrimaryKey<PrimaryKey>(as type: PrimaryKey.Type = PrimaryKey.self)
        -> QueryInterfaceRequest<PrimaryKey>
    {
        let tableName = databaseTableName
        return selectWhenConnected { db in try db.primaryKey(tableName).columns.map { Column($0) } }
            .asRequest(of: type)
    }
}

extension QueryInterfaceRequest where RowDecoder: Identifiable {
    /// Selects the primary key, which must have one column.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> {
        selectPrimaryKey(as: RowDecoder.ID.self)
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// Selects columns and expressions, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(
        _ selection: (DatabaseComponents) throws -> [any SQLSelectable], as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        try select(selection(RowDecoder.databaseComponents), as: type)
    }

    /// Selects a column or an expression, and decodes each row to the given type.
    ///
    /// - Parameters:
    ///   - selection: the columns or expressions to fetch.
    ///   - type: the type that each row is decoded to.
    public func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        try select([selection(RowDecoder.databaseComponents)], as: type)
    }
}
