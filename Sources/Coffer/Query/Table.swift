/// A table, for requests without a record type.
///
///     // SELECT * FROM "item" WHERE "name" = 'ring' LIMIT 1
///     let row = try Table("item").filter(Column("name") == "ring").fetchOne(db)
///
/// `RowDecoder` is the type that rows are decoded to: ``Row`` by default, or another type, as in
/// `Table<Player>("player")`.
public struct Table<RowDecoder>: TypedRequest, Sendable {
    /// The name of the table or view.
    public var tableName: String

    /// Creates a table with a name, which may contain any characters.
    public init(_ tableName: String) { self.tableName = tableName }
}

extension Table where RowDecoder == Row {
    /// Creates a table whose rows are fetched as ``Row``. The name may contain any characters.
    public init(_ tableName: String) { self.tableName = tableName }
}

extension Table: DatabaseRegionConvertible {
    /// Returns the region of the whole table.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { DatabaseRegion(table: tableName) }
}

// MARK: - Requests

extension Table {
    /// Returns a request for all rows.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(relation: Relation(table: tableName, selection: [.allColumns]))
    }

    /// Returns a request that matches no row.
    public func none() -> QueryInterfaceRequest<RowDecoder> { all().none() }

    /// Returns a request with an alias for its table.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// Returns a request with an alias for its table.
    public func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// Returns a request that defines a common table expression.
    public func with<T>(_ cte: CommonTableExpression<T>) -> QueryInterfaceRequest<RowDecoder> {
        all().with(cte)
    }

    /// Returns a request for at most `limit` rows, after `offset` rows are skipped.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of rows.
    ///   - offset: the number of rows to skip; nil skips none.
    public func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        all().limit(limit, offset: offset)
    }
}
