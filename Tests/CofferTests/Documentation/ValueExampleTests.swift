import Coffer
import Foundation
import Testing

/// The documentation's examples of statements, values and expressions. `Scripts/check-docs` looks for their
/// lines in this folder.
@Suite("Examples of statements and values")
struct ValueExampleTests {
    private struct Item: Codable, FetchableRecord, TableRecord {
        enum CodingKeys: String, CodingKey { case owner, name, weight, worth }
        enum Columns {
            static let info = JSONColumn("info")
            static let weight = Column("weight")
            static let name = Column("name")
            static let worth = Column("worth")
        }
        var owner: Int64
        var name: String
        var weight: Int
        var worth = 1
    }

    private struct Guest: TableRecord {
        enum Columns: String, ColumnExpression {
            case id, ownerId, name, weight
        }
    }

    private struct Share {
        var expiry: DatabaseDateComponents
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (owner INTEGER, name TEXT, weight INTEGER, worth INTEGER DEFAULT 1, \
                    amount INTEGER DEFAULT 1, details TEXT, info TEXT);
                    CREATE TABLE "item 2026" (id INTEGER);
                    CREATE TABLE attachment (id BLOB, fileName TEXT);
                    """)
        }
    }

    private func sql(_ request: some FetchRequest) throws -> String {
        try queue.read { db in try request.makePreparedRequest(db, forSingleResult: false).statement.sql }
    }

    @Test("statements with values")
    func statements() throws {
        let items = [Item(owner: 7, name: "ring", weight: 12), Item(owner: 7, name: "lamp", weight: 900)]
        try queue.write { db in
            let statement = try db.makeStatement(
                sql: "INSERT INTO item (owner, name, weight) VALUES (?, ?, ?)")
            for item in items {
                try statement.execute(values: item.owner, item.name, item.weight)
            }
            try db.execute(sql: "UPDATE item SET weight = ? WHERE name = ?", values: 12, "lamp")
            #expect(try Int.fetchAll(db, sql: "SELECT weight FROM item") == [12, 12])

            try db.execute(sql: "INSERT INTO attachment VALUES (?, 'deed.pdf')", arguments: [UUID()])
            var printed = 0
            func print(_ identifier: UUID) { printed += 1 }
            let identifiers = try UUID.fetchCursor(db, sql: "SELECT id FROM attachment")
            while let identifier = try identifiers.next() { print(identifier) }
            #expect(printed == 1)

            let names = ["deed.pdf", "seal.png"]
            let sql =
                "DELETE FROM attachment WHERE fileName IN (\(databaseQuestionMarks(count: names.count)))"
            try db.execute(sql: sql, arguments: StatementArguments(names))
            #expect(db.changesCount == 1)
        }
    }

    @Test("values, dates, adapters and cursors")
    func values() throws {
        var share = Share(expiry: DatabaseDateComponents(DateComponents(year: 2020), format: .YMD))
        let lastDay = DateComponents(year: 2030, month: 2, day: 28)
        share.expiry = DatabaseDateComponents(lastDay, format: .YMD)  // stored as "2030-02-28"
        #expect(share.expiry.databaseValue == "2030-02-28".databaseValue)
        let row: Row = ["date": share.expiry]
        let value: DatabaseValue = row["date"]
        let date = Date.fromDatabaseValue(value)  // nil if it is not a date
        #expect(date != nil)
        try queue.read { db in
            let adapter = ColumnMapping(["foo": "bar"])
            let row = try Row.fetchOne(db, sql: "SELECT 'a' AS qux, 'b' AS bar", adapter: adapter)
            #expect(row == ["foo": "b"])
        }
        let cursor = AnyCursor([1, 2, 3])
        let squares = AnyCursor(cursor.map { $0 * $0 })
        #expect(try Array(squares) == [1, 4, 9])
    }

    @Test("expressions")
    func expressions() throws {
        let itemAlias = TableAlias<Item>()
        let joined = Item.aliased(itemAlias).select(
            itemAlias[JSONColumn("info")]["color"])
        #expect(try sql(joined) == #"SELECT "info" ->> 'color' FROM "item""#.replacing("'color'", with: "?"))
        let red = Item.filter { $0.info["color"] == "red" }
        #expect(try sql(red) == #"SELECT * FROM "item" WHERE ("info" ->> ?) = ?"#)
        let compared = Item.filter(
            (Column("name") == "passport" || ["void", "lost"].contains(Column("details"))).collating(.nocase))
        #expect(
            try sql(compared) == #"SELECT * FROM "item" WHERE ("name" = ? COLLATE NOCASE) "#
                + #"OR (("details" COLLATE NOCASE) IN (?, ?))"#)
        let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { _ in nil }
        queue.add(function: initials)
        let shortened =
            Item.select { initials($0.name) }
        #expect(
            try sql(shortened)
                == #"SELECT "initials"("name") FROM "item""#.replacing("\"initials\"", with: "initials"))
        #expect(Guest.Columns.ownerId.name == "ownerId")
    }

    @Test("SQL with values and names")
    func literals() throws {
        typealias CodingKeys = Item.CodingKeys
        struct Owner { var id = 7 }
        let (owner, tableName) = (Owner(), "item")
        let averageWorth = Item.select { average($0.worth) }
        let isShared: SQL = "id IN (SELECT itemId FROM share)"
        let literals: [SQL] = [
            "SELECT * FROM item WHERE ownerId = \(owner.id)",  // values become arguments
            "SELECT * FROM item WHERE name IN \(["ring", "letter"])",  // (?,?)
            "SELECT \(Column("worth") * Column("amount")) FROM item",  // "worth" * "amount"
            "SELECT \(CodingKeys.weight) FROM item",  // "weight"
            "SELECT * FROM item ORDER BY \(Column("weight").asc)",  // "weight" ASC
            "SELECT * FROM owner ORDER BY email COLLATE \(.nocase)",  // NOCASE
            "SELECT * FROM item WHERE worth > (\(averageWorth))",  // requests become subqueries
            "SELECT * FROM item WHERE \(literal: isShared)",  // other SQL literals
            "SELECT * FROM \(sql: tableName)",  // plain SQL: keep user input out of it
            "SELECT * FROM \(identifier: "item 2026")",
        ]
        let texts = try queue.read { db in try literals.map { try $0.build(db).sql } }
        #expect(
            texts == [
                "SELECT * FROM item WHERE ownerId = ?", "SELECT * FROM item WHERE name IN (?,?)",
                #"SELECT "worth" * "amount" FROM item"#, #"SELECT "weight" FROM item"#,
                #"SELECT * FROM item ORDER BY "weight" ASC"#,
                "SELECT * FROM owner ORDER BY email COLLATE NOCASE",
                #"SELECT * FROM item WHERE worth > (SELECT AVG("worth") FROM "item")"#,
                "SELECT * FROM item WHERE id IN (SELECT itemId FROM share)", "SELECT * FROM item",
                #"SELECT * FROM "item 2026""#,
            ])
    }
}
