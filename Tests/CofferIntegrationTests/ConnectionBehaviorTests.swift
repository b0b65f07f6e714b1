import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

@Suite("Connections side by side")
struct ConnectionBehaviorTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "a write on a locked file fails at once, after a timeout, or when the callback gives up",
        arguments: Access.allCases)
    func busyModes(access: Access) throws {
        let holder = try directory.make(access)
        try holder.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let tries = Mutex<[Int]>([])
        let modes: [Database.BusyMode] = [
            .immediateError, .timeout(0.01),
            .callback { number in
                tries.withLock { $0.append(number) }
                return number < 3
            },
        ]
        for mode in modes {
            let other = try directory.make(access, "a.db", .rawKeyed.with { $0.busyMode = mode })
            try holder.write { _ in
                let error = #expect(throws: DatabaseError.self) {
                    try other.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
                }
                #expect(error?.resultCode == .SQLITE_BUSY)
            }
            try other.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(tries.withLock { $0 } == [0, 1, 2, 3])
        #expect(try holder.int("SELECT count(*) FROM t") == 3)
    }

    @Test("a write that waits for a lock continues when it is free", arguments: Access.allCases)
    func waiting(access: Access) throws {
        // In rollback mode, the other connection briefly reads the file before each attempt.
        let holder = try directory.make(
            access, "a.db", .rawKeyed.with { $0.busyMode = .timeout(Patience.seconds) })
        try holder.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let isWaiting = DispatchSemaphore(value: 0)
        let other = try directory.make(
            access, "a.db",
            .rawKeyed.with {
                $0.busyMode = .callback { number in
                    if number == 0 { isWaiting.signal() }
                    return true
                }
            })
        let group = DispatchGroup()
        try holder.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            group.enter()
            other.asyncWrite({ try $0.execute(sql: "INSERT INTO t VALUES (2)") }) { _, result in
                if case .failure(let error) = result { Issue.record(error) }
                group.leave()
            }
            isWaiting.wait()
        }
        group.wait()
        #expect(try holder.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") } == [1, 2])
    }

    @Test("the same SQL can be executed while a cursor iterates over its rows")
    func nestedCursors() throws {
        let queue = try directory.makeQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            var pairs: [[Int]] = []
            let outer = try Int.fetchCursor(db, sql: "SELECT a FROM t ORDER BY a")
            while let first = try outer.next() {
                let inner = try Int.fetchCursor(db, sql: "SELECT a FROM t ORDER BY a")
                while let second = try inner.next() { pairs.append([first, second]) }
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == [1, 2, 3])
            }
            #expect(pairs.count == 9 && pairs.first == [1, 1] && pairs.last == [3, 3])
            let cached = try Int.fetchCursor(db.cachedStatement(sql: "SELECT a FROM t ORDER BY a"))
            #expect(try cached.next() == 1)
            // An unfinished cursor does not block the next user of the statement.
            #expect(try Int.fetchAll(db.cachedStatement(sql: "SELECT a FROM t ORDER BY a")) == [1, 2, 3])
        }
    }

    @Test("a cursor that is left in the middle, or ended by an error, holds no lock")
    func abandonedCursor() throws {
        let queue = try directory.makeQueue()
        let other = try directory.makeQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") }
        try queue.inDatabase { db in
            do {
                let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                _ = try cursor.next()
            }
            do {
                let cursor = try Int.fetchCursor(
                    db, sql: "SELECT CASE a WHEN 1 THEN 1 ELSE abs(-9223372036854775807 - 1) END FROM t")
                _ = try cursor.next()
                for _ in 1...2 { #expect(throws: DatabaseError.self) { try cursor.next() } }
            }
            try other.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
            try db.execute(sql: "INSERT INTO t VALUES (4)")
        }
    }

    @Test(
        "cached statements see changes of the schema, by their own connection and by others",
        arguments: Access.allCases)
    func schemaChanges(access: Access) throws {
        let writer = try directory.make(access)
        let other = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let columns = { (reader: any DatabaseReader) in
            try reader.read { db in
                let row = try #require(try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM t")))
                #expect(Array(row.columnNames).count == row.count)
                return Array(row.columnNames)
            }
        }
        #expect(try columns(writer) == ["a"] && columns(other) == ["a"])
        try writer.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 5") }
        #expect(try columns(writer) == ["a", "b"])
        #expect(try columns(other) == ["a", "b"])
        try other.write { try $0.execute(sql: "ALTER TABLE t RENAME COLUMN b TO c") }
        #expect(try columns(writer) == ["a", "c"])
        #expect(try columns(other) == ["a", "c"])
        try other.write { try $0.execute(sql: "DROP TABLE t") }
        let error = #expect(throws: DatabaseError.self) { try columns(writer) }
        #expect(error?.resultCode == .SQLITE_ERROR)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (z); INSERT INTO t VALUES (1)") }
        #expect(try columns(writer) == ["z"] && columns(other) == ["z"])
    }

    @Test(
        "closing with live statements is refused with SQLITE_BUSY, and the connection stays usable",
        arguments: Access.allCases)
    func closing(access: Access) throws {
        let writer = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        var statement: Statement? = try writer.writeWithoutTransaction {
            try $0.makeStatement(sql: "SELECT a FROM t")
        }
        let error = #expect(throws: DatabaseError.self) { try writer.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.contains("SELECT a FROM t") == true)
        withExtendedLifetime(statement) {}
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        if access == .queue { #expect(try writer.int("SELECT a FROM t") == 1) }
        statement = nil
        try writer.close()
        try writer.close()
        #expect(directory.fileNames() == ["a.db"])
        writer.interrupt()
        for body in [
            { try writer.read { _ = try Int.fetchOne($0, sql: "SELECT 1") } },
            { try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") } },
            { try writer.writeWithoutTransaction { _ = try $0.makeStatement(sql: "SELECT 1") } },
            { try writer.unsafeRead { _ = try Row.fetchAll($0, sql: "SELECT 1") } },
            { try writer.writeWithoutTransaction { try $0.execute(sql: "") } },
        ] as [() throws -> Void] {
            do { try body() } catch let error as DatabaseError { #expect(error.resultCode == .SQLITE_MISUSE) }
        }
        let misuse = #expect(throws: DatabaseError.self) { try writer.int("SELECT 1") }
        #expect(misuse?.resultCode == .SQLITE_MISUSE)
    }

    @Test("interrupting while connections close is harmless", arguments: Access.allCases)
    func interruptWhileClosing(access: Access) throws {
        for _ in 0..<20 {
            let writer = try directory.make(access)
            let interrupter = Repeater { writer.interrupt() }
            _ = try? writer.int("SELECT 1")
            try writer.close()
            interrupter.stop()
        }
    }

    @Test(
        "asynchronous writes call their completion on the connection, outside the transaction",
        arguments: Access.allCases)
    func asyncWrite(access: Access) async throws {
        struct Failure: Error {}
        let writer = try directory.make(access)
        let created = await withCheckedContinuation { continuation in
            writer.asyncWrite({ try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }) {
                db, result in
                #expect(!db.isInsideTransaction)
                #expect((try? Int.fetchOne(db, sql: "SELECT a FROM t")) == 1)
                continuation.resume(returning: (try? result.get()) != nil)
            }
        }
        #expect(created)
        let failed = await withCheckedContinuation { continuation in
            writer.asyncWrite({
                try $0.execute(sql: "DELETE FROM t")
                throw Failure()
            }) { (db, result: Result<Void, any Error>) in
                #expect(!db.isInsideTransaction)
                if case .failure(let error) = result {
                    continuation.resume(returning: error is Failure)
                } else {
                    continuation.resume(returning: false)
                }
            }
        }
        #expect(failed)
        #expect(try writer.int("SELECT a FROM t") == 1)
    }
}
