import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Snapshots")
struct SnapshotTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("P7: a snapshot does not change; made in a write, it has the state of that moment")
    func unchanging() async throws {
        let pool = try directory.makePlayersPool()
        let (early, earlyPool) = try await pool.writeWithoutTransaction { db in
            try db.insertPlayer()
            let result = (try pool.makeSnapshot(), try pool.makeSnapshotPool())
            try db.insertPlayer()
            return result
        }
        let late = try pool.makeSnapshot()
        try await pool.write { try $0.insertPlayer() }
        for snapshot in [early, earlyPool] as [any DatabaseSnapshotReader] {
            #expect(try await snapshot.read { try $0.playerCount() } == 1)
            #expect(try await snapshot.read { try $0.playerCount() } == 1)
            #expect(try await snapshot.unsafeRead { try $0.playerCount() } == 1)
            #expect(try snapshot.unsafeReentrantRead { try $0.playerCount() } == 1)
            #expect(
                try await snapshot.read { _ in try snapshot.unsafeReentrantRead { try $0.playerCount() } }
                    == 1)
            await withCheckedContinuation { continuation in
                snapshot.asyncRead { result in
                    #expect((try? result.get().playerCount()) == 1)
                    continuation.resume()
                }
            }
            #expect { try snapshot.read { try $0.insertPlayer() } } throws: { isError(.SQLITE_READONLY)($0) }
        }
        #expect(try await late.read { try $0.playerCount() } == 2)
        #expect(try await pool.read { try $0.playerCount() } == 3)
    }

    @Test("P8: there can be more snapshots than the pool has readers")
    func many() throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.maximumReaderCount = 1 })
        let snapshots = try (0..<20).map { count in
            let snapshot = try pool.makeSnapshot()
            try pool.write { try $0.insertPlayer() }
            return (count, snapshot)
        }
        for (count, snapshot) in snapshots { #expect(try snapshot.read { try $0.playerCount() } == count) }
    }

    @Test("P9: making a snapshot inside a transaction traps")
    func insideTransaction() async {
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in try w.write { _ in _ = try (w as! DatabasePool).makeSnapshot() } }
        }
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in try w.write { _ in _ = try (w as! DatabasePool).makeSnapshotPool() } }
        }
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in
                let snapshot = try (w as! DatabasePool).makeSnapshot()
                snapshot.read { _ in snapshot.read { _ in } }
            }
        }
        await #expect(processExitsWith: .failure) {
            try nest(.pool) { w in
                let snapshot = try (w as! DatabasePool).makeSnapshotPool()
                try snapshot.read { _ in try snapshot.read { _ in } }
            }
        }
    }

    @Test(
        "the connections of a snapshot pool see the same state while others commit as fast as they can",
        arguments: [false, true])
    func sameState(isReadOnly: Bool) throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.busyMode = .timeout(Patience.seconds) })
        let isOver = Gate()
        let notes = Notes<Void>()
        let writes = Job {
            while notes.values.isEmpty { try pool.write { try $0.insertPlayer() } }
            isOver.open()
        }
        defer {
            notes.append(())
            isOver.pass()
        }
        let configuration = Configuration.rawKeyed.with {
            $0.readonly = isReadOnly
            $0.busyMode = .timeout(Patience.seconds)
        }
        for _ in 0..<30 {
            let snapshot = try DatabaseSnapshotPool(path: pool.path, configuration: configuration)
            #expect(Set(try inAllReaders(of: snapshot) { try $0.playerCount() }).count == 1)
        }
        for _ in 0..<30 {
            let snapshot = try pool.makeSnapshotPool()
            #expect(Set(try inAllReaders(of: snapshot) { try $0.playerCount() }).count == 1)
        }
        #expect(!writes.isDone)
    }

    @Test(
        "P11: observers of the writer are not notified of a snapshot pool, which locks the database for a moment"
    )
    func unobserved() throws {
        let pool = try directory.makePlayersPool()
        let notes = Notes<String>()
        let snapshot = try pool.writeWithoutTransaction { db in
            db.afterNextTransaction { _ in
                notes.append("commit")
            } onRollback: { _ in
                notes.append("rollback")
            }
            let snapshot = try pool.makeSnapshotPool()
            try db.insertPlayer()
            return snapshot
        }
        #expect(notes.values == ["commit"])
        #expect(try snapshot.read { try $0.playerCount() } == 0)
    }

    @Test("a snapshot pool needs a connection that has not read yet, unless the engine has WAL snapshots")
    func ofConnection() throws {
        let pool = try directory.makePlayersPool()
        let snapshots = [
            try pool.read { try DatabaseSnapshotPool($0) },
            try pool.unsafeRead { try DatabaseSnapshotPool($0) },
            try pool.writeWithoutTransaction { try DatabaseSnapshotPool($0) },
        ]
        try pool.write { try $0.insertPlayer() }
        for snapshot in snapshots { #expect(try snapshot.read { try $0.playerCount() } == 0) }
        let began: (Database) throws -> Void = { db in
            _ = try db.playerCount()
            _ = try DatabaseSnapshotPool(db)
        }
        if !EngineFeature.walSnapshots.isAvailable {
            #expect {
                try pool.read(began)
            } throws: {
                isError(.SQLITE_MISUSE)($0) && "\($0)".contains("Scripts/build-engine")
            }
        }
        #expect { try pool.write { _ = try DatabaseSnapshotPool($0) } } throws: {
            isError(.SQLITE_MISUSE)($0)
        }
    }

    @Test(
        "with WAL snapshots in the engine, a snapshot pool can be created from a read during writes",
        .enabled(if: EngineFeature.walSnapshots.isAvailable))
    func ofReadingTransaction() throws {
        let pool = try directory.makePlayersPool()
        try pool.write { try $0.insertPlayer() }
        let snapshot = try pool.read { db in
            #expect(try db.playerCount() == 1)
            try pool.write { try $0.insertPlayer() }
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
            let snapshot = try DatabaseSnapshotPool(db)
            #expect(try db.playerCount() == 1)
            return snapshot
        }
        try pool.write { try $0.insertPlayer() }
        // Every connection of the snapshot pool reads the same state.
        let counts = Notes<Int>()
        DispatchQueue.concurrentPerform(iterations: 20) { _ in
            counts.append((try? snapshot.read { try $0.playerCount() }) ?? -1)
        }
        #expect(counts.values == Array(repeating: 1, count: 20))
        #expect(try pool.read { try $0.playerCount() } == 3)
        try snapshot.close()
    }

    @Test("a snapshot pool makes no file, and needs the WAL mode")
    func impossible() throws {
        let path = directory.path("none.db")
        #expect { try DatabaseSnapshotPool(path: path, configuration: .rawKeyed) } throws: {
            isError(.SQLITE_CANTOPEN)($0)
        }
        #expect(directory.fileNames().isEmpty)
        let queue = try directory.makeQueue("rollback.db")
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect { try DatabaseSnapshotPool(path: queue.path, configuration: .rawKeyed) } throws: {
            isError(.SQLITE_MISUSE)($0)
        }
    }

    @Test(
        "a snapshot whose transaction is ended by the application throws SQLITE_ABORT instead of showing another state"
    )
    func endedTransaction() throws {
        let pool = try directory.makePlayersPool()
        let snapshot = try pool.makeSnapshot()
        try pool.write { try $0.insertPlayer() }
        try snapshot.read { try $0.execute(sql: "COMMIT") }
        #expect { try snapshot.read { try $0.playerCount() } } throws: { isError(.SQLITE_ABORT)($0) }
    }

    @Test("an interrupted read does not end a snapshot")
    func interruption() throws {
        let pool = try directory.makePlayersPool()
        for snapshot in [try pool.makeSnapshot(), try pool.makeSnapshotPool()] as [any DatabaseSnapshotReader]
        {
            try pool.write { try $0.insertPlayer() }
            let hasBegun = Gate()
            let before = try snapshot.read { try $0.playerCount() }
            let job = Job {
                try snapshot.read { db in
                    hasBegun.open()
                    _ = try db.int(endlessQuery)
                }
            }
            hasBegun.pass()
            _ = eventually {
                snapshot.interrupt()
                return job.isDone
            }
            #expect { try job.value() } throws: { isError(.SQLITE_INTERRUPT)($0) }
            #expect(try snapshot.read { try $0.playerCount() } == before)
        }
    }

    @Test("a snapshot outlives its pool, and a closed one throws SQLITE_MISUSE")
    func lifetime() throws {
        var pool: DatabasePool? = try directory.makePlayersPool()
        let snapshots =
            [try pool!.makeSnapshot(), try pool!.makeSnapshotPool()] as [any DatabaseSnapshotReader]
        try pool!.close()
        pool = nil
        for snapshot in snapshots {
            #expect(try snapshot.read { try $0.playerCount() } == 0)
            try snapshot.close()
            try snapshot.close()
            #expect { try snapshot.read { try $0.playerCount() } } throws: { isError(.SQLITE_MISUSE)($0) }
        }
        #expect(openFiles(in: directory) == 0)
    }

    @Test(
        "a snapshot that lives while 100 MB are written sees its own state; after it the WAL can be truncated"
    )
    func bigWrite() throws {
        let pool = try directory.makePlayersPool()
        try pool.write { try $0.insertPlayer() }
        var snapshot: DatabaseSnapshot? = try pool.makeSnapshot()
        for _ in 0..<10 {
            try pool.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO player (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 \
                        FROM n WHERE i < 100)
                        SELECT hex(randomblob(52000)) FROM n
                        """)
            }
        }
        let wal = { try FileManager.default.attributesOfItem(atPath: pool.path + "-wal")[.size] as! Int }
        #expect(try wal() > 100_000_000)
        #expect(try snapshot!.read { try $0.playerCount() } == 1)
        #expect { try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } } throws: {
            isError(.SQLITE_BUSY)($0)
        }
        #expect(try snapshot!.read { try $0.playerCount() } == 1)
        snapshot = nil
        let result = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        #expect(result.walFrameCount == 0)
        #expect(try wal() == 0)
        #expect(try pool.read { try $0.playerCount() } == 1001)
    }
}
