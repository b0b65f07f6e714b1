// What makes JSON text. The functions that make the binary form are beside it, in Database+JSONB.swift.

extension Database {
    /// A value as JSON text without needless white space: the `JSON` function.
    ///
    /// - Parameter value: JSON.
    public static func json(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON", [value.sqlExpression])
    }

    /// An array: the `JSON_ARRAY` function.
    ///
    ///     // JSON_ARRAY("id", "name")
    ///     Database.jsonArray([Column("id"), Column("name")])
    ///
    /// - Parameter values: the elements. Text is a string, unless it is said to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.jsonComponent))
    }

    /// An array: the `JSON_ARRAY` function.
    ///
    /// - Parameter values: the elements. Text is a string, unless it is said to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map { $0.jsonComponent })
    }

    /// A part of JSON: the `JSON_EXTRACT` function. What is not an object or an array becomes an SQL value.
    ///
    ///     // JSON_EXTRACT("info", '$.color')
    ///     Database.jsonExtract(Column("info"), atPath: "$.color")
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - path: a path, which begins with `$`.
    public static func jsonExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_EXTRACT", [value.sqlExpression, path.sqlExpression])
    }

    /// Several parts of JSON, as an array: the `JSON_EXTRACT` function. Of one path, its value.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - paths: paths, which begin with `$`.
    public static func jsonExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSON_EXTRACT", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// JSON with new values at paths where there is nothing: the `JSON_INSERT` function.
    ///
    ///     // JSON_INSERT("info", '$.color', 'red')
    ///     Database.jsonInsert(Column("info"), ["$.color": "red"])
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - assignments: paths, and the values that go there.
    @_disfavoredOverload
    public static func jsonInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_INSERT", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// JSON with other values at paths where there is something: the `JSON_REPLACE` function.
    ///
    /// - Parameters: as those of ``jsonInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_REPLACE", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// JSON with values at paths, whether there was something or not: the `JSON_SET` function.
    ///
    /// - Parameters: as those of ``jsonInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_SET", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// An object: the `JSON_OBJECT` function.
    ///
    ///     // JSON_OBJECT('name', "name", 'sealed', 1)
    ///     Database.jsonObject(["name": Column("name"), "sealed": 1])
    ///
    /// - Parameter elements: names, and their values. Text is a string, unless it is said to be JSON: see
    ///   ``SQLJSONExpressible``.
    @_disfavoredOverload
    public static func jsonObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_OBJECT", elements.jsonComponents)
    }

    /// JSON with the members of another object: the `JSON_PATCH` function, as RFC 7396 has it.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - patch: JSON. A member that is null removes the member of the same name.
    public static func jsonPatch(_ value: some SQLExpressible, with patch: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_PATCH", [value.sqlExpression, patch.sqlExpression])
    }

    /// JSON without the part at a path: the `JSON_REMOVE` function.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - path: a path, which begins with `$`.
    public static func jsonRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_REMOVE", [value.sqlExpression, path.sqlExpression])
    }

    /// JSON without the parts at paths, which are removed one after the other: the `JSON_REMOVE` function.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - paths: paths, which begin with `$`.
    public static func jsonRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSON_REMOVE", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// An array of the values of a group: the `JSON_GROUP_ARRAY` aggregate.
    ///
    ///     // JSON_GROUP_ARRAY("name" ORDER BY "id") FILTER (WHERE "sealed")
    ///     Database.jsonGroupArray(Column("name"), orderBy: Column("id"), filter: Column("sealed"))
    ///
    /// - Parameters:
    ///   - value: the element of each row. Text is a string, unless it is said to be JSON: see
    ///     ``SQLJSONExpressible``.
    ///   - ordering: the order of the elements. It needs SQLite 3.44.
    ///   - filter: which rows count; nil for all of them.
    public static func jsonGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .aggregate("JSON_GROUP_ARRAY", value.jsonComponent, ordering: ordering, filter: filter)
    }

    /// An object of the names and values of a group: the `JSON_GROUP_OBJECT` aggregate.
    ///
    /// - Parameters:
    ///   - key: the name of the member of each row.
    ///   - value: its value. Text is a string, unless it is said to be JSON: see ``SQLJSONExpressible``.
    ///   - filter: which rows count; nil for all of them.
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
    /// Names or paths, and what they are given, as the arguments of a function.
    var jsonComponents: [SQLExpression] { flatMap { [$0.key.sqlExpression, $0.value.jsonComponent] } }
}
