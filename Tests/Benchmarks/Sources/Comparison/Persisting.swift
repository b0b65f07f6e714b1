import Foundation

/// A record that logs the calls of its callbacks.
private struct Noisy: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "owner"
    var id: Int64?
    var name: String
    var email: String?
    // nonisolated(unsafe): the calls are sequential.
    nonisolated(unsafe) static var log: [String] = []

    func willSave(_ db: Database) throws { Self.log.append("willSave") }
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        Self.log.append("aroundSave {")
        let saved = try save()
        Self.log.append("} \(saved.persistenceContainer["id"] as Any)")
    }
    func didSave(_ saved: PersistenceSuccess) {
        Self.log.append("didSave \(saved.persistenceContainer["id"] as Any)")
    }
    mutating func willInsert(_ db: Database) throws {
        Self.log.append("willInsert"); name = name.uppercased()
    }
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        Self.log.append("aroundInsert {")
        let inserted = try insert()
        Self.log.append("} \(inserted.rowID) \(inserted.rowIDColumn ?? "-")")
    }
    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        Self.log.append("didInsert \(inserted.rowID) \(inserted.persistenceContainer["id"] as Any)")
    }
    func willUpdate(_ db: Database, columns: Set<String>) throws {
        Self.log.append("willUpdate \(columns.sorted())")
    }
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        Self.log.append("aroundUpdate \(columns.sorted()) {")
        _ = try update()
        Self.log.append("}")
    }
    func didUpdate(_ updated: PersistenceSuccess) { Self.log.append("didUpdate") }
    func willDelete(_ db: Database) throws { Self.log.append("willDelete") }
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        Self.log.append("aroundDelete {")
        Self.log.append("} \(try delete())")
    }
    func didDelete(deleted: Bool) { Self.log.append("didDelete \(deleted)") }
}

/// A record whose callbacks do not call the operation that they wrap.
private struct Lazy: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "owner"
    var id: Int64
    var name: String
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {}
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        _ = try? update()
    }
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {}
}

private struct Ignoring: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "owner"
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .ignore, update: .replace)
    var id: Int64
    var name: String
    var email: String?
}

/// All kinds of columns, written with strategies.
private struct Strategies: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "strategies"
    struct Part: Codable, Equatable { var at: Date; var bytes: Data; var id: UUID; var list: [Int] }
    enum Size: String, Codable { case small, large }
    var firstName: String
    var itsDate: Date
    var someData: Data
    var anID: UUID
    var part: Part?
    var size: Size
    var sizes: [Size]
    var url: URL
    var count: Int?

    static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
    static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .millisecondsSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .millisecondsSince1970
    }
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .lowercaseString
    }
}

private struct Dated: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "dated"
    @TaskLocal static var encoding: DatabaseDateEncodingStrategy = .deferredToDate
    var at: Date
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { encoding }
}

private struct Plain: FetchableRecord, PersistableRecord, Encodable {
    static let databaseTableName = "owner"
    static var databaseSelection: [any SQLSelectable] { [Column("name"), Column("id")] }
    var id: Int64
    var NAme: String
    init(id: Int64, name: String) { self.id = id; NAme = name }
    init(row: Row) throws { id = row["id"]; NAme = row["name"] }
}

extension Comparison {
    static func persisting(_ area: Area) {
        let strategiesTable = """
            CREATE TABLE strategies (first_name TEXT, its_date, some_data, an_id, part, size TEXT, sizes \
            TEXT, url TEXT, count INTEGER);
            CREATE TABLE dated (at)
            """
        func owners(_ db: Database) throws -> [String] {
            try Row.fetchAll(db, sql: "SELECT * FROM owner ORDER BY id").map(\.description)
        }
        func log(_ body: () throws -> Void) -> [String] {
            Noisy.log = []
            do { try body() } catch { Noisy.log.append(Text.text(of: error)) }
            return Noisy.log
        }

        area.call("insert") { db in
            var owner = Owner(id: nil, name: "New", email: nil, born: 2000)
            try owner.insert(db)
            return [owner.id.map { "\($0)" } ?? "nil"] + (try owners(db))
        }
        area.call("insert.id") { db in try Owner(id: 77, name: "New").inserted(db).id }
        area.call("insert.duplicate") { db in try Owner(id: 1, name: "New").inserted(db) }
        area.call("insert.unique") { db in
            try Owner(id: nil, name: "New", email: "ann@example.com").inserted(db)
        }
        area.call("insert.ignore") { db in
            var owner = Owner(id: 1, name: "Ignored")
            try owner.insert(db, onConflict: .ignore)
            return ["\(owner.id as Any)"] + (try owners(db))
        }
        area.call("insert.replace") { db in
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            _ = try Owner(id: 1, name: "Replaced").inserted(db, onConflict: .replace)
            return try owners(db)
        }
        area.call("insert.policy") { db in
            try Ignoring(id: 1, name: "Ignored").insert(db)
            return (try Owner.find(db, key: 1).name, db.changesCount)
        }
        area.call("insert.foreignKey") { db in
            try Item(id: 9, vaultId: 99, title: "", kind: .note, isPinned: false).insert(db)
        }
        area.call("insert.composite") { db in
            try Share(vaultId: 2, ownerId: 3, role: "writer").insert(db)
            return db.lastInsertedRowID
        }
        area.call("insert.fetch") { db in try Owner(id: nil, name: "New").insertAndFetch(db) }
        area.call("insert.fetch.as") { db in
            var owner = Owner(id: nil, name: "New")
            return try owner.insertAndFetch(db, as: Plain.self)
        }
        area.call("insert.fetch.selection") { db in
            var owner = Owner(id: nil, name: "New", email: "n@example.com")
            let name = try owner.insertAndFetch(db, selection: [Column("name").uppercased]) {
                try String.fetchOne($0)
            }
            return (name, owner.id)
        }
        area.call("insert.fetch.ignored") { db in
            var owner = Owner(id: 1, name: "New")
            return try owner.insertAndFetch(db, onConflict: .ignore, selection: [Column("name")]) {
                try String.fetchOne($0)
            }
        }
        area.call("update") { db in
            try Owner(id: 1, name: "Anna", email: "x", born: nil).update(db); return try owners(db)
        }
        area.call("update.missing") { db in try Owner(id: 99, name: "Nobody").update(db) }
        area.call("update.nil") { db in try Owner(id: nil, name: "Nobody").update(db) }
        area.call("update.columns") { db in
            try Owner(id: 1, name: "Anna", email: "x").update(db, columns: ["name"])
            try Owner(id: 1, name: "no", email: "y").update(db, columns: [Column("email")])
            try Owner(id: 1, name: "no", email: "z").update(db, columns: [] as [String])
            return try owners(db)
        }
        area.call("update.columns.unknown") { db in
            try Owner(id: 1, name: "Anna").update(db, columns: ["name", "nope"])
        }
        area.call("update.fetch") { db in try Owner(id: 1, name: "Anna").updateAndFetch(db) }
        area.call("update.fetch.selection") { db in
            try Owner(id: 2, name: "Bob").updateAndFetch(
                db, columns: [Column("name")], selection: [.allColumns]
            ) { try Row.fetchOne($0) }
        }
        area.call("update.conflict") { db in
            try Owner(id: 2, name: "Bob", email: "ann@example.com").update(db)
        }
        area.call("update.replace") { db in
            try Profile.deleteAll(db)
            return try Ignoring(id: 3, name: "Z", email: "zoe@example.com").updateAndFetch(db).name
        }
        area.call("update.composite") { db in try Share(vaultId: 1, ownerId: 2, role: "owner").update(db) }
        area.call("changes") { db in
            var owner = try Owner.find(db, key: 1)
            let first = try owner.updateChanges(db) { $0.name = "Ann" }
            let second = try owner.updateChanges(db) {
                $0.name = "Anna"; $0.born = nil
            }
            return (
                first, second, owner, try owner.databaseChanges(from: Owner(id: 1, name: "Ann")).keys.sorted()
            )
        }
        area.call("changes.from") { db in
            let owner = try Owner.find(db, key: 1)
            var other = owner
            other.email = nil
            return (
                try other.updateChanges(db, from: owner), try other.updateChanges(db, from: other),
                other.databaseEquals(owner)
            )
        }
        area.call("changes.fetch") { db in
            var owner = try Owner.find(db, key: 1)
            return [
                try owner.updateChangesAndFetch(db) { $0.name = "Anna" },
                try owner.updateChangesAndFetch(db) { _ in },
            ]
        }
        area.call("save.insert") { db in
            var owner = Owner(id: nil, name: "New"); try owner.save(db); return owner
        }
        area.call("save.update") { db in try Owner(id: 1, name: "Saved").saved(db) }
        area.call("save.new.id") { db in try Owner(id: 50, name: "Saved").saved(db) }
        area.call("save.fetch") { db in
            try [
                Owner(id: 1, name: "Saved").saveAndFetch(db), Owner(id: nil, name: "Fresh").saveAndFetch(db),
            ]
        }
        area.call("upsert.insert") { db in
            var owner = Owner(id: nil, name: "New", email: "n"); try owner.upsert(db); return owner
        }
        area.call("upsert.update") { db in
            var owner = Owner(id: nil, name: "Anna", email: "ann@example.com", born: 1971)
            try owner.upsert(db)
            return ["\(owner)"] + (try owners(db))
        }
        area.call("upsert.fetch") { db in
            var owner = Owner(id: nil, name: "Anna", email: "ann@example.com")
            return try owner.upsertAndFetch(db, onConflict: ["email"]) { _ in [Column("name").noOverwrite] }
        }
        area.call("upsert.fetch.assign") { db in
            var owner = Owner(id: nil, name: "x", email: "ann@example.com", born: 3)
            return try owner.upsertAndFetch(
                db, onConflict: ["email"],
                doUpdate: { excluded in
                    [
                        Column("born").set(to: Column("born") + excluded[Column("born")]),
                        Column("name").noOverwrite,
                    ]
                })
        }
        area.call("upsert.fetch.none") { db in
            var owner = Owner(id: nil, name: "x", email: "ann@example.com")
            return try owner.upsertAndFetch(db, onConflict: ["email"], updating: .noColumnUnlessSpecified) {
                _ in
                [Column("name").set(to: "only")]
            }
        }
        area.call("upsert.composite") { db in
            try Share(vaultId: 1, ownerId: 2, role: "boss").upsert(db); return try Share.fetchAll(db)
        }
        area.call("upsert.fail") { db in
            try Item(id: 9, vaultId: 99, title: "", kind: .note, isPinned: false).upsert(db)
        }
        area.call("delete") { db in
            [
                try Profile(ownerId: 1, motto: "").delete(db), try Profile(ownerId: 1, motto: "").delete(db),
                try Share(vaultId: 1, ownerId: 2, role: "").delete(db),
            ]
        }
        area.call("delete.nil") { db in try Owner(id: nil, name: "").delete(db) }
        area.call("delete.restricted") { db in try Owner(id: 3, name: "").delete(db) }
        area.call("delete.one") { db in
            [
                try Attachment.deleteOne(db, key: 1), try Attachment.deleteOne(db, key: 1),
                try Item.deleteOne(db, key: ["id": 2]),
                try Profile.deleteOne(db, key: nil as Int?),
            ]
        }
        area.call("delete.one.unique") { db in try Owner.deleteOne(db, key: ["email": "nobody"]) }
        area.call("delete.ids") { db in try Item.deleteAll(db, ids: [2, 3, 99]) }
        area.call("exists") { db in
            [
                try Owner(id: 1, name: "").exists(db), try Owner(id: nil, name: "").exists(db),
                try Share(vaultId: 1, ownerId: 9, role: "").exists(db),
            ]
        }
        area.call("spelling") { db in
            try Plain(id: 1, name: "Anna").update(db); return try owners(db)
        }
        area.call("selection") { db in
            [try Plain.fetchAll(db).map(\.NAme), [try Plain.select(.allColumns).fetchCount(db).description]]
        }
        area.value("container") {
            let owner = Owner(id: nil, name: "x", born: 3)
            return try [
                "\(owner.databaseDictionary.keys.sorted())", "\(owner.databaseDictionary["name"] as Any)",
            ]
        }
        area.value("tableNames") {
            [
                Owner.databaseTableName, Strategies.databaseTableName, Comparison.Vaulted.databaseTableName,
                HTMLPage.databaseTableName,
            ]
        }
        area.value("notFound") {
            RecordError.recordNotFound(databaseTableName: "owner", key: ["id": 1.databaseValue])
        }
        area.call("find.missing") { db in try Owner.find(db, key: ["email": "nobody"]) }
        area.call("find.composite") { db in
            do {
                return "\(try Share.find(db, key: ["vaultId": 9, "ownerId": 9]))"
            } catch RecordError.recordNotFound(let table, let key) {
                // The columns in the error message have no defined order.
                return "\(table) \(key.sorted { $0.key < $1.key })"
            }
        }

        area.call("callbacks.insert") { db in
            log {
                var record = Noisy(id: nil, name: "n"); try record.insert(db)
            }
        }
        area.call("callbacks.update") { db in log { try Noisy(id: 1, name: "n").update(db) } }
        area.call("callbacks.update.columns") { db in
            log { try Noisy(id: 1, name: "n").update(db, columns: ["name"]) }
        }
        area.call("callbacks.save") { db in
            log {
                var record = Noisy(id: 99, name: "n"); try record.save(db)
            }
        }
        area.call("callbacks.save.update") { db in
            log {
                var record = Noisy(id: 1, name: "n"); try record.save(db)
            }
        }
        area.call("callbacks.upsert") { db in
            log {
                var record = Noisy(id: nil, name: "n", email: "ann@example.com"); try record.upsert(db)
            }
        }
        area.call("callbacks.delete") { db in log { _ = try Noisy(id: 99, name: "n").delete(db) } }
        area.call("callbacks.failure") { db in
            log {
                var record = Noisy(id: 1, name: "n"); try record.insert(db)
            }
        }
        area.call("callbacks.changes") { db in
            log {
                var record = Noisy(id: 1, name: "Ann", email: "ann@example.com");
                _ = try record.updateChanges(db) { $0.email = "new" }
            }
        }
        area.call("callbacks.fetch") { db in log { _ = try Noisy(id: nil, name: "n").insertAndFetch(db) } }
        area.call("lazy.insert") { db in try Lazy(id: 9, name: "x").insert(db) }
        area.call("lazy.update") { db in try Lazy(id: 99, name: "x").update(db) }
        area.call("lazy.delete") { db in try Lazy(id: 9, name: "x").delete(db) }

        area.call("strategies") { db in
            try db.execute(sql: strategiesTable)
            let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
                date = Date(timeIntervalSince1970: -987654.321)
            try Strategies(
                firstName: "a", itsDate: date, someData: Data("text".utf8), anID: id,
                part: .init(at: date, bytes: Data([1, 2]), id: id, list: [3]), size: .large, sizes: [.small],
                url: URL(string: "https://x.org/a")!, count: nil
            ).insert(db)
            let read = try Strategies.fetchOne(db)!
            return [
                try Row.fetchOne(db, sql: "SELECT * FROM strategies")!.description,
                "\(read.itsDate.timeIntervalSince1970)",
                "\(read.part == nil)",
                "\(read.someData.count) \(read.anID) \(read.sizes) \(read.url)",
            ]
        }
        area.call("strategies.data.bad") { db in
            try db.execute(sql: strategiesTable)
            try Strategies(
                firstName: "", itsDate: Date(timeIntervalSince1970: 0), someData: Data([0x41, 0xff]),
                anID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), part: nil, size: .small,
                sizes: [],
                url: URL(string: "x")!, count: 1
            ).insert(db)
        }
        let encodings: [(String, DatabaseDateEncodingStrategy)] = [
            ("deferred", .deferredToDate), ("interval", .timeIntervalSince1970),
            ("reference", .timeIntervalSinceReferenceDate),
            ("seconds", .secondsSince1970),
            ("iso8601", .iso8601), ("custom", .custom { "\($0.timeIntervalSince1970)" }),
        ]
        for (name, strategy) in encodings {
            area.call("strategies.date.\(name)") { db in
                try db.execute(sql: strategiesTable)
                try Dated.$encoding.withValue(strategy) {
                    for seconds in [0, 1.25, -1.5, 1_600_000_000.123] {
                        try Dated(at: Date(timeIntervalSince1970: seconds)).insert(db)
                    }
                }
                return try Row.fetchAll(db, sql: "SELECT at, typeof(at) FROM dated")
            }
        }
        area.call("decode.bad.enum") { db in
            try Item.fetchAll(
                db, sql: "SELECT 1 AS id, 1 AS vaultId, '' AS title, 'other' AS kind, 0 AS isPinned")
        }
        area.call("decode.missing.column") { db in try Item.fetchAll(db, sql: "SELECT 1 AS id") }
        area.call("decode.null") { db in try Owner.fetchAll(db, sql: "SELECT 1 AS id, NULL AS name") }
    }

    private struct Vaulted: TableRecord {}
    private struct HTMLPage: TableRecord {}
}
