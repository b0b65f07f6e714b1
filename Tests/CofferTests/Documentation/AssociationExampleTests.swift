import Coffer
import Testing

/// The documentation's examples of associations, with the SQL that it shows. `Scripts/check-docs` looks for
/// their lines.
@Suite("Examples of associations")
struct AssociationExampleTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE profile (ownerId INTEGER PRIMARY KEY REFERENCES owner, portrait TEXT);
                    CREATE TABLE item (id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner, name TEXT, \
                    weight INTEGER, worth INTEGER);
                    CREATE TABLE attachment (itemId INTEGER REFERENCES item, fileName TEXT);
                    CREATE TABLE share (itemId INTEGER, giverId INTEGER REFERENCES owner(id), \
                    takerId INTEGER REFERENCES owner(id));
                    INSERT INTO owner VALUES (1, 'Ada'), (2, 'Grace');
                    INSERT INTO profile VALUES (1, 'ada.jpg');
                    INSERT INTO item VALUES (1, 1, 'ring', 12, 9000), (2, 1, 'safe', 90000, 400);
                    INSERT INTO attachment VALUES (1, 'deed.pdf');
                    INSERT INTO share VALUES (2, 1, 2);
                    """)
        }
    }

    private func sql(_ request: any FetchRequest) throws -> String {
        try queue.read { db in try request.makePreparedRequest(db, forSingleResult: false).statement.sql }
    }

    private func expect(_ requests: [any FetchRequest], _ expected: [String]) throws {
        let texts = try requests.map(sql)
        #expect(texts == expected)
    }

    @Test("declarations")
    func declarations() throws {
        let owner = #"JOIN "owner" ON "owner"."id" = "#
        let ofAttachment =
            #"SELECT "attachment".* FROM "attachment" JOIN "item" ON "item"."id" = "attachment"."itemId" "#
            + owner + #""item"."ownerId""#
        let ofOwner =
            #"SELECT "owner".* FROM "owner" JOIN "item" ON "item"."ownerId" = "owner"."id" "#
            + #"JOIN "attachment" ON "attachment"."itemId" = "item"."id""#
        try expect(
            [
                Item.including(required: Item.owner),
                Owner.including(required: Owner.profile),
                Attachment.joining(required: Attachment.owner),
                SameAttachment.joining(required: SameAttachment.owner),
                Owner.joining(required: Owner.attachments),
                SameOwner.joining(required: SameOwner.attachments),
                Share.joining(required: Share.giver),
                Share.joining(required: Share.taker),
                Owner.joining(required: Owner.givenShares),
            ],
            [
                #"SELECT "item".*, "owner".* FROM "item" "# + owner + #""item"."ownerId""#,
                #"SELECT "owner".*, "profile".* FROM "owner" "#
                    + #"JOIN "profile" ON "profile"."ownerId" = "owner"."id""#,
                ofAttachment, ofAttachment,
                ofOwner, ofOwner,
                #"SELECT "share".* FROM "share" "# + owner + #""share"."giverId""#,
                #"SELECT "share".* FROM "share" "# + owner + #""share"."takerId""#,
                #"SELECT "owner".* FROM "owner" JOIN "share" ON "share"."giverId" = "owner"."id""#,
            ])
        #expect(try queue.read { try Item.joining(required: Item.keeper).fetchCount($0) } == 2)
        #expect(try queue.read { try Owner.joining(required: Owner.belongings).fetchCount($0) } == 2)
    }

    @Test("rows with associated rows")
    func including() throws {
        try queue.read { db in
            do {
                // SELECT "item".*, "owner".* FROM "item" JOIN "owner" ON "owner"."id" = "item"."ownerId"
                let request = Item.including(required: Item.owner)
                struct ItemInfo: Decodable, FetchableRecord { var item: Item; var owner: Owner }
                let infos = try request.asRequest(of: ItemInfo.self).fetchAll(db)
                #expect(infos.map(\.owner.name) == ["Ada", "Ada"])
            }
            do {
                struct OwnerInfo: Decodable, FetchableRecord { var owner: Owner; var items: [Item] }
                let infos = try Owner.including(all: Owner.items).asRequest(of: OwnerInfo.self).fetchAll(db)
                #expect(infos.map { $0.items.map(\.name) } == [["ring", "safe"], []])
            }
            let owner = try Owner.find(db, key: 1)
            do {
                let items = try owner.request(for: Owner.items.order(\.name)).fetchAll(db)
                #expect(items.map(\.name) == ["ring", "safe"])
            }
            let dear = try Row.fetchOne(
                db,
                Owner.including(all: Owner.items.filter { $0.worth > 5000 }.order(\.name)))
            #expect(dear?.prefetchedRows["items"]?.count == 1)
            do {
                let row = try Row.fetchOne(db, Owner.including(all: Owner.items))
                let items: [Item]? = row?["items"]
                #expect(items?.count == 2)
            }
            let row = try Row.fetchOne(db, Owner.including(all: Owner.items))
            let items = row?.prefetchedRows["items"]  // [Row], empty if the owner has no item
            #expect(items?.count == 2)
        }
    }

    @Test("counts and other aggregates of associated rows")
    func aggregates() throws {
        let grouped =
            #" FROM "owner" LEFT JOIN "item" ON "item"."ownerId" = "owner"."id" GROUP BY "owner"."id""#
        try expect(
            [
                Owner.annotated(with: Owner.items.count)
            ],
            [#"SELECT "owner".*, COUNT(DISTINCT "item"."id") AS "itemCount""# + grouped])
        let busy =
            Owner.having(Owner.items.count >= 10)
        #expect(
            try sql(busy).hasPrefix(
                #"SELECT "owner".*"# + grouped + #" HAVING COUNT(DISTINCT "item"."id") >= "#))
        let (counted, poor) = (
            Owner.all().annotated(with: Owner.items.count),
            Owner.all().having(Owner.items.isEmpty)
        )
        let (average, most) = (
            Owner.annotated(with: Owner.items.average { $0.worth }),
            Owner.annotated(with: Owner.items.max { $0.worth } ?? 0)
        )
        try queue.read { db in
            let counts = try Row.fetchAll(db, counted).map { $0["itemCount"] as Int }
            let names = try poor.fetchAll(db).map(\.name)
            let averages = try Row.fetchAll(db, average).map { $0["averageItemWorth"] as Double? }
            let greatest = try Row.fetchAll(db, most).map { $0["maxItemWorth"] as Int }
            #expect(counts == [2, 0] && names == ["Grace"])
            #expect(averages == [4700, nil] && greatest == [9000, 0])
        }
        // The rows are in "heavyItems", their number in the column "heavyItemCount".
        let heavyItems = Owner.items.filter { $0.weight > 20_000 }.forKey("heavyItems")
        try queue.read { db in
            let counts = try Row.fetchAll(db, Owner.annotated(with: heavyItems.count)).map {
                $0["heavyItemCount"] as Int
            }
            #expect(counts == [1, 0])
            let row = try Row.fetchOne(db, Owner.including(all: heavyItems))
            #expect(row?.prefetchedRows["heavyItems"]?.count == 1)
        }
    }

    @Test("common table expressions")
    func commonTables() throws {
        let with = #"WITH "heavy" AS (SELECT * FROM "item" WHERE "weight" > ?)"#
        do {
            let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
            let load = Owner.association(to: heavy) { owner, item in item[Column("ownerId")] == owner.id }
            let request = Owner.with(heavy).including(optional: load)
            try expect(
                [request],
                [
                    with + #" SELECT "owner".*, "heavy".* FROM "owner" "#
                        + #"LEFT JOIN "heavy" ON "heavy"."ownerId" = "owner"."id""#
                ])
            try queue.read { db in
                // WITH "heavy" AS (...) SELECT * FROM "heavy"
                let rows = try heavy.all().with(heavy).fetchAll(db)
                #expect(rows.count == 1)
                let literal: SQLRequest<Row> =
                    "WITH \(definitionFor: heavy) SELECT * FROM \(heavy)"
                #expect(try literal.fetchCount(db) == 1)
                #expect(
                    try literal.makePreparedRequest(db, forSingleResult: false).statement.sql
                        == with + #" SELECT * FROM "heavy""#)
            }
        }
        do {
            let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
            let lent = CommonTableExpression(named: "lent", request: Share.select(\.itemId))
            let loans = heavy.association(to: lent) { item, loan in
                loan[Column("itemId")] == item[Column("id")]
            }
            let request = heavy.all().with(heavy).with(lent).joining(required: loans)
            #expect(try queue.read { try request.fetchAll($0).count } == 1)
        }
        do {
            let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
            let keeper = heavy.association(to: Owner.self) { item, owner in
                owner.id == item[Column("ownerId")]
            }
            let request = heavy.all().with(heavy).including(required: keeper)
            #expect(
                try queue.read { try request.fetchAll($0).map { $0.scopes["owner"]?["name"] } } == ["Ada"])
        }
        do {
            let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
            let owners = Table("owner")
            let keeper = heavy.association(to: owners) { item, owner in
                owner[Column("id")] == item[Column("ownerId")]
            }
            let request = heavy.all().with(heavy).including(required: keeper)
            #expect(
                try queue.read { try request.fetchAll($0).map { $0.scopes["owner"]?["name"] } } == ["Ada"])
        }
    }

    @Test("tables without record types")
    func tables() throws {
        do {
            let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
            let owners = Table("owner")
            let load = owners.association(to: heavy) { owner, item in
                item[Column("ownerId")] == owner[Column("id")]
            }
            let request = owners.with(heavy).including(optional: load)
            #expect(try queue.read { try request.fetchAll($0).count } == 2)
        }
        do {
            let (owners, items) = (Table("owner"), Table("item"))
            let files = owners.hasMany(
                Row.self, through: owners.hasMany(items), using: items.hasMany(Table("attachment")))
            #expect(try queue.read { try owners.joining(required: files).fetchCount($0) } == 1)
        }
        let (attachments, items) = (Table("attachment"), Table("item"))
        let owner = attachments.hasOne(
            Row.self, through: attachments.belongsTo(items), using: items.belongsTo(Table("owner")))
        #expect(try queue.read { try attachments.including(required: owner).fetchCount($0) } == 1)
    }
}

private struct Owner: Codable, FetchableRecord, TableRecord, EncodableRecord {
    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
    }
    var id: Int64
    var name: String
}

private struct Item: Codable, FetchableRecord, TableRecord, EncodableRecord {
    enum Columns {
        static let id = Column("id")
        static let ownerId = Column("ownerId")
        static let name = Column("name")
        static let weight = Column("weight")
        static let worth = Column("worth")
    }
    static let attachments = hasMany(Attachment.self)
    var id: Int64
    var name: String
}

private struct Attachment: TableRecord {
    static let item = belongsTo(Item.self)
}

private struct Profile: TableRecord {}

extension Owner { static let items = hasMany(Item.self) }
extension Item { static let owner = belongsTo(Owner.self) }

extension Item {
    static let keeper: BelongsToAssociation<Item, Owner> = belongsTo(Owner.self)
}

extension Owner {
    static let profile: HasOneAssociation<Owner, Profile> = hasOne(Profile.self)
}

extension Owner {
    static let belongings: HasManyAssociation<Owner, Item> = hasMany(Item.self)
}

extension Attachment {
    static let owner: HasOneThroughAssociation<Attachment, Owner> = hasOne(
        Owner.self, through: item, using: Item.owner)
}

extension Owner {
    static let attachments: HasManyThroughAssociation<Owner, Attachment> =
        hasMany(Attachment.self, through: items, using: Item.attachments)
}

/// The same table, with associations whose types the compiler infers.
private struct SameAttachment: TableRecord {
    static let databaseTableName = "attachment"
    static let item = belongsTo(Item.self)
    static let owner = hasOne(Owner.self, through: item, using: Item.owner)
}

private struct SameOwner: TableRecord {
    static let databaseTableName = "owner"
    static let items = hasMany(Item.self)
    static let attachments = hasMany(Attachment.self, through: items, using: Item.attachments)
}

// CREATE TABLE share (giverId INTEGER REFERENCES owner(id), takerId INTEGER REFERENCES owner(id), ...)
private struct Share: TableRecord {
    enum Columns { static let itemId = Column("itemId") }
    static let giver = belongsTo(Owner.self, key: "giver", using: ForeignKey(["giverId"]))
    static let taker = belongsTo(Owner.self, key: "taker", using: ForeignKey(["takerId"]))
}
extension Owner {
    static let givenShares = hasMany(Share.self, using: ForeignKey(["giverId"]))
}
