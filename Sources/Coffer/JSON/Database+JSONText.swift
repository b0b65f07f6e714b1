// Functions that return JSON text. Database+JSONB.swift has the functions for the binary form.

extension Database {
    /// Returns JSON as minified text: the `JSON` function.
    public static func json(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON", [value.sqlExpression])
    }

    /// Returns a JSON array: the `JSON_ARRAY` function.
    ///
    ///     // JSON_ARRAY("id", "name")
    ///     Database.jsonArray([Column("id"), Column("name")])
    ///
    /// - Parameter values: the elements. Text becomes a string unless it is declared to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.jsonComponent))
    }

    /// Returns a JSON array: the `JSON_ARRAY` function.
    ///
    /// - Parameter values: the elements. Text becomes a string unless it is declared to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map { $0.jsonComponent })
    }

    /// Returns a part of JSON: the `JSON_EXTRACT` function. Anything but an object or array becomes an SQL
    /// value.
    ///
    ///     // JSON_EXTRACT("info", '$.color')
    ///     Database.jsonExtract(Column("info"), atPath: "$.color")
    ///
    /// - Parameter path: a path, which starts with `$`.
    public static func jsonExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_EXTRACT", [value.sqlExpression, path.sqlExpression])
    }

    /// Returns several parts of JSON as an array: the `JSON_EXTRACT` function. For a single path, returns its
    /// value.
    ///
    /// - Parameter paths: paths, which start with `$`.
    public static func jsonExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSON_EXTRACT", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// Returns JSON with values added at paths that do not exist: the `JSON_INSERT` function.
    ///
    ///     // JSON_INSERT("info", '$.color', 'red')
    ///     Database.jsonInsert(Column("info"), ["$.color": "red"])
    ///
    /// - Parameter assignments: paths, and the values to add there. Text becomes a string unless it is
    ///   declared to be JSON: see ``SQLJSONExpressible``.
    @_disfavoredOverload
    public static func jsonInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_INSERT", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// Returns JSON with the values at existing paths replaced: the `JSON_REPLACE` function.
    ///
    /// - Parameters: see ``jsonInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_REPLACE", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// Returns JSON with values set at paths that may or may not exist: the `JSON_SET` function.
    ///
    /// - Parameters: see ``jsonInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_SET", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// Returns a JSON object: the `JSON_OBJECT` function.
    ///
    ///     // JSON_OBJECT('name', "name", 'sealed', 1)
    ///     Database.jsonObject(["name": Column("name"), "sealed": 1])
    ///
    /// - Parameter elements: the names and values of the members. Text becomes a string unless it is declared
    ///   to be JSON: see ``SQLJSONExpressible``.
    @_disfavoredOverload
    public static func jsonObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_OBJECT", elements.jsonComponents)
    }

    /// Returns JSON merged with the members of another object: the `JSON_PATCH` function, as defined by RFC
    /// 7396.
    ///
    /// - Parameter patch: JSON. A null member removes the member of the same name.
    public static func jsonPatch(_ value: some SQLExpressible, with patch: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_PATCH", [value.sqlExpression, patch.sqlExpression])
    }

    /// Returns JSON without the part at a path: the `JSON_REMOVE` function.
    ///
    /// - Parameter path: a path, which starts with `$`.
    public static func jsonRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_REMOVE", [value.sqlExpression, path.sqlExpression])
    }

    /// Returns JSON without the parts at paths, which are removed one after the other: the `JSON_REMOVE`
    /// function.
    ///
    /// - Parameter paths: paths, which start with `$`.
    public static func jsonRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSON_REMOVE", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// Returns a JSON array of the values of a group: the `JSON_GROUP_ARRAY` aggregate.
    ///
    ///     // JSON_GROUP_ARRAY("name" ORDER BY "id") FILTER (WHERE "sealed")
    ///     Database.jsonGroupArray(Column("name"), orderBy: Column("id"), filter: Column("sealed"))
    ///
    /// - Parameters:
    ///   - value: the element for each row. Text becomes a string unless it is declared to be JSON: see
    ///     ``SQLJSONExpressible``.
    ///   - ordering: the order of the elements, which requires SQLite 3.44.
    ///   - filter: selects the rows; nil for all rows.
    public static func jsonGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .aggregate("JSON_GROUP_ARRAY", value.jsonComponent, ordering: ordering, filter: filter)
    }

    /// Returns a JSON object of the names and values of a group: the `JSON_GROUP_OBJECT` aggregate.
    ///
    /// - Parameters:
    ///   - key: the name of the member for each row.
    ///   - value: its value. Text becomes a string unless it is declared to be JSON: see
    ///     ``SQLJSONExpressible``.
    ///   - filter: selects the rows; nil for all rows.
    public static func jsonGroupObject(
        key: some SQLExpressible, value: some SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        SQLExpression(
            impl: .aggregate(
                SQLAggregate(
                    name: "JSON_GROUP_OBJECT", arguments: [key.sqlExpression, value.jsonComponent],
                    filter: filter?.sqlExpression)))
    }
}

extension Collection where Element == (key: String, value: any SQLExpressible) {
    /// The names or paths, each followed by its value, as the arguments of a function.
    var jsonComponents: [SQLExpression] { flatMap { [$0.key.sqlExpression, $0.value.jsonComponent] } }
}
