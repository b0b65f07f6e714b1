import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Other uses of a pool while its key is rotated")
struct LiveRotationNeighbourTests: LiveRotationSuite {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("writes of another connection that opens and closes during the rotation are copied, too")
    func neighbour() throws {
        let pool = try makePool()
        let expected = Mutex<[String]>([])
        let result = try rotate(pool) { [directory] step in
            guard step == 3 || step == 8 else { return }
            do {
                let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.journalMode = .wal })
                try queue.write {
                    try $0.execute(sql: "UPDATE t SET n = 5 WHERE id % 100 = ?", arguments: [step])
                }
                try queue.close()
                if step == 8 { try expected.store(content(pool)) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE n = 5") } == 60)
        try checkRotated(pool, result, expected.value)
    }

    @Test("commits of another connection that writes and closes during the final stage are kept")
    func neighbourAtTheEnd() throws {
        for round in 0..<20 {
            let name = "\(round).db"
            let pool = try directory.makePool(name)
            try pool.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            let (isNear, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let acknowledged = Mutex(0)
            let queue = try directory.makeQueue(name, .rawKeyed.with { $0.journalMode = .wal })
            // With full synchronization, the time between the header of the log and its index is longest.
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            Thread.detachNewThread {
                isNear.wait()
                usleep(UInt32.random(in: 0..<5000))
                for id in 1...3 {
                    let insertion = "INSERT INTO t VALUES (?, randomblob(2000))"
                    if (try? queue.write { try $0.execute(sql: insertion, arguments: [id]) }) != nil {
                        acknowledged.withLock { $0 += 1 }
                    }
                }
                try? queue.close()
                isDone.signal()
            }
            let begin = Mutex(false)
            // Either outcome is right, as long as it keeps the rows.
            _ = try? pool.rotateKey(to: Keys.new, options: options()) { progress in
                guard progress.phase == .checkingStructure else { return }
                if begin.withLock({ known in
                    defer { known = true }; return !known
                }) {
                    isNear.signal()
                }
            }
            isNear.signal()
            isDone.wait()
            #expect(
                try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                    == acknowledged.withLock { $0 })
            #expect(try pool.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
            try pool.close()
        }
    }

    @Test(
        "a write by another connection after the last check of the log makes the rotation busy, and is not lost",
        arguments: [false, true])
    func lateNeighbour(beginsLogAnew: Bool) throws {
        let pool = try makePool(rows: 500)
        let directory = directory
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$passing.withValue(
                { passed in
                    guard passed == .released else { return }
                    do {
                        let queue = try directory.makeQueue()
                        if beginsLogAnew {
                            try queue.writeWithoutTransaction { _ = try $0.checkpoint(.restart) }
                        }
                        try queue.write { try $0.execute(sql: "UPDATE t SET n = 9 WHERE id = 100") }
                        try queue.close()
                    } catch {
                        Issue.record(error)
                    }
                },
                operation: {
                    try pool.rotateKey(to: Keys.new, options: options())
                })
        }
        if case .busy = error?.reason {} else { Issue.record("\(String(describing: error))") }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT n FROM t WHERE id = 100") } == 9)
        try checkUnchanged(pool)
    }

    @Test(
        "from leaving WAL mode until the copy is in place, no other process reads or writes",
        arguments: [FailPoint.locked, .copied, .verified, .copySynchronized])
    func excludesOthers(point: FailPoint) throws {
        let pool = try makePool(rows: 500)
        let expected = try content(pool)
        let refusals = Mutex<[ResultCode]>([])
        let directory = directory
        let result = try rotate(pool, at: point) { _ in
            do {
                let late = try directory.makeQueue("a.db", .rawKeyed.with { $0.busyMode = .immediateError })
                try late.close()
                Issue.record("it was opened")
            } catch let error as DatabaseError {
                refusals.withLock { $0.append(error.resultCode) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(refusals.withLock { $0 } == [.SQLITE_BUSY])
        try checkRotated(pool, result, expected)
    }

    @Test(
        "functions, collations, observers, observations and cached statements keep working with the new key")
    func goesOn() throws {
        let pool = try makePool(rows: 300)
        let observer = CommitCounter()
        let hasChanged = DispatchSemaphore(value: 0)
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT max(n) FROM t") ?? 0 }
            .start(
                in: pool, scheduling: .async(onQueue: DispatchQueue(label: "values")),
                onError: { Issue.record($0) },
                onChange: { value in if value == 7 { hasChanged.signal() } })
        try pool.write { db in
            db.add(function: DatabaseFunction("answer", argumentCount: 0) { _ in 42 })
            db.add(collation: DatabaseCollation("same") { _, _ in .orderedSame })
            db.add(transactionObserver: observer)
            _ = try Int.fetchOne(
                db.cachedStatement(sql: "SELECT n FROM t WHERE id = ?"), arguments: [1])
        }
        let before = observer.commits
        #expect(try pool.rotateKey(to: Keys.new, options: options()).isChanged)
        #expect(observer.commits == before && observer.rollbacks == 0)
        try pool.write { db in
            #expect(try Int.fetchOne(db, sql: "SELECT answer()") == 42)
            #expect(try Bool.fetchOne(db, sql: "SELECT 'a' = 'b' COLLATE same") == true)
            try db.execute(sql: "UPDATE t SET n = 7 WHERE id = 1")
            #expect(
                try Int.fetchOne(db.cachedStatement(sql: "SELECT n FROM t WHERE id = ?"), arguments: [1]) == 7
            )
        }
        #expect(observer.commits == before + 1)
        #expect(hasChanged.wait(timeout: .now() + Patience.seconds) == .success)
        observation.cancel()
        try pool.close()
    }

    @Test("constant writers are slowed down on request, and the rotation completes")
    func slowedWriters() throws {
        let pool = try makePool(rows: 1000)
        let isOver = Mutex(false)
        let count = Mutex(0)
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                do {
                    try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1 WHERE id % 5 = 0") }
                    count.withLock { $0 += 1 }
                } catch { Issue.record(error) }
            }
            group.leave()
        }
        let outcome = Result {
            try pool.rotateKey(
                to: Keys.new,
                options: options(
                    DatabaseFile.WhileInUse(
                        maximumLogSize: 200 << 20, maximumRemainder: 400, maximumWriteDelay: 0.02)))
        }
        isOver.withLock { $0 = true }
        group.wait()
        let result = try outcome.get()
        #expect(
            try pool.read { try Int.fetchOne($0, sql: "SELECT n FROM t WHERE id = 5") }
                == count.withLock { $0 })
        try checkRotated(pool, result, content(pool))
    }

    @Test("the brake makes writes wait, one after the other, until it is released")
    func brake() throws {
        let pool = try makePool(rows: 1)
        let brake = WriterBrake(pool, delay: 0.01)
        brake.set(true)
        brake.set(true)
        for _ in 0..<3 { try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1") } }
        let long = WriterBrake(pool, delay: 1000)
        brake.release()
        long.set(true)
        let order = Mutex<[Int]>([])
        pool.asyncWriteWithoutTransaction { _ in order.withLock { $0.append(2) } }
        order.withLock { $0.append(1) }
        long.set(false)
        try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1") }
        #expect(order.withLock { $0 } == [1, 2])
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT n FROM t") } == 4)
        try pool.close()
    }

    @Test("a long read delays no other access: the rotation ends after the read has ended")
    func longRead() throws {
        let pool = try makePool(rows: 500)
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            do {
                let greatest = try pool.read { db -> Int? in
                    hasBegun.signal()
                    #expect(mayEnd.wait(timeout: .now() + Patience.seconds) == .success)
                    return try Int.fetchOne(db, sql: "SELECT max(n) FROM t")
                }
                #expect(greatest == 0)
            } catch { Issue.record(error) }
            group.leave()
        }
        hasBegun.wait()
        var lastRound = 0
        // The limit is lower than the number of attempts, because attempts that gave way to a read do not
        // count.
        let bounds = DatabaseFile.WhileInUse(maximumRoundCount: 4, maximumReadWait: 0.02)
        let result = try pool.rotateKey(to: Keys.new, options: options(bounds)) { step in
            guard step.phase == .copying, step.totalPageCount == 0, step.round > lastRound else { return }
            lastRound = step.round
            // This would deadlock if the final step waited for the read.
            try pool.write { try $0.execute(sql: "UPDATE t SET n = ?", arguments: [step.round]) }
            if step.round >= 12 { mayEnd.signal() }
        }
        group.wait()
        #expect(lastRound >= 12)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT min(n) FROM t") } == lastRound)
        try checkRotated(pool, result, content(pool))
    }

    @Test("a rotation that waits for a read can be cancelled, and nothing is changed or left")
    func endlessRead() throws {
        struct Enough: Error {}
        let pool = try makePool(rows: 200)
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            try? pool.read { _ in
                hasBegun.signal()
                #expect(mayEnd.wait(timeout: .now() + Patience.seconds) == .success)
            }
            group.leave()
        }
        hasBegun.wait()
        var attempts = 0
        #expect(throws: Enough.self) {
            try pool.rotateKey(to: Keys.new, options: options()) { step in
                if step.phase == .copying, step.totalPageCount == 0 { attempts += 1 }
                if attempts == 3 { throw Enough() }
            }
        }
        mayEnd.signal()
        group.wait()
        try checkUnchanged(pool)
    }

    @Test("the log may grow in proportion to the completed work, plus a tenth of its limit")
    func pace() {
        let pace = LogPace(start: 1000, end: 2000)
        func isExceeded(_ phase: DatabaseFile.Progress.Phase, _ round: Int, _ done: Int, _ size: Int64)
            -> Bool
        {
            var step = DatabaseFile.Progress(phase: phase, completedPageCount: done, totalPageCount: 10)
            (step.round, step.logSize) = (round, size)
            return pace.isExceeded(by: step)
        }
        #expect(!isExceeded(.copying, 0, 0, 1100) && isExceeded(.copying, 0, 0, 1101))
        #expect(!isExceeded(.copying, 0, 10, 1549) && isExceeded(.copying, 0, 10, 1551))
        #expect(!isExceeded(.verifying, 1, 5, 1749) && isExceeded(.verifying, 1, 5, 1751))
        #expect(!isExceeded(.copying, 4, 0, 2000))
    }

    @Test("a log that grows beyond its bound ends the rotation, and nothing is changed or left")
    func outpaced() throws {
        let pool = try makePool()
        let size = try FileManager.default.attributesOfItem(atPath: "\(pool.path)-wal")[.size] as? Int64 ?? 0
        let error = #expect(throws: DatabaseFileError.self) {
            try rotate(pool, DatabaseFile.WhileInUse(maximumLogSize: size + 100_000)) { _ in
                do { try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1") } } catch {
                    Issue.record(error)
                }
            }
        }
        guard case .outpaced(let logSize) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(logSize > size + 100_000)
        try checkUnchanged(pool)
    }

    @Test("writers that change too much in each round end the rotation, and nothing is changed or left")
    func tooManyRounds() throws {
        let pool = try makePool(rows: 500)
        let error = #expect(throws: DatabaseFileError.self) {
            try rotate(pool, DatabaseFile.WhileInUse(maximumRemainder: 1, maximumRoundCount: 4)) { _ in
                do { try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1") } } catch {
                    Issue.record(error)
                }
            }
        }
        if case .outpaced = error?.reason {} else { Issue.record("\(String(describing: error))") }
        try checkUnchanged(pool)
    }

    @Test("an open snapshot makes the rotation busy at its end, and nothing is changed or left")
    func snapshot() throws {
        let pool = try makePool(rows: 100)
        let snapshot = try pool.makeSnapshot()
        if case .busy = reason({ try pool.rotateKey(to: Keys.new, options: options()) }) {
        } else {
            Issue.record("not busy")
        }
        #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 100)
        try snapshot.close()
        try checkUnchanged(pool)
    }

    @Test("another connection that locks the new file first makes the writer wait, and not fail")
    func earlyNeighbour() throws {
        let pool = try makePool(rows: 200)
        let expected = try content(pool)
        let path = pool.path
        let hasLock = DispatchSemaphore(value: 0)
        let result = try rotate(pool, at: .directorySynchronized) { _ in
            Thread.detachNewThread {
                do {
                    let early = try DatabaseQueue(path: path, configuration: .rawKeyed(0x17))
                    try early.writeWithoutTransaction { db in
                        try db.execute(sql: "BEGIN EXCLUSIVE")
                        hasLock.signal()
                        usleep(300_000)
                        try db.execute(sql: "ROLLBACK")
                    }
                    try early.close()
                } catch {
                    Issue.record(error)
                    hasLock.signal()
                }
            }
            hasLock.wait()
        }
        try checkRotated(pool, result, expected)
    }

    @Test("a snapshot that is requested while the copy is put in place waits, and opens with the new key")
    func lateSnapshot() throws {
        let pool = try makePool(rows: 200)
        let expected = try content(pool)
        let snapshots = Mutex<[Result<Int?, any Error>]>([])
        let group = DispatchGroup()
        let result = try rotate(pool, at: .renamed) { _ in
            group.enter()
            Thread.detachNewThread {
                let count = Result {
                    let snapshot = try pool.makeSnapshot()
                    defer { try? snapshot.close() }
                    return try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                }
                snapshots.withLock { $0.append(count) }
                group.leave()
            }
            // By then, the thread would have found the damaged file or the new key.
            usleep(200_000)
        }
        group.wait()
        #expect(try snapshots.withLock { try $0.map { try $0.get() } } == [200])
        try checkRotated(pool, result, expected)
    }

    @Test("functions that were added later are kept, even if preparing the new connection fails")
    func failingPreparation() throws {
        struct NotNow: Error {}
        let fails = Mutex(false)
        let pool = try directory.makePool(
            "a.db",
            .rawKeyed.with { $0.prepareDatabase { _ in if fails.withLock({ $0 }) { throw NotNow() } } })
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (n INTEGER); INSERT INTO t (n) VALUES (1)")
            db.add(function: DatabaseFunction("answer", argumentCount: 0) { _ in 42 })
        }
        fails.withLock { $0 = true }
        let error = #expect(throws: DatabaseFileError.self) {
            try pool.rotateKey(to: Keys.new, options: options())
        }
        #expect(error?.reason == .applicationFailed("NotNow()"))
        #expect(error?.isPublished == true)
        fails.withLock { $0 = false }
        #expect(try pool.write { try Int.fetchOne($0, sql: "SELECT answer() + n FROM t") } == 43)
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        try pool.close()
        #expect(try DatabaseFile(path: pool.path).verify(key: Keys.new).isIntact)
    }

    @Test("a concurrent rotation is refused, and closing the pool makes its rotation fail")
    func others() throws {
        let pool = try makePool(rows: 500)
        let result = try rotate(pool) { step in
            guard step == 2 else { return }
            if case .busy = reason({ try pool.rotateKey(to: Keys.other) }) {
            } else {
                Issue.record("not busy")
            }
        }
        #expect(result.isChanged)
        #expect(throws: (any Error).self) {
            try FailPoint.$passing.withValue(
                {
                    if $0 == .copying { try? pool.close() }
                },
                operation: {
                    try pool.rotateKey(to: Keys.other, options: options())
                })
        }
        #expect(directory.fileNames() == ["a.db"])
        #expect(try DatabaseFile(path: pool.path).verify(key: Keys.new).isIntact)
    }
}
