import Coffer
import CofferTestSupport
import Testing

@Suite("SQL functions")
struct SQLFunctionTests {
    private static let a = Column("a")
    private static let b = Column("b")

    /// Checks the SQL of expressions, and their values in a table with the rows (1, 2), (-4, NULL) and (1,
    /// 5).
    private func check(_ cases: [(SQLExpression, BuiltSQL, DatabaseValue)]) throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (-4, NULL), (1, 5)")
            for (expression, expected, value) in cases {
                let request = Table("t").select(expression)
                let statement = try request.makePreparedRequest(db).statement
                #expect(
                    BuiltSQL(statement.sql, statement.arguments)
                        == BuiltSQL("SELECT \(expected.sql) FROM \"t\"", expected.arguments))
                #expect(try DatabaseValue.fetchOne(db, request) == value, "\(expected)")
            }
        }
    }

    @Test("aggregates")
    func aggregates() throws {
        let (a, b) = (Self.a, Self.b)
        try check([
            (average(a), BuiltSQL(#"AVG("a")"#), (-2.0 / 3).databaseValue),
            (
                average(a, filter: a > 0), BuiltSQL(#"AVG("a") FILTER (WHERE "a" > ?)"#, [0]),
                1.0.databaseValue
            ),
            (count(a), BuiltSQL(#"COUNT("a")"#), 3.databaseValue),
            (count(b), BuiltSQL(#"COUNT("b")"#), 2.databaseValue),
            (count(distinct: a), BuiltSQL(#"COUNT(DISTINCT "a")"#), 2.databaseValue),
            (max(b), BuiltSQL(#"MAX("b")"#), 5.databaseValue),
            (max(a, filter: b == nil), BuiltSQL(#"MAX("a") FILTER (WHERE "b" IS NULL)"#), (-4).databaseValue),
            (min(a), BuiltSQL(#"MIN("a")"#), (-4).databaseValue),
            (
                min(a, filter: b != nil && b < 4),
                BuiltSQL(#"MIN("a") FILTER (WHERE ("b" IS NOT NULL) AND ("b" < ?))"#, [4]),
                1.databaseValue
            ),
            (sum(a), BuiltSQL(#"SUM("a")"#), (-2).databaseValue),
            (
                sum(a + 1, filter: b > 3), BuiltSQL(#"SUM("a" + ?) FILTER (WHERE "b" > ?)"#, [1, 3]),
                2.databaseValue
            ),
            (sum(a, orderBy: b.desc), BuiltSQL(#"SUM("a" ORDER BY "b" DESC)"#), (-2).databaseValue),
            (total(a), BuiltSQL(#"TOTAL("a")"#), (-2.0).databaseValue),
            (
                total(a, orderBy: b, filter: b != nil),
                BuiltSQL(#"TOTAL("a" ORDER BY "b") FILTER (WHERE "b" IS NOT NULL)"#),
                2.0.databaseValue
            ),
            (max(a) - min(a) * 2, BuiltSQL(#"MAX("a") - (MIN("a") * ?)"#, [2]), 9.databaseValue),
        ])
    }

    @Test("scalar functions and conversions")
    func scalars() throws {
        let (a, b) = (Self.a, Self.b)
        try check([
            (abs(-a), BuiltSQL(#"ABS(-"a")"#), 1.databaseValue),
            (cast(a, as: .real) / 2, BuiltSQL(#"CAST("a" AS REAL) / ?"#, [2]), 0.5.databaseValue),
            (cast(a + 1, as: .text), BuiltSQL(#"CAST("a" + ? AS TEXT)"#, [1]), "2".databaseValue),
            (cast(a, as: .integer), BuiltSQL(#"CAST("a" AS INTEGER)"#), 1.databaseValue),
            (cast(a, as: .numeric), BuiltSQL(#"CAST("a" AS NUMERIC)"#), 1.databaseValue),
            (length(cast(a, as: .blob)), BuiltSQL(#"LENGTH(CAST("a" AS BLOB))"#), 1.databaseValue),
            (coalesce([a, b]), BuiltSQL(#"COALESCE("a", "b")"#), 1.databaseValue),
            (
                coalesce([DatabaseValue.null, b, 3.databaseValue] as [any SQLSpecificExpressible]),
                BuiltSQL(#"COALESCE(NULL, "b", ?)"#, [3]), 2.databaseValue
            ),
            (coalesce([a]), BuiltSQL(#""a""#), 1.databaseValue),
            (coalesce([] as [any SQLSpecificExpressible]), BuiltSQL("NULL"), .null),
            (length(a), BuiltSQL(#"LENGTH("a")"#), 1.databaseValue),
            (max(a, b), BuiltSQL(#"MAX("a", "b")"#), 2.databaseValue),
            (max(a, 7, b), BuiltSQL(#"MAX("a", ?, "b")"#, [7]), 7.databaseValue),
            (min(a, 7), BuiltSQL(#"MIN("a", ?)"#, [7]), 1.databaseValue),
            (min(a, b, 0), BuiltSQL(#"MIN("a", "b", ?)"#, [0]), 0.databaseValue),
            (
                dateTime(a, .unixEpoch), BuiltSQL(#"DATETIME("a", ?)"#, ["unixepoch"]),
                "1970-01-01 00:00:01".databaseValue
            ),
        ])
    }

    @Test("functions that are written in Swift")
    func functions() throws {
        struct Product: DatabaseAggregate {
            private var product = 1
            init() {}
            mutating func step(_ dbValues: [DatabaseValue]) {
                product *= Int.fromDatabaseValue(dbValues[0]) ?? 1
            }
            func finalize() -> (any DatabaseValueConvertible)? { product }
        }
        let double = DatabaseFunction("double", argumentCount: 1, pure: true) { values in
            Int.fromDatabaseValue(values[0]).map { $0 * 2 }
        }
        let odd = DatabaseFunction("odd name", argumentCount: 2) { $0[1] }
        let product = DatabaseFunction("product", argumentCount: 1, aggregate: Product.self)
        let now = DatabaseFunction("answer", argumentCount: 0) { _ in 42 }
        try DatabaseQueue().write { db throws in
            for function in [double, odd, product, now] { db.add(function: function) }
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (2), (3)")
            let table = Table("t")
            let calls = table.select(double(Column("a")), odd(Column("a"), "x"), now())
            #expect(
                try calls.makePreparedRequest(db).statement.sql
                    == #"SELECT double("a"), "odd name"("a", ?), answer() FROM "t""#)
            #expect(
                try calls.fetchAll(db).map { Array($0.databaseValues) } == [
                    [4.databaseValue, "x".databaseValue, 42.databaseValue],
                    [6.databaseValue, "x".databaseValue, 42.databaseValue],
                ])
            let aggregate = table.select(product(Column("a")), as: Int.self)
            #expect(try aggregate.fetchOne(db) == 6)
            #expect(try aggregate.fetchCount(db) == 1)
            #expect(
                try aggregate.makePreparedRequest(db, forSingleResult: true).statement.sql
                    == #"SELECT product("a") FROM "t""#)
        }
    }

    @Test("texts are changed by Swift's functions")
    func texts() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('éa b')")
            func value(_ expression: SQLExpression) throws -> String? {
                try Table("t").select(expression, as: String.self).fetchOne(db)
            }
            let a = Column("a")
            #expect(try value(a.capitalized) == "Éa B")
            #expect(try value(a.uppercased) == "ÉA B")
            #expect(try value(a.uppercased.lowercased) == "éa b")
            #expect(try value(a.localizedCapitalized) == "Éa B")
            #expect(try value(a.localizedUppercased) == "ÉA B")
            #expect(try value(a.localizedUppercased.localizedLowercased) == "éa b")
            #expect(
                try Table("t").select(a.uppercased).makePreparedRequest(db).statement.sql
                    == #"SELECT swiftUppercaseString("a") FROM "t""#)
        }
    }

    @Test("negation applies through aliases")
    func negation() throws {
        let alias = TableAlias(name: "x")
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            let request = Table("t").aliased(alias).filter(!alias[Column("a") == 1])
            #expect(
                try request.makePreparedRequest(db).statement.sql
                    == #"SELECT "x".* FROM "t" "x" WHERE "x"."a" <> ?"#)
            #expect(try request.fetchAll(db) == [["a": 2]])
        }
    }
}
