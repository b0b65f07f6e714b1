import Coffer
import Testing

/// Associations of associations, decoded into nested records.
@Suite("An inventory of items with counts")
struct InventoryTests {
    /// A person with items in the vault.
    struct Owner: Codable, FetchableRecord, PersistableRecord {
        let id: Int64
        var name: String

        static let items = hasMany(Item.self)
    }

    /// An item in the vault, with its worth.
    struct Item: Codable, FetchableRecord, PersistableRecord {
        let id: Int64
        let ownerId: Int64
        var worth: Int

        static let owner = belongsTo(Owner.self)
        static let attachments = hasMany(Attachment.self)
        enum Columns { static let worth = Column("worth") }
    }

    /// A photograph or a deed of an item.
    struct Attachment: Codable, FetchableRecord, PersistableRecord {
        let fileName: String
        let itemId: Int64
    }

    /// The items of one owner, most valuable first, with the number of their attachments.
    struct Inventory: Decodable, FetchableRecord {
        let owner: Owner
        let items: [Entry]

        struct Entry: Decodable {
            let item: Item
            let attachmentCount: Int
        }
    }

    private func makeVault() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE item(id INTEGER PRIMARY KEY, ownerId INTEGER NOT NULL REFERENCES owner, \
                    worth INTEGER NOT NULL);
                    CREATE TABLE attachment(fileName TEXT PRIMARY KEY, itemId INTEGER NOT NULL REFERENCES \
                    item);
                    """)
            for (id, name) in [(1, "Ada"), (2, "Grace"), (3, "Nobody")] {
                try Owner(id: Int64(id), name: name).insert(db)
            }
            for (id, owner, worth) in [(1, 1, 20), (2, 1, 900), (3, 2, 5)] {
                try Item(id: Int64(id), ownerId: Int64(owner), worth: worth).insert(db)
            }
            for (name, item) in [("deed", 1), ("photograph", 1), ("seal", 3)] {
                try Attachment(fileName: name, itemId: Int64(item)).insert(db)
            }
        }
        return queue
    }

    @Test("an inventory lists each owner's items with their attachment counts")
    func inventories() throws {
        let queue = try makeVault()
        // Two statements, regardless of the number of owners.
        let documented = Owner.items.order { $0.worth.desc }.annotated(with: Item.attachments.count)
        let inventories = try queue.read { db in
            try Inventory.fetchAll(db, Owner.including(all: documented))
        }
        #expect(inventories.map(\.owner.name) == ["Ada", "Grace", "Nobody"])
        #expect(inventories.map { $0.items.map(\.item.worth) } == [[900, 20], [5], []])
        #expect(inventories.map { $0.items.map(\.attachmentCount) } == [[0, 2], [1], []])
        let poor = try queue.read { db throws in try Owner.having(Owner.items.isEmpty).fetchAll(db) }
        #expect(poor.map(\.name) == ["Nobody"])
        let owner = inventories[0].owner
        let ofOne = try queue.read { db throws in try owner.request(for: Owner.items).fetchCount(db) }
        #expect(ofOne == 2)
    }
}
