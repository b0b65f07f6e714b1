import Coffer
import Testing

@Suite("SQL expressions")
struct SQLExpressionTests {
    private static let a = Column("a")
    private static let b = Column("b")
    private static let none: Int? = nil

    private func check(_ cases: [(SQLExpression, BuiltSQL)]) throws {
        try DatabaseQueue().read { db throws in
            for (expression, expected) in cases {
                // A selected expression has no parentheses around it.
                let (sql, arguments) = try SQL("SELECT \(expression.sqlSelection)").build(db)
                #expect(BuiltSQL(sql, arguments) == BuiltSQL("SELECT " + expected.sql, expected.arguments))
                _ = try db.makeStatement(literal: "SELECT \(expression) FROM (SELECT 1 AS a, 2 AS b)")
            }
        }
    }

    @Test("comparisons")
    func comparisons() throws {
        let (a, b) = (Self.a, Self.b)
        try check([
            (a == 1, BuiltSQL(#""a" = ?"#, [1])),
            (1 == a, BuiltSQL(#"? = "a""#, [1])),
            (a == b, BuiltSQL(#""a" = "b""#)),
            (a == "x" as String?, BuiltSQL(#""a" = ?"#, ["x"])),
            (a != 1, BuiltSQL(#""a" <> ?"#, [1])),
            (1 != a, BuiltSQL(#"? <> "a""#, [1])),
            (a != b, BuiltSQL(#""a" <> "b""#)),
            (a === 1, BuiltSQL(#""a" IS ?"#, [1])),
            (1 === a, BuiltSQL(#"? IS "a""#, [1])),
            (a === b, BuiltSQL(#""a" IS "b""#)),
            (a !== 1, BuiltSQL(#""a" IS NOT ?"#, [1])),
            (1 !== a, BuiltSQL(#"? IS NOT "a""#, [1])),
            (a !== b, BuiltSQL(#""a" IS NOT "b""#)),
            (a < 1, BuiltSQL(#""a" < ?"#, [1])), (1 < a, BuiltSQL(#"? < "a""#, [1])),
            (a < b, BuiltSQL(#""a" < "b""#)),
            (a <= 1, BuiltSQL(#""a" <= ?"#, [1])), (1 <= a, BuiltSQL(#"? <= "a""#, [1])),
            (a <= b, BuiltSQL(#""a" <= "b""#)),
            (a > 1, BuiltSQL(#""a" > ?"#, [1])), (1 > a, BuiltSQL(#"? > "a""#, [1])),
            (a > b, BuiltSQL(#""a" > "b""#)),
            (a >= 1, BuiltSQL(#""a" >= ?"#, [1])), (1 >= a, BuiltSQL(#"? >= "a""#, [1])),
            (a >= b, BuiltSQL(#""a" >= "b""#)),
        ])
    }

    @Test("nil and the value NULL are tested with IS")
    func null() throws {
        let (a, none) = (Self.a, Self.none)
        let isNull = BuiltSQL(#""a" IS NULL"#)
        let isNotNull = BuiltSQL(#""a" IS NOT NULL"#)
        try check([
            (a == nil, isNull), (nil == a, isNull), (a == none, isNull), (none == a, isNull),
            (a == DatabaseValue.null, isNull),
            (a === nil, isNull), (nil === a, isNull), (a === DatabaseValue.null, isNull),
            (!(a != nil), isNull),
            (a != nil, isNotNull), (nil != a, isNotNull), (a != none, isNotNull),
            (a != DatabaseValue.null, isNotNull),
            (a !== nil, isNotNull), (!(a == nil), isNotNull),
        ])
    }

    @Test("booleans are arguments")
    func booleans() throws {
        let a = Self.a
        try check([
            (a == true, BuiltSQL(#""a" = ?"#, [1])), (false == a, BuiltSQL(#""a" = ?"#, [0])),
            (a != true, BuiltSQL(#""a" <> ?"#, [1])), (true != a, BuiltSQL(#""a" <> ?"#, [1])),
        ])
    }

    @Test("arithmetic keeps its grouping")
    func arithmetic() throws {
        let (a, b) = (Self.a, Self.b)
        try check([
            (a * 1.8 + 32, BuiltSQL(#"("a" * ?) + ?"#, [1.8, 32])),
            (a + b + 1, BuiltSQL(#"("a" + "b") + ?"#, [1])),
            (a - (b - 1), BuiltSQL(#""a" - ("b" - ?)"#, [1])),
            (2 / a, BuiltSQL(#"? / "a""#, [2])),
            (1 + a, BuiltSQL(#"? + "a""#, [1])), (1 - a, BuiltSQL(#"? - "a""#, [1])),
            (2 * a, BuiltSQL(#"? * "a""#, [2])),
            (a / b, BuiltSQL(#""a" / "b""#)), (a * b, BuiltSQL(#""a" * "b""#)),
            (a - b, BuiltSQL(#""a" - "b""#)),
            (-a, BuiltSQL(#"-"a""#)), (-(-a), BuiltSQL(#"-(-"a")"#)), (a - -b, BuiltSQL(#""a" - (-"b")"#)),
            (~a, BuiltSQL(#"~"a""#)),
            (a & 2, BuiltSQL(#""a" & ?"#, [2])), (a | b | 1, BuiltSQL(#""a" | "b" | ?"#, [1])),
            (1 & a, BuiltSQL(#"? & "a""#, [1])),
            (a << 1, BuiltSQL(#""a" << ?"#, [1])), (1 >> a, BuiltSQL(#"? >> "a""#, [1])),
            (a >> b, BuiltSQL(#""a" >> "b""#)),
            (1 | a, BuiltSQL(#"? | "a""#, [1])), (a & b, BuiltSQL(#""a" & "b""#)),
            (a << b, BuiltSQL(#""a" << "b""#)),
            (1 << a, BuiltSQL(#"? << "a""#, [1])), (a >> 1, BuiltSQL(#""a" >> ?"#, [1])),
        ])
    }

    @Test("logic")
    func logic() throws {
        let (a, b) = (Self.a, Self.b)
        try check([
            (!a || b < 1000, BuiltSQL(#"(NOT "a") OR ("b" < ?)"#, [1000])),
            (a && b && a == 1, BuiltSQL(#""a" AND "b" AND ("a" = ?)"#, [1])),
            ((a || b) && a, BuiltSQL(#"("a" OR "b") AND "a""#)),
            (a || b && a, BuiltSQL(#""a" OR ("b" AND "a")"#)),
            (true && a, BuiltSQL(#"? AND "a""#, [true])), (a && 1, BuiltSQL(#""a" AND ?"#, [1])),
            (a || 0, BuiltSQL(#""a" OR ?"#, [0])), (0 || a, BuiltSQL(#"? OR "a""#, [0])),
            (a ?? "x", BuiltSQL(#"IFNULL("a", ?)"#, ["x"])), (a ?? b, BuiltSQL(#"IFNULL("a", "b")"#)),
        ])
    }

    @Test("negation uses the opposite operator where there is one")
    func negation() throws {
        let (a, b) = (Self.a, Self.b)
        let subquery: SQLRequest<Int> = "SELECT 1"
        try check([
            (!(a == 1), BuiltSQL(#""a" <> ?"#, [1])), (!(a != 1), BuiltSQL(#""a" = ?"#, [1])),
            (!(a === b), BuiltSQL(#""a" IS NOT "b""#)), (!(a !== b), BuiltSQL(#""a" IS "b""#)),
            (!(a < 1), BuiltSQL(#"NOT ("a" < ?)"#, [1])), (!(!a), BuiltSQL(#"NOT (NOT "a")"#)),
            (![1, 2].contains(a), BuiltSQL(#""a" NOT IN (?, ?)"#, [1, 2])),
            (!(1...2).contains(a), BuiltSQL(#""a" NOT BETWEEN ? AND ?"#, [1, 2])),
            (!a.like("x"), BuiltSQL(#""a" NOT LIKE ?"#, ["x"])),
            (!subquery.contains(a), BuiltSQL(#""a" NOT IN (SELECT 1)"#)),
            (!subquery.exists(), BuiltSQL("NOT EXISTS (SELECT 1)")),
            (!(!subquery.exists()), BuiltSQL("EXISTS (SELECT 1)")),
            (!(a && b), BuiltSQL(#"NOT ("a" AND "b")"#)),
        ])
    }

    @Test("membership in sequences, ranges and subqueries")
    func membership() throws {
        let a = Self.a
        let subquery: SQLRequest<Int> = "SELECT id FROM (SELECT 1 AS id) WHERE id = \(3)"
        let mixed: [any SQLExpressible] = [1, Column("b")]
        try check([
            ([1, 2, 3].contains(a), BuiltSQL(#""a" IN (?, ?, ?)"#, [1, 2, 3])),
            ([Int]().contains(a), BuiltSQL("0")),
            (mixed.contains(a), BuiltSQL(#""a" IN (?, "b")"#, [1])),
            ((0...1000).contains(a), BuiltSQL(#""a" BETWEEN ? AND ?"#, [0, 1000])),
            ((0..<1000).contains(a), BuiltSQL(#"("a" >= ?) AND ("a" < ?)"#, [0, 1000])),
            (("A"..."N").contains(a), BuiltSQL(#""a" BETWEEN ? AND ?"#, ["A", "N"])),
            (("A"..<"N").contains(a), BuiltSQL(#"("a" >= ?) AND ("a" < ?)"#, ["A", "N"])),
            (subquery.contains(a), BuiltSQL(#""a" IN (SELECT id FROM (SELECT 1 AS id) WHERE id = ?)"#, [3])),
            (subquery.contains(1), BuiltSQL("? IN (SELECT id FROM (SELECT 1 AS id) WHERE id = ?)", [1, 3])),
            (subquery.exists(), BuiltSQL("EXISTS (SELECT id FROM (SELECT 1 AS id) WHERE id = ?)", [3])),
            (a == subquery, BuiltSQL(#""a" = (SELECT id FROM (SELECT 1 AS id) WHERE id = ?)"#, [3])),
        ])
    }

    @Test("text: patterns and collations")
    func text() throws {
        let (a, b) = (Self.a, Self.b)
        try check([
            (a.like("%@example.com"), BuiltSQL(#""a" LIKE ?"#, ["%@example.com"])),
            (a.like("%10\\%%", escape: "\\"), BuiltSQL(#""a" LIKE ? ESCAPE ?"#, ["%10\\%%", "\\"])),
            (a.collating(.nocase), BuiltSQL(#""a" COLLATE NOCASE"#)),
            (a.collating(.nocase) == "x", BuiltSQL(#""a" = ? COLLATE NOCASE"#, ["x"])),
            ([a, b].joined(operator: .concat).collating(.nocase), BuiltSQL(#"("a" || "b") COLLATE NOCASE"#)),
        ])
    }

    @Test("expressions can be joined by an operator, and an empty list becomes its neutral value")
    func joining() throws {
        let (a, b) = (Self.a, Self.b)
        let none: [SQLExpression] = []
        try check([
            ([a, b, 1000.databaseValue].joined(operator: .add), BuiltSQL(#""a" + "b" + ?"#, [1000])),
            ([a, " ".databaseValue, b].joined(operator: .concat), BuiltSQL(#""a" || ? || "b""#, [" "])),
            (
                [a.sqlExpression, b >= 1000, a != nil].joined(operator: .and),
                BuiltSQL(#""a" AND ("b" >= ?) AND ("a" IS NOT NULL)"#, [1000])
            ),
            ([a].joined(operator: .or), BuiltSQL(#""a""#)),
            (none.joined(operator: .add), BuiltSQL("?", [0])),
            (none.joined(operator: .multiply), BuiltSQL("?", [1])),
            (none.joined(operator: .and), BuiltSQL("?", [true])),
            (none.joined(operator: .or), BuiltSQL("?", [false])),
            (none.joined(operator: .concat), BuiltSQL("?", [""])),
            (none.joined(operator: .bitwiseAnd), BuiltSQL("?", [-1])),
            (none.joined(operator: .bitwiseOr), BuiltSQL("?", [0])),
        ])
    }

    @Test("orderings")
    func orderings() throws {
        let (a, b) = (Self.a, Self.b)
        let literal: SQL =
            "\(a.asc), \(a.desc), \(a.ascNullsLast), \(a.descNullsFirst), \((a + b).desc), \(a.sqlOrdering)"
        #expect(
            try BuiltSQL(building: literal).sql
                == #""a" ASC, "a" DESC, "a" ASC NULLS LAST, "a" DESC NULLS FIRST, "a" + "b" DESC, "a""#)
    }

    @Test("a named composite expression is written without parentheses")
    func aliases() throws {
        #expect(try BuiltSQL(building: "\((Self.a + 1).forKey("b"))") == BuiltSQL(#""a" + ? AS "b""#, [1]))
        #expect(try BuiltSQL(building: "\(Self.a.forKey("b"))").sql == #""a" AS "b""#)
    }

    @Test("date functions take modifiers")
    func dates() throws {
        try DatabaseQueue().read { db throws in
            func text(_ modifiers: SQLDateModifier...) throws -> String? {
                let literal: SQL = modifiers.map { "\($0)" }.joined(separator: ", ")
                let row = try SQLRequest<Row>("SELECT DATETIME('2024-01-31 10:20:30', \(literal))").fetchOne(
                    db)
                return row?[0]
            }
            #expect(try text(.day(-1)) == "2024-01-30 10:20:30")
            #expect(try text(.hour(2)) == "2024-01-31 12:20:30")
            #expect(try text(.minute(-20)) == "2024-01-31 10:00:30")
            #expect(try text(.second(1.0)) == "2024-01-31 10:20:31")
            #expect(try text(.month(1)) == "2024-03-02 10:20:30")
            #expect(try text(.year(-4)) == "2020-01-31 10:20:30")
            #expect(try text(.startOfDay) == "2024-01-31 00:00:00")
            #expect(try text(.startOfMonth, .day(1)) == "2024-01-02 00:00:00")
            #expect(try text(.startOfYear) == "2024-01-01 00:00:00")
            #expect(try text(.weekday(0)) == "2024-02-04 10:20:30")
            #expect(try text(.utc, .localTime) == "2024-01-31 10:20:30")

            let expression = dateTime(1_000_000_000.databaseValue, .unixEpoch, .startOfMonth)
            let (sql, arguments) = try SQL("\(expression)").build(db)
            #expect(
                BuiltSQL(sql, arguments)
                    == BuiltSQL("DATETIME(?, ?, ?)", [1_000_000_000, "unixepoch", "start of month"]))
            #expect(
                try SQLRequest<Row>("SELECT \(expression)").fetchOne(db)?[0] as String?
                    == "2001-09-01 00:00:00")
            #expect(
                try SQLRequest<Row>("SELECT \(julianDay("2000-01-01 12:00".databaseValue))").fetchOne(db)?[0]
                    as Double? == 2_451_545)
        }
    }

    @Test("an expression has the same meaning in SQLite as in Swift")
    func meaning() throws {
        try DatabaseQueue().read { db throws in
            let (a, b, n) = (Column("a"), Column("b"), Column("n"))
            let expectations: [(SQLExpression, Int?)] = [
                (a - (b - 1), 6), (a - b - 1, 4), (-(-a), 7), (a - -b, 9), (~a, -8), (a / b, 3), (a & 3, 3),
                (a | 8, 15),
                (a << b, 28), (a >> 1, 3), (!(a < b), 1), (n == nil, 1), (n === nil, 1), (n != nil, 0),
                (n == 1, nil), (n === 1, 0),
                (n !== a, 1), ([1, 7].contains(a), 1), (![1, 7].contains(a), 0), ([Int]().contains(n), 0),
                ((1..<7).contains(a), 0),
                ((1...7).contains(a), 1), (n ?? 5, 5), (a == 7 && b == 2 || n == 1, 1), (a == 1 || b == 1, 0),
                (!(a && b), 0),
            ]
            for (expression, expected) in expectations {
                let row = try SQLRequest<Row>("SELECT \(expression) FROM (SELECT 7 AS a, 2 AS b, NULL AS n)")
                    .fetchOne(db)
                let value: Int? = row?[0]
                let sql = try SQL(expression).build(db).sql
                #expect(value == expected, "\(sql)")
            }
        }
    }

    @Test("a sign before a negative number does not start a comment in a definition")
    func signs() throws {
        try DatabaseQueue().write { db in
            try db.create(table: "t") { table in
                table.column("a")
                table.column("b").generatedAs(-((-5).databaseValue.sqlExpression))
                table.column("c").generatedAs(-((-0.5).databaseValue.sqlExpression) + 1)
                table.check(-((-1).databaseValue.sqlExpression) == 1)
            }
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(try Row.fetchOne(db, sql: "SELECT b, c FROM t") == ["b": 5, "c": 1.5])
        }
    }
}
