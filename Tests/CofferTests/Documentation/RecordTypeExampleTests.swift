import Coffer
import Foundation
import Testing

/// The documentation's examples of record types. `Scripts/check-docs` looks for their lines in this folder.
@Suite("Examples of record types")
struct RecordTypeExampleTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try Vault.open()
    }

    @Test("types that are read")
    func reading() throws {
        struct Attachment: FetchableRecord {
            let fileName: String
            let kilobytes: Int

            init(row: Row) throws {
                fileName = row["fileName"]
                kilobytes = (row["size"] as Int) / 1024
            }
        }
        struct Item: Decodable, FetchableRecord {
            enum CodingKeys: CodingKey { case name }
            var name: String
            var isFavorite = false

            init(row: Row) throws {
                self = try FetchableRecordDecoder().decode(Self.self, from: row)
                isFavorite = row["favorite"]
            }
        }
        try queue.read { db in
            let attachments = try Attachment.fetchAll(db, sql: "SELECT fileName, size FROM attachment")
            #expect(Set(attachments.map(\.kilobytes)) == [40, 0])
            let ring = try Item.fetchOne(db, sql: "SELECT 'ring' AS name, 1 AS favorite")
            #expect(ring?.isFavorite == true && ring?.name == "ring")
        }
    }

    @Test("types that represent a table")
    func tables() throws {
        struct Attachment: TableRecord {
            enum Columns {
                static let fileName = Column("fileName")
                static let size = Column("size")
            }
        }
        struct Named: TableRecord {
            static let databaseTableName = "attachment"
            static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["content"])] }
        }
        struct Stored: TableRecord {
            static let databaseTableName = "attachment"
            static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["generated"])] }
        }
        try queue.write { db in
            let empty =
                Attachment.order(\.fileName).filter { $0.size == 0 }
            #expect(try empty.fetchCount(db) == 1)
            try db.alter(table: "attachment") { table in
                table.add(column: "content", .blob)
                table.add(column: "generated", .blob)
            }
            let columns = try [Row.fetchOne(db, Named.all()), Row.fetchOne(db, Stored.all())].map {
                $0.map { Array($0.columnNames) } ?? []
            }
            #expect(
                columns == [
                    ["id", "itemId", "fileName", "size", "generated"],
                    ["id", "itemId", "fileName", "size", "content"],
                ])
        }
    }

    @Test("types that are written")
    func writing() throws {
        struct Item: Encodable, MutablePersistableRecord {
            var name: String
            private(set) var id: Int64?

            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        var printed: [Int64] = []
        func print(_ number: Int64) { printed.append(number) }
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE share (itemId INTEGER, guestId INTEGER, expiry TEXT);
                    CREATE TABLE load (weight INTEGER, details TEXT);
                    """)
            var letter = Item(name: "A letter of 1911")
            try letter.insert(db)
            print(letter.id ?? 0)  // the generated ID
            #expect(printed == [1])
            let share = Share(
                item: .init(id: 1), guest: .init(id: 3), expiry: Date(timeIntervalSince1970: 100_000))
            try share.insert(db)
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM share") == [
                    "itemId": 1, "guestId": 3, "expiry": "1970-01-02 00:00:00.000",
                ])
            try Load(weight: 12, details: "").insert(db)
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM load") == ["weight": 12, "details": nil])
        }
    }

    @Test("requests")
    func requests() throws {
        try queue.read { db in
            #expect(try Item.overdue(on: Date()).fetchAll(db).isEmpty)
            func find() throws -> Item {
                guard let item = try Item.fetchOne(db, key: 12) else {
                    throw Item.recordNotFound(db, key: 12)
                }
                return item
            }
            #expect(throws: RecordError.self) { try find() }
            do {
                let items = try Item.filter { $0.worth > 500 }.order(\.name).fetchAll(db)
                #expect(items.count == 1)
            }
            var printed: [String] = []
            func print(_ name: String) { printed.append(name) }
            let lift = Item.filter { $0.weight > 20_000 }.order(\.worth.desc).limit(3)
            for item in try lift.fetchAll(db) { print(item.name) }
            let count = try lift.fetchCount(db)
            #expect(printed == ["safe"] && count == 1)
        }
    }
}

private struct Item: Decodable, FetchableRecord, TableRecord {
    enum Columns {
        static let name = Column("name")
        static let weight = Column("weight")
        static let worth = Column("worth")
    }
    var name: String
}

extension Item {
    /// Items that were lent to a guest and are overdue.
    static func overdue(on day: Date) -> SQLRequest<Item> {
        "SELECT item.* FROM item JOIN share ON share.itemId = item.id WHERE share.expiry < \(day)"
    }
}

private struct Load: PersistableRecord {
    enum Columns { static let weight = Column("weight") }
    var weight: Int
    var details: String

    func encode(to container: inout PersistenceContainer) {
        container[Columns.weight] = weight
        container["details"] = details.isEmpty ? nil : details
    }
}

private struct Share: TableRecord {
    struct Reference { var id: Int64 }
    var item: Reference
    var guest: Reference
    var expiry: Date?
}

extension Date {
    fileprivate var startOfDay: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
    }
}

extension Share: EncodableRecord {
    func encode(to container: inout PersistenceContainer) {
        (container["itemId"], container["guestId"]) = (item.id, guest.id)
        container["expiry"] = expiry?.startOfDay
    }
}

extension Share: PersistableRecord {}
