import Coffer
import Foundation

/// The records of the examples in the documentation: a vault in which owners keep items, attach files to
/// them, and share them with guests.
enum Vault {
    struct Owner: Codable, Identifiable, FetchableRecord, PersistableRecord {
        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let email = Column("email")
        }
        static let items = hasMany(Item.self)
        var id: Int64
        var name: String
        var email: String?
    }

    struct Item: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
        enum Columns {
            static let id = Column("id")
            static let ownerId = Column("ownerId")
            static let name = Column("name")
            static let details = Column("details")
            static let weight = Column("weight")
            static let worth = Column("worth")
            static let amount = Column("amount")
        }
        var id: Int64?
        var ownerId: Int64
        var name: String
        var details: String?
        var weight = 0
        var worth = 0
        var amount = 1

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct Attachment: Codable, Identifiable, FetchableRecord, PersistableRecord {
        enum Columns {
            static let itemId = Column("itemId")
            static let fileName = Column("fileName")
            static let size = Column("size")
        }
        var id: UUID
        var itemId: Int64
        var fileName: String
        var size: Int
    }

    struct Share: Codable, FetchableRecord, PersistableRecord {
        enum Columns {
            static let itemId = Column("itemId")
            static let guestId = Column("guestId")
            static let expiry = Column("expiry")
        }
        var itemId: Int64
        var guestId: Int64
        var expiry: Date?
    }

    /// Makes a vault with owners 3 and 7. Owner 7 has three items, one of which is shared and has two files.
    static func open() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "owner") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull()
                t.column("email", .text)
            }
            try db.create(table: "item", options: .strict) { item in
                item.primaryKey("id", .integer)
                item.belongsTo("owner").notNull()
                item.column("name", .text)
                item.column("details", .text)
                for name in ["weight", "worth", "amount"] { item.column(name, .integer).notNull() }
            }
            try db.create(table: "attachment", options: .withoutRowID) { t in
                t.primaryKey("id", .blob)
                t.belongsTo("item", onDelete: .cascade).notNull()
                t.column("fileName", .text).notNull().collate(.nocase)
                t.column("size", .integer).check { $0 >= 0 }
            }
            try db.create(table: "share") { t in
                t.primaryKey {
                    t.belongsTo("item")
                    t.belongsTo("guest", inTable: "owner")
                }
                t.column("expiry", .date)
            }
            try Owner(id: 7, name: "Ada", email: "ada@example.org").insert(db)
            try Owner(id: 3, name: "Grace").insert(db)
            for (name, weight, worth, amount) in [
                ("ring", 12, 9000, 1), ("safe", 90_000, 400, 1), ("candle", 80, 2, 6),
            ] {
                var item = Item(ownerId: 7, name: name, weight: weight, worth: worth, amount: amount)
                try item.insert(db)
            }
            try Attachment(id: UUID(), itemId: 1, fileName: "Deed.pdf", size: 41_920).insert(db)
            try Attachment(id: UUID(), itemId: 1, fileName: "empty.txt", size: 0).insert(db)
            try Share(itemId: 1, guestId: 3).insert(db)
        }
        return queue
    }
}
