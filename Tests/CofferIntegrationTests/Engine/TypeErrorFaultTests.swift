import Coffer
import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite("An engine with the fault of type errors")
struct TypeErrorFaultTests {
    /// Statements that fail with a type error in `STRICT` tables, of which `t` has a unique index.
    static let wrongTypes = [
        "INSERT OR REPLACE INTO t VALUES (1, 'x', 5)", "INSERT INTO t SELECT id + 10, e, id + 50 FROM t",
        "INSERT INTO t VALUES (7, 1, 11), (8, 'x', 12)", "UPDATE t SET d = e",
        "REPLACE INTO t VALUES (9, 'x', 'a')", "INSERT INTO r VALUES (1, 'x')",
        "INSERT INTO v VALUES (1)",
    ]

    @Test("undoes a statement with a type error completely", arguments: wrongTypes)
    func typeErrors(sql: String) throws {
        let queue = try TypeErrorFaultTests.strictTables()
        let content = try queue.read(TypeErrorFaultTests.rowsOfStrictTables)
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE)
            #expect(db.isInsideTransaction == !EngineMend.typeErrors.isNeeded)
            if db.isInsideTransaction { try db.commit() }
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
        #expect(try queue.read(TypeErrorFaultTests.rowsOfStrictTables) == content)
    }

    @Test("undoes a statement with a type error by rolling back only its savepoint", arguments: wrongTypes)
    func typeErrorsInSavepoint(sql: String) throws {
        let queue = try TypeErrorFaultTests.strictTables()
        let content = try queue.read(TypeErrorFaultTests.rowsOfStrictTables)
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
        #expect(try queue.read(TypeErrorFaultTests.rowsOfStrictTables) == content)
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
        "aborts every statement in a savepoint that a type error has rolled back",
        .enabled(if: EngineMend.typeErrors.isNeeded))
    func typeErrorThatIsIgnored() throws {
        let queue = try TypeErrorFaultTests.strictTables()
        try queue.write { db in
            try db.execute(sql: "INSERT INTO kept VALUES (1)")
            let error = #expect(throws: DatabaseError.self) {
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO kept VALUES (2)")
                    try? db.execute(sql: TypeErrorFaultTests.wrongUpdate)
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
                try? db.execute(sql: TypeErrorFaultTests.wrongUpdate)
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
        let queue = try TypeErrorFaultTests.strictTables()
        try queue.write { db in
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO kept VALUES (1); SAVEPOINT \"a\"\"É\"")
                try db.execute(sql: "SAVEPOINT ended; RELEASE ended; EXPLAIN SAVEPOINT explained")
                try db.execute(sql: "INSERT INTO kept VALUES (2)")
                try? db.execute(sql: TypeErrorFaultTests.wrongUpdate)
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
            try? db.execute(sql: TypeErrorFaultTests.wrongUpdate)
            expectAbort("RELEASE outermost", db)
            try db.rollback()
            try db.execute(sql: "BEGIN; SAVEPOINT ended; RELEASE ended; INSERT INTO kept VALUES (6)")
            try? db.execute(sql: TypeErrorFaultTests.wrongUpdate)
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
            try db.execute(sql: TypeErrorFaultTests.insertingTrigger)
            try db.beginTransaction()
            let error = #expect(throws: DatabaseError.self) { try statement.execute(arguments: [7, 8]) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE)
            #expect(db.isInsideTransaction == !EngineMend.typeErrors.isNeeded)
            if db.isInsideTransaction { try db.commit() }
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM t") == [101])
        }
    }

    @Test("finds REPLACE in a schema in upper or lower case, even if LIKE is case-sensitive")
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
}
