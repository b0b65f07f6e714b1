import Coffer
import Testing

private typealias Item = QueriesAndAssociationsArticleTests.Item

extension DerivableRequest<Item> {
    /// Returns a request for the insured items.
    func insured() -> Self { filter { $0.worth >= 1000 } }
}

/// The code blocks of the article on queries and associations, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on queries and associations")
struct QueriesAndAssociationsArticleTests {
    struct Owner: FetchableRecord, PersistableRecord, Codable, Identifiable {
        var id: Int64
        var name: String

        static let items = hasMany(Item.self)
        static let attachments = hasMany(Attachment.self, through: items, using: Item.attachments)

        enum Columns {
            static let name = Column("name")
        }
    }

    struct Item: Codable, Identifiable, FetchableRecord, PersistableRecord {
        var id: Int64
        var ownerId: Int64
        var name: String
        var worth: Int

        static let owner = belongsTo(Owner.self)
        static let attachments = hasMany(Attachment.self)
        static let shares = hasMany(Share.self)

        enum Columns {
            static let worth = Column("worth")
            static let name = Column("name")
        }
    }

    struct Attachment: Codable, FetchableRecord, PersistableRecord {
        var itemId: Int64
        var fileName: String
        var size: Int

        enum Columns {
            static let size = Column("size")
        }
    }

    struct Share: Codable, FetchableRecord, PersistableRecord {
        var itemId: Int64
        var guestId: Int64

        static let item = belongsTo(Item.self)
        static let guest = belongsTo(Owner.self, key: "guest", using: ForeignKey(["guestId"]))
    }

    struct ItemWithOwner: Decodable, FetchableRecord {
        var item: Item
        var owner: Owner
    }

    struct OwnerWithItems: Decodable, FetchableRecord {
        var owner: Owner
        var items: [Item]
    }

    struct ItemWithFiles: Decodable, FetchableRecord {
        var item: Item
        var attachmentCount: Int
    }

    private let queue: DatabaseQueue
    private let ada = Owner(id: 1, name: "Ada")

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { [ada] db in
            try db.create(table: "owner") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
            }
            try db.create(table: "item") { table in
                table.primaryKey("id", .integer)
                table.belongsTo("owner").notNull()
                table.column("name", .text).notNull()
                table.column("worth", .integer).notNull()
            }
            try db.create(table: "attachment") { table in
                table.belongsTo("item").notNull()
                table.column("fileName", .text).notNull()
                table.column("size", .integer).notNull()
            }
            try db.create(table: "share") { table in
                table.primaryKey {
                    table.belongsTo("item")
                    table.belongsTo("guest", inTable: "owner")
                }
            }
            try ada.insert(db)
            try Owner(id: 2, name: "Grace").insert(db)
            try Item(id: 1, ownerId: 1, name: "ring", worth: 9000).insert(db)
            try Item(id: 2, ownerId: 1, name: "candle", worth: 2).insert(db)
            try Item(id: 3, ownerId: 1, name: "Ada", worth: 600).insert(db)
            try Attachment(itemId: 1, fileName: "deed.pdf", size: 4000).insert(db)
            try Attachment(itemId: 1, fileName: "empty.txt", size: 0).insert(db)
            try Share(itemId: 1, guestId: 2).insert(db)
        }
    }

    @Test("requests")
    func requests() throws {
        try queue.read { db in
            let dear = Item.filter { $0.worth >= 1000 }.order(\.worth.desc).limit(10)
            let items = try dear.fetchAll(db)
            let dearest = try dear.fetchOne(db)
            let number = try dear.fetchCount(db)

            let named = try Item.filter { ["ring", "candle"].contains($0.name) }.fetchAll(db)
            let modest = try Item.filter { ($0.worth > 1) && ($0.worth < 500) }.order(\.name).fetchAll(db)
            let search = try Item.filter { $0.name.like("%an%") }.fetchAll(db)
            #expect(items.map(\.name) == ["ring"] && dearest?.name == "ring" && number == 1)
            #expect(named.count == 2 && modest.map(\.name) == ["candle"] && search.map(\.name) == ["candle"])
            let names = try Item.order(\.name).select(\.name, as: String.self).fetchAll(db)
            let total = try Item.select({ sum($0.worth) }, as: Int.self).fetchOne(db)
            let perOwner = try Row.fetchAll(
                db, Item.select { [Column("ownerId"), count($0.name)] }.group(Column("ownerId")))
            #expect(names == ["Ada", "candle", "ring"] && total == 9602)
            #expect(perOwner.count == 1 && perOwner[0][1] == 3)
            let insured = try Item.all().insured().order(\.name).fetchAll(db)
            let insuredOfAda = try ada.request(for: Owner.items).insured().fetchAll(db)
            #expect(insured.map(\.name) == ["ring"] && insuredOfAda.map(\.name) == ["ring"])
        }
        try queue.read { db in
            let least = 1000
            let request: SQLRequest<Item> = "SELECT * FROM item WHERE worth >= \(least) ORDER BY name"
            let fromSQL = try request.fetchAll(db)
            let filtered = try Item.filter(literal: "worth * 2 > \(least)").fetchAll(db)
            #expect(fromSQL.map(\.name) == ["ring"] && filtered.map(\.name) == ["ring", "Ada"])
        }
    }

    @Test("associations")
    func associations() throws {
        try queue.read { db in
            let itemsOfAda = try ada.request(for: Owner.items).order(\.name).fetchAll(db)
            #expect(itemsOfAda.map(\.name) == ["Ada", "candle", "ring"])
            let withOwners = try ItemWithOwner.fetchAll(
                db, Item.including(required: Item.owner).order(\.worth))
            let withItems = try OwnerWithItems.fetchAll(
                db, Owner.including(all: Owner.items).orderByPrimaryKey())
            let withFiles = try ItemWithFiles.fetchAll(
                db, Item.annotated(with: Item.attachments.count).orderByPrimaryKey())
            #expect(
                withOwners.map(\.item.worth) == [2, 600, 9000]
                    && withOwners.allSatisfy { $0.owner.name == "Ada" })
            #expect(withItems.map(\.items.count) == [3, 0] && withFiles.map(\.attachmentCount) == [2, 0, 0])
            let careful = try Owner.having(Owner.attachments.count >= 2).fetchAll(db)
            let poor = try Owner.having(Owner.items.isEmpty).fetchAll(db)
            let lent = try Item.joining(
                required: Item.shares.joining(required: Share.guest.filter { $0.name == "Grace" })
            )
            .fetchAll(db)
            let largest = Owner.including(all: Owner.items.insured().order { $0.worth.desc })
                .orderByPrimaryKey()
            let report = try OwnerWithItems.fetchAll(db, largest)
            #expect(
                careful.map(\.name) == ["Ada"] && poor.map(\.name) == ["Grace"]
                    && lent.map(\.name) == ["ring"])
            #expect(report.map { $0.items.map(\.name) } == [["ring"], []])
        }
        try queue.read { db in
            let owner = TableAlias<Owner>()
            let eponymous = try Item.joining(required: Item.owner.aliased(owner)).filter {
                $0.name == owner.name
            }.fetchAll(db)
            #expect(eponymous.map(\.id) == [3])
        }
    }

    @Test("many rows at a time")
    func batches() throws {
        try queue.write { db in
            let changed = try Item.filter { $0.worth < 10 }.updateAll(db) { $0.worth.set(to: $0.worth + 1) }
            let removed = try Attachment.filter { $0.size == 0 }.deleteAll(db)
            #expect(changed == 1 && removed == 1)
            #expect(try Item.find(db, key: 2).worth == 3)
        }
    }
}
