// The JSON functions of SQLite: <https://www.sqlite.org/json1.html>. Each call is an expression, for requests
// as well as for definitions.

extension Database {
    /// What ``jsonIsValid(_:options:)`` takes for valid: any of the forms that are given.
    public struct JSONValidationOptions: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Text as the standard wants it.
        public static let json = JSONValidationOptions(rawValue: 1)

        /// Text of JSON5, which is what SQLite reads.
        public static let json5 = JSONValidationOptions(rawValue: 2)

        /// A blob that looks like SQLite's binary form: only its beginning is read.
        public static let probablyJSONB = JSONValidationOptions(rawValue: 4)

        /// A blob in SQLite's binary form.
        public static let jsonb = JSONValidationOptions(rawValue: 8)
    }
}

// MARK: - Questions

extension Database {
    /// How many elements an array has: the `JSON_ARRAY_LENGTH` function. 0 for JSON that is no array.
    ///
    ///     // JSON_ARRAY_LENGTH("tags")
    ///     Database.jsonArrayLength(Column("tags"))
    ///
    /// - Parameter value: JSON.
    public static func jsonArrayLength(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value.sqlExpression])
    }

    /// How many elements the array at a path has: the `JSON_ARRAY_LENGTH` function. NULL if there is nothing.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - path: a path, which begins with `$`.
    public static func jsonArrayLength(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_ARRAY_LENGTH", [value.sqlExpression, path.sqlExpression])
    }

    /// Where the first mistake in JSON is: the `JSON_ERROR_POSITION` function. 0 if there is none; the first
    /// character is 1.
    ///
    /// - Parameter value: JSON, maybe.
    public static func jsonErrorPosition(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ERROR_POSITION", [value.sqlExpression])
    }

    /// The type of JSON, such as `'object'`: the `JSON_TYPE` function.
    ///
    /// - Parameter value: JSON.
    public static func jsonType(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value.sqlExpression])
    }

    /// The type of the part of JSON at a path: the `JSON_TYPE` function. NULL if there is nothing.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - path: a path, which begins with `$`.
    public static func jsonType(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_TYPE", [value.sqlExpression, path.sqlExpression])
    }

    /// Whether a value is JSON: the `JSON_VALID` function.
    ///
    ///     // JSON_VALID("info", 6)
    ///     Database.jsonIsValid(Column("info"), options: [.json5, .probablyJSONB])
    ///
    /// - Parameters:
    ///   - value: any value.
    ///   - options: which forms are JSON; nil for text as the standard wants it.
    public static func jsonIsValid(_ value: some SQLExpressible, options: JSONValidationOptions? = nil)
        -> SQLExpression
    {
        .function(
            "JSON_VALID",
            [value.sqlExpression]
                + (options.map { [SQLExpression(impl: .literal(SQL(sql: "\($0.rawValue)")))] } ?? []))
    }

    /// A value as JSON text: the `JSON_QUOTE` function. A string gets quotes.
    ///
    /// - Parameter value: any value.
    public static func jsonQuote(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_QUOTE", [value.jsonComponent])
    }
}
