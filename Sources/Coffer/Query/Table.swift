/// A table, for requests that no record type stands for.
///
///     // SELECT * FROM "item" WHERE "name" = 'ring' LIMIT 1
///     let row = try Table("item").filter(Column("name") == "ring").fetchOne(db)
///
/// `RowDecoder` says what its rows become: ``Row``, unless you say otherwise, as in
/// `Table<Player>("player")`.
public struct Table<RowDecoder>: TypedRequest, Sendable {
    /// The name of the table or view.
    public var tableName: String

    /// Creates a table from its name, which may contain anything.
    public init(_ tableName: String) { self.tableName = tableName }
}

extension Table where RowDecoder == Row {
    /// Creates a table of rows from its name, which may contain anything.
    public init(_ tableName: String) { self.tableName = tableName }
}

extension Table: DatabaseRegionConvertible {
    /// All of the table.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { DatabaseRegion(table: tableName) }
}

// MARK: - Requests

extension Table {
    /// The request for all rows.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(relation: Relation(table: tableName, selection: [.allColumns]))
    }

    /// The request for no row.
    public func none() -> QueryInterfaceRequest<RowDecoder> { all().none() }

    /// The request whose table an alias refers to.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// The request whose table an alias refers to.
    public func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// The request with the definition of a common table expression.
    public func with<T>(_ cte: CommonTableExpression<T>) -> QueryInterfaceRequest<RowDecoder> {
        all().with(cte)
    }

    /// The request for at most so many rows, after leaving out some.
    ///
    /// - Parameters:
    ///   - limit: how many rows there are at most.
    ///   - offset: how many rows are passed over before; nil is none.
    public func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        all().limit(limit, offset: offset)
    }
}
