// Dictionary literals keep the order in which they are written.

extension Database {
    /// An object, with its members in the order of the literal: the `JSON_OBJECT` function. See
    /// ``SQLJSONExpressible``.
    public static func jsonObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        jsonObject(Array(elements))
    }

    /// JSON with assignments in the order of the literal: the `JSON_INSERT` function. See
    /// ``jsonInsert(_:_:)``.
    ///
    /// - Parameters:
    ///   - value: the JSON that is changed.
    ///   - assignments: paths, and what is stored there, in this order.
    public static func jsonInsert(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonInsert(value, Array(assignments))
    }

    /// JSON with assignments in the order of the literal: the `JSON_REPLACE` function. See
    /// ``jsonReplace(_:_:)``.
    ///
    /// - Parameters:
    ///   - value: the JSON that is changed.
    ///   - assignments: paths, and what is stored there, in this order.
    public static func jsonReplace(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonReplace(value, Array(assignments))
    }

    /// JSON with assignments in the order of the literal: the `JSON_SET` function. See ``jsonSet(_:_:)``.
    ///
    /// - Parameters:
    ///   - value: the JSON that is changed.
    ///   - assignments: paths, and what is stored there, in this order.
    public static func jsonSet(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonSet(value, Array(assignments))
    }

    /// An object, with its members in the order of the literal: the `JSONB_OBJECT` function. See
    /// ``SQLJSONExpressible``.
    public static func jsonbObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        jsonbObject(Array(elements))
    }

    /// JSON with assignments in the order of the literal: the `JSONB_INSERT` function. See
    /// ``jsonbInsert(_:_:)``.
    ///
    /// - Parameters:
    ///   - value: the JSON that is changed.
    ///   - assignments: paths, and what is stored there, in this order.
    public static func jsonbInsert(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonbInsert(value, Array(assignments))
    }

    /// JSON with assignments in the order of the literal: the `JSONB_REPLACE` function. See
    /// ``jsonbReplace(_:_:)``.
    ///
    /// - Parameters:
    ///   - value: the JSON that is changed.
    ///   - assignments: paths, and what is stored there, in this order.
    public static func jsonbReplace(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonbReplace(value, Array(assignments))
    }

    /// JSON with assignments in the order of the literal: the `JSONB_SET` function. See ``jsonbSet(_:_:)``.
    ///
    /// - Parameters:
    ///   - value: the JSON that is changed.
    ///   - assignments: paths, and what is stored there, in this order.
    public static func jsonbSet(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonbSet(value, Array(assignments))
    }
}
