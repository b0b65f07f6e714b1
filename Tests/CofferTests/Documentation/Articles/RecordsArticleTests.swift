import Coffer
import Foundation
import Testing

/// The code blocks of the article on records, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on records")
struct RecordsArticleTests {
    struct Owner: Codable, Identifiable, FetchableRecord, PersistableRecord {
        var id: UUID
        var name: String
        var email: String?
    }

    struct Item: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var ownerId: UUID
        var name: String
        var worth: Int
        var tags: [String] = []

        /// The columns used in requests.
        enum Columns {
            static let worth = Column(CodingKeys.worth)
            static let name = Column(CodingKeys.name)
            static let tags = JSONColumn(CodingKeys.tags)
        }

        mutating func didInsert(_ inserted: InsertionSuccess) {
            id = inserted.rowID
        }
    }

    struct NewShare: Codable, PersistableRecord {
        static let databaseTableName = "share"
        var itemId: Int64
        var guest: String
    }

    struct Share: Codable, FetchableRecord, PersistableRecord {
        var itemId: Int64
        var guest: String
        var mayCopy: Bool
    }

    struct UnsafeName: Error, Equatable { var name: String }

    struct Attachment: Codable, FetchableRecord, PersistableRecord {
        var fileName: String
        var size: Int

        func willSave(_ db: Database) throws {
            guard !fileName.contains("/") else { throw UnsafeName(name: fileName) }
        }
    }

    struct Place: FetchableRecord, PersistableRecord {
        var room: String
        var shelf: Int

        init(row: Row) throws {
            room = row["room"]
            shelf = row["shelf"]
        }

        func encode(to container: inout PersistenceContainer) {
            container["room"] = room
            container["shelf"] = shelf
        }
    }

    private let queue: DatabaseQueue
    private let ada = Owner(id: UUID(), name: "Ada", email: "ada@example.org")

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { [ada] db in
            try db.create(table: "owner") { table in
                table.primaryKey("id", .blob)
                table.column("name", .text).notNull()
                table.column("email", .text).unique()
            }
            try db.create(table: "item") { table in
                table.autoIncrementedPrimaryKey("id")
                table.belongsTo("owner").notNull()
                table.column("name", .text).notNull()
                table.column("worth", .integer).notNull()
                table.column("tags", .jsonText).notNull()
            }
            try db.create(table: "share") { table in
                table.belongsTo("item").notNull()
                table.column("guest", .text).notNull()
                table.column("mayCopy", .boolean).notNull().defaults(to: false)
            }
            try db.create(table: "attachment") { table in
                table.primaryKey("fileName", .text)
                table.column("size", .integer).notNull()
            }
            try db.create(table: "place") { table in
                table.column("room", .text).notNull()
                table.column("shelf", .integer).notNull()
            }
            try ada.insert(db)
            for (name, worth) in [("ring", 9000), ("candle", 2)] {
                var item = Item(ownerId: ada.id, name: name, worth: worth)
                try item.insert(db)
            }
        }
    }

    @Test("reading")
    func reading() throws {
        var total = 0
        try queue.read { db in
            let ring = try Item.fetchOne(db, key: 1)  // nil if there is no such row
            let found = try Item.find(db, key: 1)  // RecordError.recordNotFound
            let ada = try Owner.fetchOne(db, key: ["email": "ada@example.org"])
            let some = try Item.fetchAll(db, keys: [1, 2])
            let all = try Item.fetchAll(db)
            let number = try Item.fetchCount(db)
            let isThere = try Item.exists(db, key: 1)
            #expect(ring?.name == "ring" && found.worth == 9000 && ada?.name == "Ada" && some.count == 2)
            #expect(all.map(\.id) == [1, 2] && number == 2 && isThere)
            #expect(try Item.fetchOne(db, key: 9) == nil)
            #expect(throws: RecordError.self) { try Item.find(db, key: 9) }
            #expect(try Item.filter { $0.worth > 100 }.fetchCount(db) == 1)
            let dear = try Item.fetchAll(
                db, sql: "SELECT * FROM item WHERE worth > ? ORDER BY worth", arguments: [1000])
            #expect(dear.map(\.name) == ["ring"])
            let items = try Item.fetchCursor(db)
            while let item = try items.next() {
                total += item.worth
            }
        }
        #expect(total == 9002)
    }

    @Test("writing")
    func writing() throws {
        try queue.write { db in
            var ring = Item(ownerId: ada.id, name: "ring", worth: 9_000)
            try ring.insert(db)  // ring.id is set
            ring.worth = 9_500
            try ring.update(db)  // all columns; throws if the row does not exist
            try ring.update(db, columns: ["worth"])
            try ring.save(db)  // updates the row, or inserts it
            let wasThere = try ring.delete(db)
            #expect(wasThere && ring.id == 3)
            #expect(throws: RecordError.self) { try ring.update(db) }
            #expect(try !ring.delete(db))
            var item = try Item.find(db, key: 1)
            let isChanged = try item.updateChanges(db) { item in
                item.worth += 500
                item.tags.append("insured")
            }
            #expect(isChanged)
            #expect(try Item.filter { $0.tags[0] == "insured" }.fetchAll(db).map(\.worth) == [9500])
            var ada = ada
            ada.name = "Ada L."
            ada.id = UUID()
            let saved = try ada.upsertAndFetch(db, onConflict: ["email"], updating: .noColumnUnlessSpecified)
            { new in
                [Column("name").set(to: new[Column("name")])]
            }
            #expect(saved.name == "Ada L." && saved.id == self.ada.id)
            try share(db)
        }
    }

    private func share(_ db: Database) throws {
        let stored = try NewShare(itemId: 1, guest: "Grace").insertAndFetch(db, as: Share.self)
        #expect(!stored.mayCopy)
    }

    @Test("callbacks, and records by hand")
    func others() throws {
        try queue.write { db in
            #expect(throws: UnsafeName(name: "../key")) {
                try Attachment(fileName: "../key", size: 1).insert(db)
            }
            try Attachment(fileName: "deed.pdf", size: 1).insert(db)
            try db.execute(sql: "INSERT INTO place VALUES ('cellar', 3)")
            let place = try #require(try Place.fetchOne(db))
            #expect(place.room == "cellar")
            try place.insert(db)
            #expect(try Place.fetchAll(db).map(\.shelf) == [3, 3])
        }
    }
}
