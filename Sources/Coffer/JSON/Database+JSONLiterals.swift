// Overloads for dictionary literals, which preserve the order of their elements.

extension Database {
    /// Returns a JSON object with its members in the order of the literal: the `JSON_OBJECT` function. See
    /// ``SQLJSONExpressible``.
    public static func jsonObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        jsonObject(Array(elements))
    }

    /// Returns JSON with assignments in the order of the literal: the `JSON_INSERT` function. See
    /// ``jsonInsert(_:_:)``.
    public static func jsonInsert(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonInsert(value, Array(assignments))
    }

    /// Returns JSON with assignments in the order of the literal: the `JSON_REPLACE` function. See
    /// ``jsonReplace(_:_:)``.
    public static func jsonReplace(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonReplace(value, Array(assignments))
    }

    /// Returns JSON with assignments in the order of the literal: the `JSON_SET` function. See
    /// ``jsonSet(_:_:)``.
    public static func jsonSet(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonSet(value, Array(assignments))
    }

    /// Returns a JSON object with its members in the order of the literal: the `JSONB_OBJECT` function. See
    /// ``SQLJSONExpressible``.
    public static func jsonbObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        jsonbObject(Array(elements))
    }

    /// Returns JSON with assignments in the order of the literal: the `JSONB_INSERT` function. See
    /// ``jsonbInsert(_:_:)``.
    public static func jsonbInsert(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonbInsert(value, Array(assignments))
    }

    /// Returns JSON with assignments in the order of the literal: the `JSONB_REPLACE` function. See
    /// ``jsonbReplace(_:_:)``.
    public static func jsonbReplace(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonbReplace(value, Array(assignments))
    }

    /// Returns JSON with assignments in the order of the literal: the `JSONB_SET` function. See
    /// ``jsonbSet(_:_:)``.
    public static func jsonbSet(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        jsonbSet(value, Array(assignments))
    }
}
