import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Transactions on files")
struct TransactionTests {
    let directory: TestDirectory

    struct Failure: Error {}

    init() throws { directory = try TestDirectory() }

    private func makeTable(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER UNIQUE)") }
        return writer
    }

    private func expectAborted(_ body: () throws -> Void) {
        let error = databaseError(body)
        #expect(error?.resultCode == .SQLITE_ABORT)
        #expect(error?.isInterruptionError == true)
    }

    private func values(_ reader: any DatabaseReader) throws -> [Int] {
        try reader.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") }
    }

    @Test("savepoints nest: an inner rollback leaves the outer one alone", arguments: Access.allCases)
    func savepoints(access: Access) throws {
        let writer = try makeTable(access)
        try writer.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO t VALUES (3)")
                    #expect(throws: Failure.self) {
                        try db.inSavepoint {
                            try db.execute(sql: "INSERT INTO t VALUES (4)")
                            throw Failure()
                        }
                    }
                    return .rollback
                }
                try db.execute(sql: "INSERT INTO t VALUES (5)")
                return .commit
            }
        }
        #expect(try values(writer) == [1, 2, 5])
    }

    @Test(
        "a transaction that SQLite rolls back by itself aborts every later statement",
        arguments: Access.allCases)
    func rollbackBySQLite(access: Access) throws {
        let writer = try makeTable(access)
        let error = databaseError {
            try writer.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                let conflict = databaseError { try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)") }
                #expect(conflict?.resultCode == .SQLITE_CONSTRAINT)
                expectAborted { try db.execute(sql: "INSERT INTO t VALUES (2)") }
                expectAborted { try db.execute(sql: "SELECT * FROM t") }
            }
        }
        #expect(error?.resultCode == .SQLITE_ABORT)
        #expect(try values(writer) == [])
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (9)") }
        #expect(try values(writer) == [9])
    }

    @Test(
        "an interrupted write rolls its transaction back, also when the error is caught",
        arguments: Access.allCases)
    func interruptedWrite(access: Access) throws {
        let writer = try makeTable(access)
        let error = databaseError {
            try writer.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                // An interrupted compilation has no effect and rolls nothing back.
                let insertion = try db.makeStatement(
                    sql:
                        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
                )
                let interrupter = Repeater { writer.interrupt() }
                let error = databaseError { try insertion.execute() }
                interrupter.stop()
                #expect(error?.resultCode == .SQLITE_INTERRUPT)
                expectAborted { try db.execute(sql: "INSERT INTO t VALUES (2)") }
            }
        }
        #expect(error?.resultCode == .SQLITE_ABORT)
        #expect(try values(writer) == [])
    }

    @Test("an interrupted query leaves the transaction open", arguments: Access.allCases)
    func interruptedQuery(access: Access) throws {
        let writer = try makeTable(access)
        try writer.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            let interrupter = Repeater { writer.interrupt() }
            #expect(throws: DatabaseError.self) {
                try db.execute(
                    sql:
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                )
            }
            interrupter.stop()
            try db.execute(sql: "INSERT INTO t VALUES (2)")
        }
        #expect(try values(writer) == [1, 2])
    }

    @Test(
        "a cursor throws the interruption that was caught inside its loop, and does not restart",
        arguments: Access.allCases)
    func interruptedCursor(access: Access) throws {
        let writer = try makeTable(access)
        try writer.write { db in
            for value in 0..<10 { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }
            let unused = try Int.fetchCursor(db, sql: "SELECT -a FROM t ORDER BY a")
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t ORDER BY a")
            var seen: [Int] = []
            let error = databaseError {
                while let value = try cursor.next() {
                    seen.append(value)
                    guard seen == [0, 1, 2, 3, 4] else { continue }
                    let inner = databaseError {
                        try db.inSavepoint {
                            writer.interrupt()
                            _ = try Int.fetchOne(db, sql: "SELECT 1")
                            return .commit
                        }
                    }
                    #expect(inner?.resultCode == .SQLITE_INTERRUPT)
                }
            }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            #expect(seen == [0, 1, 2, 3, 4])
            #expect(databaseError { _ = try cursor.next() }?.resultCode == .SQLITE_INTERRUPT)
            // An execution that had no row yet was not ended, nor was a later one.
            let first = try unused.next()
            #expect(first == 0)
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            #expect(count == 10)
        }
        #expect(try values(writer).count == 10)
    }

    @Test("reads refuse to write, also in pragmas, and writing works afterwards", arguments: Access.allCases)
    func readOnly(access: Access) throws {
        let writer = try makeTable(access)
        for sql in [
            "INSERT INTO t VALUES (1)", "DROP TABLE t", "CREATE TABLE x (a)", "PRAGMA user_version = 3",
            "REINDEX",
        ] {
            let error = #expect(throws: DatabaseError.self, "\(sql)") {
                try writer.read { try $0.execute(sql: sql) }
            }
            #expect(error?.resultCode == .SQLITE_READONLY, "\(sql)")
        }
        try writer.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(throws: DatabaseError.self) {
                try db.readOnly { try db.readOnly { try db.execute(sql: "DELETE FROM t") } }
            }
            #expect(throws: Failure.self) { try db.readOnly { throw Failure() } }
            try db.execute(sql: "INSERT INTO t VALUES (2)")
        }
        #expect(try values(writer) == [1, 2])
        let readonly = try directory.makeQueue("a.db", .rawKeyed.with { $0.readonly = true })
        #expect(throws: DatabaseError.self) { try readonly.write { try $0.execute(sql: "DELETE FROM t") } }
    }

    @Test("a commit that fails because of a deferred foreign key rolls back", arguments: Access.allCases)
    func failedCommit(access: Access) throws {
        let writer = try directory.make(access)
        try writer.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (a PRIMARY KEY); CREATE TABLE c (a REFERENCES t DEFERRABLE INITIALLY DEFERRED)"
            )
        }
        let error = #expect(throws: DatabaseError.self) {
            try writer.write { try $0.execute(sql: "INSERT INTO c VALUES (1)") }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        try writer.write { db in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM c") == 0)
            try db.execute(sql: "INSERT INTO t VALUES (1); INSERT INTO c VALUES (1)")
        }
    }

    @Test("a transaction that is left open at the end of an access traps")
    func unsafeTransaction() async {
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().inDatabase { try $0.beginTransaction() }
        }
        await #expect(processExitsWith: .failure) {
            try withTestDirectory {
                try $0.makePool().writeWithoutTransaction { try $0.execute(sql: "BEGIN") }
            }
        }
        await #expect(processExitsWith: .success) {
            let queue = try DatabaseQueue(
                configuration: Configuration().with { $0.allowsUnsafeTransactions = true })
            try queue.inDatabase { try $0.beginTransaction() }
            try queue.inDatabase { try $0.execute(sql: "CREATE TABLE t (a)") }
            try queue.inDatabase { try $0.commit() }
        }
    }

    @Test("a connection that escapes from its access, or is used on another thread, traps")
    func escape() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            var escaped: Database?
            queue.inDatabase { escaped = $0 }
            try escaped?.execute(sql: "SELECT 1")
        }
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            var escaped: Statement?
            try queue.inDatabase { escaped = try $0.makeStatement(sql: "SELECT 1") }
            try escaped?.execute()
        }
        await #expect(processExitsWith: .failure) {
            try withTestDirectory { directory in
                let pool = try directory.makePool()
                var escaped: Database?
                try pool.read { escaped = $0 }
                _ = escaped?.lastInsertedRowID
            }
        }
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            queue.inDatabase { db in
                nonisolated(unsafe) let escaped = db  // The misuse under test.
                let thread = Thread { _ = unsafe escaped.changesCount }
                thread.start()
                DispatchSemaphore(value: 0).wait()
            }
        }
    }

    @Test("accesses inside accesses trap")
    func reentrancy() async {
        await #expect(processExitsWith: .failure) {
            try withTestDirectory { directory in
                let pool = try directory.makePool()
                try pool.read { _ in try pool.read { _ in } }
            }
        }
        await #expect(processExitsWith: .failure) {
            try withTestDirectory { directory in
                let pool = try directory.makePool()
                try pool.write { _ in try pool.write { _ in } }
            }
        }
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let pool = try directory.makePool()
                try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
                try pool.write { db in
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    // A reader sees the state from before the transaction.
                    #expect(try pool.int("SELECT count(*) FROM t") == 0)
                    #expect(
                        try pool.unsafeReentrantRead { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                            == 1)
                    try pool.unsafeReentrantWrite { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
                }
                #expect(try pool.int("SELECT count(*) FROM t") == 2)
            }
        }
    }
}
