import Coffer
import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite("An engine with a fault")
struct EngineFaultTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    // MARK: - Stored columns

    /// Tables with a large value in their last column, and statements that must not change that value.
    static let updates: [(schema: String, statement: String)] = [
        (
            "t(note BLOB, data BLOB, CHECK (data IS NOT NULL OR note IS NOT NULL))",
            "UPDATE t SET note = x'02'"
        ),
        ("t(note, data, CHECK (data IS NULL OR note > 0))", "UPDATE t SET note = 2 WHERE note IS NOT NULL"),
        ("t(note, data, CHECK (data ISNULL OR note > 0))", "UPDATE OR REPLACE t SET note = 2"),
        (
            "t(id PRIMARY KEY DEFAULT 7, note, data, CHECK (data NOTNULL OR note > 0)) WITHOUT ROWID",
            "UPDATE t SET note = 2"
        ),
        (
            "t(id UNIQUE DEFAULT 7, note, data, CHECK (data IS NOT NULL OR note IS NOT NULL))",
            "INSERT INTO t(note, data) VALUES (3, 4) ON CONFLICT(id) DO UPDATE SET note = 5"
        ),
        (
            "t(note, data, c AS (CASE WHEN data IS NULL THEN 1 ELSE note END) STORED)",
            "UPDATE t SET note = 2"
        ),
        (
            "t(note, data, CHECK (data IS NOT NULL OR note IS NOT NULL))",
            "UPDATE t SET note = 2 RETURNING note"
        ),
    ]

    @Test("keeps a column that is not updated, or refuses the statement", arguments: updates.indices)
    func storedColumns(index: Int) throws {
        let (schema, statement) = EngineFaultTests.updates[index]
        for count in [10, 5_000, 20_000] {
            let queue = try DatabaseQueue(configuration: .rawKeyed)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE \(schema)")
                try db.execute(sql: "INSERT INTO t(note, data) VALUES (1, zeroblob(?))", arguments: [count])
            }
            if EngineMend.storedColumns.isNeeded {
                let error = #expect(throws: EngineFaultError.self) {
                    try queue.write { try $0.execute(sql: statement) }
                }
                #expect(error?.fault == .storedColumns && error?.sql == statement)
                #expect(error.map { "\($0)".contains("SQLite 3.49.2") } == true)
            } else {
                try queue.write { try $0.execute(sql: statement) }
            }
            let isSame = try queue.read { db in
                try Bool.fetchOne(db, sql: "SELECT data = zeroblob(?) FROM t", arguments: [count])
            }
            #expect(isSame == true)
        }
    }

    @Test(
        "refuses triggers and actions of foreign keys that would not keep a column",
        .enabled(if: EngineMend.storedColumns.isNeeded))
    func indirectUpdates() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE t (note REFERENCES parent ON DELETE SET NULL, data,
                        CHECK (data IS NOT NULL OR note IS NOT NULL));
                    CREATE TABLE event (word TEXT);
                    CREATE TRIGGER event_noted AFTER INSERT ON event BEGIN UPDATE t SET note = 1; END;
                    INSERT INTO parent VALUES (1);
                    INSERT INTO t VALUES (1, zeroblob(9000))
                    """)
        }
        for statement in ["INSERT INTO event VALUES ('a')", "DELETE FROM parent"] {
            #expect(throws: EngineFaultError.self) { try queue.write { try $0.execute(sql: statement) } }
        }
        #expect(try queue.read { try Bool.fetchOne($0, sql: "SELECT data = zeroblob(9000) FROM t") } == true)
    }

    @Test("executes statements that the fault does not concern")
    func otherStatements() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, note, data,
                        CHECK (data IS NOT NULL OR note IS NOT NULL));
                    CREATE TABLE text (note, data TEXT, CHECK (data IS NOT NULL OR note IS NOT NULL));
                    CREATE TABLE turned (note, data, CHECK (note IS NOT NULL OR data IS NOT NULL));
                    INSERT INTO t(note, data) VALUES (1, zeroblob(9000));
                    INSERT INTO t(note, data) SELECT note, data FROM t;
                    UPDATE t SET data = zeroblob(8000);
                    UPDATE t SET data = zeroblob(9000) WHERE data IS NOT NULL AND note IN (1, 2, 3);
                    INSERT INTO text VALUES (1, 'a');
                    UPDATE text SET note = 2;
                    CREATE TABLE key (note PRIMARY KEY, data, CHECK (data NOTNULL OR note > 0)) WITHOUT ROWID;
                    INSERT INTO key VALUES (1, zeroblob(9000));
                    UPDATE key SET note = 2;
                    INSERT INTO turned VALUES (1, zeroblob(9000));
                    UPDATE turned SET note = 2;
                    DELETE FROM t WHERE id = 1
                    """)
            #expect(try Bool.fetchOne(db, sql: "SELECT data = zeroblob(9000) FROM turned") == true)
            #expect(try Bool.fetchOne(db, sql: "SELECT data = zeroblob(9000) FROM key") == true)
            #expect(try Bool.fetchOne(db, sql: "SELECT data = zeroblob(9000) FROM t") == true)
        }
    }

    @Test("looks at a statement again after a change of the schema")
    func changedSchema() throws {
        let path = directory.path("a.db")
        let pool = try DatabasePool(path: path, configuration: .rawKeyed)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (note, data); INSERT INTO t VALUES (1, zeroblob(9000))")
            let statement = try db.makeStatement(sql: "UPDATE t SET note = 2")
            try statement.execute()
            try db.execute(
                sql: """
                    ALTER TABLE t RENAME TO old;
                    CREATE TABLE t (note, data, CHECK (data IS NOT NULL OR note IS NOT NULL));
                    INSERT INTO t SELECT note, data FROM old;
                    DROP TABLE old
                    """)
            if EngineMend.storedColumns.isNeeded {
                #expect(throws: EngineFaultError.self) { try statement.execute() }
            } else {
                try statement.execute()
            }
            #expect(try Bool.fetchOne(db, sql: "SELECT data = zeroblob(9000) FROM t") == true)
        }
    }

    @Test("checks a kept statement again after another connection has changed the schema")
    func schemaChangedElsewhere() throws {
        let path = directory.path("a.db")
        let pool = try DatabasePool(path: path, configuration: .rawKeyed)
        let update = "UPDATE t SET note = note + 1"
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (note, data); INSERT INTO t VALUES (1, zeroblob(9000))")
        }
        func updateTwice() throws {
            for _ in 1...2 { try pool.write { try $0.cachedStatement(sql: update).execute() } }
        }
        try updateTwice()
        let other = try DatabaseQueue(path: path, configuration: .rawKeyed)
        try other.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE t RENAME TO old;
                    CREATE TABLE t (note, data, CHECK (data IS NOT NULL OR note IS NOT NULL));
                    INSERT INTO t SELECT note, data FROM old;
                    DROP TABLE old
                    """)
        }
        if EngineMend.storedColumns.isNeeded {
            #expect(throws: EngineFaultError.self) { try updateTwice() }
        } else {
            try updateTwice()
        }
        #expect(try pool.read { try Bool.fetchOne($0, sql: "SELECT data = zeroblob(9000) FROM t") } == true)
        try other.close()
        try pool.close()
    }

    // MARK: - NULLs in descending indexes

    /// The index of `t` hides its NULL. The tables `n` and `a` have no such index.
    static let memberships = """
        CREATE TABLE u (x INTEGER);
        INSERT INTO u VALUES (1), (2);
        CREATE TABLE t (y INTEGER);
        CREATE INDEX tByY ON t (y DESC);
        INSERT INTO t VALUES (1), (NULL);
        CREATE TABLE n (z INTEGER NOT NULL PRIMARY KEY DESC, v);
        INSERT INTO n VALUES (1, 1);
        CREATE TABLE a (w INTEGER, d INTEGER);
        CREATE INDEX aByW ON a (w, d DESC);
        INSERT INTO a VALUES (1, 1), (NULL, NULL);
        CREATE VIEW missing AS SELECT x FROM u WHERE x NOT IN (SELECT y FROM t);
        CREATE TABLE event (word TEXT);
        CREATE TRIGGER event_noted AFTER INSERT ON event WHEN 2 NOT IN t BEGIN DELETE FROM u; END
        """

    static let wrongMemberships = [
        "SELECT x FROM u WHERE x NOT IN (SELECT y FROM t)",
        "SELECT x FROM u WHERE x not in(select y from t)",
        "SELECT x FROM u WHERE x NOT IN t",
        "SELECT x FROM u WHERE x NOT IN /* all */ \"t\"",
        "SELECT x FROM u WHERE (x IN (SELECT y FROM t)) = 0",
        "SELECT count(*) FROM missing HAVING count(*) > 0",
        "WITH c AS (SELECT x FROM u WHERE x NOT IN (SELECT y FROM t)) SELECT x FROM c",
        "DELETE FROM u WHERE x NOT IN (SELECT y FROM t)",
        "CREATE TABLE copy AS SELECT x FROM u WHERE x NOT IN (SELECT y FROM t)",
        "INSERT INTO event VALUES ('a')",
    ]

    @Test("finds a NULL in a descending index, or refuses the statement", arguments: wrongMemberships)
    func descendingNotIn(sql: String) throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(sql: EngineFaultTests.memberships)
            if EngineMend.descendingNotIn.isNeeded {
                let error = #expect(throws: EngineFaultError.self) { try db.execute(sql: sql) }
                #expect(error?.fault == .descendingNotIn && error?.sql == sql)
                #expect(error.map { "\($0)".contains("SQLite 3.54.0") } == true)
                #expect(error.map { "\($0)".contains("LIMIT -1") } == true)
            } else if sql.hasPrefix("SELECT") {
                #expect(try Row.fetchAll(db, sql: sql).isEmpty)
            } else {
                try db.execute(sql: sql)
            }
            #expect(try Int.fetchAll(db, sql: "SELECT x FROM u ORDER BY x") == [1, 2])
        }
    }

    static let rightMemberships = [
        ("x IN (SELECT y FROM t)", [1]), ("x NOT IN (SELECT y FROM t WHERE y IS NOT NULL)", [2]),
        ("x NOT IN (SELECT y FROM t LIMIT -1)", []), ("NOT EXISTS (SELECT 1 FROM t WHERE y = x)", [2]),
        ("x NOT IN (SELECT z FROM n)", [2]), ("x NOT IN (SELECT w FROM a)", []),
        ("x NOT IN (1, 3)", [2]), ("(x, x) NOT IN (SELECT w, d FROM a)", []),
    ]

    @Test("executes the memberships that the fault does not concern", arguments: rightMemberships)
    func otherMemberships(condition: String, result: [Int]) throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(sql: EngineFaultTests.memberships)
            #expect(try Int.fetchAll(db, sql: "SELECT x FROM u WHERE \(condition)") == result)
        }
    }

    @Test("shows the program of a statement that it refuses")
    func explainedMembership() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(sql: EngineFaultTests.memberships)
            #expect(try Row.fetchAll(db, sql: "EXPLAIN SELECT x NOT IN (SELECT y FROM t) FROM u").count > 1)
        }
    }

    @Test(
        "checks a membership again after a change of the schema, and after its rollback",
        .enabled(if: EngineMend.descendingNotIn.isNeeded))
    func changedIndexes() throws {
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: .rawKeyed)
        let sql = "SELECT x FROM u WHERE x NOT IN (SELECT y FROM t)"
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE u (x INTEGER);
                    INSERT INTO u VALUES (1), (2);
                    CREATE TABLE t (y INTEGER);
                    INSERT INTO t VALUES (1), (NULL)
                    """)
            let statement = try db.makeStatement(sql: sql)
            #expect(try Int.fetchAll(statement).isEmpty)
            try db.execute(sql: "CREATE INDEX tByY ON t (y DESC)")
            #expect(throws: EngineFaultError.self) { try Int.fetchAll(statement) }
            try db.beginTransaction()
            try db.execute(sql: "DROP INDEX tByY")
            let another = try db.makeStatement(sql: sql)
            #expect(try Int.fetchAll(another).isEmpty)
            #expect(try Int.fetchAll(db, sql: sql).isEmpty)
            try db.rollback()
            #expect(throws: EngineFaultError.self) { try Int.fetchAll(another) }
            #expect(throws: EngineFaultError.self) { try Int.fetchAll(db, sql: sql) }
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "DROP INDEX tByY")
                    #expect(try Int.fetchAll(db, sql: sql).isEmpty)
                    return .rollback
                }
                #expect(throws: EngineFaultError.self) { try Int.fetchAll(db, sql: sql) }
                return .commit
            }
        }
        try queue.close()
    }

    @Test(
        "checks the memberships of a reader after another connection has added an index",
        .enabled(if: EngineMend.descendingNotIn.isNeeded))
    func indexAddedElsewhere() throws {
        let path = directory.path("a.db")
        let sql = "SELECT x FROM u WHERE x NOT IN (SELECT y FROM t)"
        let pool = try DatabasePool(path: path, configuration: .rawKeyed)
        try pool.write { db in
            try db.execute(sql: EngineFaultTests.memberships)
            try db.execute(sql: "DROP INDEX tByY")
        }
        func fetch() throws -> [[Int]] {
            try pool.read { db in
                [try Int.fetchAll(db.cachedStatement(sql: sql)), try Int.fetchAll(db, sql: sql)]
            }
        }
        for _ in 1...2 { #expect(try fetch() == [[], []]) }
        let other = try DatabaseQueue(path: path, configuration: .rawKeyed)
        try other.write { try $0.execute(sql: "CREATE INDEX tByY ON t (y DESC)") }
        #expect(throws: EngineFaultError.self) { try fetch() }
        #expect(throws: EngineFaultError.self) { try pool.read { try Int.fetchAll($0, sql: sql) } }
        try other.close()
        try pool.close()
    }

    // MARK: - Counts

    @Test("counts the rows of a view")
    func countOfView() throws {
        let pool = try DatabasePool(path: directory.path("a.db"), configuration: .rawKeyed)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE number (x INTEGER);
                    INSERT INTO number VALUES (1), (1), (2);
                    CREATE VIEW twice AS SELECT DISTINCT x FROM number UNION ALL SELECT DISTINCT x FROM number
                    """)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM twice") == 4)
        }
        #expect(try pool.read { try Table("twice").fetchCount($0) } == 4)
    }

    // MARK: - Type errors

    /// Statements that fail with a type error in `STRICT` tables, of which `t` has a unique index.
    static let wrongTypes = [
        "INSERT OR REPLACE INTO t VALUES (1, 'x', 5)", "INSERT INTO t SELECT id + 10, e, id + 50 FROM t",
        "INSERT INTO t VALUES (7, 1, 11), (8, 'x', 12)", "UPDATE t SET d = e",
        "REPLACE INTO t VALUES (9, 'x', 'a')", "INSERT INTO r VALUES (1, 'x')",
        "INSERT INTO v VALUES (1)",
    ]

    @Test("undoes a statement with a type error completely", arguments: wrongTypes)
    func typeErrors(sql: String) throws {
        let queue = try EngineFaultTests.strictTables()
        let content = try queue.read(EngineFaultTests.rowsOfStrictTables)
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE)
            #expect(db.isInsideTransaction == !EngineMend.typeErrors.isNeeded)
            if db.isInsideTransaction { try db.commit() }
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
        #expect(try queue.read(EngineFaultTests.rowsOfStrictTables) == content)
    }

    @Test("undoes a statement with a type error with its savepoint alone", arguments: wrongTypes)
    func typeErrorsInSavepoint(sql: String) throws {
        let queue = try EngineFaultTests.strictTables()
        let content = try queue.read(EngineFaultTests.rowsOfStrictTables)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO kept VALUES (1)")
            let error = #expect(throws: DatabaseError.self) {
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO kept VALUES (2)")
                    try db.execute(sql: sql)
                    return .commit
                }
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE)
            try db.execute(sql: "INSERT INTO kept VALUES (3)")
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT id FROM kept") } == [1, 3])
        #expect(try queue.read(EngineFaultTests.rowsOfStrictTables) == content)
        #expect(try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    }

    private static func strictTables() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, d REAL, e ANY UNIQUE) STRICT;
                    INSERT INTO t VALUES (1, 1, 1), (2, 2, 'a'), (3, 3, 3);
                    CREATE TABLE r (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, d REAL) STRICT;
                    CREATE INDEX i ON r (d);
                    INSERT INTO r VALUES (1, 1);
                    CREATE TABLE v (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER tr AFTER INSERT ON v BEGIN INSERT OR REPLACE INTO t VALUES (3, 'x', 'a'); END;
                    CREATE TABLE kept (id INTEGER PRIMARY KEY);
                    """)
        }
        return queue
    }

    private static func rowsOfStrictTables(_ db: Database) throws -> [Row] {
        try ["t", "r", "v"].flatMap { try Row.fetchAll(db, sql: "SELECT * FROM \($0)") }
    }

    /// Fails in the middle of its rows.
    private static let wrongUpdate = "UPDATE t SET d = e"

    @Test(
        "lets nothing continue in a savepoint that a type error has rolled back",
        .enabled(if: EngineMend.typeErrors.isNeeded))
    func typeErrorThatIsIgnored() throws {
        let queue = try EngineFaultTests.strictTables()
        try queue.write { db in
            try db.execute(sql: "INSERT INTO kept VALUES (1)")
            let error = #expect(throws: DatabaseError.self) {
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO kept VALUES (2)")
                    try? db.execute(sql: EngineFaultTests.wrongUpdate)
                    for sql in ["INSERT INTO kept VALUES (3)", "SELECT * FROM kept", "SAVEPOINT a", "COMMIT"]
                    {
                        expectAbort(sql, db)
                    }
                    expectAbort("RELEASE grdb", db)
                    return .commit
                }
            }
            #expect(error?.resultCode == .SQLITE_ABORT)
            try db.inSavepoint {
                try? db.execute(sql: EngineFaultTests.wrongUpdate)
                return .rollback
            }
            try db.execute(sql: "INSERT INTO kept VALUES (4)")
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT id FROM kept") } == [1, 4])
    }

    private func expectAbort(_ sql: String, _ db: Database) {
        let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
        #expect(error?.resultCode == .SQLITE_ABORT)
        #expect(db.isInsideTransaction)
    }

    @Test(
        "rolls back the innermost savepoint after a type error, also one that was opened in SQL",
        .enabled(if: EngineMend.typeErrors.isNeeded))
    func typeErrorInSavepointOfSQL() throws {
        let queue = try EngineFaultTests.strictTables()
        try queue.write { db in
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO kept VALUES (1); SAVEPOINT \"a\"\"É\"")
                try db.execute(sql: "SAVEPOINT ended; RELEASE ended; EXPLAIN SAVEPOINT explained")
                try db.execute(sql: "INSERT INTO kept VALUES (2)")
                try? db.execute(sql: EngineFaultTests.wrongUpdate)
                expectAbort("RELEASE \"a\"\"É\"", db)
                expectAbort("EXPLAIN ROLLBACK", db)
                try db.execute(sql: "ROLLBACK TO \"a\"\"É\"; INSERT INTO kept VALUES (3)")
                try db.execute(sql: "RELEASE \"a\"\"É\"; INSERT INTO kept VALUES (4)")
                return .commit
            }
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT id FROM kept") } == [1, 3, 4])
        try queue.inDatabase { db in
            try db.execute(sql: "SAVEPOINT outermost; INSERT INTO kept VALUES (5)")
            try? db.execute(sql: EngineFaultTests.wrongUpdate)
            expectAbort("RELEASE outermost", db)
            try db.rollback()
            try db.execute(sql: "BEGIN; SAVEPOINT ended; RELEASE ended; INSERT INTO kept VALUES (6)")
            try? db.execute(sql: EngineFaultTests.wrongUpdate)
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM kept") == [1, 3, 4])
        }
    }

    @Test("continues a transaction after a type error in the only row of an INSERT")
    func typeErrorOfOneRow() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, d REAL) STRICT;
                    CREATE VIEW v AS SELECT replace(d, '1', '2') FROM t;
                    INSERT INTO t VALUES (1, 1);
                    """)
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t (id, d) VALUES (2, (('x')))")
            }
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT id FROM t") } == [1])
    }

    /// A table without `REPLACE`, with a trigger that inserts a value of the wrong type into the same table.
    static let insertingTrigger = """
        CREATE TRIGGER tr AFTER INSERT ON t WHEN new.id < 100 BEGIN
            INSERT INTO t VALUES (new.id + 100, 'x');
        END
        """

    @Test("undoes a row if a trigger of its INSERT fails with a type error")
    func typeErrorInTrigger() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, d REAL) STRICT") }
        try queue.writeWithoutTransaction { db in
            let statement = try db.makeStatement(sql: "INSERT INTO t VALUES (?, ?)")
            try statement.execute(arguments: [101, 1])
            // The statement was compiled without the trigger.
            try db.execute(sql: EngineFaultTests.insertingTrigger)
            try db.beginTransaction()
            let error = #expect(throws: DatabaseError.self) { try statement.execute(arguments: [7, 8]) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE)
            #expect(db.isInsideTransaction == !EngineMend.typeErrors.isNeeded)
            if db.isInsideTransaction { try db.commit() }
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM t") == [101])
        }
    }

    @Test("finds REPLACE in a schema in any case, even if LIKE distinguishes cases")
    func typeErrorOfLowerCaseReplace() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY on conflict replace, d REAL UNIQUE) STRICT;
                    INSERT INTO t VALUES (1, 1);
                    """)
        }
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA case_sensitive_like = 1")
            try db.beginTransaction()
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1, 'x')") }
            if db.isInsideTransaction { try db.commit() }
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            #expect(try Double.fetchAll(db, sql: "SELECT d FROM t") == [1])
        }
    }

    @Test("keeps commits of other connections when it leaves WAL mode", arguments: ["DELETE", "TRUNCATE"])
    func staleCache(mode: String) throws {
        let path = directory.path("a.db")
        var configuration = Configuration.rawKeyed
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES ('a1')") }
        #expect(try queue.read { try String.fetchAll($0, sql: "SELECT x FROM t") } == ["a1"])
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try other.write { try $0.execute(sql: "INSERT INTO t VALUES ('b1')") }
        try other.close()
        try queue.inDatabase { db in
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)") == mode.lowercased())
            #expect(try String.fetchAll(db, sql: "SELECT x FROM t") == ["a1", "b1"])
            try db.execute(sql: "INSERT INTO t VALUES ('a2')")
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal")
            try db.execute(sql: "INSERT INTO t VALUES ('a3')")
        }
        try queue.close()
        #expect(try SQLCipherShell(path: path).run("SELECT x FROM t;") == ["a1", "b1", "a2", "a3"])
    }

    @Test(
        "shows its faults where nothing fixes them", .enabled(if: EngineMend.allCases.allSatisfy(\.isNeeded)))
    func engineItself() throws {
        // If the engine did not have the fault, the tests above would be pointless.
        func run(_ environment: [String: String]) throws -> String {
            try ChildProcess.run(
                ChildProcess.built("CofferTestWorker"), ["faults"], environment: environment
            ).outputText
        }
        #expect(try run(["COFFER_ENGINE_FAULT_MENDS": "off"]) == "count 6\nother bytes\npresent 1\n")
        #expect(try run([:]) == "count 4\nrefused\nsame bytes\nrefused\n")
    }

    // MARK: - The table

    @Test("is described by a table in which each mend has its row")
    func table() {
        #expect(EngineFault.ofThisEngine.allSatisfy { $0.isOfThisEngine })
        let mends: [EngineMend: EngineFault] = [
            .logChecksums: .lostCommits, .storedColumns: .storedColumns, .countOfView: .countOfView,
            .typeErrors: .typeErrors, .staleCache: .staleCache, .descendingNotIn: .descendingNotIn,
        ]
        let refusals: [EngineMend] = [.storedColumns, .descendingNotIn]
        #expect(mends.count == EngineMend.allCases.count)
        for (mend, fault) in mends {
            #expect(fault.isOfThisEngine == mend.isNeeded)
            #expect(fault.treatment == (refusals.contains(mend) ? .refused : .mended))
        }
        #expect(
            EngineFault.allCases.filter { $0.treatment == .mended || $0.treatment == .refused }.count == 8)
        // A fault of SQLCipher 4.7 and later.
        #expect(!EngineFault.processExit.isOfEngine(sqlite: 3_046_001))
        #expect(EngineFault.processExit.isOfEngine(sqlite: 3_054_000))
        for fault in EngineFault.allCases where fault != .processExit && fault != .staleCache {
            #expect(fault.isOfEngine(sqlite: 3_046_001) && !fault.isOfEngine(sqlite: 3_054_000))
        }
    }
}
