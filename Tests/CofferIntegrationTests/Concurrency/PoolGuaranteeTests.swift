import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// The guarantees in the documentation of `DatabasePool`, with their numbers in the Guarantees article.
@Suite("Guarantees of pools")
struct PoolGuaranteeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("P1: the connections close at the end of the pool's life, and leave nothing but the database file")
    func endOfLife() throws {
        do {
            let pool = try directory.makePlayersPool()
            try pool.read { _ = try $0.playerCount() }
            #expect(openFiles(in: directory) > 0)
        }
        #expect(openFiles(in: directory) == 0)
        #expect(directory.fileNames() == ["players.db"])
    }

    @Test("P1b: the writer closes last, also when a read outlives the pool")
    func readThatOutlives() throws {
        let hasBegun = Gate(), mayEnd = Gate()
        let counts = Notes<Int>()
        do {
            let pool = try directory.makePlayersPool()
            try pool.write { try $0.insertPlayer() }
            try pool.writeWithoutTransaction { db in
                pool.asyncConcurrentRead { result in
                    mayEnd.pass()
                    counts.append((try? result.get().playerCount()) ?? -1)
                }
                try db.insertPlayer()
            }
            pool.asyncRead { result in
                hasBegun.open()
                mayEnd.pass()
                counts.append((try? result.get().playerCount()) ?? -1)
            }
        }
        hasBegun.pass()
        #expect(directory.fileNames() != ["players.db"])
        mayEnd.open()
        #expect(eventually { directory.fileNames() == ["players.db"] && openFiles(in: directory) == 0 })
        #expect(counts.values.sorted() == [1, 2])
    }

    @Test(
        "P1c: a discarded reader is closed at once, or on its release, even if it is still referenced"
    )
    func readersOnTheirWayOut() throws {
        let pool = try directory.makePlayersPool()
        let wal = pool.path + "-wal"
        let first = try pool.readers.acquire()
        let second = try pool.readers.acquire()
        for lease in [first, second] { _ = try lease.connection.sync { try $0.playerCount() } }
        #expect(openDescriptors(of: wal) == 3)
        pool.readers.release(first)
        pool.invalidateReadOnlyConnections()
        #expect(openDescriptors(of: wal) == 2, "an idle reader is closed at once")
        pool.readers.release(second)
        #expect(openDescriptors(of: wal) == 1, "and a reader in use is closed on its release")
        let third = try pool.readers.acquire()
        pool.readers.release(third)
        pool.releaseMemory()
        #expect(openDescriptors(of: wal) == 1)
        let fourth = try pool.readers.acquire()
        pool.invalidateReadOnlyConnections()
        pool.readers.release(fourth)
        try pool.close()
        #expect(directory.fileNames() == ["players.db"])
        withExtendedLifetime([first, second, third, fourth]) {}
    }

    @Test(
        "P2: releaseMemory closes readers that are not persistent, and waits for those in use",
        arguments: [false, true])
    func releaseMemory(isPersistent: Bool) throws {
        let pool = try directory.makePlayersPool(
            .rawKeyed.with { $0.persistentReadOnlyConnections = isPersistent })
        try pool.read { _ = try $0.playerCount() }
        #expect(pool.readers.openReaderCount == 1)
        pool.releaseMemory()
        #expect(pool.readers.openReaderCount == (isPersistent ? 1 : 0))
        let hasBegun = Gate(), mayEnd = Gate()
        let read = Job {
            try pool.read { db in
                hasBegun.open()
                mayEnd.pass()
                return try db.playerCount()
            }
        }
        hasBegun.pass()
        // This does not wait, and leaves the reader in use alone.
        pool.releaseMemoryEventually()
        #expect(pool.readers.openReaderCount == 1)
        let release = Job { pool.releaseMemory() }
        mayEnd.open()
        try release.value()
        #expect(try read.value() == 0)
        #expect(pool.readers.openReaderCount == (isPersistent ? 1 : 0))
        #expect(try pool.read { try $0.playerCount() } == 0)
    }

    @Test("P4: a concurrent read in a write inside a read uses another reader")
    func concurrentReadInsideOfRead() throws {
        let pool = try directory.makePlayersPool()
        let counts = Notes<Int>()
        let end = Gate()
        try pool.read { reader in
            try pool.writeWithoutTransaction { db in
                try db.insertPlayer()
                pool.asyncConcurrentRead { result in
                    counts.append((try? result.get().playerCount()) ?? -1)
                    end.open()
                }
            }
            end.pass()
            counts.append(try reader.playerCount())
        }
        #expect(counts.values == [1, 0])
    }

    @Test("P4: starting a concurrent read returns once its snapshot is established, before the read ends")
    func concurrentRead() throws {
        let pool = try directory.makePlayersPool()
        let mayGoOn = Gate()
        let count = Notes<Int>()
        let end = Gate()
        try pool.writeWithoutTransaction { db in
            try db.insertPlayer()
            pool.asyncConcurrentRead { result in
                mayGoOn.pass()
                count.append((try? result.get().playerCount()) ?? -1)
                end.open()
            }
            try db.insertPlayer()
        }
        // Other accesses can write while the read continues.
        try pool.write { try $0.insertPlayer() }
        mayGoOn.open()
        end.pass()
        #expect(count.values == [1])
    }

    @Test("P5: after an invalidation reads use new connections, and running reads continue")
    func invalidation() throws {
        let opened = Notes<Void>()
        let pool = try directory.makePlayersPool(
            .rawKeyed.with { configuration in
                configuration.prepareDatabase { _ in opened.append(()) }
            })
        try pool.read { _ in }
        let before = opened.values.count
        try pool.read { db in
            pool.invalidateReadOnlyConnections()
            let count = try db.playerCount()
            #expect(count == 0)
        }
        #expect(pool.readers.openReaderCount == 0)
        try pool.read { _ in }
        #expect(opened.values.count == before + 1)
    }

    @Test("P6: writeInTransaction commits or rolls back as requested, and traps inside a write")
    func writeInTransaction() async throws {
        let pool = try directory.makePlayersPool()
        try pool.writeInTransaction { db in
            try db.insertPlayer()
            return .commit
        }
        try pool.writeInTransaction(.exclusive) { db in
            try db.insertPlayer()
            return .rollback
        }
        #expect(throws: TestFailure.self) {
            try pool.writeInTransaction { db in
                try db.insertPlayer()
                throw TestFailure()
            }
        }
        #expect(try await pool.read { try $0.playerCount() } == 1)
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in
                try w.write { _ in try (w as! DatabasePool).writeInTransaction { _ in .commit } }
            }
        }
    }

    @Test("a read inside a write is allowed, and sees the last commit")
    func readInsideOfWrite() throws {
        let pool = try directory.makePlayersPool()
        try pool.write { db in
            try db.insertPlayer()
            #expect(try pool.read { try $0.playerCount() } == 0)
            #expect(try pool.unsafeRead { try $0.playerCount() } == 0)
        }
        try pool.read { _ in try pool.write { try $0.insertPlayer() } }
        #expect(try pool.read { try $0.playerCount() } == 2)
    }

    @Test("one passphrase is derived once, for a writer, five readers at the same time, and snapshots")
    func derivations() throws {
        try directory.makePlayersPool(.passphrase()).close()
        let before = KeyDerivation.derivationCount
        let pool = try directory.makePool("players.db", .passphrase())
        let arrived = DispatchSemaphore(value: 0)
        let leave = Gate()
        let jobs = (0..<5).map { _ in
            Job {
                try pool.read { db in
                    arrived.signal()
                    leave.pass()
                    return try db.playerCount()
                }
            }
        }
        for _ in 0..<5 { arrived.wait() }
        leave.open()
        for job in jobs { #expect(try job.value() == 0) }
        #expect(pool.readers.openReaderCount == 5)
        _ = try pool.makeSnapshot()
        _ = try pool.makeSnapshotPool()
        // Other suites may derive keys at the same time, so only the pool's own count is exact.
        #expect(pool.factory.keys.configured?.derivationCount == 1)
        #expect(KeyDerivation.derivationCount > before)
    }

    @Test("an error in opening a reader is thrown, and the pool can be used once its cause is gone")
    func failedReader() async throws {
        let isBroken = Notes<Bool>()
        let pool = try directory.makePlayersPool(
            .rawKeyed.with { configuration in
                configuration.maximumReaderCount = 1
                configuration.prepareDatabase { db in
                    if db.configuration.readonly, isBroken.values.last == true { throw TestFailure() }
                }
            })
        isBroken.append(true)
        for _ in 0..<3 {
            #expect(throws: TestFailure.self) { try pool.read { _ in } }
            await #expect(throws: TestFailure.self) { try await pool.read { _ in } }
            await withCheckedContinuation { continuation in
                pool.asyncRead { result in
                    #expect(throws: TestFailure.self) { try result.get() }
                    continuation.resume()
                }
            }
            let future = try await pool.writeWithoutTransaction { _ in pool.concurrentRead { _ in } }
            #expect(throws: TestFailure.self) { try future.wait() }
        }
        isBroken.append(false)
        #expect(try await pool.read { try $0.playerCount() } == 0)
        #expect(pool.readers.openReaderCount == 1)
    }

    @Test("requests that wait while the pool is closed throw SQLITE_MISUSE")
    func closeWhileWaiting() throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.maximumReaderCount = 1 })
        let hasBegun = Gate(), mayEnd = Gate()
        let read = Job {
            try pool.read { _ in
                hasBegun.open()
                mayEnd.pass()
            }
        }
        hasBegun.pass()
        let close = Job { try pool.close() }
        #expect(eventually { pool.readers.waitingRequestCount == 1 })
        let late = Job { try pool.read { _ in } }
        #expect(eventually { pool.readers.waitingRequestCount == 2 })
        mayEnd.open()
        try read.value()
        try close.value()
        #expect { try late.value() } throws: { isError(.SQLITE_MISUSE)($0) }
        #expect(openFiles(in: directory) == 0)
    }

    @Test("closing a pool inside one of its accesses traps")
    func closeInside() async {
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in try w.read { _ in try w.close() } }
        }
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in try w.write { _ in try w.close() } }
        }
    }

    @Test("every reader sees a change of the schema")
    func schemaChange() throws {
        let pool = try directory.makePlayersPool()
        let snapshot = try pool.makeSnapshot()
        let all: @Sendable (Database) throws -> [String] = { db in
            try Row.fetchAll(db, sql: "SELECT * FROM player").first.map { Array($0.columnNames) } ?? []
        }
        try pool.write { try $0.insertPlayer() }
        #expect(try pool.read(all) == ["id", "name"])
        try pool.write {
            try $0.execute(sql: "ALTER TABLE player ADD COLUMN score INTEGER; CREATE TABLE team (id INTEGER)")
        }
        #expect(try pool.read(all) == ["id", "name", "score"])
        // Likewise for a statement that is cached between reads.
        let names: @Sendable (Database) throws -> [String] = { db in
            let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM player"))
            return row.map { Array($0.columnNames) } ?? []
        }
        #expect(try pool.read(names) == ["id", "name", "score"])
        try pool.write { try $0.execute(sql: "ALTER TABLE player RENAME COLUMN score TO points") }
        #expect(try pool.read(names) == ["id", "name", "points"])
        #expect(try pool.read { try $0.int("SELECT COUNT(*) FROM team") } == 0)
        #expect { try snapshot.read { try $0.int("SELECT COUNT(*) FROM team") } } throws: {
            isError(.SQLITE_ERROR)($0)
        }
    }

    @Test("only the writer checkpoints")
    func checkpoints() throws {
        let pool = try directory.makePlayersPool()
        try pool.write { db in for _ in 0..<100 { try db.insertPlayer() } }
        let size = { try directory.bytes(of: "players.db").count }
        let before = try size()
        _ = try? pool.unsafeRead { try $0.checkpoint(.truncate) }
        pool.invalidateReadOnlyConnections()
        #expect(try size() == before && directory.bytes(of: "players.db-wal").count > 0)
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        #expect(try directory.bytes(of: "players.db-wal").count == 0)
    }
}
