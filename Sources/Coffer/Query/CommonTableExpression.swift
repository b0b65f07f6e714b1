/// A named query that other parts of a request can select from, like a view for a single request.
///
///     // WITH "heavy" AS (SELECT "ownerId" FROM "item" WHERE "weight" > 20000)
///     // SELECT * FROM "owner" WHERE "id" IN (SELECT * FROM "heavy")
///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 }.select(\.ownerId))
///     let carriers = Owner.with(heavy).filter { heavy.all().contains($0.id) }
///
/// `RowDecoder` is the type that fetched rows are decoded to: ``Row`` by default.
public struct CommonTableExpression<RowDecoder>: Sendable {
    /// The name of the expression in the request.
    public var tableName: String { definition.name }

    let definition: SQLCommonTable

    private init(_ tableName: String, recursive: Bool, columns: [String]?, query: SQLSubquery) {
        definition = SQLCommonTable(name: tableName, columns: columns, query: query, isRecursive: recursive)
    }

    /// Creates a common table expression from a request.
    ///
    /// - Parameters:
    ///   - recursive: true if the query may read its own results: see
    ///     <https://www.sqlite.org/lang_with.html>.
    ///   - tableName: the name of the expression, which should differ from the names of tables.
    ///   - columns: the names of its columns; nil uses the column names of the query.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(tableName, recursive: recursive, columns: columns, query: request.sqlSubquery)
    }

    /// Creates a common table expression from plain SQL: see `init(recursive:named:columns:request:)`.
    ///
    /// - Parameters:
    ///   - recursive: true if the query may refer to the expression by its name.
    ///   - tableName: the name of the expression in other requests.
    ///   - columns: the names of its columns; nil uses the column names of the statement.
    ///   - sql: the text of a `SELECT` statement.
    ///   - arguments: the values of its parameters.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns,
            literal: SQL(sql: sql, arguments: arguments))
    }

    /// Creates a common table expression from SQL with interpolated values, which become arguments: see
    /// `init(recursive:named:columns:request:)`.
    ///
    /// - Parameters:
    ///   - recursive: true if the query may refer to the expression by its name.
    ///   - tableName: the name of the expression in other requests.
    ///   - columns: the names of its columns; nil uses the column names of the statement.
    ///   - sqlLiteral: a `SELECT` statement, with values as arguments.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL
    ) {
        self.init(
            tableName, recursive: recursive, columns: columns, query: SQLSubquery(impl: .literal(sqlLiteral)))
    }
}

extension CommonTableExpression where RowDecoder == Row {
    /// Creates a common table expression from a request, and fetches its rows as ``Row``: see
    /// `init(recursive:named:columns:request:)`.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(tableName, recursive: recursive, columns: columns, query: request.sqlSubquery)
    }

    /// Creates a common table expression from plain SQL, and fetches its rows as ``Row``: see
    /// `init(recursive:named:columns:sql:arguments:)`.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns,
            literal: SQL(sql: sql, arguments: arguments))
    }

    /// Creates a common table expression from SQL with interpolated values, and fetches its rows as ``Row``:
    /// see `init(recursive:named:columns:literal:)`.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL
    ) {
        self.init(
            tableName, recursive: recursive, columns: columns, query: SQLSubquery(impl: .literal(sqlLiteral)))
    }
}

extension CommonTableExpression {
    /// Returns a request for all of its rows. The executed request must define the expression with
    /// `with(_:)`.
    ///
    ///     // WITH "heavy" AS (...) SELECT * FROM "heavy"
    ///     let rows = try heavy.all().with(heavy).fetchAll(db)
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(relation: Relation(table: tableName, selection: [.allColumns]))
    }

    /// Returns the expression `element IN name`. The common table expression must have one column.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(impl: .isIn(element.sqlExpression, .table(tableName), isNegated: false))
    }
}
