import Coffer
import CofferTestSupport
import SQLCipherBridge
import Testing

/// In WAL mode, SQLite before 3.50.2 loses commits of transactions that spilled pages and were partly rolled
/// back.
///
/// A copy of the file and its WAL, without the WAL index, shows the state that a killed process would leave.
@Suite("A commit after a partial rollback")
struct PartialRollbackTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Transactions that are partly rolled back.
    enum Course: String, CaseIterable {
        case savepoint, outermostSavepoint, failingStatement, failingTrigger, failingStatementInAutocommit
        case nestedSavepoints, savepointAfterSpill, longCommit, twoRollbacks, newLog
    }

    @Test("is recovered, and so are all later ones", arguments: Course.allCases)
    func isRecovered(course: Course) throws {
        let pool = try makePool("a.db")
        if course == .newLog { _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
        try pool.writeWithoutTransaction { try run(course, $0) }
        try expectRecovery(of: pool)
        // The chain of checksums continues, in this connection and in another one.
        try pool.write { try add($0, 3) }
        try expectRecovery(of: pool)
        let other = try makePool("a.db")
        try other.write { try add($0, 200) }
        try pool.write { try add($0, 2) }
        try expectRecovery(of: pool)
        // A second partial rollback in the same WAL.
        try pool.writeWithoutTransaction { try run(course, $0) }
        try expectRecovery(of: pool)
    }

    @Test("is recovered with pages of each size", arguments: [1024, 8192, 65536])
    func pageSizes(pageSize: Int) throws {
        let pool = try makePool("a.db", pageSize: pageSize)
        try pool.writeWithoutTransaction { db in
            try run(.savepoint, db)
            try run(.failingStatement, db)
            try run(.longCommit, db)
        }
        try expectRecovery(of: pool, pageSize: pageSize)
    }

    @Test("is recovered in an attached database")
    func attached() throws {
        let other = try makePool("b.db")
        try other.close()
        let pool = try makePool("a.db")
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS b", arguments: [directory.path("b.db")])
            try db.execute(sql: "PRAGMA b.cache_size = 10")
            try db.inTransaction {
                try db.inSavepoint {
                    try add(db, 2000, to: "b.item")
                    return .rollback
                }
                try add(db, 20, to: "b.item")
                return .commit
            }
        }
        let copied = try recovered("b.db")
        #expect(try copied.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 70)
    }

    @Test("is lost without Coffer's fix for the engine", .enabled(if: EngineMend.logChecksums.isNeeded))
    func engineItself() throws {
        // If the engine did not lose commits, the tests above would be pointless.
        let path = directory.path("a.db")
        try makePool("a.db").close()
        let worker = try ChildProcess.run(
            ChildProcess.built("CofferTestWorker"), ["lose", path],
            environment: ["COFFER_ENGINE_FAULT_MENDS": "off"])
        #expect(worker.status == -9, "\(worker.errorText)")
        let reopened = try DatabaseQueue(path: path, configuration: .rawKeyed)
        #expect(try reopened.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 50)
    }

    @Test("survives when the process is killed")
    func killed() throws {
        let path = directory.path("a.db")
        try makePool("a.db").close()
        let worker = try ChildProcess.run(ChildProcess.built("CofferTestWorker"), ["lose", path])
        #expect(worker.status == -9, "\(worker.errorText)")
        let reopened = try DatabaseQueue(path: path, configuration: .rawKeyed)
        #expect(try reopened.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 53)
    }

    // MARK: -

    private func makePool(_ name: String, pageSize: Int = 4096) throws -> DatabasePool {
        var configuration = Configuration.rawKeyed
        configuration.cipher.pageSize = pageSize
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 10") }
        let pool = try DatabasePool(path: directory.path(name), configuration: configuration)
        try pool.write { db in
            guard try !db.tableExists("item") else { return }
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, word TEXT, data BLOB);
                    CREATE UNIQUE INDEX item_word ON item (word);
                    CREATE TABLE request (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER request_fails AFTER INSERT ON request BEGIN
                        INSERT INTO item(word, data)
                            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                            SELECT hex(randomblob(20)), randomblob(100) FROM n;
                        SELECT RAISE(ABORT, 'refused');
                    END
                    """)
            try add(db, 50)
        }
        return pool
    }

    private func add(_ db: Database, _ count: Int, to table: String = "item") throws {
        try db.execute(
            sql: """
                INSERT INTO \(table)(word, data)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?)
                SELECT hex(randomblob(20)), randomblob(100) FROM n
                """, arguments: [count])
    }

    /// Inserts two thousand rows, and then one that violates the index.
    private func fail(_ db: Database) {
        #expect(throws: DatabaseError.self) {
            try db.execute(
                sql: """
                    INSERT INTO item(word, data)
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                    SELECT CASE i WHEN 2000 THEN (SELECT word FROM item LIMIT 1) ELSE hex(randomblob(20)) END,
                        randomblob(100) FROM n
                    """)
        }
    }

    private func run(_ course: Course, _ db: Database) throws {
        guard course != .outermostSavepoint else {
            try db.execute(sql: "SAVEPOINT s")
            try add(db, 2000)
            try db.execute(sql: "ROLLBACK TO s")
            try add(db, 5)
            return try db.execute(sql: "RELEASE s")
        }
        guard course != .failingStatementInAutocommit else {
            // Another writing statement has not finished, so only the failing statement is undone.
            let rows = try Row.fetchCursor(
                db,
                sql: "INSERT INTO item(word) VALUES (hex(randomblob(20))), (hex(randomblob(20))) RETURNING id"
            )
            _ = try rows.next()
            return try withExtendedLifetime(rows) {
                fail(db)
                try add(db, 5)
            }
        }
        try db.inTransaction {
            try part(course, db)
            return .commit
        }
    }

    private func part(_ course: Course, _ db: Database) throws {
        func lose(_ count: Int) throws {
            try db.inSavepoint {
                try add(db, count)
                return .rollback
            }
        }
        switch course {
        case .savepoint, .newLog:
            try lose(2000)
            try add(db, 5)
        case .failingStatement:
            fail(db)
            try add(db, 5)
        case .failingTrigger:
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO request DEFAULT VALUES") }
            try add(db, 5)
        case .nestedSavepoints:
            try db.inSavepoint {
                try add(db, 300)
                try lose(1000)
                try add(db, 300)
                try db.inSavepoint {
                    try add(db, 300)
                    try lose(300)
                    return .rollback
                }
                return .rollback
            }
            try add(db, 5)
        case .savepointAfterSpill:
            try add(db, 1000)
            try lose(2000)
            try add(db, 5)
        case .longCommit:
            try lose(300)
            try add(db, 3000)
        case .twoRollbacks:
            try lose(2000)
            try add(db, 500)
            try lose(1000)
            try db.execute(sql: "UPDATE item SET data = randomblob(90)")
            try add(db, 5)
        case .outermostSavepoint, .failingStatementInAutocommit:
            break
        }
    }

    /// Returns a database with the state that would be recovered if the process were killed now.
    private func recovered(_ name: String, pageSize: Int = 4096) throws -> DatabaseQueue {
        let copy = directory.path("copy-\(name)")
        for suffix in ["", "-wal"] {
            // Copied by another process: closing a descriptor in this one would release SQLite's locks.
            let process = try ChildProcess.run(
                "cp", [directory.path(name) + suffix, copy + suffix])
            try #require(process.status == 0)
        }
        var configuration = Configuration.rawKeyed
        configuration.cipher.pageSize = pageSize
        return try DatabaseQueue(path: copy, configuration: configuration)
    }

    private func expectRecovery(of pool: DatabasePool, pageSize: Int = 4096) throws {
        let content =
            "SELECT count(*) || ' ' || group_concat(id || ' ' || word || ' ' || hex(data)) FROM item"
        let live = try pool.read { try String.fetchOne($0, sql: content) }
        let queue = try recovered("a.db", pageSize: pageSize)
        let (found, check) = try queue.read { db in
            try (String.fetchOne(db, sql: content), String.fetchAll(db, sql: "PRAGMA integrity_check"))
        }
        #expect(found == live && check == ["ok"])
        try queue.close()
    }
}
