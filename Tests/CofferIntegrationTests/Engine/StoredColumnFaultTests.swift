import Coffer
import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite("An engine with the fault of stored columns")
struct StoredColumnFaultTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

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

    @Test("keeps a transaction intact if an interruption arrives while a statement is checked")
    func interruptions() async throws {
        let pool = try directory.makePool()
        try await pool.write { db in
            try db.execute(sql: "CREATE TABLE t(n NOT NULL, part, x, CHECK (x IS NULL OR n > 0))")
        }
        let interruptions = Task.detached {
            while !Task.isCancelled {
                pool.interrupt()
                try? await Task.sleep(for: .microseconds(200))
            }
        }
        for number in 1...1_000 {
            // Each text is compiled, and so checked, for the first time.
            try await pool.writeWithoutTransaction { db in
                do {
                    try db.beginTransaction(.immediate)
                    try db.execute(sql: "INSERT INTO t VALUES (\(number), 1, NULL)")
                    try db.execute(sql: "INSERT INTO t VALUES (\(number), 2, NULL)")
                    try db.commit()
                } catch {
                    if db.isInsideTransaction { try? db.rollback() }
                }
            }
        }
        interruptions.cancel()
        await interruptions.value
        let halfDone = try await pool.read { db in
            try Int.fetchAll(db, sql: "SELECT n FROM t GROUP BY n HAVING count(*) = 1")
        }
        #expect(halfDone == [])
    }

    @Test("keeps a column that is not updated, or refuses the statement", arguments: updates.indices)
    func storedColumns(index: Int) throws {
        let (schema, statement) = StoredColumnFaultTests.updates[index]
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
        "refuses triggers and foreign key actions that would lose a column",
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

    @Test("checks a cached statement again after another connection has changed the schema")
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
}
