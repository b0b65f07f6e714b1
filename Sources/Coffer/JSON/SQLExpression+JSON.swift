internal import SQLCipherBridge

extension SQLExpressible {
    /// The expression as a function wants it that builds JSON of it: wrapped, if its text is JSON and SQLite
    /// would take it for a string.
    var jsonComponent: SQLExpression {
        let expression = sqlExpression
        guard let json = expression.jsonText, !json.isJSONForSQLite else { return expression }
        return .function(SQLExpression.jsonParser, [json])
    }
}

extension SQLExpression {
    /// The function that makes JSON of text; the binary form spares SQLite a second look at the text.
    fileprivate static let jsonParser = Engine.sqliteVersionNumber >= 3_045_000 ? "JSONB" : "JSON"

    /// The expression whose text is JSON, if it was said to be.
    fileprivate var jsonText: SQLExpression? {
        switch impl {
        case .json(let expression): expression
        case .qualified(let expression, let alias):
            expression.jsonText.map { SQLExpression(impl: .qualified($0, alias)) }
        default: nil
        }
    }

    /// Whether SQLite itself knows that the expression is JSON:
    /// <https://www.sqlite.org/json1.html#json_arguments>.
    fileprivate var isJSONForSQLite: Bool {
        switch impl {
        case .databaseValue(let value): value.isNull
        case .binary(.jsonRepresentation, _, _): true
        case .function(let name, let arguments):
            name == "JSON_EXTRACT" ? arguments.count > 2 : SQLExpression.makersOfJSON.contains(name)
        case .aggregate(let aggregate): SQLExpression.makersOfJSON.contains(aggregate.name)
        case .qualified(let expression, _): expression.isJSONForSQLite
        default: false
        }
    }

    private static let makersOfJSON: Set<String> = {
        let names = [
            "", "_ARRAY", "_GROUP_ARRAY", "_GROUP_OBJECT", "_INSERT", "_OBJECT", "_PATCH", "_REMOVE",
            "_REPLACE", "_SET",
        ]
        return Set(names.flatMap { ["JSON\($0)", "JSONB\($0)"] } + ["JSON_QUOTE"])
    }()
}
