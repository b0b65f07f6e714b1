import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Views")
struct ViewTests {
    private static let schema = "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)"

    @Test("the SQL of views")
    func sql() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try db.create(view: "v1", as: SQLRequest<Row>(sql: "SELECT * FROM player"))
            try db.create(
                view: "v2", options: [.ifNotExists, .temporary], columns: ["a\"", "b"],
                as: SQLRequest<Row>(
                    "SELECT id, name FROM player WHERE name = \("O'Brien") AND score IN \([1, 2])"))
            try db.create(
                view: "v3",
                asLiteral: "SELECT \(Data([1, 2])) AS blob, \(1.5) AS double, \(String?.none) AS empty")
            try db.drop(view: "v1")
        }
        #expect(
            sql == [
                #"CREATE VIEW "v1" AS SELECT * FROM player"#,
                #"CREATE TEMPORARY VIEW IF NOT EXISTS "v2" ("a""", "b") AS SELECT id, name FROM player "#
                    + "WHERE name = 'O''Brien' AND score IN (1,2)",
                #"CREATE VIEW "v3" AS SELECT X'0102' AS blob, 1.5 AS double, NULL AS empty"#,
                #"DROP VIEW "v1""#,
            ])
    }

    @Test("arguments of SQL become a part of the view, in order and by name")
    func arguments() throws {
        try DatabaseQueue().write { (db) throws in
            try db.create(
                view: "v",
                as: SQLRequest<Row>(
                    sql:
                        "SELECT ? AS a, '?' AS b, :name AS c, ? AS d, :name || \":x\" /* ? */ AS e, $other AS f FROM (SELECT 1 AS \":x\")",
                    arguments: StatementArguments(["name": "n", "other": 2]) + ["it's", 4]))
            #expect(
                try Row.fetchAll(db, sql: "SELECT * FROM v") == [
                    ["a": "it's", "b": "?", "c": "n", "d": 4, "e": "n1", "f": 2]
                ])
        }
    }

    @Test(
        "arguments that do not fit are an error",
        arguments: [
            ("SELECT ?", [1, 2]), ("SELECT ?, ?", [1]), ("SELECT 1", [1]), ("SELECT ?1", [1]),
            ("SELECT ?", []),
        ])
    func mismatchingArguments(sql: String, arguments: [Int]) throws {
        let error = try databaseError { db in
            try db.create(view: "v", as: SQLRequest<Row>(sql: sql, arguments: StatementArguments(arguments)))
        }
        #expect(error != nil)
        #expect(error?.resultCode == (arguments.isEmpty ? .SQLITE_ERROR : .SQLITE_MISUSE))
    }

    @Test("creating an existing view is an error, unless IF NOT EXISTS keeps it")
    func ifNotExists() throws {
        try DatabaseQueue().write { (db) throws in
            try db.create(view: "v", asLiteral: "SELECT 1 AS a")
            try db.create(view: "v", options: .ifNotExists, asLiteral: "SELECT 2 AS a")
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM v") == 1)
            #expect(throws: DatabaseError.self) { try db.create(view: "v", asLiteral: "SELECT 2 AS a") }
        }
    }
}
