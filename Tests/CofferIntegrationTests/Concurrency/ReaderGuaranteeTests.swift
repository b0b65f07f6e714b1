import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// The guarantees in the documentation of `DatabaseReader`, for the synchronous and the asynchronous forms,
/// with their numbers in the Guarantees article.
@Suite("Guarantees of readers")
struct ReaderGuaranteeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("R1: a reader has its configuration and its path", arguments: Access.allCases)
    func configuration(access: Access) throws {
        let reader = try directory.makePlayers(access, .rawKeyed.with { $0.label = "mine" })
        #expect(reader.configuration.label == "mine" && reader.path == directory.path("players.db"))
    }

    @Test("R2: after close(), each access throws SQLITE_MISUSE", arguments: Access.allCases)
    func close(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        try await writer.read { _ = try $0.playerCount() }
        try writer.close()
        try writer.close()
        try await expectClosed(writer)
        // Functions that need an open connection do nothing, rather than use a closed one.
        writer.interrupt()
        writer.unsafeReentrantWrite { db in
            #expect(
                db.changesCount == 0 && db.totalChangesCount == 0 && db.lastInsertedRowID == 0
                    && !db.isInsideTransaction)
            db.releaseMemory()
        }
        (writer as? DatabasePool)?.releaseMemory()
        (writer as? DatabasePool)?.releaseMemoryEventually()
        (writer as? DatabaseQueue)?.releaseMemory()
        let again = try directory.make(access, "players.db")
        #expect(try await again.read { try $0.playerCount() } == 0)
    }

    private func expectClosed(_ writer: any DatabaseWriter) async throws {
        let isMisuse = isError(.SQLITE_MISUSE)
        #expect { try writer.read { _ in } } throws: { isMisuse($0) }
        #expect { try writer.unsafeRead { _ = try $0.playerCount() } } throws: { isMisuse($0) }
        #expect { try writer.unsafeReentrantRead { _ = try $0.playerCount() } } throws: { isMisuse($0) }
        #expect { try writer.write { try $0.insertPlayer() } } throws: { isMisuse($0) }
        #expect { try writer.writeWithoutTransaction { try $0.insertPlayer() } } throws: { isMisuse($0) }
        #expect { try writer.barrierWriteWithoutTransaction { try $0.insertPlayer() } } throws: {
            isMisuse($0)
        }
        #expect { try writer.unsafeReentrantWrite { try $0.insertPlayer() } } throws: { isMisuse($0) }
        await #expect { try await writer.read { _ in } } throws: { isMisuse($0) }
        await #expect { try await writer.unsafeRead { _ = try $0.playerCount() } } throws: { isMisuse($0) }
        await #expect { try await writer.write { try $0.insertPlayer() } } throws: { isMisuse($0) }
        await #expect { try await writer.barrierWriteWithoutTransaction { try $0.insertPlayer() } } throws: {
            isMisuse($0)
        }
        for start in [writer.asyncRead, writer.asyncUnsafeRead, writer.asyncBarrierWriteWithoutTransaction] {
            await withCheckedContinuation { continuation in
                start { result in
                    #expect { try result.get() } throws: { isMisuse($0) }
                    continuation.resume()
                }
            }
        }
        await withCheckedContinuation { continuation in
            writer.asyncWrite {
                try $0.insertPlayer()
            } completion: { _, result in
                #expect { try result.get() } throws: { isMisuse($0) }
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            writer.asyncWriteWithoutTransaction { db in
                writer.spawnConcurrentRead { result in
                    #expect { try result.get() } throws: { isMisuse($0) }
                    continuation.resume()
                }
            }
        }
        if let pool = writer as? DatabasePool {
            #expect { try pool.makeSnapshot() } throws: { isMisuse($0) }
            #expect { try pool.makeSnapshotPool() } throws: { isMisuse($0) }
        }
    }

    @Test(
        "R3: close() throws SQLITE_BUSY while a statement lives, and the database can be used as before",
        arguments: Access.allCases)
    func busyClose(access: Access) throws {
        let writer = try directory.makePlayers(access)
        // The statement improperly escapes its access, which prevents closing.
        let keeper = StatementKeeper()
        try writer.unsafeRead { unsafe keeper.statement = try $0.makeStatement(sql: "SELECT * FROM player") }
        #expect { try writer.close() } throws: { isError(.SQLITE_BUSY)($0) }
        try writer.write { try $0.insertPlayer() }
        #expect(try writer.read { try $0.playerCount() } == 1)
        try writer.unsafeRead { _ in unsafe keeper.statement = nil }
        try writer.close()
        #expect { try writer.read { _ in } } throws: { isError(.SQLITE_MISUSE)($0) }
    }

    @Test(
        "R4: interrupt() ends running statements with SQLITE_INTERRUPT, and no later ones",
        arguments: Access.allCases)
    func interrupt(access: Access) throws {
        let writer = try directory.makePlayers(access)
        writer.interrupt()
        try writer.write { try $0.insertPlayer() }
        let hasBegun = Gate()
        let job = Job {
            try writer.read { db in
                hasBegun.open()
                _ = try db.int(endlessQuery)
            }
        }
        hasBegun.pass()
        _ = eventually {
            writer.interrupt()
            return job.isDone
        }
        #expect { try job.value() } throws: {
            isError(.SQLITE_INTERRUPT)($0) && ($0 as? DatabaseError)?.isInterruptionError == true
        }
        #expect(try writer.read { try $0.playerCount() } == 1)
    }

    @Test(
        "R5: an interrupted write rolls back and throws SQLITE_INTERRUPT, or SQLITE_ABORT if caught",
        arguments: Access.allCases)
    func interruptedTransaction(access: Access) throws {
        let writer = try directory.makePlayers(access)
        #expect { try writer.write { try interruptedInsert($0, by: writer) } } throws: {
            isError(.SQLITE_INTERRUPT)($0)
        }
        #expect {
            try writer.write { db in
                try? interruptedInsert(db, by: writer)
                try db.insertPlayer()
            }
        } throws: {
            isError(.SQLITE_ABORT)($0)
        }
        #expect { try writer.write { try? interruptedInsert($0, by: writer) } } throws: {
            isError(.SQLITE_ABORT)($0)
        }
        #expect(try writer.read { try $0.playerCount() } == 0)
    }

    @Test(
        "R6: after an interruption, a manual transaction's statements run outside it without an error",
        arguments: Access.allCases)
    func interruptedManualTransaction(access: Access) throws {
        let writer = try directory.makePlayers(access)
        try writer.writeWithoutTransaction { db in
            try db.beginTransaction()
            try? interruptedInsert(db, by: writer)
            try db.insertPlayer()
            #expect { try db.commit() } throws: { isError(.SQLITE_ERROR)($0) }
        }
        #expect(try writer.read { try $0.playerCount() } == 1)
    }

    @Test("R7: a read sees one state; the next one may see another", arguments: Access.allCases)
    func isolation(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let hasRead = Gate()
        let write = Job {
            hasRead.pass()
            try writer.write { try $0.insertPlayer() }
        }
        try writer.read { db in
            #expect(try db.playerCount() == 0)
            hasRead.open()
            // A pool can write at the same time. A queue waits for the end of this access.
            if access == .pool { try write.value() }
            #expect(try db.playerCount() == 0)
        }
        try write.value()
        #expect(try writer.read { try $0.playerCount() } == 1)
    }

    @Test("R8: a read refuses to write with SQLITE_READONLY", arguments: Access.allCases)
    func readOnly(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        #expect { try writer.read { try $0.insertPlayer() } } throws: { isError(.SQLITE_READONLY)($0) }
        await #expect { try await writer.read { try $0.insertPlayer() } } throws: {
            isError(.SQLITE_READONLY)($0)
        }
        await withCheckedContinuation { continuation in
            writer.asyncRead { result in
                #expect { try result.get().insertPlayer() } throws: { isError(.SQLITE_READONLY)($0) }
                continuation.resume()
            }
        }
        try await writer.write { try $0.insertPlayer() }
    }

    @Test("R9: a read inside a read traps", arguments: Access.allCases)
    func nestedRead(access: Access) async {
        switch access {
        case .queue:
            await #expect(processExitsWith: .failure) {
                try nest(.queue) { w in try w.read { _ in try w.read { _ in } } }
            }
        case .pool:
            await #expect(processExitsWith: .failure) {
                try nest(.pool) { w in try w.read { _ in try w.read { _ in } } }
            }
        }
    }

    @Test(
        "R10: an asynchronous read is isolated, and gets the reason why it cannot run",
        arguments: Access.allCases)
    func asyncRead(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let notes = Notes<Int>()
        let hasRead = Gate(), hasWritten = Gate(), end = Gate()
        writer.asyncRead { result in
            notes.append((try? result.get().playerCount()) ?? -1)
            hasRead.open()
            if access == .pool { hasWritten.pass() }
            notes.append((try? result.get().playerCount()) ?? -1)
            end.open()
        }
        hasRead.pass()
        try writer.write { try $0.insertPlayer() }
        hasWritten.open()
        end.pass()
        #expect(notes.values == [0, 0])
    }

    @Test(
        "R10b: an asynchronous read calls its function once, also when that ends the transaction",
        arguments: Access.allCases)
    func asyncReadOnce(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let notes = Notes<Bool>()
        for _ in 0..<2 {
            writer.asyncRead { result in
                notes.append((try? result.get().rollback()) != nil)
            }
        }
        try writer.barrierWriteWithoutTransaction { _ in }
        #expect(notes.values == [true, true])
    }

    @Test("R11: an unsafe read sees concurrent commits")
    func unsafeRead() throws {
        let pool = try directory.makePlayersPool()
        try pool.unsafeRead { db in
            #expect(try db.playerCount() == 0)
            try Job { try pool.write { try $0.insertPlayer() } }.value()
            #expect(try db.playerCount() == 1)
        }
    }

    @Test("R12: an iteration is isolated, also in an unsafe read")
    func cursorIsolation() throws {
        let pool = try directory.makePlayersPool()
        try pool.write { db in for _ in 0..<10 { try db.insertPlayer() } }
        try pool.unsafeRead { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id FROM player")
            var count = 0
            while try rows.next() != nil {
                count += 1
                if count == 3 {
                    try Job { try pool.write { try $0.execute(sql: "DELETE FROM player") } }.value()
                }
            }
            #expect(count == 10)
            #expect(try db.playerCount() == 0)
        }
    }

    @Test("R13: an unsafe read inside a read traps", arguments: Access.allCases)
    func nestedUnsafeRead(access: Access) async {
        switch access {
        case .queue:
            await #expect(processExitsWith: .failure) {
                try nest(.queue) { w in try w.read { _ in try w.unsafeRead { _ in } } }
            }
        case .pool:
            await #expect(processExitsWith: .failure) {
                try nest(.pool) { w in try w.read { _ in try w.unsafeRead { _ in } } }
            }
        }
    }

    @Test(
        "R14: an asynchronous unsafe read runs outside any transaction; in a queue it may write",
        arguments: Access.allCases)
    func asyncUnsafeRead(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let end = Gate()
        writer.asyncUnsafeRead { result in
            #expect(throws: Never.self) {
                let db = try result.get()
                #expect(!db.isInsideTransaction)
                if access == .queue { try db.insertPlayer() }
            }
            end.open()
        }
        end.pass()
        #expect(try writer.read { try $0.playerCount() } == (access == .queue ? 1 : 0))
    }

    @Test("R15: an unsafe reentrant read runs inside any access", arguments: Access.allCases)
    func reentrantRead(access: Access) throws {
        let writer = try directory.makePlayers(access)
        try writer.read { db in
            try writer.unsafeReentrantRead { #expect($0 === db) }
        }
        try writer.write { db in
            try db.insertPlayer()
            #expect(try writer.unsafeReentrantRead { try $0.playerCount() } == 1)
        }
        let inBarrier = try writer.barrierWriteWithoutTransaction { _ in
            try writer.unsafeReentrantRead { try $0.playerCount() }
        }
        #expect(inBarrier == 1)
        #expect(try writer.unsafeReentrantRead { try $0.playerCount() } == 1)
    }

    @Test("R16: functions are added to and removed from all connections", arguments: Access.allCases)
    func functions(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let successor = DatabaseFunction("succ", argumentCount: 1) { values in
            Int.fromDatabaseValue(values[0]).map { $0 + 1 }
        }
        try writer.read { _ = try $0.playerCount() }
        writer.add(function: successor)
        #expect(try writer.read { try $0.int("SELECT succ(1)") } == 2)
        #expect(try writer.write { try $0.int("SELECT succ(1)") } == 2)
        if let pool = writer as? DatabasePool {
            let readers = try inAllReaders(of: pool) { try $0.int("SELECT succ(2)") }
            #expect(readers == [3, 3, 3, 3, 3])
            #expect(try pool.makeSnapshot().read { try $0.int("SELECT succ(1)") } == 2)
            #expect(try pool.makeSnapshotPool().read { try $0.int("SELECT succ(1)") } == 2)
        }
        writer.remove(function: successor)
        #expect { try writer.read { try $0.int("SELECT succ(1)") } } throws: { isError(.SQLITE_ERROR)($0) }
        #expect { try writer.write { try $0.int("SELECT succ(1)") } } throws: { isError(.SQLITE_ERROR)($0) }
        AnyDatabaseWriter(writer).add(function: successor)
        #expect(try AnyDatabaseReader(writer).read { try $0.int("SELECT succ(1)") } == 2)
    }

    @Test("R17: collations are added to and removed from all connections", arguments: Access.allCases)
    func collations(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let backwards = DatabaseCollation("backwards") {
            $1 < $0 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending
        }
        let sql = "SELECT column1 FROM (VALUES ('a'), ('b'), ('c')) ORDER BY column1 COLLATE backwards"
        try writer.read { _ = try $0.playerCount() }
        writer.add(collation: backwards)
        #expect(try writer.read { try Row.fetchOne($0, sql: sql)?[0] as String? } == "c")
        #expect(try writer.write { try Row.fetchOne($0, sql: sql)?[0] as String? } == "c")
        writer.remove(collation: backwards)
        #expect { try writer.read { try Row.fetchOne($0, sql: sql) } } throws: { isError(.SQLITE_ERROR)($0) }
    }

    @Test(
        "R18: a backup is a copy of one state, and concurrent writes to its source cause no error",
        arguments: Access.allCases)
    func backup(access: Access) throws {
        let writer = try directory.makePlayers(access)
        try writer.write { db in
            for _ in 0..<1000 {
                try db.execute(sql: "INSERT INTO player (name) VALUES (hex(randomblob(200)))")
            }
        }
        let copy = try directory.makeQueue("copy.db", .rawKeyed(0x43))
        let mayGoOn = Gate()
        let writes = Job {
            mayGoOn.pass()
            for _ in 0..<20 { try writer.write { try $0.insertPlayer() } }
        }
        try writer.backup(to: copy, pagesPerStep: 20) { _ in mayGoOn.open() }
        try writes.value()
        let count = try copy.read { try $0.playerCount() }
        #expect(1000...1020 ~= count)
        #expect(try copy.read { try Row.fetchOne($0, sql: "PRAGMA integrity_check")?[0] as String? } == "ok")
    }

    @Test(
        "R19: an awaited read sees one state, and an awaited unsafe read is not in a transaction",
        arguments: Access.allCases)
    func awaited(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let counts = try await writer.read { db in
            let before = try db.playerCount()
            if access == .pool { try Job { try writer.write { try $0.insertPlayer() } }.value() }
            return [before, try db.playerCount()]
        }
        #expect(counts == [0, 0])
        let isInside = try await writer.unsafeRead { $0.isInsideTransaction }
        #expect(!isInside)
    }
}

private final class StatementKeeper: Sendable {
    // Accessed only within accesses of a single connection.
    nonisolated(unsafe) var statement: Statement?
}

/// A query that has to be interrupted. On its own it ends after many minutes, because on a busy machine the
/// interrupt may arrive late.
let endlessQuery =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000000000) SELECT MAX(i) FROM n"

/// Inserts rows until it is interrupted.
private func interruptedInsert(_ db: Database, by writer: any DatabaseWriter) throws {
    // An interrupt during preparation would not affect the transaction.
    let statement = try db.makeStatement(
        sql:
            "INSERT INTO player (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    )
    let isOver = Notes<Void>()
    let job = Job {
        while isOver.values.isEmpty { writer.interrupt() }
    }
    defer {
        isOver.append(())
        try? job.value()
    }
    try statement.execute()
}

/// Runs `body` in all readers of a pool or a snapshot pool at the same time.
func inAllReaders<T: Sendable>(
    of reader: any DatabaseReader, _ body: @escaping @Sendable (Database) throws -> T
) throws -> [T] {
    let count = reader.configuration.maximumReaderCount
    let arrived = DispatchSemaphore(value: 0)
    let leave = Gate()
    let jobs = (0..<count).map { _ in
        Job {
            try reader.read { db in
                arrived.signal()
                leave.pass()
                return try body(db)
            }
        }
    }
    for _ in 0..<count { arrived.wait() }
    leave.open()
    return try jobs.map { try $0.value() }
}

/// Runs `body` with its own database, for exit tests.
func nest(_ access: Access, _ body: (any DatabaseWriter) throws -> Void) throws {
    try withTestDirectory { directory in
        try body(directory.makePlayers(access))
    }
}
