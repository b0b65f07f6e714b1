import Coffer
import Testing

/// The documentation's examples of records, rows and migrations. `Scripts/check-docs` looks for their lines
/// in this folder.
@Suite("Examples of records")
struct RecordExampleTests {
    typealias Owner = Vault.Owner
    typealias Item = Vault.Item
    typealias Share = Vault.Share

    private let queue: DatabaseQueue

    init() throws {
        queue = try Vault.open()
    }

    @Test("inserting")
    func inserting() throws {
        try queue.write { db in
            do {
                var seal = Item(ownerId: 7, name: "seal")
                try seal.insert(db)  // seal.id is set
                #expect(seal.id == 4)
            }
            do {
                let seal = try Item(ownerId: 7, name: "seal").inserted(db)
                #expect(seal.id == 5)
            }
            let share = try Share(itemId: 2, guestId: 3).insertAndFetch(db)
            #expect(share.expiry == nil)
            try Owner(id: 9, name: "Mary").insert(db)
            #expect(try Owner.fetchCount(db) == 3)
        }
    }

    @Test("saving")
    func saving() throws {
        try queue.write { db in
            do {
                var seal = Item(ownerId: 7, name: "seal")
                try seal.save(db)  // inserts
                seal.amount = 2
                try seal.save(db)  // updates
                #expect(try Item.find(db, key: 4).amount == 2)
            }
            let seal = try Item(ownerId: 7, name: "seal").saved(db)
            #expect(seal.id == 5)
            let owner = try Owner(id: 9, name: "Mary").saveAndFetch(db)
            #expect(owner.name == "Mary")
            try Owner(id: 9, name: "Mary").save(db)
            #expect(try Owner.fetchCount(db) == 3)
        }
    }

    @Test("updating and deleting")
    func updating() throws {
        var printed: [String] = []
        func print(_ text: String) { printed.append(text) }
        try queue.write { db in
            let item = try Item.find(db, key: 1)
            try update(item, db)
            try Owner(id: 7, name: "Ada Lovelace").upsert(db)  // owner 7 exists already
            #expect(try Owner.find(db, key: 7).name == "Ada Lovelace")
            var safe = try Item.find(db, key: 2)
            safe.amount = 5
            try lose(&safe, db, print)
            #expect(printed == ["The item no longer exists."])
        }
    }

    private func update(_ found: Item, _ db: Database) throws {
        var item = found
        item.amount += 1
        try item.update(db)
        do {
            let stored = try item.updateAndFetch(db)
            #expect(stored.amount == 2)
        }
        let stored = try item.updateChangesAndFetch(db) { $0.amount += 1 }
        #expect(stored?.amount == 3)
        item.amount = 9
        try item.upsert(db)
        #expect(try Item.find(db, key: 1).amount == 9)
    }

    private func lose(_ item: inout Item, _ db: Database, _ print: (String) -> Void) throws {
        let isThere = try item.exists(db)
        #expect(isThere)
        let wasThere = try item.delete(db)
        #expect(wasThere)
        do {
            try item.update(db)
        } catch RecordError.recordNotFound {
            print("The item no longer exists.")
        }
    }

    @Test("comparing, fetching")
    func comparing() throws {
        try queue.read { db in
            let item = try Item.find(db, key: 1)
            var mended = item
            mended.name = "Ring"
            let changes = try mended.databaseChanges(from: item)  // the old values of the columns that differ
            #expect(changes == ["name": "ring".databaseValue])
            let isUnchanged = mended.databaseEquals(item)
            #expect(!isUnchanged)
            let statement = try db.makeStatement(sql: "SELECT * FROM item WHERE weight > ?")
            let heavy = try Item.fetchAll(statement, arguments: [20_000])
            #expect(heavy.map(\.name) == ["safe"])
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM item ORDER BY id")
            let first = try rows.next()?.copy()
            #expect(first?["name"] == "ring")
        }
        let row: Row = ["id": 7, "name": "Ada", "email": nil]
        let isKnown = row.hasColumn("NAME")
        #expect(isKnown)
        let shown: String? = row.coalesce(["email", "name"])
        #expect(shown == "Ada")
    }

    @Test("migrations")
    func migrations() throws {
        let queue = try DatabaseQueue()
        var vault = DatabaseMigrator()
        vault.registerMigration("owners") { db in
            try db.create(table: "owner") { $0.primaryKey("id", .integer) }
        }
        try vault.migrate(queue)
        let names = try queue.read { db in try vault.appliedMigrations(db) }
        #expect(names == ["owners"])
        let isReady = try queue.read { db in try vault.hasCompletedMigrations(db) }
        #expect(isReady)
        let isFromTheFuture = try queue.read { db in try vault.hasBeenSuperseded(db) }
        #expect(!isFromTheFuture)
        let isOutdated = try queue.read { db in try vault.hasSchemaChanges(db) }
        #expect(!isOutdated)
    }
}
