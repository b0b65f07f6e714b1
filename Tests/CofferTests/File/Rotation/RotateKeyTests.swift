import CofferTestSupport
import Foundation
import SQLCipherBridge
import Synchronization
import Testing

@testable import Coffer

@Suite("Rotating the key of a database in use")
struct RotateKeyTests: RotateKeySuite {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "the database keeps its functions, collations, observers and trace; only the new key opens the file",
        arguments: Access.allCases, [DatabaseFile.RotationOptions.Method.copy, .inPlace])
    func goesOn(access: Access, method: DatabaseFile.RotationOptions.Method) throws {
        let writer = try makeWriter(access)
        let observer = CommitCounter()
        try writer.write { db in
            db.add(function: DatabaseFunction("answer", argumentCount: 0) { _ in 42 })
            db.add(
                collation: DatabaseCollation("backwards") {
                    $1 < $0 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending
                })
            db.add(transactionObserver: observer)
        }
        #expect(try count(writer) == 200)
        let before = observer.commits
        var options = DatabaseFile.RotationOptions()
        options.method = method
        let result = try writer.rotateKey(to: Keys.new, options: options)
        #expect(result.isChanged && result.proof?.isContentEqual == true)
        #expect((result.proof?.saltBefore == result.proof?.saltAfter) == (method == .inPlace))
        #expect(observer.commits == before && observer.rollbacks == 0)
        try writer.write { db in
            #expect(try Int.fetchOne(db, sql: "SELECT answer()") == 42)
            #expect(
                try String.fetchAll(
                    db, sql: "SELECT value FROM json_each('[\"a\", \"b\"]') ORDER BY value COLLATE backwards")
                    == [
                        "b", "a",
                    ])
            try db.execute(sql: "INSERT INTO t (a) VALUES (1)")
        }
        #expect(observer.commits == before + 1)
        #expect(try count(writer) == 201)
        #expect(try mode(writer) == (access == .pool ? "wal" : "delete"))
        try writer.close()
        #expect(directory.fileNames() == ["a.db"])
        #expect(throws: DatabaseError.self) { try directory.makeQueue() }
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 201)
        #expect(try DatabaseFile(path: directory.path("a.db")).verify(key: Keys.new).isIntact)
    }

    @Test("a queue in WAL mode stays in WAL mode")
    func queueInWALMode() throws {
        let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.journalMode = .wal })
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.rotateKey(to: Keys.new)
        #expect(try mode(queue) == "wal")
        try queue.rotateKey(to: .passphrase("third"))
        #expect(try count(queue) == 1)
    }

    @Test("live statements, snapshots and other connections make it busy, and nothing is changed")
    func busy() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let snapshot = try pool.makeSnapshot()
        #expect(isBusy { try pool.rotateKey(to: Keys.new) })
        #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        try snapshot.close()
        try pool.barrierWriteWithoutTransaction { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT a FROM t")
            _ = try cursor.next()
            #expect(
                isBusy {
                    try db.rotateKey(
                        to: Keys.new, options: DatabaseFile.RotationOptions(), progress: ProgressReport(nil))
                })
            withExtendedLifetime(cursor) {}
        }
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try count(pool) == 2)
        #expect(directory.fileNames() == ["a.db", "a.db-shm", "a.db-wal"])
        try pool.close()
        #expect(try count(directory.makeQueue()) == 2)
    }

    @Test("an idle queue on the same file makes it busy, in both journal modes", arguments: Access.allCases)
    func idleNeighbour(access: Access) throws {
        let writer = try makeWriter(access)
        let neighbour = try directory.makeQueue()
        #expect(try count(neighbour) == 200)
        #expect(isBusy { try writer.rotateKey(to: Keys.new) })
        #expect(isBusy { try DatabaseFile(path: writer.path).rotate(from: Keys.old, to: Keys.new) })
        try neighbour.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
        try neighbour.close()
        #expect(try count(writer) == 201)
        try writer.rotateKey(to: Keys.new)
        #expect(try count(writer) == 201)
    }

    @Test(
        "after a failure at any step the database stays in use, with the old key unless the copy is in its place",
        arguments: Access.allCases,
        FailPoint.allCases.filter { ![.rekeyed, .oldCopied, .released, .statePinned].contains($0) })
    func failingStep(access: Access, point: FailPoint) throws {
        let writer = try makeWriter(access)
        var options = DatabaseFile.RotationOptions()
        if point == .oldKept { options.keepOldPath = directory.path("old.db") }
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$failing.withValue(point) { try writer.rotateKey(to: Keys.new, options: options) }
        }
        let isPublished = error?.isPublished == true
        #expect(
            isPublished
                == [.renamed, .directorySynchronized, .reopened, .audited, .noteRemoved].contains(point))
        if isPublished {
            // The connection uses the new file.
            try writer.write {
                try $0.execute(sql: "INSERT INTO t (a) VALUES (1); DELETE FROM t WHERE a = 1")
            }
            #expect(try count(writer) == 200)
            if point == .noteRemoved {
                #expect(reason { try writer.rotateKey(to: Keys.new, options: options) } == .sameKey)
            } else {
                let completed = try writer.rotateKey(to: Keys.new, options: options)
                #expect(!completed.isChanged && completed.isResumed)
                #expect(try DatabaseFile(path: writer.path).leftovers().isEmpty)
            }
            try writer.close()
            #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 200)
        } else {
            try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
            #expect(try count(writer) == 201)
            #expect(try mode(writer) == (access == .pool ? "wal" : "delete"))
            try writer.rotateKey(to: Keys.new, options: options)
            #expect(try count(writer) == 201)
            try writer.close()
        }
        #expect(throws: DatabaseError.self) { try directory.makeQueue() }
        _ = try DatabaseFile(path: directory.path("a.db")).rotate(from: Keys.old, to: Keys.new)
        #expect(directory.fileNames().filter { $0 != "old.db" } == ["a.db"])
        #expect(try DatabaseFile(path: directory.path("a.db")).verify(key: Keys.new).isIntact)
    }

    @Test("accesses continue before and after rotations, and lose nothing", arguments: Access.allCases)
    func concurrentAccesses(access: Access) async throws {
        let writer = try makeWriter(access)
        let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var done = 0
                    for _ in 0..<40 {
                        try await writer.write {
                            try $0.execute(sql: "INSERT INTO t (a) VALUES (randomblob(50))")
                        }
                        _ = try await writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                        done += 1
                    }
                    return done
                }
            }
            group.addTask {
                for byte in UInt8(1)...4 {
                    try await writer.rotateKey(to: .rawKey([UInt8](repeating: byte, count: 32)))
                }
                return 0
            }
            return try await group.reduce(0, +)
        }
        #expect(try count(writer) == 200 + inserted)
        try writer.close()
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(4))) == 200 + inserted)
    }

    @Test("a cancelled task ends it, and the old key stays in use")
    func cancellation() async throws {
        let queue = try makeWriter(.queue)
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await queue.rotateKey(to: Keys.new) { _ in throw Stop() } }
        let task = Task {
            try await queue.rotateKey(to: Keys.new) { progress in
                if progress.phase == .verifying { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count(queue) == 200)
        #expect(directory.fileNames() == ["a.db"])
        #expect(try await queue.rotateKey(to: Keys.new).isChanged)
    }

    @Test(
        "an interruption does not affect the statements that leave and restore the journal mode",
        arguments: Access.allCases, [DatabaseFile.RotationOptions.Method.copy, .inPlace])
    func interruptions(access: Access, method: DatabaseFile.RotationOptions.Method) async throws {
        let writer = try makeWriter(access)
        let settings = try settings(writer)
        var options = DatabaseFile.RotationOptions()
        options.method = method
        struct Stop: Error {}
        var isRotated = false
        for attempt in 0..<12 where !isRotated {
            let interruptions = Task.detached {
                while !Task.isCancelled {
                    writer.interrupt()
                    try? await Task.sleep(for: .microseconds(50))
                }
            }
            do {
                try await writer.rotateKey(to: Keys.new, options: options) { progress in
                    if attempt < 6 && progress.phase == .publishing { throw Stop() }
                }
                isRotated = true
            } catch is Stop {
            } catch {
                // The interruption came before the journal mode was left.
                #expect((error as? DatabaseFileError)?.isInterruptionError == true, "\(error)")
            }
            interruptions.cancel()
            await interruptions.value
            #expect(try self.settings(writer) == settings)
            #expect(try DatabaseFile(path: writer.path).leftovers().isEmpty)
            #expect(try count(writer) == 200)
        }
        if !isRotated { try await writer.rotateKey(to: Keys.new, options: options) }
        try writer.close()
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 200)
    }

    /// Returns the journal mode and the value of `synchronous` of the connection that writes.
    private func settings(_ writer: any DatabaseWriter) throws -> [String] {
        try writer.writeWithoutTransaction { db in
            try ["journal_mode", "synchronous"].map { name in
                try String.fetchOne(db, sql: "PRAGMA \(name)") ?? ""
            }
        }
    }

    @Test("a later opening gets a typed error, or succeeds with previous keys or a provider")
    func otherConnections() throws {
        let queue = try makeWriter(.queue)
        try queue.rotateKey(to: Keys.new)
        try queue.close()
        let error = #expect(throws: DatabaseError.self) { try directory.makeQueue() }
        #expect(error?.encryptionFailure == .wrongKey)
        #expect(
            try count(directory.makeQueue("a.db", .rawKeyed.with { $0.previousKeys = [Keys.new] })) == 200)
        #expect(
            try count(directory.makeQueue("a.db", .rawKeyed.with { $0.key = .provider { Keys.new } })) == 200)
    }

    @Test(
        "a database without a file of its own, a read-only one, and one that already has the key are refused")
    func refusals() throws {
        let memory = try DatabaseQueue(configuration: .rawKeyed)
        #expect(isUnsupported { try memory.rotateKey(to: Keys.new) })
        let queue = try makeWriter(.queue)
        #expect(reason { try queue.rotateKey(to: Keys.old) } == .sameKey)
        #expect(reason { try queue.rotateKey(to: .passphrase("")) } == .key(.invalidKey(.emptyPassphrase)))
        try queue.close()
        let reader = try directory.makeQueue("a.db", .rawKeyed.with { $0.readonly = true })
        #expect(isUnsupported { try reader.rotateKey(to: Keys.new) })
        #expect(try count(reader) == 200)
    }

    private func isBusy<T>(_ body: () throws -> T) -> Bool {
        if case .busy? = reason(body) { true } else { false }
    }

    private func isUnsupported<T>(_ body: () throws -> T) -> Bool {
        if case .unsupported? = reason(body) { true } else { false }
    }
}

final class CommitCounter: TransactionObserver {
    var commits = 0
    var rollbacks = 0

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { commits += 1 }
    func databaseDidRollback(_ db: Database) { rollbacks += 1 }
}
