/// An expression whose text is JSON for the functions of JSON, and not a string.
///
/// SQLite distinguishes the two only where it has just made the JSON itself. A column is text, so that
/// `jsonArray(_:)` would take the JSON in it for a string. Say with ``JSONColumn``, or with
/// ``SQLSpecificExpressible/asJSON``, what is in the column:
///
///     // JSON_ARRAY("name", JSONB("tags"))
///     Database.jsonArray([Column("name"), JSONColumn("tags")] as [any SQLExpressible])
///
/// Nowhere else does it make a difference: as a selection, a condition or an order, the expression is what it
/// would be otherwise.
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

/// Any expression whose text is JSON: what ``SQLSpecificExpressible/asJSON`` makes.
public struct AnySQLJSONExpressible: SQLJSONExpressible {
    public let sqlExpression: SQLExpression

    /// Creates the same expression.
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

/// A column whose text, or blob, is JSON.
///
///     // SELECT * FROM "item" WHERE ("info" ->> 'color') = 'red'
///     Item.filter(JSONColumn("info")["color"] == "red")
///
/// It is like any other column besides. Among the columns of a record type, it works in closures, key paths
/// and table aliases:
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

    /// Creates a column from its name, which may contain anything.
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
    /// The expression, whose text is JSON.
    ///
    ///     // "info" ->> 'color'
    ///     Column("info").asJSON["color"]
    public var asJSON: AnySQLJSONExpressible { AnySQLJSONExpressible(json: sqlExpression) }
}

// MARK: - Parts of a JSON value

extension SQLJSONExpressible {
    /// A part of the JSON as an SQL value: the `->>` operator. A string is its text, and an object or an
    /// array is JSON text.
    ///
    ///     // "info" ->> 'color', "info" ->> '$.size.height', "info" ->> 0
    ///     JSONColumn("info")["color"]
    ///     JSONColumn("info")["$.size.height"]
    ///     JSONColumn("info")[0]
    ///
    /// See <https://www.sqlite.org/json1.html#jptr>.
    /// - Parameter path: a path, or the name of a member of an object, or the index of an element of an
    ///   array.
    public subscript(_ path: some SQLExpressible) -> SQLExpression {
        .binary(.jsonValue, self, path)
    }

    /// A part of the JSON as an SQL value: the `JSON_EXTRACT` function.
    ///
    ///     // JSON_EXTRACT("info", '$.color')
    ///     JSONColumn("info").jsonExtract(atPath: "$.color")
    ///
    /// - Parameter path: a path, which begins with `$`.
    public func jsonExtract(atPath path: some SQLExpressible) -> SQLExpression {
        Database.jsonExtract(self, atPath: path)
    }

    /// Several parts of the JSON as a JSON array: the `JSON_EXTRACT` function. Of one path, its value.
    ///
    ///     // JSON_EXTRACT("info", '$.color', '$.size')
    ///     JSONColumn("info").jsonExtract(atPaths: ["$.color", "$.size"])
    ///
    /// - Parameter paths: paths, which begin with `$`.
    public func jsonExtract(atPaths paths: some Collection<some SQLExpressible>) -> SQLExpression {
        Database.jsonExtract(self, atPaths: paths)
    }

    /// A part of the JSON as JSON text: the `->` operator. A string has its quotes.
    ///
    ///     // "info" -> 'color'
    ///     JSONColumn("info").jsonRepresentation(atPath: "color")
    ///
    /// - Parameter path: a path, or the name of a member of an object, or the index of an element of an
    ///   array.
    public func jsonRepresentation(atPath path: some SQLExpressible) -> SQLExpression {
        .binary(.jsonRepresentation, self, path)
    }
}

// MARK: - Table aliases

extension TableAliasBase {
    /// A JSON expression whose columns are those of the table.
    ///
    ///     // "item"."info" ->> 'color'
    ///     itemAlias[JSONColumn("info")]["color"]
    public subscript(expression: some SQLJSONExpressible) -> AnySQLJSONExpressible {
        AnySQLJSONExpressible(json: SQLExpression(impl: .qualified(expression.sqlExpression, self)))
    }
}

extension TableAlias where RowDecoder: TableRecord {
    /// A JSON column of the table: `alias.info["color"]`.
    public subscript<T: SQLJSONExpressible>(dynamicMember keyPath: KeyPath<DatabaseComponents, T>)
        -> AnySQLJSONExpressible
    {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }
}
