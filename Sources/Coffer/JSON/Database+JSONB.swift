// What makes SQLite's binary form of JSON. It is smaller and faster to read than text, and only SQLite reads
// it: keep it in columns of the type `jsonb`, and ask with the functions for what is in it. It needs SQLite
// 3.45.

extension Database {
    /// A value in SQLite's binary form of JSON: the `JSONB` function.
    ///
    /// - Parameter value: JSON.
    public static func jsonb(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSONB", [value.sqlExpression])
    }

    /// An array: the `JSONB_ARRAY` function.
    ///
    ///     // JSONB_ARRAY("id", "name")
    ///     Database.jsonbArray([Column("id"), Column("name")])
    ///
    /// - Parameter values: the elements. Text is a string, unless it is said to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonbArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSONB_ARRAY", values.map(\.jsonComponent))
    }

    /// An array: the `JSONB_ARRAY` function.
    ///
    /// - Parameter values: the elements. Text is a string, unless it is said to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonbArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSONB_ARRAY", values.map { $0.jsonComponent })
    }

    /// A part of JSON: the `JSONB_EXTRACT` function. An object or an array is in the binary form, and what is
    /// neither becomes an SQL value.
    ///
    ///     // JSONB_EXTRACT("info", '$.color')
    ///     Database.jsonbExtract(Column("info"), atPath: "$.color")
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - path: a path, which begins with `$`.
    public static func jsonbExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSONB_EXTRACT", [value.sqlExpression, path.sqlExpression])
    }

    /// Several parts of JSON, as an array: the `JSONB_EXTRACT` function. Of one path, its value.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - paths: paths, which begin with `$`.
    public static func jsonbExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSONB_EXTRACT", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// JSON with new values at paths where there is nothing: the `JSONB_INSERT` function.
    ///
    ///     // JSONB_INSERT("info", '$.color', 'red')
    ///     Database.jsonbInsert(Column("info"), ["$.color": "red"])
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - assignments: paths, and the values that go there.
    @_disfavoredOverload
    public static func jsonbInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_INSERT", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// JSON with other values at paths where there is something: the `JSONB_REPLACE` function.
    ///
    /// - Parameters: as those of ``jsonbInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonbReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_REPLACE", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// JSON with values at paths, whether there was something or not: the `JSONB_SET` function.
    ///
    /// - Parameters: as those of ``jsonbInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonbSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_SET", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// An object: the `JSONB_OBJECT` function.
    ///
    ///     // JSONB_OBJECT('name', "name", 'sealed', 1)
    ///     Database.jsonbObject(["name": Column("name"), "sealed": 1])
    ///
    /// - Parameter elements: names, and their values. Text is a string, unless it is said to be JSON: see
    ///   ``SQLJSONExpressible``.
    @_disfavoredOverload
    public static func jsonbObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_OBJECT", elements.jsonComponents)
    }

    /// JSON with the members of another object: the `JSONB_PATCH` function, as RFC 7396 has it.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - patch: JSON. A member that is null removes the member of the same name.
    public static func jsonbPatch(_ value: some SQLExpressible, with patch: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSONB_PATCH", [value.sqlExpression, patch.sqlExpression])
    }

    /// JSON without the part at a path: the `JSONB_REMOVE` function.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - path: a path, which begins with `$`.
    public static func jsonbRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSONB_REMOVE", [value.sqlExpression, path.sqlExpression])
    }

    /// JSON without the parts at paths, which are removed one after the other: the `JSONB_REMOVE` function.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - paths: paths, which begin with `$`.
    public static func jsonbRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSONB_REMOVE", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// An array of the values of a group: the `JSONB_GROUP_ARRAY` aggregate.
    ///
    ///     // JSONB_GROUP_ARRAY("name" ORDER BY "id") FILTER (WHERE "sealed")
    ///     Database.jsonbGroupArray(Column("name"), orderBy: Column("id"), filter: Column("sealed"))
    ///
    /// - Parameters:
    ///   - value: the element of each row. Text is a string, unless it is said to be JSON: see
    ///     ``SQLJSONExpressible``.
    ///   - ordering: the order of the elements. It needs SQLite 3.44.
    ///   - filter: which rows count; nil for all of them.
    public static func jsonbGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .aggregate("JSONB_GROUP_ARRAY", value.jsonComponent, ordering: ordering, filter: filter)
    }

    /// An object of the names and values of a group: the `JSONB_GROUP_OBJECT` aggregate.
    ///
    /// - Parameters:
    ///   - key: the name of the member of each row.
    ///   - value: its value. Text is a string, unless it is said to be JSON: see ``SQLJSONExpressible``.
    ///   - filter: which rows count; nil for all of them.
    public static func jsonbGroupObject(
        key: some SQLExpressible, value: some SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        SQLExpression(
            impl: .aggregate(
                SQLAggregate(
                    name: "JSONB_GROUP_OBJECT", arguments: [key.sqlExpression, value.jsonComponent],
                    filter: filter?.sqlExpression)))
    }
}
