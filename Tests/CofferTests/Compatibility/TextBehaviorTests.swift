import Coffer
import CofferTestSupport
import Foundation
import Testing

/// The texts and SQL that programs expect from GRDB 7. `Tests/Benchmarks/compare` compares both libraries.
@Suite("GRDB-compatible descriptions and SQL")
struct TextBehaviorTests {
    private struct Owner: Codable, FetchableRecord, PersistableRecord, TableRecord {
        static let databaseTableName = "owner"
        static let items = hasMany(Item.self)
        static let attachments = hasMany(Attachment.self, through: items, using: Item.attachments)
        var id: Int64
        var name: String

        @TaskLocal static var updatedColumns = Columns()
        // @unchecked: the test waits for the write that sets the names.
        final class Columns: @unchecked Sendable { var names: Set<String> = [] }
        func willUpdate(_ db: Database, columns: Set<String>) throws { Self.updatedColumns.names = columns }
    }
    private struct Item: Codable, FetchableRecord, PersistableRecord {
        static let owner = belongsTo(Owner.self)
        static let attachments = hasMany(Attachment.self)
        var id: Int64
        var ownerId: Int64?
    }
    private struct Attachment: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var itemId: Int64
    }
    private final class TextStream: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    private func makeQueue() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER);
                    CREATE TABLE item (id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner(id));
                    CREATE TABLE attachment (id INTEGER PRIMARY KEY, itemId INTEGER NOT NULL REFERENCES \
                    item(id));
                    INSERT INTO owner VALUES (1, 'Ann', 1970), (2, 'Bob', NULL);
                    INSERT INTO item VALUES (1, 1), (2, 1), (3, 2);
                    INSERT INTO attachment VALUES (1, 2), (2, 3);
                    """)
        }
        return queue
    }

    @Test("an adapted row is described with its original row")
    func adaptedRow() throws {
        try makeQueue().read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT 1 AS a, 2 AS b", adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(row?.debugDescription == "▿ [b:2]\n  unadapted: [a:1 b:2]")
        }
    }

    @Test("prefetched rows of a scope are described at the scope and at the row")
    func prefetchedRowsOfScope() throws {
        try makeQueue().read { db in
            let request = Item.filter(key: 1).including(required: Item.owner.including(all: Owner.items))
            let row = try Row.fetchOne(db, request)
            #expect(
                row?.debugDescription == """
                    ▿ [id:1 ownerId:1]
                      unadapted: [id:1 ownerId:1 id:1 name:"Ann" born:1970]
                      - owner: [id:1 name:"Ann" born:1970]
                        + items: 2 rows
                      + items: 2 rows
                    """)
        }
    }

    @Test("arguments are described with quoted names, and errors have them in order")
    func arguments() throws {
        #expect("\(["a": 1, "b": "x"] as StatementArguments)" == #"["a": 1, "b": "x"]"#)
        try makeQueue().write { db in
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(
                    sql: "INSERT INTO owner (name, id) VALUES (:name, :id)",
                    arguments: ["id": 1, "name": "x"])
            }
            #expect(error?.arguments == ["x", 1])
            let missing = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "SELECT :a, :b", arguments: ["c": 1])
            }
            #expect(missing?.message == "missing statement argument: a")
            let decoding = #expect(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: "SELECT NULL") }
            #expect("\(decoding as Any)".contains("arguments: []"))
        }
    }

    @Test("a missing row is described by its key")
    func missingRow() throws {
        let error = RecordError.recordNotFound(
            databaseTableName: "share", key: ["a": 1.databaseValue, "b": "x".databaseValue])
        #expect("\(error)" == #"Key not found in table share: [a:1 b:"x"]"#)
    }

    @Test("the callbacks of an update get all columns of the table")
    func updatedColumns() throws {
        let columns = Owner.Columns()
        try Owner.$updatedColumns.withValue(columns) {
            try makeQueue().write { try Owner(id: 1, name: "Anna").update($0) }
        }
        #expect(columns.names == ["id", "name", "born"])
    }

    @Test("doubles are written in SQL as SQLite writes them")
    func doubles() throws {
        try makeQueue().read { db in
            let values: [Double] = [
                0.1, 1, -0.5, 1e15, 1e16, 1.0 / 3, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
                123_456_789.123_456_78, .infinity,
                -.infinity,
            ]
            for value in values {
                let stream = TextStream()
                try db.dumpSQL("SELECT \(value)", format: .quote(), to: stream)
                let quoted = try String.fetchOne(db, sql: "SELECT QUOTE(?)", arguments: [value])
                #expect(stream.text == quoted.map { $0 + "\n" })
            }
        }
    }

    @Test("doubles in definitions are read back unchanged")
    func defaultDoubles() throws {
        try makeQueue().write { db in
            for value in [
                0.1, 1e15, 1e16, 1.0 / 3, 0.1 + 0.2, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
            ] {
                try db.create(table: "stored") { $0.column("value", .double).defaults(to: value) }
                try db.execute(sql: "INSERT INTO stored DEFAULT VALUES")
                #expect(try Double.fetchOne(db, sql: "SELECT value FROM stored") == value)
                if value == 1e15 { #expect(try db.columns(in: "stored").first?.defaultValueSQL == "1.0e+15") }
                try db.drop(table: "stored")
            }
        }
    }

    @Test("requests with common table expressions are counted as a subquery")
    func countOfCommonTables() throws {
        try makeQueue().read { db in
            let some = CommonTableExpression<Row>(named: "some", sql: "SELECT 1 AS id")
            let lines = try traced(db) { _ = try some.all().with(some).fetchCount(db) }
            #expect(
                lines == [#"SELECT COUNT(*) FROM (WITH "some" AS (SELECT 1 AS id) SELECT * FROM "some")"#])
        }
    }

    @Test("statements of virtual tables are traced unchanged")
    func nestedStatements() throws {
        try makeQueue().write { db in
            let lines = try traced(db) {
                try db.execute(sql: "CREATE VIRTUAL TABLE place USING rtree(id, x0, x1);")
            }
            #expect(lines.first == "CREATE VIRTUAL TABLE place USING rtree(id, x0, x1)")
            #expect(lines.contains { $0.hasPrefix("--") && $0.hasSuffix(";") })
        }
    }

    @Test("the column of a negated aggregate is named after its SQL")
    func negatedAggregate() throws {
        try makeQueue().read { db in
            let row = try Row.fetchOne(db, Owner.annotated(with: !Owner.items.isEmpty))
            #expect(row.map { Array($0.columnNames).last } == #"COUNT(DISTINCT "item"."id") > 0"#)
        }
    }

    @Test("a dump of a request includes its prefetched rows")
    func dumpOfPrefetchedRows() throws {
        let stream = TextStream()
        let queue = try makeQueue()
        try queue.dumpRequest(
            Owner.orderByPrimaryKey().including(
                all: Owner.items.orderByPrimaryKey().including(all: Item.attachments)), to: stream)
        #expect(
            stream.text == """
                1|Ann|1970
                2|Bob|

                items
                1|1
                2|1
                3|2

                attachments
                1|2
                2|3

                """)
        stream.text = ""
        try queue.dumpRequest(
            Owner.filter(key: 1).including(all: Owner.attachments), format: .quote(), to: stream)
        #expect(stream.text == "1,'Ann',1970\n\nitems.attachments\n1,2\n")
        stream.text = ""
        try queue.dumpRequest(Owner.none().including(all: Owner.items), to: stream)
        #expect(stream.text.isEmpty)
    }

    private func traced(_ db: Database, _ body: () throws -> Void) throws -> [String] {
        // @unchecked: the trace function is called within `body`.
        final class Lines: @unchecked Sendable { var all: [String] = [] }
        let lines = Lines()
        db.trace { lines.all.append($0.expandedDescription) }
        defer { db.trace(options: [], nil) }
        try body()
        return lines.all
    }
}
