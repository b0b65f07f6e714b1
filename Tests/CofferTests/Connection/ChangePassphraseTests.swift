import Coffer
import Foundation
import Testing

@Suite("Changing the passphrase")
struct ChangePassphraseTests {
    /// A directory that is removed when its owner is deallocated.
    private final class Directory {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("coffer-\(UUID())")
        var path: String { url.appendingPathComponent("a.sqlite").path }
        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private func configuration(_ passphrase: String) -> Configuration {
        var configuration = Configuration()
        configuration.key = .passphrase(passphrase)
        return configuration
    }

    private func failure(of body: () throws -> Void) -> DatabaseError? {
        do {
            try body()
            return nil
        } catch {
            return error as? DatabaseError
        }
    }

    @Test(
        "the queue stays in use, with its functions, observers and trace; only the new key opens the file"
    )
    func queue() throws {
        let directory = try Directory()
        let queue = try DatabaseQueue(path: directory.path, configuration: configuration("old"))
        try queue.write { db in
            db.add(function: DatabaseFunction("answer", argumentCount: 0) { _ in 42 })
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        try queue.inDatabase { try $0.changePassphrase("new") }
        try queue.write { db in
            #expect(try Int.fetchOne(db, sql: "SELECT answer()") == 42)
            try db.execute(sql: "INSERT INTO t VALUES (2)")
        }
        try queue.close()
        #expect(
            failure { _ = try DatabaseQueue(path: directory.path, configuration: configuration("old")) }?
                .encryptionFailure == .wrongKey)
        let reopened = try DatabaseQueue(path: directory.path, configuration: configuration("new"))
        #expect(try reopened.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") } == [1, 2])
    }

    @Test("a pool changes it in a barrier, stays in WAL mode, and opens new readers with it")
    func pool() throws {
        let directory = try Directory()
        let pool = try DatabasePool(path: directory.path, configuration: configuration("old"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try pool.barrierWriteWithoutTransaction { try $0.changePassphrase("new") }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") } == 2)
    }

    @Test(
        "it is refused, and changes nothing, in a transaction, with an open snapshot, and with a live cursor")
    func refusals() throws {
        let directory = try Directory()
        let pool = try DatabasePool(path: directory.path, configuration: configuration("old"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(failure { try pool.write { try $0.changePassphrase("new") } }?.resultCode == .SQLITE_MISUSE)
        #expect(
            failure { try pool.barrierWriteWithoutTransaction { try $0.changePassphrase("") } }?
                .encryptionFailure != nil)
        let snapshot = try pool.makeSnapshot()
        #expect(
            failure { try pool.barrierWriteWithoutTransaction { try $0.changePassphrase("new") } }?.resultCode
                == .SQLITE_BUSY)
        #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try snapshot.close()
        try pool.barrierWriteWithoutTransaction { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT a FROM t")
            _ = try cursor.next()
            #expect(failure { try db.changePassphrase("new") }?.resultCode == .SQLITE_BUSY)
            withExtendedLifetime(cursor) {}
        }
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try pool.close()
        let queue = try DatabaseQueue(path: directory.path, configuration: configuration("old"))
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") } == 2)
    }

    @Test("a passphrase that the preparation uses can be changed too")
    func preparedPassphrase() throws {
        let directory = try Directory()
        var prepared = Configuration()
        prepared.prepareDatabase { try $0.usePassphrase("old") }
        let queue = try DatabaseQueue(path: directory.path, configuration: prepared)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.inDatabase { try $0.changePassphrase("new") }
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try queue.close()
        let reopened = try DatabaseQueue(path: directory.path, configuration: configuration("new"))
        #expect(try reopened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("a row can be read after the last use of its cursor")
    func rowOutlivesCursor() throws {
        let queue = try DatabaseQueue()
        try queue.read { db in
            let row = try Row.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2").next()
            #expect(row?["a"] as Int? == 1)
        }
    }
}
