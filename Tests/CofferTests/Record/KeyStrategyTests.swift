import Coffer
import CofferTestSupport
import Foundation
import Testing

// MARK: - Records for each way to store keys

private protocol Keyed: Codable, FetchableRecord, PersistableRecord, Hashable, Identifiable
where ID: DatabaseValueConvertible {
    init(id: ID, name: String)
}

private struct BlobUUID: Keyed {
    var id: UUID
    var name: String
}

private struct UppercaseUUID: Keyed {
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }
    var id: UUID
    var name: String
}

private struct LowercaseUUID: Keyed {
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        column == "id" ? .lowercaseString : .deferredToUUID
    }
    var id: UUID
    var name: String
}

private struct DateText: Keyed {
    var id: Date
    var name: String
}

private struct DateNumber: Keyed {
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .secondsSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSince1970
    }
    var id: Date
    var name: String
}

private struct BlobData: Keyed {
    var id: Data
    var name: String
}

private struct TextData: Keyed {
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
    var id: Data
    var name: String
}

@Suite("Keys with custom encoding strategies")
struct KeyStrategyTests {
    /// Returns a UUID that contains letters and ends with a number.
    private func uuid(_ number: Int) -> UUID {
        UUID(uuidString: "ABCDEF00-0000-4000-8000-00000000000\(number)") ?? UUID()
    }
    private func date(_ number: Int) -> Date { Date(timeIntervalSince1970: 86400 * Double(number)) }
    private func data(_ number: Int) -> Data { Data("key\(number)".utf8) }

    /// Finds, counts and deletes rows by their keys in every way.
    private func check<Record: Keyed>(
        _ type: Record.Type, _ access: Access, stored: DatabaseValue, _ makeID: (Int) -> Record.ID
    ) throws {
        let ids = (0..<6).map(makeID)
        let records = ids.enumerated().map { Record(id: $0.element, name: "\($0.offset)") }
        let table = Table<Record>(Record.databaseTableName)
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.write { db throws in
                try db.create(table: Record.databaseTableName) { t in
                    t.column("id").primaryKey()
                    t.column("name", .text)
                }
                for record in records { try record.insert(db) }
                #expect(
                    try DatabaseValue.fetchOne(db, sql: "SELECT id FROM \(Record.databaseTableName)")
                        == stored)
            }
            let id = ids[1]
            let record = records[1]
            let pair = [ids[1], ids[3]]
            let both: Set = [records[1], records[3]]
            try database.read { (db: Database) throws -> Void in
                #expect(try Record.fetchOne(db, id: id) == record)
                #expect(try Record.fetchOne(db, key: id) == record)
                #expect(try Record.fetchOne(db, key: Optional(id)) == record)
                #expect(try Record.fetchOne(db, key: Record.ID?.none) == nil)
                #expect(try Record.find(db, id: id) == record)
                #expect(try Record.find(db, key: id) == record)
                #expect(try Set(Record.fetchAll(db, ids: pair)) == both)
                #expect(try Record.fetchSet(db, ids: pair) == both)
                #expect(try Set(Record.fetchCursor(db, ids: pair)) == both)
                #expect(try Set(Record.fetchAll(db, keys: pair)) == both)
                #expect(try Record.fetchSet(db, keys: pair) == both)
                #expect(try Set(Record.fetchCursor(db, keys: pair)) == both)
                #expect(try Record.fetchSet(db, keys: [id, nil]) == [record])

                #expect(try Record.filter(id: id).fetchOne(db) == record)
                #expect(try Record.filter(key: id).fetchAll(db) == [record])
                #expect(try Record.filter(key: Optional(id)).fetchAll(db) == [record])
                #expect(try Record.filter(key: Record.ID?.none).fetchAll(db).isEmpty)
                #expect(try Record.filter(ids: pair).fetchSet(db) == both)
                #expect(try Record.filter(keys: pair).fetchSet(db) == both)
                #expect(try Record.all().filter(id: id).fetchOne(db) == record)
                #expect(try Record.all().filter(key: id).fetchCount(db) == 1)
                #expect(try Record.all().filter(ids: pair).fetchCount(db) == 2)
                #expect(try !Record.all().filter(keys: pair).isEmpty(db))
                #expect(try table.filter(id: id).fetchOne(db) == record)
                #expect(try table.filter(key: id).fetchOne(db) == record)
                #expect(try table.filter(ids: pair).fetchSet(db) == both)
                #expect(try table.filter(keys: pair).fetchSet(db) == both)

                #expect(try Record.exists(db, id: id) && Record.exists(db, key: id))
                #expect(try !Record.exists(db, id: makeID(9)) && !Record.exists(db, key: makeID(9)))
                #expect(try table.exists(db, id: id) && table.exists(db, key: id))
                #expect(try record.exists(db))
            }
            try database.write { db throws in
                #expect(try Record.filter(id: ids[0]).updateAll(db, Column("name").set(to: "x")) == 1)
                #expect(try Record.deleteOne(db, id: ids[0]))
                #expect(try !Record.deleteOne(db, key: ids[0]))
                #expect(try Record.deleteOne(db, key: ids[1]))
                #expect(try Record.deleteAll(db, ids: [ids[1], ids[2]]) == 1)
                #expect(try Record.deleteAll(db, keys: [ids[2], ids[3]]) == 1)
                #expect(try table.deleteOne(db, id: ids[4]))
                #expect(try table.deleteAll(db, keys: ids) == 1)
                #expect(try Record.fetchCount(db) == 0)
            }
        }
    }

    @Test("UUIDs as blobs", arguments: Access.allCases)
    func blobUUIDs(access: Access) throws {
        try check(BlobUUID.self, access, stored: uuid(0).databaseValue, uuid)
    }

    @Test("UUIDs as uppercase text", arguments: Access.allCases)
    func uppercaseUUIDs(access: Access) throws {
        try check(
            UppercaseUUID.self, access, stored: "ABCDEF00-0000-4000-8000-000000000000".databaseValue, uuid)
    }

    @Test("UUIDs as lowercase text, in one column", arguments: Access.allCases)
    func lowercaseUUIDs(access: Access) throws {
        try check(
            LowercaseUUID.self, access, stored: "abcdef00-0000-4000-8000-000000000000".databaseValue, uuid)
    }

    @Test("dates as text and as numbers", arguments: Access.allCases)
    func dates(access: Access) throws {
        try check(DateText.self, access, stored: "1970-01-01 00:00:00.000".databaseValue, date)
        try check(DateNumber.self, access, stored: 0.databaseValue, date)
    }

    @Test("data as blobs and as text", arguments: Access.allCases)
    func data(access: Access) throws {
        try check(BlobData.self, access, stored: Data("key0".utf8).databaseValue, data)
        try check(TextData.self, access, stored: "key0".databaseValue, data)
    }

    @Test("a key that is stored as NULL matches no row")
    func nullKeys() throws {
        struct Hidden: Codable, FetchableRecord, PersistableRecord, Identifiable {
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .custom { _ in nil }
            }
            var id: Date
        }
        try DatabaseQueue().write { db throws in
            try db.execute(
                sql: "CREATE TABLE hidden (id PRIMARY KEY); INSERT INTO hidden VALUES (NULL), (NULL)")
            #expect(try Hidden.filter(id: date(0)).fetchCount(db) == 0)
            #expect(try Hidden.filter(ids: [date(0), date(1)]).isEmpty(db))
            #expect(try Hidden.fetchOne(db, id: date(0)) == nil)
            #expect(try Hidden.deleteAll(db, ids: [date(0)]) == 0)
        }
    }

    @Test(
        "types without encoding strategies, dictionaries, and requests of other types use values unchanged"
    )
    func valuesAsTheyAre() throws {
        try DatabaseQueue().write { db throws in
            try db.create(table: "uppercaseUUID") { t in
                t.primaryKey("id", .text)
                t.column("name", .text)
            }
            try UppercaseUUID(id: uuid(1), name: "a").insert(db)
            #expect(try UppercaseUUID.filter(key: uuid(1).uuidString).fetchCount(db) == 1)
            #expect(try UppercaseUUID.filter(key: ["id": uuid(1).uuidString]).fetchCount(db) == 1)
            #expect(try UppercaseUUID.filter(key: ["id": uuid(1)]).fetchCount(db) == 0)
            #expect(try Table("uppercaseUUID").filter(key: uuid(1)).fetchCount(db) == 0)
            #expect(try UppercaseUUID.filter { _ in Column("id") == uuid(1) }.fetchCount(db) == 0)
            // The row type is chosen after the key.
            #expect(try UppercaseUUID.filter(id: uuid(1)).selectID().fetchAll(db) == [uuid(1)])
            #expect(try UppercaseUUID.filter(id: uuid(1)).asRequest(of: Row.self).fetchCount(db) == 1)
        }
    }

    @Test("the error for a missing row shows the key as it would be stored")
    func missingRows() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE uppercaseUUID (id PRIMARY KEY, name)")
            let text = "ABCDEF00-0000-4000-8000-000000000007"
            for find in [
                { try UppercaseUUID.find(db, id: uuid(7)) },
                { try UppercaseUUID.find(db, key: Optional(uuid(7))) },
            ] {
                #expect {
                    try find()
                } throws: { error in
                    if case RecordError.recordNotFound("uppercaseUUID", let key) = error {
                        key == ["id": text.databaseValue]
                    } else {
                        false
                    }
                }
            }
        }
    }
}
