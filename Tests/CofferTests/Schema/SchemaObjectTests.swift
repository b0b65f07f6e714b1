import Coffer
import Testing

@Suite("Existence of tables, views and triggers")
struct SchemaObjectTests {
    @Test("objects are distinguished by their kind, and found without regard to ASCII case")
    func kinds() throws {
        let queue = try makeDatabase(
            """
            CREATE TABLE Player (id INTEGER PRIMARY KEY);
            CREATE VIRTUAL TABLE document USING fts5(body);
            CREATE VIEW best AS SELECT * FROM player;
            CREATE TRIGGER watch AFTER INSERT ON player BEGIN SELECT 1; END;
            """)
        try queue.read { (db) throws in
            #expect(try db.tableExists("Player"))
            #expect(try db.tableExists("pLAYER"))
            #expect(try db.tableExists("document"))
            #expect(try !db.tableExists("best"))
            #expect(try !db.tableExists("watch"))
            #expect(try db.viewExists("BEST"))
            #expect(try !db.viewExists("player"))
            #expect(try db.triggerExists("Watch"))
            #expect(try !db.triggerExists("player"))
            #expect(try !db.tableExists("missing"))
            #expect(try !db.tableExists(""))
        }
    }

    @Test(
        "only ASCII letters are case-insensitive, and other Unicode compositions are different names")
    func unicodeNames() throws {
        let queue = try makeDatabase("CREATE TABLE \"\u{e9}t\u{e9}\" (a)")
        try queue.read { (db) throws in
            #expect(try db.tableExists("\u{e9}T\u{e9}"))
            #expect(try !db.tableExists("\u{c9}t\u{c9}"))
            #expect(try !db.tableExists("e\u{301}te\u{301}"))
        }
        try queue.write { try $0.execute(sql: "CREATE TABLE \"e\u{301}te\u{301}\" (b)") }
        try queue.read { (db) throws in
            #expect(try db.columns(in: "\u{e9}t\u{e9}").map(\.name) == ["a"])
            #expect(try db.columns(in: "e\u{301}te\u{301}").map(\.name) == ["b"])
        }
    }

    @Test(
        "names with quotes, dots and semicolons are names",
        arguments: ["a\"b", "a'b", "main.t", "x; DROP TABLE t", "[a]", " ", "a`b"])
    func hostileNames(name: String) throws {
        let identifier = name.quotedDatabaseIdentifier
        let queue = try makeDatabase(
            """
            CREATE TABLE \(identifier) (\(identifier) PRIMARY KEY, other REFERENCES \(identifier));
            CREATE INDEX \(("i" + name).quotedDatabaseIdentifier) ON \(identifier) (\(identifier), other);
            ATTACH DATABASE ':memory:' AS \(("s" + name).quotedDatabaseIdentifier);
            CREATE TABLE \(("s" + name).quotedDatabaseIdentifier).inner (a);
            """)
        try queue.read { (db) throws in
            #expect(try db.tableExists(name))
            #expect(try db.columns(in: name).map(\.name) == [name, "other"])
            #expect(try db.primaryKey(name).columns == [name])
            #expect(try db.indexes(on: name).first { $0.name == "i" + name }?.columns == [name, "other"])
            #expect(try db.foreignKeys(on: name)[0].destinationTable == name)
            #expect(try db.foreignKeyViolations(in: name).next() == nil)
            #expect(try db.tableExists("inner", in: "s" + name))
            #expect(try db.columns(in: "inner").map(\.name) == ["a"])
        }
    }

    @Test("a NUL character in a name finds nothing")
    func nulCharacter() throws {
        try makeDatabase("CREATE TABLE t (a)").read { (db) throws in
            #expect(try !db.tableExists("t\0"))
            #expect { try db.columns(in: "t\0") } throws: { isNoSuchTable($0, "t\0") }
        }
    }

    @Test(
        "unqualified names are looked for in the temporary, the main and the attached schemas, in this order")
    func resolution() throws {
        let queue = try makeDatabase(
            """
            ATTACH DATABASE ':memory:' AS one;
            ATTACH DATABASE ':memory:' AS two;
            CREATE TABLE two.t (two);
            """)
        try queue.inDatabase { (db) throws in
            #expect(try db.columns(in: "t").map(\.name) == ["two"])
            try db.execute(sql: "CREATE TABLE one.t (one)")
            #expect(try db.columns(in: "t").map(\.name) == ["one"])
            try db.execute(sql: "CREATE TABLE t (main)")
            #expect(try db.columns(in: "t").map(\.name) == ["main"])
            try db.execute(sql: "CREATE TEMPORARY TABLE t (temp)")
            #expect(try db.columns(in: "t").map(\.name) == ["temp"])

            for schema in ["temp", "main", "one", "two", "TEMP", "Main", "One"] {
                #expect(try db.columns(in: "t", in: schema).map(\.name) == [schema.lowercased()])
                #expect(try db.tableExists("t", in: schema))
            }
            try db.execute(sql: "DETACH DATABASE two; DROP TABLE one.t")
            #expect(try !db.tableExists("t", in: "one"))
            #expect(throws: DatabaseError.self) { try db.tableExists("t", in: "two") }
        }
    }

    @Test("a view in an earlier schema hides a table in a later one")
    func viewsHideTables() throws {
        let queue = try makeDatabase("CREATE TABLE t (a); CREATE TEMPORARY VIEW t AS SELECT 1 AS b")
        try queue.read { (db) throws in
            #expect(try db.columns(in: "t").map(\.name) == ["b"])
            #expect(try db.tableExists("t"))
            #expect(try db.viewExists("t"))
            #expect(try !db.viewExists("t", in: "main"))
        }
    }

    @Test("a schema that does not exist is an error, and the temporary one always exists")
    func missingSchema() throws {
        try makeDatabase("CREATE TABLE t (a)").read { (db) throws in
            #expect {
                try db.tableExists("t", in: "nowhere")
            } throws: {
                ($0 as? DatabaseError)?.message == "no such schema: nowhere"
            }
            #expect(throws: DatabaseError.self) { try db.columns(in: "t", in: "nowhere") }
            #expect(try !db.tableExists("t", in: "temp"))
            #expect { try db.columns(in: "t", in: "temp") } throws: { isNoSuchTable($0, "t") }
        }
    }

    @Test("sqlite_master has columns, but does not count as a table")
    func schemaTables() throws {
        try makeDatabase("CREATE TEMPORARY TABLE t (a)").read { (db) throws in
            for name in ["sqlite_master", "SQLITE_SCHEMA", "sqlite_temp_master"] {
                #expect(try !db.tableExists(name))
                #expect(
                    try db.columns(in: name).map(\.name) == ["type", "name", "tbl_name", "rootpage", "sql"])
                #expect(try db.primaryKey(name).columns == ["rowid"])
            }
            #expect(try !db.tableExists("sqlite_master", in: "temp"))
            #expect(throws: DatabaseError.self) { try db.tableExists("sqlite_master", in: "nowhere") }
        }
    }

    @Test("reserved names are recognized by their prefix")
    func reservedNames() {
        #expect(Database.isSQLiteInternalTable("sqlite_sequence"))
        #expect(Database.isSQLiteInternalTable("SQLite_stat1"))
        #expect(!Database.isSQLiteInternalTable("sqliteplayer"))
        #expect(Database.isGRDBInternalTable("grdb_migrations"))
        #expect(!Database.isGRDBInternalTable("grdb"))
        #expect(!Database.isGRDBInternalTable("player"))
    }

    @Test("the schema version grows with each change")
    func schemaVersion() throws {
        let queue = try makeDatabase("CREATE TABLE t (a)")
        try queue.write { (db) throws in
            let version = try db.schemaVersion()
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(try db.schemaVersion() == version)
            try db.execute(sql: "CREATE TABLE u (a)")
            #expect(try db.schemaVersion() > version)
        }
    }

    @Test("identifiers of schemas ignore ASCII case")
    func schemaIDs() {
        #expect(DatabaseSchemaID.attached("MAIN") == .main)
        #expect(DatabaseSchemaID.main != .temp)
        #expect(DatabaseSchemaID.attached("Other").name == "Other")
        #expect(DatabaseSchemaID.main.name == "main")
    }
}
