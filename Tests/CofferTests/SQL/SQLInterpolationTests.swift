import Coffer
import Foundation
import Testing

@Suite("SQL interpolation")
struct SQLInterpolationTests {
    private enum CodingKeys: String, CodingKey {
        case name
        case order = "group by"
    }

    private enum Columns: String, CodingKey, ColumnExpression {
        case score
    }

    @Test("values become arguments, nil becomes NULL")
    func values() throws {
        let name: String? = nil
        let score: Int? = 12
        let any: (any SQLExpressible)? = 1.5
        let date = Date(timeIntervalSince1970: 0)
        let literal: SQL =
            "SELECT \(1), \("a"), \(name), \(score), \(any), \(true), \(date), \(DatabaseValue.null), \(2.databaseValue)"
        #expect(
            try BuiltSQL(building: literal)
                == BuiltSQL("SELECT ?, ?, NULL, ?, ?, ?, ?, NULL, ?", [1, "a", 12, 1.5, true, date, 2]))
    }

    @Test("strings of all kinds are one argument")
    func strings() throws {
        let text = "O'Brien"
        #expect(
            try BuiltSQL(building: "\(text), \(text.dropFirst(2))") == BuiltSQL("?, ?", ["O'Brien", "Brien"]))
    }

    @Test("data is one argument, not a sequence of bytes")
    func data() throws {
        let data = Data([1, 2, 3])
        #expect(try BuiltSQL(building: "\(data)") == BuiltSQL("?", [data]))
    }

    @Test("sequences are lists of arguments")
    func sequences() throws {
        #expect(try BuiltSQL(building: "id IN \([1, 2, 3])") == BuiltSQL("id IN (?,?,?)", [1, 2, 3]))
        #expect(try BuiltSQL(building: "id IN \(Set([7]))") == BuiltSQL("id IN (?)", [7]))
        #expect(
            try BuiltSQL(building: "id IN \((1...2).map { "\($0)" })") == BuiltSQL("id IN (?,?)", ["1", "2"]))
        #expect(
            try BuiltSQL(building: "id IN \([Column("a"), Column("b")])") == BuiltSQL(#"id IN ("a","b")"#))
        let mixed: [any SQLExpressible] = [1, "a", Column("b")]
        #expect(try BuiltSQL(building: "id IN \(mixed)") == BuiltSQL(#"id IN (?,?,"b")"#, [1, "a"]))
        #expect(try BuiltSQL(building: "id IN \([1, nil] as [Int?])") == BuiltSQL("id IN (?,NULL)", [1]))
    }

    @Test("an empty sequence contains nothing, for IN and for NOT IN", arguments: ["1", "NULL"])
    func emptySequence(value: String) throws {
        let ids: [Int] = []
        #expect(try BuiltSQL(building: "id IN \(ids)") == BuiltSQL("id IN (SELECT NULL WHERE NULL)"))
        try DatabaseQueue().read { db throws in
            let row = try #require(
                try SQLRequest<Row>("SELECT \(sql: value) IN \(ids), \(sql: value) NOT IN \(ids)").fetchOne(
                    db))
            #expect(row[0] as Bool == false)
            #expect(row[1] as Bool == true)
        }
    }

    @Test("columns and coding keys are quoted")
    func columns() throws {
        let literal: SQL =
            "SELECT \(Column("a b")), \(CodingKeys.name), \(CodingKeys.order), \(Columns.score), \(Column(CodingKeys.name))"
        #expect(
            try BuiltSQL(building: literal).sql
                == #"SELECT "a b", "name", "group by", "score", "name""#)
    }

    @Test("expressions with an operator are in parentheses where another operator may be next to them")
    func expressions() throws {
        let bonus = 100
        #expect(
            try BuiltSQL(
                building: "SELECT \(Column("score") + bonus) AS points, \(julianDay(Column("date")))")
                == BuiltSQL(#"SELECT "score" + ? AS points, JULIANDAY("date")"#, [100]))
        #expect(
            try BuiltSQL(building: "SELECT 2 * \(Column("score") + bonus) AS points")
                == BuiltSQL(#"SELECT 2 * ("score" + ?) AS points"#, [100]))
    }

    @Test("selections are written as in a SELECT clause")
    func selections() throws {
        let selections: [any SQLSelectable] = [Column("a"), Column("b").forKey("c")]
        let none: (any SQLSelectable)? = nil
        #expect(
            try BuiltSQL(building: "SELECT \(.allColumns), \(Column("a").forKey("b"))").sql
                == #"SELECT *, "a" AS "b""#)
        #expect(
            try BuiltSQL(building: "SELECT \(selections[0]), \(selections[1]), \(none)").sql
                == #"SELECT "a", "b" AS "c", NULL"#)
    }

    @Test("orderings have their direction")
    func orderings() throws {
        let term: any SQLOrderingTerm = Column("b")
        #expect(
            try BuiltSQL(building: "ORDER BY \(Column("a").desc), \(term.sqlOrdering)").sql
                == #"ORDER BY "a" DESC, "b""#)
    }

    @Test("collations are quoted unless their names are plain words")
    func collations() throws {
        #expect(
            try BuiltSQL(building: "ORDER BY email COLLATE \(.nocase)").sql
                == #"ORDER BY email COLLATE NOCASE"#)
        #expect(
            try BuiltSQL(building: "ORDER BY email COLLATE \(.localizedCompare)").sql
                == "ORDER BY email COLLATE \(DatabaseCollation.localizedCompare.name)")
        let collation = DatabaseCollation("a\"b") { _, _ in .orderedSame }
        #expect(
            try BuiltSQL(building: "ORDER BY \(Column("a").collating(collation).desc)").sql
                == #"ORDER BY "a" COLLATE "a""b" DESC"#)
        try DatabaseQueue().read { db throws in
            let request: SQLRequest<Row> =
                "SELECT 'É' AS a UNION SELECT 'f' UNION SELECT 'E' ORDER BY a COLLATE \(.unicodeCompare)"
            #expect(try request.fetchAll(db).count == 3)
        }
    }

    @Test("subqueries and literals are written without parentheses")
    func subqueries() throws {
        let maximum: SQLRequest<Int> = "SELECT MAX(score) FROM player WHERE team = \("red")"
        let condition: SQL = "name = \("O'Brien")"
        #expect(
            try BuiltSQL(building: "WHERE score = (\(maximum)) AND \(literal: condition) AND \(condition)")
                == BuiltSQL(
                    "WHERE score = (SELECT MAX(score) FROM player WHERE team = ?) AND name = ? AND name = ?",
                    ["red", "O'Brien", "O'Brien"]))
    }

    @Test("plain SQL and its arguments are written unchanged")
    func plainSQL() throws {
        #expect(
            try BuiltSQL(
                building: "SELECT * FROM \(sql: "player") WHERE \(sql: "name = ?", arguments: ["O'Brien"])")
                == BuiltSQL("SELECT * FROM player WHERE name = ?", ["O'Brien"]))
    }
}
