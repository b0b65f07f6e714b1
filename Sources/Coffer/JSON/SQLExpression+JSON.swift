internal import SQLCipherBridge

extension SQLExpressible {
    /// The expression in the form that a function needs to build JSON from it: if the expression is declared
    /// to be JSON but SQLite would use it as a string, it is wrapped in a JSON function.
    var jsonComponent: SQLExpression {
        let expression = sqlExpression
        guard let json = expression.jsonText, !json.isJSONForSQLite else { return expression }
        return .function(SQLExpression.jsonParser, [json])
    }
}

extension SQLExpression {
    /// The function that parses JSON text. The binary form saves SQLite from parsing the text again.
    fileprivate static let jsonParser = Engine.sqliteVersionNumber >= 3_045_000 ? "JSONB" : "JSON"

    /// The expression that is declared to be JSON, or nil.
    fileprivate var jsonText: SQLExpression? {
        switch impl {
        case .json(let expression): expression
        case .qualified(let expression, let alias):
            expression.jsonText.map { SQLExpression(impl: .qualified($0, alias)) }
        default: nil
        }
    }

    /// True if SQLite itself uses the expression as JSON: <https://www.sqlite.org/json1.html#json_arguments>.
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
