import Coffer
import Testing

@Suite("Structure of tables")
struct TableStructureTests {
    // MARK: Columns

    @Test("columns come with their type, constraint, default value and place in the primary key")
    func columns() throws {
        let queue = try makeDatabase(
            "CREATE TABLE t (a TEXT NOT NULL DEFAULT 'it''s', b, c DOUBLE DEFAULT (1 + 1), d DATETIME DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (c, a))"
        )
        try queue.read { (db) throws in
            let columns = try db.columns(in: "T")
            #expect(columns.map(\.name) == ["a", "b", "c", "d"])
            #expect(columns.map(\.type) == ["TEXT", "", "DOUBLE", "DATETIME"])
            #expect(columns.map(\.isNotNull) == [true, false, false, false])
            #expect(columns.map(\.defaultValueSQL) == ["'it''s'", nil, "1 + 1", "CURRENT_TIMESTAMP"])
            #expect(columns.map(\.primaryKeyIndex) == [2, 0, 1, 0])
        }
    }

    @Test("generated columns are columns, hidden columns of virtual tables are not")
    func generatedAndHiddenColumns() throws {
        let queue = try makeDatabase(
            """
            CREATE TABLE t (a, b AS (a + 1), c INTEGER AS (a + 2) STORED);
            CREATE VIRTUAL TABLE document USING fts5(title, body);
            """)
        try queue.read { (db) throws in
            #expect(try db.columns(in: "t").map(\.name) == ["a", "b", "c"])
            #expect(try db.columns(in: "document").map(\.name) == ["title", "body"])
        }
    }

    @Test("views have columns")
    func viewColumns() throws {
        try makeDatabase("CREATE VIEW v AS SELECT 1 AS a, 'x' AS b").read { (db) throws in
            #expect(try db.columns(in: "V").map(\.name) == ["a", "b"])
        }
    }

    @Test("every query about a missing table is an error")
    func missingTable() throws {
        try makeDatabase("CREATE VIEW v AS SELECT 1").read { (db) throws in
            #expect { try db.columns(in: "x") } throws: { isNoSuchTable($0, "x") }
            #expect { try db.primaryKey("x") } throws: { isNoSuchTable($0, "x") }
            #expect { try db.indexes(on: "x") } throws: { isNoSuchTable($0, "x") }
            #expect { try db.foreignKeys(on: "x") } throws: { isNoSuchTable($0, "x") }
            #expect { try db.foreignKeyViolations(in: "x") } throws: { isNoSuchTable($0, "x") }
            #expect { try db.checkForeignKeys(in: "x") } throws: { isNoSuchTable($0, "x") }
            #expect { try db.table("x", hasUniqueKey: ["id"]) } throws: { isNoSuchTable($0, "x") }
            #expect {
                try db.primaryKey("v")
            } throws: {
                ($0 as? DatabaseError)?.message == "database view v has no primary key"
            }
            #expect { try db.indexes(on: "v") } throws: { isNoSuchTable($0, "v") }
        }
    }

    @Test("a view that does not compile is an error, and does not disturb other tables")
    func brokenView() throws {
        let queue = try makeDatabase("CREATE TABLE t (a); CREATE VIEW broken AS SELECT * FROM nowhere")
        try queue.read { (db) throws in
            #expect(throws: DatabaseError.self) { try db.columns(in: "broken") }
            #expect(try db.columns(in: "t").count == 1)
            #expect(try db.primaryKey("t").isRowID)
        }
    }

    // MARK: Primary keys

    @Test("a table without a declared key has the hidden row ID for its key")
    func hiddenRowID() throws {
        try makeDatabase("CREATE TABLE t (a)").read { (db) throws in
            let key = try db.primaryKey("t")
            #expect(key.columns == ["rowid"])
            #expect(key.columnInfos == nil)
            #expect(key.rowIDColumn == nil)
            #expect(key.isRowID)
            #expect(key.tableHasRowID)
        }
    }

    @Test("the hidden row ID is addressed by a name that no column has")
    func shadowedRowID() throws {
        try makeDatabase("CREATE TABLE t (RowID TEXT); CREATE TABLE u (rowid, _rowid_)").read { (db) throws in
            #expect(try db.primaryKey("t").columns == ["_rowid_"])
            #expect(try db.primaryKey("u").columns == ["oid"])
        }
    }

    @Test(
        "INTEGER PRIMARY KEY is the row ID",
        arguments: [
            "a INTEGER PRIMARY KEY", "a integer primary key autoincrement", "a INTEGER, PRIMARY KEY (a DESC)",
        ])
    func rowIDAlias(definition: String) throws {
        try makeDatabase("CREATE TABLE t (\(definition))").read { (db) throws in
            let key = try db.primaryKey("t")
            #expect(key.columns == ["a"])
            #expect(key.columnInfos?.map(\.name) == ["a"])
            #expect(key.rowIDColumn == "a")
            #expect(key.isRowID)
            #expect(key.tableHasRowID)
        }
    }

    @Test(
        "other keys of one column are not the row ID",
        arguments: ["a INTEGER PRIMARY KEY DESC", "a INT PRIMARY KEY", "a TEXT PRIMARY KEY", "a PRIMARY KEY"])
    func regularKey(definition: String) throws {
        try makeDatabase("CREATE TABLE t (\(definition))").read { (db) throws in
            let key = try db.primaryKey("t")
            #expect(key.columns == ["a"])
            #expect(key.rowIDColumn == nil)
            #expect(!key.isRowID)
            #expect(key.tableHasRowID)
        }
    }

    @Test("a key of several columns keeps its own order")
    func compositeKey() throws {
        try makeDatabase("CREATE TABLE t (a, b, c, PRIMARY KEY (c, a))").read { (db) throws in
            let key = try db.primaryKey("t")
            #expect(key.columns == ["c", "a"])
            #expect(key.columnInfos?.map(\.primaryKeyIndex) == [1, 2])
            #expect(!key.isRowID)
            #expect(key.tableHasRowID)
        }
    }

    @Test(
        "tables without row IDs are recognized",
        arguments: ["a INTEGER PRIMARY KEY", "a TEXT PRIMARY KEY", "a, b, PRIMARY KEY (a, b)"])
    func withoutRowID(definition: String) throws {
        try makeDatabase("CREATE TABLE t (\(definition)) WITHOUT ROWID; CREATE INDEX i ON t (a)").read {
            (db) throws in
            let key = try db.primaryKey("t")
            #expect(key.columns.first == "a")
            #expect(key.rowIDColumn == nil)
            #expect(!key.isRowID)
            #expect(!key.tableHasRowID)
        }
    }

    @Test("a virtual table has the hidden row ID for its key")
    func virtualTableKey() throws {
        try makeDatabase("CREATE VIRTUAL TABLE document USING fts5(body)").read { (db) throws in
            #expect(try db.primaryKey("document").columns == ["rowid"])
        }
    }

    // MARK: Indexes

    @Test("indexes come with their columns, uniqueness and origin")
    func indexes() throws {
        let queue = try makeDatabase(
            """
            CREATE TABLE t (a TEXT PRIMARY KEY, b UNIQUE, c, d);
            CREATE INDEX plain ON t (d, c);
            CREATE UNIQUE INDEX single ON t (c);
            CREATE INDEX expression ON t (a, lower(b));
            """)
        try queue.read { (db) throws in
            let indexes = try db.indexes(on: "t").sorted { $0.name < $1.name }
            #expect(
                indexes.map(\.name) == ["plain", "single", "sqlite_autoindex_t_1", "sqlite_autoindex_t_2"])
            #expect(indexes.map(\.columns) == [["d", "c"], ["c"], ["a"], ["b"]])
            #expect(indexes.map(\.isUnique) == [false, true, true, true])
            #expect(
                indexes.map(\.origin) == [
                    .createIndex, .createIndex, .primaryKeyConstraint, .uniqueConstraint,
                ])
        }
    }

    @Test("the row ID has no index")
    func noIndex() throws {
        try makeDatabase("CREATE TABLE t (a INTEGER PRIMARY KEY)").read { (db) throws in
            #expect(try db.indexes(on: "t").isEmpty)
        }
    }

    @Test(
        "supersets of the primary key, row ID or a unique index are unique keys, in any order and case"
    )
    func uniqueKeys() throws {
        let queue = try makeDatabase(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, UNIQUE (a, b));
            CREATE UNIQUE INDEX whole ON t (c);
            CREATE UNIQUE INDEX part ON t (d) WHERE a > 0;
            CREATE UNIQUE INDEX expression ON t (b, lower(c));
            CREATE INDEX plain ON t (b);
            CREATE TABLE w (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE TABLE r (rowid, a);
            """)
        try queue.read { (db) throws in
            for key in [
                ["id"], ["ID"], ["rowid"], ["OID"], ["a", "b"], ["B", "A"], ["c"], ["id", "a"],
                ["a", "b", "c"],
            ] {
                #expect(try db.table("t", hasUniqueKey: key), "\(key)")
            }
            for key in [["a"], ["b"], ["d"], ["a", "d"], ["missing"], []] {
                #expect(try !db.table("t", hasUniqueKey: key), "\(key)")
            }
            #expect(try db.table("w", hasUniqueKey: ["b", "a"]))
            #expect(try !db.table("w", hasUniqueKey: ["rowid"]))
            #expect(try !db.table("r", hasUniqueKey: ["rowid"]))
            #expect(try db.table("r", hasUniqueKey: ["_rowid_"]))
        }
    }

    // MARK: Foreign keys

    @Test("foreign keys come with the columns that they map")
    func foreignKeys() throws {
        let queue = try makeDatabase(
            """
            CREATE TABLE parent (a, b, c UNIQUE, PRIMARY KEY (a, b));
            CREATE TABLE child (x, y, z, FOREIGN KEY (x, y) REFERENCES parent, FOREIGN KEY (z) REFERENCES \
            parent (c));
            """)
        try queue.read { (db) throws in
            let keys = try db.foreignKeys(on: "child").sorted {
                $0.originColumns.count < $1.originColumns.count
            }
            #expect(keys.map(\.destinationTable) == ["parent", "parent"])
            #expect(keys.map(\.originColumns) == [["z"], ["x", "y"]])
            #expect(keys.map(\.destinationColumns) == [["c"], ["a", "b"]])
            #expect(Set(keys.map(\.id)) == [0, 1])
            #expect(try db.foreignKeys(on: "parent").isEmpty)
        }
    }

    @Test("a foreign key refers to its own schema")
    func foreignKeySchema() throws {
        let queue = try makeDatabase(
            """
            CREATE TABLE parent (mainKey INTEGER PRIMARY KEY);
            CREATE TABLE child (p REFERENCES parent);
            CREATE TEMPORARY TABLE parent (tempKey INTEGER PRIMARY KEY);
            """)
        try queue.read { (db) throws in
            #expect(try db.foreignKeys(on: "child")[0].destinationColumns == ["mainKey"])
        }
    }

    @Test("a foreign key to a missing table is only known if it names its columns")
    func foreignKeyToMissingTable() throws {
        let queue = try makeDatabase(
            "CREATE TABLE a (x REFERENCES gone (id)); CREATE TABLE b (x REFERENCES gone)")
        try queue.read { (db) throws in
            #expect(try db.foreignKeys(on: "a")[0].destinationColumns == ["id"])
            #expect { try db.foreignKeys(on: "b") } throws: { isNoSuchTable($0, "gone") }
        }
    }

    @Test("a foreign key whose column count differs from the referenced key is an error")
    func foreignKeyMismatch() throws {
        let queue = try makeDatabase(
            "CREATE TABLE p (a, b, PRIMARY KEY (a, b)); CREATE TABLE c (x REFERENCES p)")
        try queue.read { (db) throws in
            #expect(try db.foreignKeys(on: "p").count == 0)
            #expect {
                try db.foreignKeys(on: "c")
            } throws: {
                ($0 as? DatabaseError)?.message == "foreign key mismatch - \"c\" referencing \"p\""
            }
        }
    }

    @Test("columns are records, and can be fetched from both pragmas")
    func columnRecords() throws {
        let sql = "CREATE TABLE t (a TEXT NOT NULL DEFAULT 'x', b INTEGER PRIMARY KEY, c AS (a || 'y'))"
        try makeDatabase(sql).read { (db) throws in
            for pragma in ["table_info", "table_xinfo"] {
                let columns = try ColumnInfo.fetchAll(db, sql: "PRAGMA \(pragma)(t)")
                let expected = try db.columns(in: "t").filter { pragma == "table_xinfo" || $0.name != "c" }
                #expect(columns.map(\.name) == expected.map(\.name))
                #expect(columns.map(\.type) == expected.map(\.type))
                #expect(columns.map(\.isNotNull) == expected.map(\.isNotNull))
                #expect(columns.map(\.defaultValueSQL) == expected.map(\.defaultValueSQL))
                #expect(columns.map(\.primaryKeyIndex) == expected.map(\.primaryKeyIndex))
            }
        }
    }
}
