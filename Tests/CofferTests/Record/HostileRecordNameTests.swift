import Coffer
import CofferTestSupport
import Testing

/// A record whose table and column names the test chooses.
private struct HostileRecord: FetchableRecord, MutablePersistableRecord, Equatable {
    @TaskLocal static var name = ""
    /// The empty string is a valid name in SQLite too.
    static var databaseTableName: String { name.isEmpty ? "" : "t" + name }
    private static var key: Column { Column("k" + name) }
    private static var value: Column { Column(name) }

    var id: Int64?
    var text: String

    init(id: Int64?, text: String) {
        self.id = id
        self.text = text
    }

    init(row: Row) {
        id = row[Self.key]
        text = row[Self.value]
    }

    func encode(to container: inout PersistenceContainer) {
        container[Self.key] = id
        container[Self.value] = text
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        #expect(inserted.rowIDColumn == Self.key.name)
        id = inserted.rowID
    }
}

@Suite("Records with hostile names")
struct HostileRecordNameTests {
    private static let names =
        hostileTexts + [
            "", " ", "select", "SELECT", "table", "group", "order", "values", "null", "excluded",
            "rowid x", "\"", "\"\"", "a\"b", "'", "[a]",
            "`", "a.b", "--", "/*", ";", "?1", ":a", "%", "😀", "e\u{301}",
        ]

    @Test("are written and found like all others", arguments: Set(names).sorted())
    func operations(name: String) throws {
        try HostileRecord.$name.withValue(name) { () throws in
            try makeCanaryQueue().write { (db) throws in
                try db.create(table: HostileRecord.databaseTableName) { t in
                    t.autoIncrementedPrimaryKey("k" + name)
                    t.column(name, .text).notNull().unique()
                }
                var record = HostileRecord(id: nil, text: "a")
                try record.insert(db)
                #expect(record.id == 1)
                record.text = "b"
                try record.update(db)
                #expect(try HostileRecord.fetchOne(db, key: 1) == record)
                #expect(try HostileRecord.fetchOne(db, key: [name: "b"]) == record)
                #expect(try HostileRecord.find(db, key: ["K" + name: 1]) == record)
                #expect(try record.updateChanges(db) { $0.text = "c" })
                try record.update(db, columns: [name])
                try record.save(db)
                try record.upsert(db)
                let counted = try record.upsertAndFetch(
                    db, onConflict: [name], doUpdate: { excluded in [Column(name).set(to: excluded[name])] })
                #expect(counted == record)
                #expect(try record.updateAndFetch(db) == record)
                #expect(
                    try HostileRecord.filter(key: 1).updateAndFetchAll(db, [Column(name).set(to: "d")]).map(
                        \.text) == ["d"])
                #expect(try record.exists(db) && HostileRecord.exists(db, key: [name: "d"]))
                #expect(
                    try HostileRecord.orderByPrimaryKey().selectPrimaryKey(as: Int.self).fetchAll(db) == [1])
                #expect(
                    try HostileRecord.filter(Column(name) == "d").groupByPrimaryKey().fetchCount(db) == 1)
                #expect(try db.table(HostileRecord.databaseTableName, hasUniqueKey: [name]))
                #expect(try record.delete(db))
                #expect(throws: RecordError.self) { try record.update(db) }
                #expect(try Row.fetchAll(db, sql: "SELECT * FROM canary") == [["id": 1, "name": "alive"]])
            }
        }
    }

    @Test(
        "throw errors if the name contains a NUL character, and write nothing",
        arguments: ["a\0", "\0", "a\0\" WHERE 1; --"])
    func zeros(name: String) throws {
        try HostileRecord.$name.withValue(name) { () throws in
            try makeCanaryQueue().write { (db) throws in
                try db.execute(
                    sql:
                        "CREATE TABLE ta (k INTEGER PRIMARY KEY, a); CREATE TABLE t (k, a); INSERT INTO ta VALUES (1, 'x')"
                )
                var record = HostileRecord(id: 1, text: "a")
                #expect(throws: DatabaseError.self) { try record.insert(db) }
                #expect(throws: DatabaseError.self) { try record.update(db) }
                #expect(throws: DatabaseError.self) { try record.save(db) }
                #expect(throws: DatabaseError.self) { try record.upsert(db) }
                #expect(throws: DatabaseError.self) { try record.delete(db) }
                #expect(throws: DatabaseError.self) { try record.exists(db) }
                #expect(throws: DatabaseError.self) { try HostileRecord.fetchOne(db, key: 1) }
                #expect(throws: DatabaseError.self) { try HostileRecord.deleteAll(db) }
                #expect(throws: DatabaseError.self) {
                    try db.create(table: HostileRecord.databaseTableName) { $0.column("a") }
                }
                #expect(try String.fetchAll(db, sql: "SELECT a FROM ta") == ["x"])
                #expect(try Row.fetchAll(db, sql: "SELECT * FROM canary") == [["id": 1, "name": "alive"]])
            }
        }
    }
}
