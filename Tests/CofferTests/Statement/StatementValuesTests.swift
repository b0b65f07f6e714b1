import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Values passed without StatementArguments")
struct StatementValuesTests {
    private func makeItems() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(
                sql:
                    "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, weight REAL, data BLOB, time TEXT)"
            )
        }
        return queue
    }

    @Test("are stored like the values of a list, with any types")
    func types() throws {
        let (date, uuid) = (Date(timeIntervalSince1970: 1e9), UUID())
        let (missing, data): (String?, Data) = (nil, Data([0, 1, 255]))
        let long = String(repeating: "a long text with a NUL \0 ", count: 500)
        try makeItems().write { db in
            let insert = "INSERT INTO item (name, weight, data, time) VALUES (?, ?, ?, ?)"
            let statement = try db.makeStatement(sql: insert)
            try statement.execute(values: "short", 1.5, data, date)
            try statement.execute(values: missing, Float(2.5), uuid, Int8(-3))
            try statement.execute(values: long, UInt32.max, Optional(data), true)
            try db.execute(sql: insert, arguments: ["short", 1.5, data, date])
            try db.execute(sql: insert, arguments: [missing, Float(2.5), uuid, Int8(-3)])
            try db.execute(sql: insert, arguments: [long, UInt32.max, Optional(data), true])
            let rows = try Row.fetchAll(
                db, sql: "SELECT name, weight, data, time, typeof(time) FROM item ORDER BY id")
            #expect(rows.count == 6)
            #expect(Array(rows[..<3]) == Array(rows[3...]))
            #expect(rows[2]["name"] == long)
        }
    }

    @Test("must match the number of parameters, and are not kept between executions")
    func counts() throws {
        try makeItems().write { db in
            let statement = try db.makeStatement(sql: "INSERT INTO item (id, name) VALUES (?, ?)")
            let error = #expect(throws: DatabaseError.self) { try statement.execute(values: 1) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message == "wrong number of statement arguments: 1")
            #expect(throws: DatabaseError.self) { try statement.execute(values: 1, "a", "b") }
            try statement.execute(values: 1, "a")
            #expect(statement.arguments.isEmpty)
            #expect(throws: DatabaseError.self) { try statement.execute() }
            try statement.execute(arguments: [2, "b"])
            try statement.execute(values: 3, "c")
            #expect(try String.fetchAll(db, sql: "SELECT name FROM item ORDER BY id") == ["a", "b", "c"])
        }
    }

    @Test("are part of the statement's error, but not shown in its description by default")
    func errors() throws {
        try makeItems().write { db in
            try db.execute(sql: "INSERT INTO item (id, name) VALUES (?, ?)", values: 1, "secret")
            let statement = try db.makeStatement(sql: "INSERT INTO item (id, name) VALUES (?, ?)")
            let error = #expect(throws: DatabaseError.self) { try statement.execute(values: 1, "secret") }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            #expect(error?.arguments == [1, "secret"])
            #expect(error?.description.contains("secret") == false)
            try statement.execute(values: 2, "other")
        }
    }

    @Test("work with SQL text, repeatedly and with several statements")
    func texts() throws {
        try makeItems().write { db in
            for id in 1...3 {
                try db.execute(sql: "INSERT INTO item (id, name) VALUES (?, ?)", values: id, "item \(id)")
            }
            try db.execute(
                sql: "UPDATE item SET weight = ? WHERE id = ?; DELETE FROM item WHERE id = ?", values: 2.5, 1,
                3)
            #expect(
                try Row.fetchAll(db, sql: "SELECT id, name, weight FROM item") == [
                    ["id": 1, "name": "item 1", "weight": 2.5], ["id": 2, "name": "item 2", "weight": nil],
                ])
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO item (id, name) VALUES (?, ?)", values: 7)
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "DELETE FROM item WHERE id = ?", values: 7, 8)
            }
        }
    }
}
