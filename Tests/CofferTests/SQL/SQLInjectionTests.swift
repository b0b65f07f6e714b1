import Coffer
import Testing

/// Every way in which external text can get into SQL, with texts that try to become SQL.
@Suite("SQL injection")
struct SQLInjectionTests {
    private struct HostileKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test("a value stays a value, in every form of interpolation", arguments: hostileTexts)
    func values(text: String) throws {
        try makeCanaryQueue().write { db throws in
            let optional: String? = text
            let expressible: any SQLExpressible = text
            try db.execute(sql: "CREATE TABLE hostile (a, b, c, d, e)")
            try db.execute(
                literal:
                    "INSERT INTO hostile VALUES (\(text), \(text[...]), \(optional), \(expressible), \(text.databaseValue))"
            )
            let row = try #require(
                try SQLRequest<Row>(
                    "SELECT * FROM hostile WHERE a IN \([text]) AND \(Column("b") == text) AND c = \(literal: "\(text)")"
                )
                .fetchOne(db))
            #expect(row.databaseValues.allSatisfy { $0 == text.databaseValue })
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("a value stays a value in every operator", arguments: hostileTexts)
    func operators(text: String) throws {
        try makeCanaryQueue().read { db throws in
            let column = Column("name")
            let conditions: [SQLExpression] = [
                column == text, column != text, column === text, column !== text, column < text,
                column >= text, text == column,
                column + text, text * column, column && text, column | text, column << text, column ?? text,
                [text].contains(column), (text...text).contains(column), (text..<text).contains(column),
                column.like(text),
                dateTime(text.databaseValue, .day(1)),
                [column.sqlExpression, text.databaseValue.sqlExpression].joined(operator: .concat),
            ]
            for condition in conditions {
                _ = try SQLRequest<Row>("SELECT 1 FROM canary WHERE \(condition) OR \(!condition)").fetchAll(
                    db)
                let (sql, arguments) = try SQL(condition).build(db)
                #expect(!sql.contains("DROP") && !sql.contains("DELETE"))
                #expect(!arguments.isEmpty)
            }
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("a column name stays a name, in every form", arguments: hostileTexts)
    func columnNames(text: String) throws {
        try makeCanaryQueue().write { db throws in
            try db.execute(literal: "CREATE TABLE hostile (\(Column(text)))")
            try db.execute(literal: "INSERT INTO hostile (\(HostileKey(stringValue: text))) VALUES (1)")
            let column = Column(HostileKey(stringValue: text))
            let request: SQLRequest<Row> = """
                SELECT \(column), \(column.forKey(text)), \(column.forKey(HostileKey(stringValue: text))), \(column + 1) AS n
                FROM hostile WHERE \(column == 1) AND \(!(column == 2)) AND \([1].contains(column)) \
                AND \(column.collating(.binary)) = 1
                ORDER BY \(column.desc), \(column.ascNullsLast), \(column)
                """
            let row = try #require(try request.fetchOne(db))
            #expect(Array(row.columnNames) == [text, text, text, "n"])
            #expect(row.databaseValues.map { $0 } == [1, 1, 1, 2].map(\.databaseValue))
            #expect(try request.fetchCount(db) == 1)
            #expect(try isCanaryAlive(db))
        }
    }

    // For SQLite, an empty name means no collation.
    @Test("the name of a collation stays a name", arguments: hostileTexts.filter { !$0.isEmpty })
    func collations(text: String) throws {
        try makeCanaryQueue().write { db throws in
            let collation = Database.CollationName(text)
            #expect(throws: DatabaseError.self) {
                try db.execute(literal: "SELECT * FROM canary ORDER BY name COLLATE \(collation)")
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(
                    literal: "SELECT * FROM canary ORDER BY \(Column("name").collating(collation))")
            }
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("a NUL character in a name or in a value never cuts SQL short")
    func nulCharacter() throws {
        try makeCanaryQueue().write { db throws in
            let text = "name\0"
            #expect(throws: DatabaseError.self) {
                try db.execute(literal: "DELETE FROM canary WHERE \(Column(text)) = 2")
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(literal: "SELECT \(Column("name").forKey(text)) FROM canary")
            }
            try db.execute(literal: "DELETE FROM canary WHERE name = \(text)")
            #expect(try isCanaryAlive(db))
        }
    }
}
