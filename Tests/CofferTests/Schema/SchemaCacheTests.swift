import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Freshness of the schema cache")
struct SchemaCacheTests {
    @Test("changes by the connection itself are seen at once")
    func ownChanges() throws {
        let queue = try makeDatabase("CREATE TABLE t (a)")
        for access in [queue.inDatabase, { try queue.write($0) }]
            as [((Database) throws -> Void) throws -> Void]
        {
            try access { (db) throws in
                #expect(try db.columns(in: "t").map(\.name) == ["a"])
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
                #expect(try db.columns(in: "t").map(\.name) == ["a", "b"])
                try db.execute(sql: "ALTER TABLE t RENAME TO u")
                #expect(try !db.tableExists("t"))
                #expect { try db.columns(in: "t") } throws: { isNoSuchTable($0, "t") }
                #expect(try db.indexes(on: "u").isEmpty)
                try db.execute(sql: "CREATE UNIQUE INDEX i ON u (b)")
                #expect(try db.indexes(on: "u").count == 1)
                #expect(try db.table("u", hasUniqueKey: ["b"]))
                try db.execute(sql: "CREATE TEMPORARY TABLE only (x)")
                #expect(try db.tableExists("only"))
                try db.execute(sql: "DROP TABLE only; DROP TABLE u; CREATE TABLE t (a)")
                #expect(try !db.tableExists("only"))
                #expect(try !db.tableExists("u"))
            }
        }
    }

    @Test("a change of the schema by a prepared statement, or by a cursor over statements, is seen")
    func statements() throws {
        try makeDatabase("CREATE TABLE t (a)").write { (db) throws in
            let statement = try db.makeStatement(sql: "CREATE TABLE u (a)")
            #expect(try !db.tableExists("u"))
            try statement.execute()
            #expect(try db.tableExists("u"))
            #expect(try !db.tableExists("v"))
            _ = try Row.fetchAll(db, sql: "CREATE TABLE v (a)")
            #expect(try db.tableExists("v"))
        }
    }

    @Test("a rolled back change is forgotten, also if the next change leaves the same schema version")
    func rollback() throws {
        let folder = try DatabaseFolder()
        let queue = try folder.makeQueue()
        try queue.inDatabase { (db) throws in
            try db.beginTransaction()
            try db.execute(sql: "CREATE TABLE a (x)")
            let version = try db.schemaVersion()
            #expect(try db.tableExists("a"))
            try db.rollback()
            try db.beginTransaction()
            try db.execute(sql: "CREATE TABLE b (x)")
            #expect(try db.schemaVersion() == version)
            #expect(try !db.tableExists("a"))
            #expect(try db.tableExists("b"))
            try db.commit()
            #expect(try !db.tableExists("a"))
            #expect(try db.tableExists("b"))
        }
    }

    @Test("a change that was rolled back with its savepoint is forgotten")
    func savepoint() throws {
        try makeDatabase("CREATE TABLE t (a)").write { (db) throws in
            try db.inSavepoint {
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
                #expect(try db.columns(in: "t").count == 2)
                return .rollback
            }
            #expect(try db.columns(in: "t").count == 1)
        }
    }

    @Test("a change that SQLite rolls back by itself is forgotten")
    func automaticRollback() throws {
        try makeDatabase("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)").inDatabase { (db) throws in
            try db.beginTransaction()
            try db.execute(sql: "CREATE TABLE u (a)")
            #expect(try db.tableExists("u"))
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)")
            }
            #expect(!db.isInsideTransaction)
            #expect(try !db.tableExists("u"))
        }
    }

    @Test("changes by another connection are seen in the next access, and outside of transactions at once")
    func otherConnection() throws {
        let folder = try DatabaseFolder()
        let one = try folder.makeQueue()
        let two = try folder.makeQueue()
        try one.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(try two.read { try $0.columns(in: "t").count } == 1)
        try one.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
        #expect(try two.read { try $0.columns(in: "t").count } == 2)
        try one.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN c") }
        #expect(try two.write { try $0.columns(in: "t").count } == 3)

        try two.inDatabase { (db) throws in
            #expect(try db.columns(in: "t").count == 3)
            #expect(try !db.tableExists("u"))
            try one.write {
                try $0.execute(sql: "ALTER TABLE t ADD COLUMN d; CREATE TABLE u (x INTEGER PRIMARY KEY)")
            }
            #expect(try db.columns(in: "t").count == 4)
            #expect(try db.primaryKey("u").rowIDColumn == "x")
            try one.write { try $0.execute(sql: "DROP TABLE u") }
            #expect { try db.primaryKey("u") } throws: { isNoSuchTable($0, "u") }
        }
    }

    @Test("a transaction keeps the schema that it has begun to read")
    func isolation() throws {
        let folder = try DatabaseFolder()
        let pool = try folder.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try pool.read { (db) throws in
            #expect(try db.columns(in: "t").count == 1)
            let queue = try folder.makeQueue()
            try queue.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
            #expect(try db.columns(in: "t").count == 1)
        }
        #expect(try pool.read { try $0.columns(in: "t").count } == 2)
        #expect(try pool.write { try $0.columns(in: "t").count } == 2)
    }

    @Test("attached and detached databases are noticed, also where the C functions attach them")
    func attachments() throws {
        try makeDatabase("CREATE TABLE t (a)").inDatabase { (db) throws in
            #expect(try !db.tableExists("u"))
            try db.execute(sql: "ATTACH DATABASE ':memory:' AS other; CREATE TABLE other.u (a)")
            #expect(try db.tableExists("u"))
            #expect(try db.tableExists("u", in: "other"))

            let connection = try #require(unsafe db.sqliteConnection.map { unsafe ConnectionHandle($0) })
            try connection.execute("DETACH DATABASE other")
            #expect(try !db.tableExists("u"))
            #expect(throws: DatabaseError.self) { try db.tableExists("u", in: "other") }

            try connection.execute("ATTACH DATABASE ':memory:' AS another; CREATE TABLE another.u (a)")
            db.clearSchemaCache()
            #expect(try db.tableExists("u", in: "another"))
        }
    }

    @Test("a change through the C functions is noticed outside of transactions")
    func rawChanges() throws {
        try makeDatabase("CREATE TABLE t (a)").inDatabase { (db) throws in
            #expect(try !db.tableExists("u"))
            let connection = try #require(unsafe db.sqliteConnection.map { unsafe ConnectionHandle($0) })
            try connection.execute("CREATE TABLE u (a)")
            #expect(try db.tableExists("u"))
        }
    }

    @Test("known facts are not queried again: no query inside a transaction, one outside")
    func cost() throws {
        try makeDatabase("CREATE TABLE t (id INTEGER PRIMARY KEY, a REFERENCES t)").inDatabase {
            (db) throws in
            let askEverything = {
                _ = try db.tableExists("t")
                _ = try db.columns(in: "t")
                _ = try db.primaryKey("T")
                _ = try db.indexes(on: "t")
                _ = try db.foreignKeys(on: "t")
            }
            let connection = try #require(unsafe db.sqliteConnection.map { unsafe ConnectionHandle($0) })
            let counter = Counter()
            let hook = TraceHook(connection, kinds: .statement) { _ in counter.count += 1 }
            defer { hook.remove(from: connection) }
            try askEverything()
            #expect(counter.count > 5)

            counter.count = 0
            try askEverything()
            #expect(counter.count == 5)

            try db.inTransaction {
                try askEverything()
                counter.count = 0
                try askEverything()
                #expect(counter.count == 0)
                return .commit
            }
        }
    }

    private final class Counter {
        var count = 0
    }

    @Test("the library's queries about the schema stay out of the application's trace")
    func trace() throws {
        try makeDatabase("CREATE TABLE t (id INTEGER PRIMARY KEY)").inDatabase { (db) throws in
            let connection = try #require(unsafe db.sqliteConnection.map { unsafe ConnectionHandle($0) })
            let counter = Counter()
            db.traceHook = TraceHook(connection, kinds: [.statement, .profile]) { _ in counter.count += 1 }
            _ = try db.columns(in: "t")
            _ = try db.primaryKey("t")
            #expect(counter.count == 0)
            try db.execute(sql: "CREATE TABLE u (a)")
            #expect(counter.count > 0)
            db.traceHook?.remove(from: connection)
            db.traceHook = nil
        }
    }

    @Test("a connection can be closed after its schema was read")
    func closing() throws {
        let queue = try makeDatabase("CREATE TABLE t (a)")
        try queue.read { _ = try $0.columns(in: "t") }
        try queue.close()
    }

    @Test("a connection that releases memory reads the schema again")
    func releasingMemory() throws {
        try makeDatabase("CREATE TABLE t (a)").inDatabase { (db) throws in
            #expect(try db.columns(in: "t").count == 1)
            db.releaseMemory()
            #expect(try db.columns(in: "t").count == 1)
        }
    }
}
