// Functions that return SQLite's binary form of JSON (JSONB), which requires SQLite 3.45. It is smaller and
// faster to read than text, but only SQLite can read it: store it in columns of the type `jsonb`, and read it
// with the JSON functions.

extension Database {
    /// Returns JSON in SQLite's binary form: the `JSONB` function.
    public static func jsonb(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSONB", [value.sqlExpression])
    }

    /// Returns a JSON array: the `JSONB_ARRAY` function.
    ///
    ///     // JSONB_ARRAY("id", "name")
    ///     Database.jsonbArray([Column("id"), Column("name")])
    ///
    /// - Parameter values: the elements. Text becomes a string unless it is declared to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonbArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSONB_ARRAY", values.map(\.jsonComponent))
    }

    /// Returns a JSON array: the `JSONB_ARRAY` function.
    ///
    /// - Parameter values: the elements. Text becomes a string unless it is declared to be JSON: see
    ///   ``SQLJSONExpressible``.
    public static func jsonbArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSONB_ARRAY", values.map { $0.jsonComponent })
    }

    /// Returns a part of JSON: the `JSONB_EXTRACT` function. An object or array is in the binary form;
    /// anything else becomes an SQL value.
    ///
    ///     // JSONB_EXTRACT("info", '$.color')
    ///     Database.jsonbExtract(Column("info"), atPath: "$.color")
    ///
    /// - Parameter path: a path, which starts with `$`.
    public static func jsonbExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSONB_EXTRACT", [value.sqlExpression, path.sqlExpression])
    }

    /// Returns several parts of JSON as an array: the `JSONB_EXTRACT` function. For a single path, returns
    /// its value.
    ///
    /// - Parameter paths: paths, which start with `$`.
    public static func jsonbExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSONB_EXTRACT", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// Returns JSON with values added at paths that do not exist: the `JSONB_INSERT` function.
    ///
    ///     // JSONB_INSERT("info", '$.color', 'red')
    ///     Database.jsonbInsert(Column("info"), ["$.color": "red"])
    ///
    /// - Parameter assignments: paths, and the values to add there. Text becomes a string unless it is
    ///   declared to be JSON: see ``SQLJSONExpressible``.
    @_disfavoredOverload
    public static func jsonbInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_INSERT", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// Returns JSON with the values at existing paths replaced: the `JSONB_REPLACE` function.
    ///
    /// - Parameters: see ``jsonbInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonbReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_REPLACE", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// Returns JSON with values set at paths that may or may not exist: the `JSONB_SET` function.
    ///
    /// - Parameters: see ``jsonbInsert(_:_:)``.
    @_disfavoredOverload
    public static func jsonbSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_SET", [value.sqlExpression] + assignments.jsonComponents)
    }

    /// Returns a JSON object: the `JSONB_OBJECT` function.
    ///
    ///     // JSONB_OBJECT('name', "name", 'sealed', 1)
    ///     Database.jsonbObject(["name": Column("name"), "sealed": 1])
    ///
    /// - Parameter elements: the names and values of the members. Text becomes a string unless it is declared
    ///   to be JSON: see ``SQLJSONExpressible``.
    @_disfavoredOverload
    public static func jsonbObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_OBJECT", elements.jsonComponents)
    }

    /// Returns JSON merged with the members of another object: the `JSONB_PATCH` function, as defined by RFC
    /// 7396.
    ///
    /// - Parameter patch: JSON. A null member removes the member of the same name.
    public static func jsonbPatch(_ value: some SQLExpressible, with patch: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSONB_PATCH", [value.sqlExpression, patch.sqlExpression])
    }

    /// Returns JSON without the part at a path: the `JSONB_REMOVE` function.
    ///
    /// - Parameter path: a path, which starts with `$`.
    public static func jsonbRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSONB_REMOVE", [value.sqlExpression, path.sqlExpression])
    }

    /// Returns JSON without the parts at paths, which are removed one after the other: the `JSONB_REMOVE`
    /// function.
    ///
    /// - Parameter paths: paths, which start with `$`.
    public static func jsonbRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSONB_REMOVE", [value.sqlExpression] + paths.map(\.sqlExpression))
    }

    /// Returns a JSON array of the values of a group: the `JSONB_GROUP_ARRAY` aggregate.
    ///
    ///     // JSONB_GROUP_ARRAY("name" ORDER BY "id") FILTER (WHERE "sealed")
    ///     Database.jsonbGroupArray(Column("name"), orderBy: Column("id"), filter: Column("sealed"))
    ///
    /// - Parameters:
    ///   - value: the element for each row. Text becomes a string unless it is declared to be JSON: see
    ///     ``SQLJSONExpressible``.
    ///   - ordering: the order of the elements, which requires SQLite 3.44.
    ///   - filter: selects the rows; nil for all rows.
    public static func jsonbGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .aggregate("JSONB_GROUP_ARRAY", value.jsonComponent, ordering: ordering, filter: filter)
    }

    /// Returns a JSON object of the names and values of a group: the `JSONB_GROUP_OBJECT` aggregate.
    ///
    /// - Parameters:
    ///   - key: the name of the member for each row.
    ///   - value: its value. Text becomes a string unless it is declared to be JSON: see
    ///     ``SQLJSONExpressible``.
    ///   - filter: selects the rows; nil for all rows.
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
