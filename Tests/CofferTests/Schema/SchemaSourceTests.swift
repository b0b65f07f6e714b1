import Coffer
import Synchronization
import Testing

@Suite("Primary keys of views")
struct SchemaSourceTests {
    private final class Source: DatabaseSchemaSource {
        let columns: [String: [String]]
        let calls = Mutex<[DatabaseObjectID]>([])

        init(_ columns: [String: [String]]) { self.columns = columns }

        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            calls.withLock { $0.append(view) }
            return columns[view.name]
        }
    }

    private struct Ignorant: DatabaseSchemaSource {}

    private func makeQueue(_ source: some DatabaseSchemaSource) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.schemaSource = source
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
                    CREATE VIEW one AS SELECT * FROM t; CREATE VIEW two AS SELECT * FROM t; CREATE VIEW none \
                    AS SELECT * FROM t;
                    CREATE TEMPORARY VIEW temporary AS SELECT * FROM t;
                    """)
        }
        return queue
    }

    @Test("a view has the key from the schema source, and a table its own key")
    func keys() throws {
        let source = Source(["one": ["ID"], "two": ["b", "a"], "t": ["a"], "temporary": ["id"]])
        try makeQueue(source).read { (db) throws in
            #expect(try db.primaryKey("ONE").columns == ["id"])
            #expect(try !db.primaryKey("one").isRowID)
            #expect(try db.primaryKey("one").rowIDColumn == nil)
            #expect(try !db.primaryKey("one").tableHasRowID)
            #expect(try db.primaryKey("two").columns == ["b", "a"])
            #expect(try db.primaryKey("t").columns == ["id"])
            #expect(try db.primaryKey("temporary").columns == ["id"])
            #expect(try db.table("two", hasUniqueKey: ["a", "B"]))
            #expect(try !db.table("two", hasUniqueKey: ["a"]))
            #expect(try !db.table("none", hasUniqueKey: ["id"]))
            #expect { try db.primaryKey("none") } throws: {
                ($0 as? DatabaseError)?.message == "database view none has no primary key"
            }
        }
        let calls = source.calls.withLock { $0 }
        #expect(!calls.contains { $0.name == "t" })
        #expect(calls.first { $0.name == "one" }?.schemaID == .main)
        #expect(calls.first { $0.name == "temporary" }?.schemaID == .temp)
    }

    @Test("the source is asked once for each schema")
    func caching() throws {
        let source = Source(["one": ["id"]])
        let queue = try makeQueue(source)
        for _ in 1...3 { #expect(try queue.write { try $0.primaryKey("one").columns } == ["id"]) }
        #expect(source.calls.withLock { $0.count } == 1)
        try queue.write { (db) throws in
            try db.execute(sql: "CREATE TABLE u (a)")
            #expect(try db.primaryKey("one").columns == ["id"])
        }
        #expect(source.calls.withLock { $0.count } == 2)
    }

    @Test("a column that the view does not have is an error")
    func unknownColumn() throws {
        try makeQueue(Source(["one": ["missing"]])).read { (db) throws in
            let error = #expect(throws: DatabaseError.self) { try db.primaryKey("one") }
            #expect(error?.message?.contains("no such column: missing") == true)
        }
    }

    @Test("a source can be set temporarily, and sources can be chained")
    func replacing() throws {
        let queue = try makeQueue(Source(["one": ["id"]]))
        try queue.read { (db) throws in
            #expect(try db.primaryKey("one").columns == ["id"])
            try db.withSchemaSource(Source(["one": ["a"]]).then(Source(["one": ["b"], "two": ["b"]]))) {
                () throws in
                #expect(try db.primaryKey("one").columns == ["a"])
                #expect(try db.primaryKey("two").columns == ["b"])
                db.withSchemaSource(nil) {
                    #expect(db.schemaSource == nil)
                    #expect(throws: DatabaseError.self) { try db.primaryKey("one") }
                }
                #expect(try db.primaryKey("one").columns == ["a"])
            }
            #expect(db.schemaSource is Source)
            #expect(try db.primaryKey("one").columns == ["id"])
            try db.withSchemaSource(Ignorant().then(Source(["two": ["a"]]))) { () throws in
                #expect(try db.primaryKey("two").columns == ["a"])
                #expect(throws: DatabaseError.self) { try db.primaryKey("one") }
            }
        }
    }

    @Test("the source can ask the connection")
    func askingBack() throws {
        struct Curious: DatabaseSchemaSource {
            func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
                _ = try Row.fetchAll(db, sql: "SELECT * FROM \(view.name.quotedDatabaseIdentifier)")
                return try db.columns(in: view.name, in: view.schemaID.name).map(\.name).filter { $0 == "id" }
            }
        }
        try makeQueue(Curious()).read { (db) throws in
            #expect(try db.primaryKey("one").columns == ["id"])
        }
    }
}
