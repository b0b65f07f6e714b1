/// An expression that the JSON functions use as JSON, instead of as a string.
///
/// SQLite uses a text as JSON only if it comes directly from a JSON function. The content of a column is a
/// string, so `jsonArray(_:)` would quote JSON in it. Use ``JSONColumn``, or
/// ``SQLSpecificExpressible/asJSON``, to declare that a column contains JSON:
///
///     // JSON_ARRAY("name", JSONB("tags"))
///     Database.jsonArray([Column("name"), JSONColumn("tags")] as [any SQLExpressible])
///
/// This has no effect elsewhere: selections, conditions, and orderings use the unchanged expression.
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

/// A type-erased JSON expression, returned by ``SQLSpecificExpressible/asJSON``.
public struct AnySQLJSONExpressible: SQLJSONExpressible {
    public let sqlExpression: SQLExpression

    /// Creates a type-erased copy of an expression.
    public init(_ base: some SQLJSONExpressible) {
        self.init(json: base.sqlExpression)
    }

    init(json expression: SQLExpression) {
        if case .json = expression.impl {
            sqlExpression = expression
        } else {
            sqlExpression = SQLExpression(impl: .json(expression))
        }
    }
}

extension AnySQLJSONExpressible: Sendable {}

/// A column that contains JSON, as text or as a blob.
///
///     // SELECT * FROM "item" WHERE ("info" ->> 'color') = 'red'
///     Item.filter(JSONColumn("info")["color"] == "red")
///
/// In all other respects it is an ordinary column. Among the columns of a record type, it works in closures,
/// key paths, and table aliases:
///
///     enum Columns {
///         static let info = JSONColumn("info")
///         static let weight = Column("weight")
///     }
///
///     Item.filter { $0.info["color"] == "red" }
public struct JSONColumn: ColumnExpression, SQLJSONExpressible, Sendable {
    /// The name of the column, without quotes.
    public var name: String

    /// Creates a column from its name, which may contain any characters.
    public init(_ name: String) {
        self.name = name
    }

    /// Creates a column from a coding key.
    public init(_ codingKey: some CodingKey) {
        self.name = codingKey.stringValue
    }

    public var sqlExpression: SQLExpression { SQLExpression(impl: .json(SQLExpression(impl: .column(name)))) }
}

extension SQLSpecificExpressible {
    /// The expression, declared to contain JSON.
    ///
    ///     // "info" ->> 'color'
    ///     Column("info").asJSON["color"]
    public var asJSON: AnySQLJSONExpressible { AnySQLJSONExpressible(json: sqlExpression) }
}

// MARK: - Parts of a JSON value

extension SQLJSONExpressible {
    /// Returns a part of the JSON as an SQL value: the `->>` operator. A string becomes text without quotes,
    /// and an object or array becomes JSON text.
    ///
    ///     // "info" ->> 'color', "info" ->> '$.size.height', "info" ->> 0
    ///     JSONColumn("info")["color"]
    ///     JSONColumn("info")["$.size.height"]
    ///     JSONColumn("info")[0]
    ///
    /// See <https://www.sqlite.org/json1.html#jptr>.
    ///
    /// - Parameter path: a path, the name of an object member, or the index of an array element.
    public subscript(_ path: some SQLExpressible) -> SQLExpression {
        .binary(.jsonValue, self, path)
    }

    /// Returns a part of the JSON as an SQL value: the `JSON_EXTRACT` function.
    ///
    ///     // JSON_EXTRACT("info", '$.color')
    ///     JSONColumn("info").jsonExtract(atPath: "$.color")
    ///
    /// - Parameter path: a path, which starts with `$`.
    public func jsonExtract(atPath path: some SQLExpressible) -> SQLExpression {
        Database.jsonExtract(self, atPath: path)
    }

    /// Returns several parts of the JSON as a JSON array: the `JSON_EXTRACT` function. For a single path,
    /// returns its value.
    ///
    ///     // JSON_EXTRACT("info", '$.color', '$.size')
    ///     JSONColumn("info").jsonExtract(atPaths: ["$.color", "$.size"])
    ///
    /// - Parameter paths: paths, which start with `$`.
    public func jsonExtract(atPaths paths: some Collection<some SQLExpressible>) -> SQLExpression {
        Database.jsonExtract(self, atPaths: paths)
    }

    /// Returns a part of the JSON as JSON text: the `->` operator. A string keeps its quotes.
    ///
    ///     // "info" -> 'color'
    ///     JSONColumn("info").jsonRepresentation(atPath: "color")
    ///
    /// - Parameter path: a path, the name of an object member, or the index of an array element.
    public func jsonRepresentation(atPath path: some SQLExpressible) -> SQLExpression {
        .binary(.jsonRepresentation, self, path)
    }
}

// MARK: - Table aliases

extension TableAliasBase {
    /// Returns a JSON expression, with its columns qualified by the table.
    ///
    ///     // "item"."info" ->> 'color'
    ///     itemAlias[JSONColumn("info")]["color"]
    public subscript(expression: some SQLJSONExpressible) -> AnySQLJSONExpressible {
        AnySQLJSONExpressible(json: SQLExpression(impl: .qualified(expression.sqlExpression, self)))
    }
}

extension TableAlias where RowDecoder: TableRecord {
    /// Returns a JSON column of the table: `alias.info["color"]`.
    public subscript<T: SQLJSONExpressible>(dynamicMember keyPath: KeyPath<DatabaseComponents, T>)
        -> AnySQLJSONExpressible
    {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }
}
