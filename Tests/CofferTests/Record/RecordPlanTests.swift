import Coffer
import CofferTestSupport
import Synchronization
import Testing

@Suite("Prepared statements of record types")
struct RecordPlanTests {
    private struct Item: Codable, FetchableRecord, PersistableRecord, Equatable {
        var a: Int
        var b: Int
    }

    @Test("records follow a change of the primary key by another connection", arguments: Access.allCases)
    func changedByAnotherConnection(access: Access) throws {
        try withTestDirectory { directory in
            let database = try directory.make(access)
            let other = try directory.makeQueue()
            try database.write { db in
                try db.execute(sql: "CREATE TABLE item (a INTEGER PRIMARY KEY, b INTEGER)")
                try Item(a: 1, b: 2).insert(db)
                try Item(a: 2, b: 1).insert(db)
                #expect(try Item.fetchOne(db, key: 1)?.a == 1)
                try Item(a: 1, b: 2).update(db)
            }
            #expect(try database.read { try Item.fetchOne($0, key: 1)?.a } == 1)
            try other.write { db in
                try db.execute(
                    sql:
                        "DROP TABLE item; CREATE TABLE item (more, b INTEGER PRIMARY KEY, a INTEGER); INSERT INTO item VALUES (0, 1, 2), (0, 2, 1)"
                )
            }
            #expect(try database.read { try Item.fetchOne($0, key: 1)?.a } == 2)
            try database.write { db in
                #expect(try Item.fetchOne(db, key: 1)?.a == 2)
                try Item(a: 20, b: 1).update(db)
                #expect(try Item.fetchOne(db, key: 1)?.a == 20)
                #expect(try Item(a: 20, b: 1).delete(db))
                #expect(try !Item(a: 2, b: 1).exists(db))
            }
        }
    }

    @Test("records follow changes of the schema by the same connection, and their rollback")
    func changedByThisConnection() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE item (a INTEGER PRIMARY KEY, b INTEGER)")
            try Item(a: 1, b: 2).insert(db)
            #expect(try Item.fetchOne(db, key: 1) != nil)
            try db.inSavepoint {
                try db.execute(
                    sql:
                        "DROP TABLE item; CREATE TABLE item (a INTEGER, b INTEGER PRIMARY KEY); INSERT INTO item VALUES (1, 2)"
                )
                #expect(try Item.fetchOne(db, key: 1) == nil)
                #expect(try Item.fetchOne(db, key: 2) != nil)
                try Item(a: 5, b: 2).update(db)
                return .rollback
            }
            #expect(try Item.fetchOne(db, key: 2) == nil)
            #expect(try Item.fetchOne(db, key: 1)?.b == 2)
            try Item(a: 1, b: 7).update(db)
            #expect(try Item.fetchOne(db, key: 1)?.b == 7)
            try db.execute(sql: "CREATE TEMPORARY TABLE item (a INTEGER PRIMARY KEY, b INTEGER)")
            #expect(try Item.fetchOne(db, key: 1) == nil)
            #expect(throws: RecordError.self) { try Item(a: 1, b: 7).update(db) }
        }
    }

    @Test("records follow changes of their table name and selection")
    func changedType() throws {
        enum State {
            static let tableName = Mutex("item")
            static let selection = Mutex<[SQLSelection]>([AllColumns().sqlSelection])
        }
        struct Mutable: FetchableRecord, PersistableRecord, Codable {
            static var databaseTableName: String { State.tableName.withLock { $0 } }
            static var databaseSelection: [any SQLSelectable] {
                let selection = State.selection.withLock { $0 }
                return selection.isEmpty ? [Column("a")] : selection
            }
            var a: Int
            var b: Int?
        }
        try DatabaseQueue().write { db in
            for name in ["item", "other"] {
                try db.execute(sql: "CREATE TABLE \(name) (a INTEGER PRIMARY KEY, b INTEGER)")
            }
            try Mutable(a: 1, b: 1).insert(db)
            #expect(try Mutable.fetchOne(db, key: 1)?.b == 1)
            State.selection.withLock { $0 = [] }
            #expect(try Mutable.fetchOne(db, key: 1)?.b == nil)
            State.selection.withLock { $0 = [Column("a").sqlSelection, (Column("b") + 5).forKey("b")] }
            #expect(try Mutable.fetchOne(db, key: 1)?.b == 6)
            #expect(try Mutable.fetchOne(db, key: 1)?.b == 6)
            State.tableName.withLock { $0 = "other" }
            #expect(try Mutable.fetchOne(db, key: 1) == nil)
            try Mutable(a: 1, b: 3).insert(db)
            #expect(try Mutable.fetchOne(db, key: 1)?.b == 8)
            #expect(try Int.fetchAll(db, sql: "SELECT b FROM item UNION ALL SELECT b FROM other") == [1, 3])
        }
    }

    @Test("a record type that sets different columns each time writes all of them")
    func changingColumns() throws {
        struct Sparse: PersistableRecord {
            static let databaseTableName = "item"
            var a: Int
            var b: Int?
            func encode(to container: inout PersistenceContainer) {
                if let b { container["b"] = b }
                container["A"] = 0
                container["a"] = a
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE item (a INTEGER PRIMARY KEY, b INTEGER DEFAULT 9)")
            try Sparse(a: 1, b: nil).insert(db)
            try Sparse(a: 2, b: 2).insert(db)
            try Sparse(a: 3, b: nil).insert(db)
            try Sparse(a: 4, b: nil).insert(db)
            try Sparse(a: 1, b: 5).update(db)
            try Sparse(a: 2, b: nil).update(db)
            #expect(try Int.fetchAll(db, sql: "SELECT b FROM item ORDER BY a") == [5, 2, 9, 9])
            let container = try PersistenceContainer(Sparse(a: 1, b: 2))
            #expect(container.map(\.0) == ["b", "A"])
            #expect(container["a"] as? Int == 1)
            #expect(container["missing"] == nil)
        }
    }

    @Test("names are never SQL")
    func hostileNames() throws {
        struct Hostile: Codable, FetchableRecord, PersistableRecord, Equatable {
            static let databaseTableName = #"a"; DROP TABLE victim; --"#
            enum CodingKeys: String, CodingKey {
                case id = "select"
                case value = #"x" = 1; DROP TABLE victim; --"#
            }
            var id: Int
            var value: String
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE victim (a)")
            let table = Hostile.databaseTableName.quotedDatabaseIdentifier
            let column = Hostile.CodingKeys.value.rawValue.quotedDatabaseIdentifier
            try db.execute(sql: "CREATE TABLE \(table) (\"select\" INTEGER PRIMARY KEY, \(column) TEXT)")
            let record = Hostile(id: 1, value: "'; DROP TABLE victim; --")
            try record.insert(db)
            try record.update(db)
            try record.save(db)
            try record.upsert(db)
            #expect(try record.insertAndFetch(db, onConflict: .replace) == record)
            #expect(try Hostile.fetchOne(db, key: 1) == record)
            #expect(try Hostile.fetchAll(db, keys: [1]) == [record])
            #expect(try record.exists(db))
            #expect(try record.delete(db))
            #expect(try db.tableExists("victim"))
        }
    }

    @Test("errors for missing columns and tables name them")
    func unknownNames() throws {
        struct Unknown: Codable, PersistableRecord, FetchableRecord { var a: Int, zzz: Int }
        try DatabaseQueue().write { db in
            #expect {
                try Unknown(a: 1, zzz: 1).insert(db)
            } throws: { error in
                (error as? DatabaseError)?.message == "no such table: unknown"
            }
            try db.execute(sql: "CREATE TABLE unknown (a INTEGER PRIMARY KEY)")
            #expect {
                try Unknown(a: 1, zzz: 1).insert(db)
            } throws: { error in
                (error as? DatabaseError)?.message == "table unknown has no column named zzz"
            }
            #expect {
                try Unknown(a: 1, zzz: 1).update(db)
            } throws: { error in
                (error as? DatabaseError)?.message == "no such column: zzz"
            }
            #expect(try Unknown.fetchOne(db, key: 1) == nil)
        }
    }

    @Test("records work with implicit row IDs, keys other than the row ID, and views")
    func tableKinds() throws {
        struct Plain: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
            var name: String
            var rowid: Int64?
            static var databaseSelection: [any SQLSelectable] { [AllColumns(), Column.rowID] }
            mutating func didInsert(_ inserted: InsertionSuccess) {
                #expect(inserted.rowIDColumn == nil)
                rowid = inserted.rowID
            }
        }
        struct InView: Codable, PersistableRecord {
            static let databaseTableName = "plainView"
            var name: String
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE plain (name TEXT);
                    CREATE VIEW plainView AS SELECT * FROM plain;
                    CREATE TRIGGER plainInsert INSTEAD OF INSERT ON plainView BEGIN INSERT INTO plain (name) \
                    VALUES (new.name); END;
                    """)
            var plain = Plain(name: "a", rowid: nil)
            try plain.insert(db)
            #expect(plain.rowid == 1)
            plain.name = "b"
            try plain.update(db)
            #expect(try Plain.fetchOne(db, key: 1) == plain)
            try plain.upsert(db)
            try InView(name: "c").insert(db)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM plain") == ["b", "c"])
            #expect(throws: (any Error).self) { try InView(name: "c").update(db) }
            #expect(try plain.delete(db))
        }
    }

    @Test("a record in a view or in a table without row IDs never gets the row ID of another table")
    func foreignRowIDs() throws {
        struct Entry: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
            static let databaseTableName = "shown"
            var id: Int64?
            var name: String
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        struct Clustered: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
            var id: Int64
            var name: String
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        struct Named: Codable, FetchableRecord, MutablePersistableRecord {
            var name: String
            mutating func didInsert(_ inserted: InsertionSuccess) { #expect(inserted.rowID == 0) }
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE hidden (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE VIEW shown AS SELECT id, name FROM hidden;
                    CREATE TRIGGER showing INSTEAD OF INSERT ON shown BEGIN \
                    INSERT INTO hidden VALUES (new.id, new.name); END;
                    CREATE TABLE clustered (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID;
                    CREATE TABLE named (name TEXT PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE other (a); INSERT INTO other (rowid, a) VALUES (555, 1);
                    """)
            #expect(db.lastInsertedRowID == 555)
            var entry = Entry(id: 7, name: "a")
            try entry.insert(db)
            #expect(entry.id == 7)
            #expect(try Entry.fetchAll(db) == [entry])
            #expect(try Entry(id: 8, name: "b").inserted(db).id == 8)
            var row = Clustered(id: 9, name: "c")
            try row.insert(db)
            #expect(row.id == 9)
            row.name = "d"
            try row.upsert(db)
            #expect(try row.id == 9 && Clustered.fetchAll(db) == [row])
            row.id = 10
            #expect(try row.insertAndFetch(db, as: Clustered.self).id == 10)
            #expect(row.id == 10)
            var named = Named(name: "e")
            try named.insert(db)
            try named.upsert(db)
        }
    }

    @Test("conflict policies of the type and of the call")
    func conflictPolicies() throws {
        struct Replacing: Codable, FetchableRecord, PersistableRecord, Equatable {
            static let databaseTableName = "item"
            static let persistenceConflictPolicy = PersistenceConflictPolicy(
                insert: .replace, update: .ignore)
            var a: Int
            var b: Int
        }
        #expect(Replacing.persistenceConflictPolicy.conflictResolutionForInsert == .replace)
        #expect(Replacing.persistenceConflictPolicy.conflictResolutionForUpdate == .ignore)
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE item (a INTEGER PRIMARY KEY, b INTEGER UNIQUE)")
            try Replacing(a: 1, b: 1).insert(db)
            try Replacing(a: 1, b: 2).insert(db)
            try Replacing(a: 1, b: 3).insert(db, onConflict: .ignore)
            #expect(try Replacing.fetchAll(db) == [Replacing(a: 1, b: 2)])
            #expect(throws: DatabaseError.self) { try Replacing(a: 1, b: 3).insert(db, onConflict: .fail) }
            try Replacing(a: 2, b: 5).insert(db)
            #expect(throws: RecordError.self) { try Replacing(a: 2, b: 2).update(db) }
            try Replacing(a: 2, b: 2).update(db, onConflict: .replace)
            #expect(try Replacing.fetchAll(db) == [Replacing(a: 2, b: 2)])
        }
    }

    @Test("comparing records")
    func comparing() throws {
        let old = Item(a: 1, b: 1)
        #expect(old.databaseEquals(old))
        #expect(!old.databaseEquals(Item(a: 1, b: 2)))
        #expect(try Item(a: 1, b: 2).databaseChanges(from: old) == ["b": 1.databaseValue])
        var record = old
        #expect(try record.databaseChanges { $0.a = 5 } == ["a": 1.databaseValue])
        #expect(try record.databaseDictionary == ["a": 5.databaseValue, "b": 1.databaseValue])
    }
}

@Suite("The base class for records")
struct RecordClassTests {
    private final class Person: Record {
        var id: Int64?
        var name: String

        init(name: String) {
            self.name = name
            super.init()
        }
        required init(row: Row) throws {
            id = row["id"]
            name = row["name"]
            try super.init(row: row)
        }
        override class var databaseTableName: String { "person" }
        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["name"] = name
        }
        override func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    @Test("objects know whether they have changed")
    func changes() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT)")
            let person = Person(name: "Ada")
            #expect(person.hasDatabaseChanges)
            #expect(try person.databaseChanges == ["id": DatabaseValue?.none, "name": DatabaseValue?.none])
            try person.insert(db)
            #expect(person.id == 1 && !person.hasDatabaseChanges)
            person.name = "Eve"
            #expect(try person.databaseChanges == ["name": "Ada".databaseValue])
            #expect(try person.updateChanges(db))
            #expect(try !person.updateChanges(db))
            let fetched = try #require(try Person.fetchOne(db, key: 1))
            #expect(fetched.name == "Eve" && !fetched.hasDatabaseChanges)
            fetched.name = "Fay"
            #expect(fetched.hasDatabaseChanges)
            try fetched.save(db)
            #expect(!fetched.hasDatabaseChanges)
            try fetched.delete(db)
            #expect(fetched.hasDatabaseChanges)
        }
    }
}
