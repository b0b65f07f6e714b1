import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Examples from the documentation, verbatim. `Scripts/check-docs` looks for their lines in this folder.
@Suite("Examples of the documentation")
struct DocumentationExampleTests {
    typealias Owner = Vault.Owner
    typealias Item = Vault.Item
    typealias Attachment = Vault.Attachment
    typealias Share = Vault.Share

    private let queue: DatabaseQueue

    init() throws {
        queue = try Vault.open()
    }

    private func sql(_ request: some FetchRequest) throws -> String {
        try queue.read { db in try request.makePreparedRequest(db, forSingleResult: false).statement.sql }
    }

    @Test("salvaging a file that does not exist throws an error")
    func salvage() throws {
        #expect(throws: DatabaseFileError(.missing, path: "/srv/vault/vault.db")) {
            let damaged = DatabaseFile(path: "/srv/vault/vault.db")
            let result = try damaged.salvage(key: .passphrase("old"), to: "/srv/vault/salvaged.db")
            for table in result.tables where table.missingPageCount > 0 {
                print(table.name, "lost rows with the row IDs", table.missingRowIDs)
            }
        }
    }

    @Test("requests: filters, selections and orderings")
    func requests() throws {
        try queue.read { db in
            let lift = Item.filter { $0.weight > 20_000 }.order(\.worth.desc).limit(3)
            for item in try lift.fetchAll(db) { print(item.name) }
            #expect(try lift.fetchAll(db).map(\.name) == ["safe"])
            let endless = try Share.filter { $0.expiry == nil }.fetchCount(db)
            #expect(endless == 1)
            let bytes = try Attachment.filter { $0.itemId == 4 }.select([sum(Column("size"))], as: Int.self)
                .fetchOne(db)
            #expect(bytes == nil)
            let known = try Attachment.selectPrimaryKey(as: UUID.self).fetchSet(db)
            #expect(known.count == 2)
            let everyShare = try Share.all().fetchAll(db)
            #expect(everyShare.count == 1)
            guard let owner = try Owner.fetchOne(db, key: 7) else { return }
            #expect(owner.name == "Ada")
            let guest = try Owner.find(db, key: 3)
            let item = try Item.find(db, key: 1)
            let share = try Share.fetchOne(db, key: ["guestId": guest.id, "itemId": item.id])
            #expect(share != nil)
            let row = try Table("item").filter(Column("name") == "ring").fetchOne(db)
            #expect(row != nil)
        }
        #expect(try sql(Attachment.order(\.fileName).filter { $0.size == 0 }).hasPrefix("SELECT"))
        #expect(
            try sql(
                Attachment.select { [$0.itemId, count($0.fileName), sum($0.size)] }.group { [$0.itemId] }
            ).contains("GROUP BY"))
        #expect(
            try sql(Share.all().order([Column("expiry").descNullsFirst, Column("guestId")])).contains(
                "DESC NULLS FIRST"))
        #expect(try sql(Share.all().filter(key: ["itemId": 4, "guestId": 3])).contains("AND"))
        #expect(try sql(Attachment.all().filter((1...4096).contains(Column("size")))).contains("BETWEEN"))
        #expect(
            try sql(
                Attachment.all().select([Column("fileName"), (Column("size") / 1024).forKey("kilobytes")])
            ).contains("kilobytes"))
        #expect(
            try sql(Item.all().annotated(with: [(Column("worth") * Column("amount")).forKey("value")]))
                .contains("value"))
        let byValue = Item.select { [$0.name, ($0.worth * $0.amount).forKey("value")] }.order(
            Column("value").detached.desc)
        #expect(try sql(byValue).hasSuffix(#"ORDER BY "value" DESC"#))
    }

    @Test("common tables and aliases")
    func commonTables() throws {
        let heavy = CommonTableExpression(
            named: "heavy", request: Item.filter { $0.weight > 20_000 }.select(\.ownerId))
        let carriers = Owner.with(heavy).filter { heavy.all().contains($0.id) }
        #expect(try queue.read { try carriers.fetchAll($0).map(\.name) } == ["Ada"])
        let keeper = TableAlias<Owner>()
        let treasures = Item.filter { $0.ownerId == keeper.id && $0.worth > 5000 }
        let wealthy = Owner.aliased(keeper).filter(treasures.exists())
        #expect(try queue.read { try wealthy.fetchAll($0).map(\.id) } == [7])
    }

    @Test("SQL with values and names")
    func literals() throws {
        let (owner, guest) = (Owner(id: 7, name: "Ada"), Owner(id: 3, name: "Grace"))
        let (limit, factor, today, tableName) = (10, 2, Date(), "item")
        let averageWorth = Item.select { average($0.worth) }
        let isShared: SQL = "id IN (SELECT itemId FROM share)"
        let requests: [SQLRequest<Row>] = [
            "SELECT * FROM item WHERE ownerId = \(owner.id)",  // values become arguments
            "SELECT * FROM item WHERE name IN \(["ring", "letter"])",  // (?,?)
            "SELECT \(Column("worth") * Column("amount")) FROM item",  // "worth" * "amount"
            "SELECT * FROM item ORDER BY \(Column("weight").asc)",  // "weight" ASC
            "SELECT * FROM owner ORDER BY email COLLATE \(.nocase)",  // NOCASE
            "SELECT * FROM item WHERE worth > (\(averageWorth))",  // requests become subqueries
            "SELECT * FROM item WHERE \(literal: isShared)",  // other SQL literals
            "SELECT * FROM \(sql: tableName)",  // plain SQL: keep user input out of it
            "SELECT * FROM \(Attachment.self)",
            "SELECT \(columnsOf: Item.self) FROM \(Item.self) JOIN \(Share.self) ON itemId = item.id",
        ]
        try queue.write { db in
            #expect(try requests.map { try $0.fetchCount(db) } == [3, 1, 3, 3, 2, 1, 1, 3, 2, 1])
            let shared: SQLRequest<Int64> = "SELECT itemId FROM share WHERE guestId = \(guest.id)"
            let visible: SQLRequest<Item> =
                "SELECT * FROM item WHERE id IN (\(shared)) OR ownerId = \(guest.id)"
            #expect(try visible.fetchAll(db).map(\.name) == ["ring"])
            try db.execute(literal: "UPDATE item SET worth = worth * \(factor) WHERE ownerId = \(owner.id)")
            let overweight = SQL(sql: "weight > ? AND amount > ?", arguments: [limit, 1])
            #expect(try Item.filter(literal: overweight).fetchAll(db).map(\.worth) == [4])
            let item = try Item.find(db, key: 1)
            try db.execute(literal: "DELETE FROM share WHERE itemId = \(item.id) AND expiry < \(today)")
            #expect(try Share.fetchCount(db) == 1)
            #expect(try Share.all().usable(by: guest, on: today).fetchCount(db) == 1)
        }
    }

    @Test("changes of many rows")
    func batches() throws {
        let firstOfJuly = Date()
        try queue.write { db in
            try Item.filter { $0.name == "candle" }.updateAll(
                db, [Column("amount") -= 1, Column("details").set(to: "opened")])
            #expect(try Item.find(db, key: 3).amount == 5)
            try Attachment.updateAll(db) { $0.fileName.set(to: $0.fileName.lowercased) }
            #expect(
                try Attachment.select(\.fileName, as: String.self).fetchSet(db) == ["deed.pdf", "empty.txt"])
            try Share.filter { $0.guestId == 3 }.updateAll(db) { $0.expiry.set(to: nil) }
            let emptyFiles = try Attachment.filter { $0.size == 0 }.deleteAll(db)  // their number
            #expect(emptyFiles == 1)
            let ended = try Share.filter { $0.expiry < firstOfJuly }.deleteAndFetchCursor(db)
            #expect(try ended.next() == nil)
            let dearer = try Item.all().updateAndFetchCursor(db, [Column("worth") *= 2])
            #expect(try Array(dearer).map(\.worth) == [18_000, 800, 4])
            let gone = try Item.filter { $0.amount == 0 }.deleteAndFetchIds(db)
            #expect(gone.isEmpty)
        }
    }

    @Test("changes of one record")
    func records() throws {
        try queue.write { db in
            var item = try Item.find(db, key: 3)
            var mended = item
            mended.name = item.name.capitalized
            if try mended.updateChanges(db, from: item) { print("renamed") }
            #expect(try Item.find(db, key: 3).name == "Candle")
            item.amount = 1
            try item.updateChanges(db) { item in
                item.amount -= 1
                if item.amount == 0 { item.details = "none left" }
            }
            #expect(try Item.find(db, key: 3).details == "none left")
            let newShare = Share(itemId: 1, guestId: 3, expiry: Date())
            let share = try newShare.upsertAndFetch(
                db, onConflict: ["itemId", "guestId"], updating: .noColumnUnlessSpecified
            ) { new in
                [Column("expiry").set(to: max(Column("expiry"), new[Column("expiry")]))]
            }
            #expect(share.expiry == nil)
        }
    }

    @Test("rows of joined queries, in scopes and in parts")
    func scopes() throws {
        try queue.read { db in
            let sql =
                "SELECT item.name, owner.name, owner.email FROM item JOIN owner ON owner.id = item.ownerId"
            let adapter = ScopeAdapter(["owner": RangeRowAdapter(1..<3)])
            for row in try Row.fetchAll(db, sql: sql, adapter: adapter) {
                let item: String = row[0]
                let email: String? = row.scopes["owner"]?["email"]  // [name:"Ada" email:"ada@example.org"]
                #expect(!item.isEmpty && email == "ada@example.org")
            }
            let tables = try ["owner", "item"].map { try db.columns(in: $0).count }
            let parts = splittingRowAdapters(columnCounts: tables)
            #expect(parts.count == 3)
        }
    }

    @Test("cursors")
    func cursors() throws {
        let heaviest = try queue.read { db in
            let weights = try Int.fetchCursor(db, Item.select(\.weight))
            return try weights.max()
        }
        #expect(heaviest == 90_000)
        try queue.read { db in
            let items = try Item.fetchCursor(db)  // RecordCursor<Item>
            let heavy = try Array(items.filter { $0.weight > 20_000 }.prefix(5))
            #expect(heavy.count == 1)
        }
    }

    @Test("definitions of the schema")
    func schema() throws {
        let limit = 5000
        try queue.write { db in
            try db.create(indexOn: "share", columns: ["guestId", "expiry"])
            let address = Column("email").collating(.nocase)
            try db.create(index: "ownerAddress", on: "owner", expressions: [address], options: .unique)
            try db.create(view: "endlessShare", as: Share.filter(Column("expiry") == nil))
            try db.create(view: "treasure", asLiteral: "SELECT id, name FROM item WHERE worth >= \(limit)")
            #expect(try String.fetchAll(db, sql: "SELECT name FROM treasure") == ["ring"])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM endlessShare") == 1)
            #expect(throws: DatabaseError.self) {
                try Owner(id: 8, name: "A", email: "ADA@example.org").insert(db)
            }
        }
    }

    @Test("migrations")
    func migrations() throws {
        let pool = try DatabaseQueue()
        var vault = DatabaseMigrator()
        vault.registerMigration("owners and their items") { db in
            try db.execute(sql: "CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
            try db.create(table: "item", options: .strict) { item in
                item.primaryKey("id", .integer)
                item.belongsTo("owner").notNull()
                item.column("name", .text)
            }
        }
        vault.registerMigration("items have a weight") { db in
            try db.alter(table: "item") { $0.add(column: "weight", .integer).defaults(to: 0) }
        }
        try vault.migrate(pool)
        #expect(
            try pool.read { try $0.columns(in: "item").map(\.name) } == ["id", "ownerId", "name", "weight"])
    }

    @Test("full-text tables")
    func fullText() throws {
        try queue.write { db in
            try db.create(virtualTable: "itemText", using: FTS5()) { index in
                index.column("name")
                index.column("details")
                index.synchronize(withTable: "item")
                index.tokenizer = .unicode61(diacritics: .remove)
            }
            #expect(
                try Table("itemText").matching(FTS5Pattern(matchingAllPrefixesIn: "ri")).fetchCount(db) == 1)
        }
    }

    @Test("a custom function, value type and tokenizer")
    func extensions() throws {
        var configuration = Configuration()
        /// Returns the first letters of the words of a text; NULL if the argument is not text.
        let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { arguments in
            guard let text = String.fromDatabaseValue(arguments[0]) else { return nil }
            return String(text.split(separator: " ").compactMap(\.first))
        }
        configuration.prepareDatabase { $0.add(function: initials) }
        configuration.prepareDatabase { $0.add(tokenizer: LongWords.self) }
        try DatabaseQueue(configuration: configuration).write { db in
            #expect(try String.fetchOne(db, sql: "SELECT initials('last will of Ada')") == "lwoA")
            #expect(try Weight.fetchOne(db, sql: "SELECT 12")?.grams == 12)
            #expect(try Weight.fetchOne(db, SQLRequest<Weight>(sql: "SELECT 12"))?.grams == 12)
            #expect(Weight.fromDatabaseValue((-1).databaseValue) == nil)
            try db.execute(
                sql:
                    "CREATE VIRTUAL TABLE t USING fts5(a, tokenize = 'longWords 4'); INSERT INTO t VALUES ('the seal')"
            )
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE t MATCH 'seal'") == 1)
            #expect(
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE t MATCH '\"seal\" AND \"sealing\"'")
                    == 1)
        }
    }

    @Test("backups with dates")
    func datedBackups() throws {
        let directory = try TestDirectory()
        let key = DatabaseKey.rawKey([UInt8](repeating: 7, count: 32))
        var configuration = Configuration()
        configuration.key = key
        try DatabaseQueue(path: directory.path("vault.db"), configuration: configuration).write { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY)")
        }
        let folder = try directory.makeFolder("backups")
        let vault = DatabaseFile(path: directory.path("vault.db"))
        func print(_ path: String) { #expect(path.hasPrefix(folder)) }
        for _ in 1...2 {
            let made = try vault.backup(into: folder, key: key)
            for old in try vault.backupPruning(in: folder, keeping: .init(days: 7, weeks: 4)).outdated {
                try vault.removeBackup(old)
            }
            print(made.path)
        }
        #expect(try vault.backups(in: folder).count == 1)
    }
}

private typealias Owner = Vault.Owner
private typealias Share = Vault.Share

extension DerivableRequest<Share> {
    /// The shares that a guest can use on a day.
    fileprivate func usable(by guest: Owner, on day: Date) -> Self {
        filter { $0.guestId == guest.id && ($0.expiry == nil || $0.expiry >= day) }
    }
}

private struct Weight { var grams: Int }

/// A weight in grams, which is never negative.
extension Weight: DatabaseValueConvertible {
    var databaseValue: DatabaseValue { grams.databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> Weight? {
        guard let grams = Int.fromDatabaseValue(value), grams >= 0 else { return nil }
        return Weight(grams: grams)
    }
}

extension Weight: StatementColumnConvertible {
    init?(sqliteStatement statement: SQLiteStatement, index column: CInt) {
        guard let stored = unsafe UInt32(sqliteStatement: statement, index: column) else { return nil }
        grams = Int(stored)
    }
}

/// Finds the words that the tokenizer `porter` finds, except those with fewer letters than a minimum:
/// `tokenize = 'longWords 4'`.
private final class LongWords: FTS5WrapperTokenizer {
    let wrappedTokenizer: any FTS5Tokenizer
    static let name = "longWords"
    private let shortest: Int

    init(db: Database, arguments: [String]) throws {
        shortest = arguments.first.flatMap { Int($0) } ?? 3
        wrappedTokenizer = try db.makeTokenizer(.porter())
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        guard token.count >= shortest else { return }
        try tokenCallback(token, flags)
    }
}
