/// A query with a name, which other parts of a request can select from: a view for one request.
///
///     // WITH "heavy" AS (SELECT "ownerId" FROM "item" WHERE "weight" > 20000)
///     // SELECT * FROM "owner" WHERE "id" IN (SELECT * FROM "heavy")
///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 }.select(\.ownerId))
///     let carriers = Owner.with(heavy).filter { heavy.all().contains($0.id) }
///
/// `RowDecoder` says what its rows become when they are fetched: ``Row``, unless you say otherwise.
public struct CommonTableExpression<RowDecoder>: Sendable {
    /// What the request calls it.
    public var tableName: String { definition.name }

    let definition: SQLCommonTable

    private init(_ tableName: String, recursive: Bool, columns: [String]?, query: SQLSubquery) {
        definition = SQLCommonTable(name: tableName, columns: columns, query: query, isRecursive: recursive)
    }

    /// Names the query of a request.
    ///
    /// - Parameters:
    ///   - recursive: whether the query may read what it has found itself: see
    ///     <https://www.sqlite.org/lang_with.html>.
    ///   - tableName: its name, which should not be that of a table.
    ///   - columns: the names of its columns; nil for those of the query.
    ///   - request: the query.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(tableName, recursive: recursive, columns: columns, query: request.sqlSubquery)
    }

    /// Names a query in plain SQL; see `init(recursive:named:columns:request:)`.
    ///
    /// - Parameters:
    ///   - recursive: whether the expression may name itself.
    ///   - tableName: the name of the expression in other requests.
    ///   - columns: the names of its columns; nil takes those of the statement.
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

    /// Names a query in an SQL literal, whose values become arguments; see
    /// `init(recursive:named:columns:request:)`.
    ///
    /// - Parameters:
    ///   - recursive: whether the expression may name itself.
    ///   - tableName: the name of the expression in other requests.
    ///   - columns: the names of its columns; nil takes those of the statement.
    ///   - sqlLiteral: a `SELECT` statement, in which values are arguments.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL
    ) {
        self.init(
            tableName, recursive: recursive, columns: columns, query: SQLSubquery(impl: .literal(sqlLiteral)))
    }
}

extension CommonTableExpression where RowDecoder == Row {
    /// Names the query of a request, whose rows are fetched as ``Row``.
    ///
    /// - Parameters:
    ///   - recursive: whether the expression may name itself.
    ///   - tableName: the name of the expression in other requests.
    ///   - columns: the names of its columns; nil takes those of the request.
    ///   - request: where its rows come from.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(tableName, recursive: recursive, columns: columns, query: request.sqlSubquery)
    }

    /// Names a query in plain SQL, whose rows are fetched as ``Row``.
    ///
    /// - Parameters:
    ///   - recursive: whether the expression may name itself.
    ///   - tableName: the name of the expression in other requests.
    ///   - columns: the names of its columns; nil takes those of the statement.
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

    /// Names a query in an SQL literal, whose rows are fetched as ``Row``.
    ///
    /// - Parameters:
    ///   - recursive: whether the expression may name itself.
    ///   - tableName: the name of the expression in other requests.
    ///   - columns: the names of its columns; nil takes those of the statement.
    ///   - sqlLiteral: a `SELECT` statement, in which values are arguments.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL
    ) {
        self.init(
            tableName, recursive: recursive, columns: columns, query: SQLSubquery(impl: .literal(sqlLiteral)))
    }
}

extension CommonTableExpression {
    /// The request for all of its rows. The request that is executed needs the definition, by `with(_:)`.
    ///
    ///     // WITH "heavy" AS (...) SELECT * FROM "heavy"
    ///     let rows = try heavy.all().with(heavy).fetchAll(db)
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(relation: Relation(table: tableName, selection: [.allColumns]))
    }

    /// The expression `element IN name`, for a common table expression of one column.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(impl: .isIn(element.sqlExpression, .table(tableName), isNegated: false))
    }
}
