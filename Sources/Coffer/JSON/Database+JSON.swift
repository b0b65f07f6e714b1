// The JSON functions of SQLite: <https://www.sqlite.org/json1.html>. Each returns an expression for requests
// and definitions.

extension Database {
    /// The forms that ``jsonIsValid(_:options:)`` accepts as valid JSON.
    public struct JSONValidationOptions: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Text that conforms to RFC 8259.
        public static let json = JSONValidationOptions(rawValue: 1)

        /// JSON5 text, which SQLite's JSON functions accept.
        public static let json5 = JSONValidationOptions(rawValue: 2)

        /// A blob that looks like SQLite's binary form: only its beginning is checked.
        public static let probablyJSONB = JSONValidationOptions(rawValue: 4)

        /// A blob in SQLite's binary form.
        public static let jsonb = JSONValidationOptions(rawValue: 8)
    }
}

// MARK: - Questions

extension Database {
    /// Returns the number of elements of an array, or 0 if the JSON is not an array: the `JSON_ARRAY_LENGTH`
    /// function.
    ///
    ///     // JSON_ARRAY_LENGTH("tags")
    ///     Database.jsonArrayLength(Column("tags"))
    public static func jsonArrayLength(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value.sqlExpression])
    }

    /// Returns the number of elements of the array at a path, or NULL if the path does not exist: the
    /// `JSON_ARRAY_LENGTH` function.
    ///
    /// - Parameter path: a path, which starts with `$`.
    public static func jsonArrayLength(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_ARRAY_LENGTH", [value.sqlExpression, path.sqlExpression])
    }

    /// Returns the position of the first JSON syntax error, from 1, or 0 if there is none: the
    /// `JSON_ERROR_POSITION` function.
    public static func jsonErrorPosition(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ERROR_POSITION", [value.sqlExpression])
    }

    /// Returns the type of JSON, such as `'object'`: the `JSON_TYPE` function.
    public static func jsonType(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value.sqlExpression])
    }

    /// Returns the type of the JSON at a path, or NULL if the path does not exist: the `JSON_TYPE` function.
    ///
    /// - Parameter path: a path, which starts with `$`.
    public static func jsonType(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_TYPE", [value.sqlExpression, path.sqlExpression])
    }

    /// Returns 1 if a value is valid JSON, and 0 otherwise: the `JSON_VALID` function.
    ///
    ///     // JSON_VALID("info", 6)
    ///     Database.jsonIsValid(Column("info"), options: [.json5, .probablyJSONB])
    ///
    /// - Parameters:
    ///   - value: any value.
    ///   - options: the accepted forms; nil for text that conforms to RFC 8259.
    public static func jsonIsValid(_ value: some SQLExpressible, options: JSONValidationOptions? = nil)
        -> SQLExpression
    {
        .function(
            "JSON_VALID",
            [value.sqlExpression]
                + (options.map { [SQLExpression(impl: .literal(SQL(sql: "\($0.rawValue)")))] } ?? []))
    }

    /// Returns a value as JSON text, with quotes around a string: the `JSON_QUOTE` function.
    public static func jsonQuote(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_QUOTE", [value.jsonComponent])
    }
}
