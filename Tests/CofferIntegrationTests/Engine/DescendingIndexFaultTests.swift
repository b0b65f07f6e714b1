import Coffer
import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite("An engine with the fault of NULLs in descending indexes")
struct DescendingIndexFaultTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

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
            try db.execute(sql: DescendingIndexFaultTests.memberships)
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

    @Test("executes IN conditions that the fault does not affect", arguments: rightMemberships)
    func otherMemberships(condition: String, result: [Int]) throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(sql: DescendingIndexFaultTests.memberships)
            #expect(try Int.fetchAll(db, sql: "SELECT x FROM u WHERE \(condition)") == result)
        }
    }

    @Test("allows EXPLAIN for a statement that it refuses")
    func explainedMembership() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(sql: DescendingIndexFaultTests.memberships)
            #expect(try Row.fetchAll(db, sql: "EXPLAIN SELECT x NOT IN (SELECT y FROM t) FROM u").count > 1)
        }
    }

    @Test(
        "checks an IN condition again after a schema change, and after its rollback",
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
        "checks the IN conditions of a reader after another connection has added an index",
        .enabled(if: EngineMend.descendingNotIn.isNeeded))
    func indexAddedElsewhere() throws {
        let path = directory.path("a.db")
        let sql = "SELECT x FROM u WHERE x NOT IN (SELECT y FROM t)"
        let pool = try DatabasePool(path: path, configuration: .rawKeyed)
        try pool.write { db in
            try db.execute(sql: DescendingIndexFaultTests.memberships)
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
}
