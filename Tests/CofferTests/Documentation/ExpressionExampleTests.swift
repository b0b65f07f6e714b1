import Coffer
import Testing

/// The documentation's examples of expressions, with the SQL that it shows. `Scripts/check-docs` looks for
/// their lines.
@Suite("Examples of expressions")
struct ExpressionExampleTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
    }

    /// Returns the SQL of an expression, with literals in place of arguments.
    private func sql(_ expression: any SQLExpressible, _ db: Database) throws -> String {
        // Parentheses are omitted if the text around an expression makes them unnecessary.
        let (selection, arguments) = try ("SELECT \(expression.sqlExpression) AS x" as SQL).build(db)
        let sql = selection.dropFirst("SELECT ".count).dropLast(" AS x".count)
        var text = ""
        var literals = try String.fetchAll(
            db,
            sql:
                "SELECT quote(value) FROM (\(Array(repeating: "SELECT ? AS value", count: 8).joined(separator: " UNION ALL ")))",
            arguments: arguments
                + StatementArguments(Array(repeating: DatabaseValue.null, count: 8 - sql.count { $0 == "?" }))
        )[...]
        for character in sql { text += character == "?" ? literals.popFirst() ?? "?" : String(character) }
        return text
    }

    private func expect(_ expressions: [any SQLExpressible], _ expected: [String]) throws {
        let texts = try queue.read { db in try expressions.map { try sql($0, db) } }
        #expect(texts == expected)
    }

    @Test("JSON functions")
    func json() throws {
        try expect(
            [
                Database.jsonArrayLength(Column("tags")),
                Database.jsonIsValid(Column("info"), options: [.json5, .probablyJSONB]),
                Database.jsonArray([Column("id"), Column("name")]),
                Database.jsonExtract(Column("info"), atPath: "$.color"),
                Database.jsonInsert(Column("info"), ["$.color": "red"]),
                Database.jsonObject(["name": Column("name"), "sealed": 1]),
                Database.jsonGroupArray(Column("name"), orderBy: Column("id"), filter: Column("sealed")),
                Database.jsonbArray([Column("id"), Column("name")]),
                Database.jsonbExtract(Column("info"), atPath: "$.color"),
                Database.jsonbInsert(Column("info"), ["$.color": "red"]),
                Database.jsonbObject(["name": Column("name"), "sealed": 1]),
                Database.jsonbGroupArray(Column("name"), orderBy: Column("id"), filter: Column("sealed")),
            ],
            [
                #"JSON_ARRAY_LENGTH("tags")"#, #"JSON_VALID("info", 6)"#, #"JSON_ARRAY("id", "name")"#,
                #"JSON_EXTRACT("info", '$.color')"#,
                #"JSON_INSERT("info", '$.color', 'red')"#, #"JSON_OBJECT('name', "name", 'sealed', 1)"#,
                #"JSON_GROUP_ARRAY("name" ORDER BY "id") FILTER (WHERE "sealed")"#,
                #"JSONB_ARRAY("id", "name")"#,
                #"JSONB_EXTRACT("info", '$.color')"#, #"JSONB_INSERT("info", '$.color', 'red')"#,
                #"JSONB_OBJECT('name', "name", 'sealed', 1)"#,
                #"JSONB_GROUP_ARRAY("name" ORDER BY "id") FILTER (WHERE "sealed")"#,
            ])
    }

    @Test("parts of JSON")
    func parts() throws {
        try expect(
            [
                Column("info").asJSON["color"],
                JSONColumn("info")["color"],
                JSONColumn("info")["$.size.height"],
                JSONColumn("info")[0],
                JSONColumn("info").jsonExtract(atPath: "$.color"),
                JSONColumn("info").jsonExtract(atPaths: ["$.color", "$.size"]),
                JSONColumn("info").jsonRepresentation(atPath: "color"),
                Database.jsonArray([Column("name"), JSONColumn("tags")] as [any SQLExpressible]),
            ],
            [
                #""info" ->> 'color'"#, #""info" ->> 'color'"#, #""info" ->> '$.size.height'"#,
                #""info" ->> 0"#,
                #"JSON_EXTRACT("info", '$.color')"#, #"JSON_EXTRACT("info", '$.color', '$.size')"#,
                #""info" -> 'color'"#,
                #"JSON_ARRAY("name", JSONB("tags"))"#,
            ])
    }

    @Test("operators and functions")
    func operators() throws {
        try expect(
            [
                max(Column("weight"), filter: Column("amount") > 1),
                dateTime(Column("createdAt"), .day(1)),
                [Column("weight"), Column("amount"), 0.001.databaseValue].joined(operator: .multiply),
                cast(Column("worth"), as: .real) / Column("weight"),
                Column("guestId") == 3,
                Column("expiry") == nil,
                Column("fileName").like("%.pdf"),
                ["deed", "will", "passport"].contains(Column("name")),
            ],
            [
                #"MAX("weight") FILTER (WHERE "amount" > 1)"#, #"DATETIME("createdAt", '1 days')"#,
                #""weight" * "amount" * 0.001"#,
                #"CAST("worth" AS REAL) / "weight""#, #""guestId" = 3"#, #""expiry" IS NULL"#,
                #""fileName" LIKE '%.pdf'"#,
                #""name" IN ('deed', 'will', 'passport')"#,
            ])
    }
}
