import Coffer
import CofferTestSupport
import Foundation
import Testing

/// The behavior of records that programs expect from GRDB 7: see the Compatibility article.
@Suite("Record behavior that GRDB programs rely on")
struct RecordBehaviorTests {
    // MARK: Callbacks

    private struct Careless: PersistableRecord {
        static let databaseTableName = "t"
        enum Mistake: CaseIterable { case insert, update, save, delete, hiddenError }
        var id: Int64
        var mistake: Mistake

        func encode(to container: inout PersistenceContainer) { container["id"] = id }
        func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
            if mistake != .insert { _ = try insert() }
        }
        func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess)
            throws
        {
            if mistake == .hiddenError { _ = try? update() } else if mistake != .update { _ = try update() }
        }
        func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
            if mistake != .save { _ = try save() }
        }
        func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
            if mistake != .delete { _ = try delete() }
        }
    }

    @Test(
        "an around callback that skips its closure or hides its error is an error that rolls back",
        arguments: Careless.Mistake.allCases)
    private func carelessCallbacks(mistake: Careless.Mistake) throws {
        let queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
        }
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { (db) throws in
                try db.execute(sql: "INSERT INTO t VALUES (100)")
                switch mistake {
                case .insert: try Careless(id: 2, mistake: mistake).insert(db)
                case .update: try Careless(id: 1, mistake: mistake).update(db)
                case .save: try Careless(id: 1, mistake: mistake).save(db)
                case .delete: _ = try Careless(id: 1, mistake: mistake).delete(db)
                case .hiddenError: try Careless(id: 3, mistake: mistake).update(db)
                }
            }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message?.contains("around") == true)
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT id FROM t") } == [1])
    }

    // MARK: Row IDs

    private final class Log { var values: [Int64?] = [] }
    private struct Note: MutablePersistableRecord, FetchableRecord, Encodable {
        static let databaseTableName = "note"
        var id: Int64?
        var text: String
        var log = Log()
        enum CodingKeys: CodingKey { case id, text }

        init(id: Int64? = nil, text: String) {
            self.id = id
            self.text = text
        }
        init(row: Row) {
            id = row["id"]
            text = row["text"]
        }
        mutating func didInsert(_ inserted: InsertionSuccess) {
            log.values.append(inserted.persistenceContainer["ID"] as? Int64)
        }
        func didSave(_ saved: PersistenceSuccess) {
            log.values.append(saved.persistenceContainer["id"] as? Int64)
        }
    }

    private struct Bare: MutablePersistableRecord {
        static let databaseTableName = "note"
        var log = Log()
        func encode(to container: inout PersistenceContainer) { container["text"] = UUID().uuidString }
        mutating func didInsert(_ inserted: InsertionSuccess) {
            log.values.append(inserted.persistenceContainer["id"] as? Int64)
        }
    }

    @Test("the persistence container of a success has the row ID that the database chose")
    func newRowID() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT UNIQUE)")
            var note = Note(text: "a")
            try note.insert(db)
            #expect(note.log.values == [1, 1])
            note = Note(text: "b")
            _ = try note.insertAndFetch(db)
            #expect(note.log.values == [2, 2])
            note = Note(text: "c")
            try note.upsert(db)
            #expect(note.log.values == [3, 3])
            note = Note(id: 77, text: "a")
            _ = try note.upsertAndFetch(db, onConflict: ["text"])
            #expect(note.log.values == [1, 1])
            note = Note(id: 50, text: "a")
            try note.insert(db, onConflict: .ignore)
            #expect(note.log.values == [50, 50])
            var bare = Bare()
            try bare.insert(db)
            #expect(bare.log.values == [4])
        }
    }

    // MARK: Coding

    private struct Stored: Codable, FetchableRecord, EncodableRecord {
        var text: String
        init(text: String) { self.text = text }
        init(row: Row) { text = "row " + (row["stored"] as String) }
        func encode(to container: inout PersistenceContainer) { container["stored"] = text }
    }

    private struct Wrapper<Model: Codable>: Codable, FetchableRecord, PersistableRecord {
        static var databaseTableName: String { "w" }
        var model: Model
        init(model: Model) { self.model = model }
        init(from decoder: any Decoder) throws {
            model = try decoder.singleValueContainer().decode(Model.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(model)
        }
    }

    @Test("a wrapped record is encoded and decoded by its own methods, not by Codable")
    func wrappers() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE w (stored TEXT)")
            try Wrapper(model: Stored(text: "x")).insert(db)
            #expect(try Wrapper<Stored>.fetchOne(db)?.model.text == "row x")
        }
    }

    @Test("a property encoded as a single value has its key in the coding path")
    func codingPath() throws {
        struct Tag: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(
                    container.codingPath.map(\.stringValue).joined(separator: "/")
                        + encoder.codingPath.map(\.stringValue).joined())
            }
        }
        struct Tagged: Encodable, EncodableRecord {
            var tag = Tag()
            var other: Tag? = Tag()
        }
        let container = try PersistenceContainer(Tagged())
        #expect(container["tag"]?.databaseValue == "tagtag".databaseValue)
        #expect(container["other"]?.databaseValue == "otherother".databaseValue)
    }

    @Test(
        "dates stored as integers are rounded down",
        arguments: [(-987654.321, -987655, -987_654_321), (1.5, 1, 1500), (-0.5, -1, -500)])
    func dates(seconds: Double, wholeSeconds: Int64, milliseconds: Int64) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(DatabaseDateEncodingStrategy.secondsSince1970.value(of: date) == wholeSeconds)
        #expect(DatabaseDateEncodingStrategy.millisecondsSince1970.value(of: date) == milliseconds)
    }

    // MARK: The base class

    private final class Person: Record {
        var id: Int64?
        var name: String?
        override class var databaseTableName: String { "person" }
        required init(row: Row) throws {
            id = row["id"]
            name = row["name"]
            try super.init(row: row)
        }
        override func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["name"] = name
        }
    }

    @Test("a record from a literal row has changes in all columns, and a fetched record has none")
    func recordsFromRows() throws {
        #expect(try Set(Person(row: ["name": "Ada"]).databaseChanges.keys) == ["id", "name"])
        try DatabaseQueue().read { (db) throws in
            let sql = "SELECT 1 AS id, 'Ada' AS name"
            #expect(try Person.fetchOne(db, sql: sql)?.hasDatabaseChanges == false)
            let row = try #require(try Row.fetchOne(db, sql: sql))
            #expect(try !Person(row: row).hasDatabaseChanges)
            let adapted = try #require(
                try Row.fetchOne(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 0)))
            #expect(try !Person(row: adapted).hasDatabaseChanges)
        }
    }

    @Test("the error of a record that was not found has GRDB's description")
    func recordErrorText() {
        let error = RecordError.recordNotFound(databaseTableName: "note", key: ["id": 1.databaseValue])
        #expect("\(error)" == "Key not found in table note: [id:1]")
    }
}

extension DatabaseDateEncodingStrategy {
    /// Returns the integer that a record with this strategy stores.
    fileprivate func value(of date: Date) -> Int64? {
        struct Dated: Encodable, EncodableRecord {
            @TaskLocal static var strategy = DatabaseDateEncodingStrategy.deferredToDate
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                strategy
            }
            var date: Date
        }
        return Dated.$strategy.withValue(self) {
            try? PersistenceContainer(Dated(date: date))["date"] as? Int64
        }
    }
}
