import Coffer
import CofferTestSupport
import Testing

@Suite("Callbacks of records")
struct PersistenceCallbackTests {
    /// The calls, in order.
    private final class Log {
        var calls: [String] = []
    }

    private struct Logged: MutablePersistableRecord, FetchableRecord {
        var id: Int64?
        var name: String
        var log = Log()

        init(id: Int64? = nil, name: String) {
            self.id = id
            self.name = name
        }
        init(row: Row) {
            id = row["id"]
            name = row["name"]
        }
        func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["name"] = name
        }
        mutating func willInsert(_ db: Database) throws {
            log.calls.append("willInsert")
            if name == "default" { name = "changed" }
        }
        func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
            log.calls.append("before insert")
            let inserted = try insert()
            log.calls.append(
                "after insert \(inserted.rowID) \(inserted.rowIDColumn ?? "-") \(inserted.persistenceContainer.count)"
            )
        }
        mutating func didInsert(_ inserted: InsertionSuccess) {
            log.calls.append("didInsert \(inserted.persistenceContainer["NAME"] as? String ?? "-")")
            id = inserted.rowID
        }
        func willUpdate(_ db: Database, columns: Set<String>) throws {
            log.calls.append("willUpdate \(columns.sorted())")
        }
        func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess)
            throws
        {
            log.calls.append("before update \(columns.sorted())")
            _ = try update()
            log.calls.append("after update")
        }
        func didUpdate(_ updated: PersistenceSuccess) { log.calls.append("didUpdate") }
        func willSave(_ db: Database) throws { log.calls.append("willSave") }
        func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
            log.calls.append("before save")
            _ = try save()
            log.calls.append("after save")
        }
        func didSave(_ saved: PersistenceSuccess) { log.calls.append("didSave") }
        func willDelete(_ db: Database) throws { log.calls.append("willDelete") }
        func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
            log.calls.append("before delete")
            let deleted = try delete()
            log.calls.append("after delete \(deleted)")
        }
        func didDelete(deleted: Bool) { log.calls.append("didDelete \(deleted)") }
    }

    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE logged (id INTEGER PRIMARY KEY, name TEXT)")
            try body(db)
        }
    }

    private static func insertion(_ name: String) -> [String] {
        [
            "willSave", "before save", "willInsert", "before insert", "after insert 1 id 2",
            "didInsert \(name)", "after save", "didSave",
        ]
    }

    @Test("insertions and upserts call the callbacks of a save and of an insertion, in order")
    func insert() throws {
        try withTable { db in
            var record = Logged(name: "default")
            try record.insert(db)
            #expect(record.log.calls == Self.insertion("changed"))
            #expect(record.id == 1)
            #expect(try Logged.fetchOne(db)?.name == "changed")
            record.log.calls = []
            try record.upsert(db)
            #expect(record.log.calls == Self.insertion("changed"))
        }
    }

    @Test("updates call the callbacks of a save and of an update, with the columns")
    func update() throws {
        try withTable { db in
            var record = Logged(name: "a")
            try record.insert(db)
            let around = { (columns: String) in
                [
                    "willSave", "before save", "willUpdate \(columns)", "before update \(columns)",
                    "after update", "didUpdate",
                    "after save", "didSave",
                ]
            }
            record.log.calls = []
            try record.update(db)
            #expect(record.log.calls == around(#"["id", "name"]"#))
            record.log.calls = []
            try record.updateChanges(db) { $0.name = "b" }
            #expect(record.log.calls == around(#"["name"]"#))
            record.log.calls = []
            try record.updateChanges(db) { $0.name = "b" }
            #expect(record.log.calls == [])
        }
    }

    @Test("save calls the callbacks of the update, and then the callbacks of the insertion")
    func save() throws {
        try withTable { db in
            var record = Logged(id: 1, name: "a")
            try record.save(db)
            #expect(
                record.log.calls == [
                    "willSave", "before save", #"willUpdate ["id", "name"]"#,
                    #"before update ["id", "name"]"#, "willInsert",
                    "before insert", "after insert 1 id 2", "didInsert a", "after save", "didSave",
                ])
        }
    }

    @Test("deletions call the deletion callbacks")
    func delete() throws {
        try withTable { db in
            var record = Logged(name: "a")
            try record.insert(db)
            record.log.calls = []
            try record.delete(db)
            #expect(
                record.log.calls == ["willDelete", "before delete", "after delete true", "didDelete true"])
        }
    }

    @Test("an error of a callback prevents the operation, and is thrown")
    func errors() throws {
        struct Refusal: Error {}
        struct Refusing: Codable, PersistableRecord {
            static let databaseTableName = "logged"
            var id: Int64
            func willSave(_ db: Database) throws { if id == 1 { throw Refusal() } }
            func willInsert(_ db: Database) throws { if id == 2 { throw Refusal() } }
            func willDelete(_ db: Database) throws { throw Refusal() }
        }
        try withTable { db in
            #expect(throws: Refusal.self) { try Refusing(id: 1).insert(db) }
            #expect(throws: Refusal.self) { try Refusing(id: 1).update(db) }
            #expect(throws: Refusal.self) { try Refusing(id: 2).upsert(db) }
            try Refusing(id: 3).insert(db)
            #expect(throws: Refusal.self) { try Refusing(id: 3).delete(db) }
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM logged") == [3])
        }
    }

    @Test("a callback around an operation that does not run it is a fatal error")
    func forgottenOperation() async {
        await #expect(processExitsWith: .failure) {
            struct Forgetful: Codable, PersistableRecord {
                static let databaseTableName = "logged"
                var id: Int64
                func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {}
            }
            try DatabaseQueue().write { db in
                try db.execute(sql: "CREATE TABLE logged (id INTEGER PRIMARY KEY)")
                try Forgetful(id: 1).insert(db)
            }
        }
    }
}
