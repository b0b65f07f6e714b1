import Coffer
import CofferTestSupport
import Testing

@Suite("Records with unusual keys and columns")
struct UnusualKeyTests {
    /// A record without the second column of its table's key.
    private struct Half: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "pair"
        var a: Int?
        var note: String?
    }

    private struct Pair: Codable, FetchableRecord, PersistableRecord, Equatable {
        var a: Int?
        var b: Int?
        var note: String?
    }

    @Test("a record without all columns of the key is inserted, and identifies no row")
    func incompleteKey() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE pair (a, b DEFAULT 5, note, PRIMARY KEY (a, b))")
            let half = Half(a: 1, note: "x")
            try half.insert(db)
            #expect(try Pair.fetchAll(db) == [Pair(a: 1, b: 5, note: "x")])
            #expect(throws: RecordError.self) { try half.update(db) }
            #expect(throws: RecordError.self) { try half.updateAndFetch(db) }
            #expect(try !half.exists(db) && !half.delete(db))
            // The default value is the same again, which causes a conflict.
            #expect(throws: DatabaseError.self) { try half.save(db) }
            #expect(try Pair.fetchCount(db) == 1)
        }
    }

    @Test("keys with NULL can be inserted repeatedly, and identify no row")
    func nullInKeys() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE pair (a, b, note, PRIMARY KEY (a, b))")
            let pair = Pair(a: 1, b: nil, note: "x")
            try pair.insert(db)
            try pair.save(db)
            try pair.upsert(db)
            #expect(try Pair.fetchAll(db) == [pair, pair, pair])
            #expect(try !pair.exists(db) && !pair.delete(db))
            // A request uses IS NULL explicitly.
            #expect(try Pair.filter(key: ["a": 1, "b": nil]).fetchCount(db) == 3)
            #expect(try Pair.exists(db, key: ["A": 1, "B": nil]))
            #expect(try Pair.deleteOne(db, key: ["a": 1, "b": nil]))
            try db.execute(sql: "CREATE UNIQUE INDEX pairNote ON pair (note)")
            try Pair(a: 1, b: 1, note: nil).insert(db)
            try Pair(a: 1, b: 2, note: nil).insert(db)
            #expect(try Pair.fetchAll(db, keys: [["note": nil], ["note": "y"]]).count == 2)
        }
    }

    @Test("names of columns and keys are case-insensitive", arguments: Access.allCases)
    func letterCase(access: Access) throws {
        struct Shouting: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
            static let databaseTableName = "QUIET"
            var ID: Int64?
            var NAME: String
            mutating func didInsert(_ inserted: InsertionSuccess) { ID = inserted.rowID }
        }
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.write { (db) throws in
                try db.execute(sql: "CREATE TABLE quiet (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
                var record = Shouting(ID: nil, NAME: "a")
                try record.insert(db)
                record.NAME = "b"
                try record.update(db, columns: ["name"])
                #expect(try Shouting.fetchOne(db, key: 1) == record)
                #expect(try Shouting.fetchOne(db, key: ["Name": "b"]) == record)
                try record.upsert(db)
                let upserted = try record.upsertAndFetch(
                    db, onConflict: ["nAmE"], doUpdate: { _ in [Column("id").noOverwrite] })
                #expect(upserted == record)
                #expect(try record.updateChanges(db) { $0.NAME = "c" })
                #expect(try Shouting.filter(Column("NaMe") == "c").fetchCount(db) == 1)
                #expect(try record.delete(db))
            }
        }
    }

    @Test(
        "generated columns are read but not written, also in STRICT and WITHOUT ROWID tables")
    func generatedColumns() throws {
        struct Square: Codable, FetchableRecord, PersistableRecord, Equatable {
            enum Columns {
                static let area = Column("area")
            }
            var name: String
            var side: Int
        }
        struct Measured: Codable, FetchableRecord, PersistableRecord, Equatable {
            static let databaseTableName = "square"
            var name: String
            var side: Int
            var area: Int
        }
        try DatabaseQueue().write { (db) throws in
            try db.create(table: "square", options: [.strict, .withoutRowID]) { t in
                t.primaryKey("name", .text)
                t.column("side", .integer).notNull()
                t.column("area", .integer).notNull().generatedAs(Column("side") * Column("side"), .stored)
                    .indexed()
            }
            #expect(
                try Square(name: "a", side: 3).insertAndFetch(db, as: Measured.self)
                    == Measured(name: "a", side: 3, area: 9))
            let square = Square(name: "a", side: 4)
            #expect(try square.updateAndFetch(db, as: Measured.self).area == 16)
            #expect(try square.saveAndFetch(db, as: Measured.self).area == 16)
            #expect(try square.upsertAndFetch(db, as: Measured.self).area == 16)
            #expect(try Square.filter { $0.area == 16 }.fetchOne(db) == square)
            #expect(throws: DatabaseError.self) { try Measured(name: "b", side: 1, area: 1).insert(db) }
            #expect {
                try db.execute(sql: "INSERT INTO square (name, side) VALUES ('c', 'x')")
            } throws: { error in
                (error as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE
            }
            #expect(try square.delete(db))
        }
    }

    @Test(
        "the table's conflict clause applies, so a single row is kept",
        arguments: Access.allCases)
    func singleRow(access: Access) throws {
        struct Settings: Codable, FetchableRecord, PersistableRecord, Equatable {
            private var id = 1
            var isLoud: Bool?
            init(isLoud: Bool?) { self.isLoud = isLoud }
        }
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.write { (db) throws in
                try db.create(table: "settings") { t in
                    t.primaryKey("id", .integer, onConflict: .replace).check { $0 == 1 }
                    t.column("isLoud", .boolean)
                }
                try Settings(isLoud: true).insert(db)
                try Settings(isLoud: false).insert(db)
                #expect(try Settings.fetchAll(db) == [Settings(isLoud: false)])
                var settings = try #require(try Settings.fetchOne(db))
                #expect(try settings.updateChanges(db) { $0.isLoud = nil })
                try Settings(isLoud: true).save(db)
                #expect(try Settings.find(db, key: 1) == Settings(isLoud: true))
                try Settings.deleteAll(db)
                try settings.save(db)
                #expect(try Settings.fetchAll(db) == [settings])
                #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "INSERT INTO settings (id) VALUES (2)")
                }
            }
        }
    }

    @Test(
        "record types with different columns of one table leave each other's columns unchanged"
    )
    func sharedTable() throws {
        struct Whole: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
            static let databaseTableName = "shared"
            var id: Int64?
            var a: Int?
            var b: Int?
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        struct Part: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
            static let databaseTableName = "shared"
            var id: Int64?
            var b: Int?
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE shared (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER)")
            var whole = Whole(id: nil, a: 1, b: 2)
            try whole.insert(db)
            try Part(id: whole.id, b: 3).update(db)
            #expect(try Whole.fetchOne(db, key: 1) == Whole(id: 1, a: 1, b: 3))
            #expect(try Part(id: 1, b: 4).updateAndFetch(db, as: Whole.self) == Whole(id: 1, a: 1, b: 4))
            var part = Part(id: 9, b: 5)
            #expect(try part.saveAndFetch(db, as: Whole.self) == Whole(id: 9, a: nil, b: 5))
            #expect(
                try Whole(id: 9, a: 1, b: 6).databaseChanges(from: Part(id: 9, b: 5)) == [
                    "a": .null, "b": 5.databaseValue,
                ])
            #expect(try Part(id: 9, b: 6).updateChanges(db, from: Whole(id: 9, a: 7, b: 5)))
            #expect(try Whole.fetchOne(db, key: 9) == Whole(id: 9, a: nil, b: 6))
        }
    }
}
