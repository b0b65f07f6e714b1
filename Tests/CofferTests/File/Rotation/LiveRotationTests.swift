import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Rotating the key of a pool while it is in use")
struct LiveRotationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makePool(rows: Int = 3000) throws -> DatabasePool {
        let pool = try directory.makePool()
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, a)")
            for _ in 0..<rows { try db.execute(sql: "INSERT INTO t (n, a) VALUES (0, randomblob(600))") }
        }
        return pool
    }

    private func options(_ bounds: DatabaseFile.WhileInUse = DatabaseFile.WhileInUse())
        -> DatabaseFile.RotationOptions
    {
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = bounds
        // All steps of the copy are those of the thread that has the hooks.
        options.threadCount = 1
        return options
    }

    /// Everything that the database says, for comparisons.
    private func content(_ reader: any DatabaseReader) throws -> [String] {
        try reader.read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || n || hex(a) FROM t ORDER BY id")
                + String.fetchAll(db, sql: "SELECT sql FROM sqlite_master ORDER BY name")
                + String.fetchAll(db, sql: "PRAGMA integrity_check")
        }
    }

    /// What holds after a rotation that was completed.
    ///
    /// - Parameter expected: what the database said before its end.
    private func checkRotated(
        _ pool: DatabasePool, _ result: DatabaseFile.RotationResult, _ expected: [String],
        lookingAtLocks: Bool = true
    ) throws {
        #expect(try content(pool) == expected)
        // Without it, another process would take the log away when it closes the file.
        if lookingAtLocks { #expect(try hasLocks(on: pool.path)) }
        #expect(result.isChanged && result.proof?.isContentEqual == true && (result.pause ?? 0) > 0)
        try pool.write { try $0.execute(sql: "INSERT INTO t (n) VALUES (-1)") }
        try pool.write { try $0.execute(sql: "DELETE FROM t WHERE n = -1") }
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        try pool.close()
        #expect(directory.fileNames() == ["a.db"])
        #expect(!directory.opensAtAll(Keys.old))
        #expect(try DatabaseFile(path: pool.path).verify(key: Keys.new).isIntact)
        let queue = try directory.makeQueue("a.db", .rawKeyed(0x17))
        #expect(try content(queue) == expected)
        try queue.close()
    }

    /// Whether this process has locks on a file, as the kernel says.
    private func hasLocks(on path: String) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let number = try #require(attributes[.systemFileNumber] as? Int)
        return try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").contains {
            $0.contains(" POSIX ") && $0.contains(" \(getpid()) ") && $0.contains(":\(number) ")
        }
    }

    /// What holds after a rotation that did not come to its end.
    private func checkUnchanged(_ pool: DatabasePool) throws {
        #expect(Set(directory.fileNames()).isSubset(of: ["a.db", "a.db-shm", "a.db-wal"]))
        try pool.write { try $0.execute(sql: "INSERT INTO t (n) VALUES (1)") }
        let expected = try content(pool)
        try pool.close()
        #expect(directory.fileNames() == ["a.db"])
        #expect(try DatabaseFile(path: pool.path).verify(key: Keys.old).isIntact)
        let queue = try directory.makeQueue()
        #expect(try content(queue) == expected)
        try queue.close()
    }

    /// Rotates, and has `body` called at each step of the copy with its number, from 1.
    private func rotate(
        _ pool: DatabasePool, _ bounds: DatabaseFile.WhileInUse = DatabaseFile.WhileInUse(),
        at point: FailPoint = .copying,
        _ body: @escaping @Sendable (Int) -> Void
    ) throws -> DatabaseFile.RotationResult {
        let count = Mutex(0)
        return try FailPoint.$passing.withValue(
            { passed in
                guard passed == point else { return }
                body(
                    count.withLock { count in
                        count += 1
                        return count
                    })
            },
            operation: {
                try pool.rotateKey(to: Keys.new, options: options(bounds))
            })
    }

    /// Rotates, and has `body` called once at each moment: a phase and a round, and whether pages of it are
    /// done.
    private func rotate(
        _ pool: DatabasePool, moments: Set<String>, _ body: @escaping (String) throws -> Void
    ) throws -> DatabaseFile.RotationResult {
        var left = moments
        let result = try pool.rotateKey(to: Keys.new, options: options()) { step in
            let moment = "\(step.phase) \(step.round)\(step.completedPageCount > 0 ? " on" : "")"
            if left.remove(moment) != nil { try body(moment) }
        }
        #expect(left.isEmpty)
        return result
    }

    @Test("without others it has the content, and the digest, of a rotation for which all wait")
    func alone() throws {
        let pool = try makePool()
        let expected = try content(pool)
        let result = try pool.rotateKey(to: Keys.new, options: options())
        #expect(try content(pool) == expected)
        #expect(try hasLocks(on: pool.path))
        // A copy of the file by this process drops its locks, as each descriptor does that is closed.
        let digest = try directory.path("a.db").digestOfRotation(Keys.new, Keys.new, pool)
        #expect(result.proof?.contentDigest == digest)
        try checkRotated(pool, result, expected, lookingAtLocks: false)
    }

    @Test("the example of the article on key rotation reports rounds and the pause")
    func article() async throws {
        let vault = try makePool(rows: 100)
        let newKey = Keys.new
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse(maximumLogSize: 512 << 20)
        let result = try await vault.rotateKey(to: newKey, options: options) { step in
            print(
                "\(step.phase), round \(step.round): \(step.completedPageCount) of \(step.totalPageCount) pages"
            )
        }
        print("Accesses waited for \(result.pause ?? 0) seconds.")
        #expect(result.isChanged && result.pause != nil)
        try checkRotated(vault, result, content(vault))
    }

    @Test("reads and writes of the pool go on in the middle of the copy, and nothing of them is lost")
    func accessesGoOn() throws {
        let pool = try makePool()
        let written = Mutex(0)
        let expected = Mutex<[String]>([])
        let result = try rotate(pool) { step in
            // These would wait for ever if the copy had the access of the writer.
            guard step <= 12 else { return }
            do {
                try pool.write { db in
                    try db.execute(
                        sql: "UPDATE t SET n = n + 1, a = randomblob(600) WHERE id % 500 = ?",
                        arguments: [step])
                    try db.execute(
                        sql: "INSERT INTO t (n, a) VALUES (?, randomblob(3000))", arguments: [1000 + step])
                }
                #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT max(n) FROM t") } == 1000 + step)
                written.withLock { $0 += 1 }
                if step == 12 { try expected.store(content(pool)) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(written.withLock { $0 } == 12)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE n > 1000") } == 12)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT sum(n) FROM t WHERE n < 1000") } == 72)
        try checkRotated(pool, result, expected.value)
    }

    @Test(
        "a file that shrinks and grows, with checkpoints of all kinds, between any two steps",
        arguments: [
            "DELETE FROM t WHERE id > 600; VACUUM", "DELETE FROM t WHERE id > 600; PRAGMA incremental_vacuum",
            "DELETE FROM t WHERE id > 600; VACUUM; INSERT INTO t (n, a) SELECT n, randomblob(2000) FROM t",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "UPDATE t SET n = n + 1 WHERE id = 7; UPDATE t SET n = n + 1 WHERE id = 7; PRAGMA wal_checkpoint(RESTART)",
            "CREATE INDEX i ON t (a); DROP INDEX i; PRAGMA wal_checkpoint(FULL); UPDATE t SET n = 3",
            "ALTER TABLE t ADD COLUMN b; PRAGMA user_version = 77",
        ], ["copying 0 on", "copying 1", "verifying 1 on", "checkingStructure 1", "copying 2"])
    func shapes(sql: String, moment: String) throws {
        let pool = try directory.makePool()
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, a)")
            for _ in 0..<2500 { try db.execute(sql: "INSERT INTO t (n, a) VALUES (0, randomblob(600))") }
        }
        var expected: [String] = []
        let result = try rotate(pool, moments: [moment]) { _ in
            try pool.writeWithoutTransaction { db in
                for statement in sql.components(separatedBy: "; ") {
                    // A checkpoint that cannot complete is no error of the rotation.
                    do { try db.execute(sql: statement) } catch let error as DatabaseError
                        where error.resultCode == .SQLITE_LOCKED
                    {}
                }
            }
            expected = try content(pool)
        }
        try checkRotated(pool, result, expected)
    }

    @Test(
        "a log that was begun anew while the first state is in the file, and one that is empty",
        arguments: [true, false])
    func newLog(isEmpty: Bool) throws {
        let pool = try makePool()
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(isEmpty ? .truncate : .full) }
        let expected = Mutex<[String]>([])
        let result = try rotate(pool) { step in
            guard step <= 10 else { return }
            do {
                try pool.write {
                    try $0.execute(sql: "UPDATE t SET n = n + 1 WHERE id % 7 = ?", arguments: [step % 7])
                }
                if step == 10 { try expected.store(content(pool)) }
            } catch {
                Issue.record(error)
            }
        }
        try checkRotated(pool, result, expected.value)
    }

    @Test("a connection of its own that comes and goes in the middle, and writes, is copied too")
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

    @Test(
        "what another connection writes after the last look at the log makes it busy, and is not lost",
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
        "from the moment in which the WAL mode is left nobody else reads or writes until the copy has its place",
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

    @Test("functions, collations, observers, observations and cached statements go on with the new key")
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

    @Test("permissions that were taken away meanwhile are not given back")
    func permissions() throws {
        let pool = try makePool(rows: 500)
        let expected = try content(pool)
        _ = unsafe chmod(pool.path, 0o644)
        let result = try rotate(pool) { _ in _ = unsafe chmod(pool.path, 0o600) }
        let attributes = try FileManager.default.attributesOfItem(atPath: pool.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try checkRotated(pool, result, expected)
    }

    @Test("writers that never rest are slowed down where that is wanted, and it completes")
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

    @Test("the brake has each write wait, one after the other, until it is released")
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

    @Test("a read that takes long makes nobody wait: the end comes when the read has ended")
    func longRead() throws {
        let pool = try makePool(rows: 500)
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            do {
                try pool.read { db in
                    hasBegun.signal()
                    mayEnd.wait()
                    #expect(try Int.fetchOne(db, sql: "SELECT max(n) FROM t") == 0)
                }
            } catch { Issue.record(error) }
            group.leave()
        }
        hasBegun.wait()
        var lastRound = 0
        // Fewer rounds than there are attempts: those that had to give way to a read do not count.
        let bounds = DatabaseFile.WhileInUse(maximumRoundCount: 4, maximumReadWait: 0.02)
        let result = try pool.rotateKey(to: Keys.new, options: options(bounds)) { step in
            guard step.phase == .copying, step.totalPageCount == 0, step.round > lastRound else { return }
            lastRound = step.round
            // This would wait for ever beside an end that waits for the read.
            try pool.write { try $0.execute(sql: "UPDATE t SET n = ?", arguments: [step.round]) }
            if step.round == 12 { mayEnd.signal() }
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
                mayEnd.wait()
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

    @Test("the log may take of its bound what is done of the work, and a tenth more")
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

    @Test("a log that grows beyond its bound ends it, and nothing is changed or left")
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

    @Test("writers that change more in each round than may be left end it, and nothing is changed or left")
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

    @Test(
        "a failure at any step leaves the old key, or the new one where the copy has its place",
        arguments: FailPoint.allCases.filter { ![.rekeyed, .oldKept].contains($0) })
    func failures(point: FailPoint) throws {
        let pool = try makePool(rows: 500)
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$failing.withValue(point) { try pool.rotateKey(to: Keys.new, options: options()) }
        }
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        try pool.write { try $0.execute(sql: "INSERT INTO t (n) VALUES (2)") }
        if error?.isPublished == true {
            #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT n FROM t WHERE n = 2") } == 2)
            try pool.close()
            #expect(!directory.opensAtAll(Keys.old))
            #expect(try DatabaseFile(path: pool.path).verify(key: Keys.new).isIntact)
        } else {
            try checkUnchanged(pool)
        }
    }

    @Test("an error of the progress function ends it in each phase and round, and nothing is changed or left")
    func cancellation() throws {
        struct Enough: Error {}
        let pool = try makePool(rows: 1500)
        var steps: [String] = []
        _ = try? pool.rotateKey(to: Keys.new, options: options()) { step in
            let name = "\(step.phase) \(step.round)"
            if steps.last != name { steps.append(name) }
            if step.phase == .publishing { throw Enough() }
        }
        #expect(Set(steps).isSuperset(of: ["copying 0", "verifying 1", "copying 2", "publishing 2"]))
        for stop in 1...steps.count {
            var seen: [String] = []
            #expect(throws: Enough.self) {
                try pool.rotateKey(to: Keys.new, options: options()) { step in
                    let name = "\(step.phase) \(step.round)"
                    if seen.last != name { seen.append(name) }
                    if seen.count == stop { throw Enough() }
                }
            }
            #expect(
                Set(directory.fileNames()).isSubset(of: ["a.db", "a.db-shm", "a.db-wal"]),
                "\(steps[stop - 1])")
        }
        try checkUnchanged(pool)
    }

    @Test("a task that is cancelled ends it, and nothing is changed or left")
    func cancelledTask() async throws {
        let pool = try makePool()
        let running = Mutex<Task<DatabaseFile.RotationResult, any Error>?>(nil)
        let task = Task {
            try await pool.rotateKey(to: Keys.new, options: options()) { step in
                guard step.phase == .verifying else { return }
                while running.withLock({ $0 }) == nil { usleep(100) }
                running.withLock { $0?.cancel() }
            }
        }
        running.withLock { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
        let second = Task { try await pool.rotateKey(to: Keys.new, options: options()) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try checkUnchanged(pool)
    }

    @Test("what its end would refuse is refused before anything is copied")
    func refusals() throws {
        let queue = try directory.makeQueue("q.db")
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(isUnsupported { try queue.rotateKey(to: Keys.new, options: options()) })
        try queue.close()
        try FileManager.default.removeItem(atPath: directory.path("q.db"))
        let pool = try makePool(rows: 100)
        func refuse(_ isRefused: (() throws -> Void) -> Bool) {
            let wasRefused = isRefused { _ = try rotate(pool) { _ in Issue.record("a page was copied") } }
            #expect(wasRefused)
        }
        try pool.writeWithoutTransaction { try $0.execute(sql: "CREATE TEMPORARY TABLE temp_t (a)") }
        refuse { isUnsupported($0) }
        try pool.writeWithoutTransaction {
            try $0.execute(sql: "DROP TABLE temp_t; ATTACH ':memory:' AS other")
        }
        refuse { isUnsupported($0) }
        try pool.writeWithoutTransaction { try $0.execute(sql: "DETACH other") }
        do {
            let statement = try pool.writeWithoutTransaction { try $0.makeStatement(sql: "SELECT a FROM t") }
            refuse { body in if case .busy = reason(body) { true } else { false } }
            withExtendedLifetime(statement) {}
        }
        #expect(reason { try pool.rotateKey(to: Keys.old, options: options()) } == .sameKey)
        var inPlace = options()
        inPlace.method = .inPlace
        #expect(isUnsupported { try pool.rotateKey(to: Keys.new, options: inPlace) })
    }

    @Test("a snapshot that lives makes it busy at its end, and nothing is changed or left")
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

    @Test("another rotation meanwhile is refused, and so is the end after the pool was closed")
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

    @Test(
        "a page that the copy has otherwise than its source is found, whenever it was copied",
        arguments: 0...3)
    func damagedCopy(round: Int) throws {
        let pool = try makePool()
        let directory = directory
        @Sendable func damage(page: Int) throws {
            let name = try #require(directory.fileNames().first { $0.hasSuffix(".rotate") })
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.path(name)))
            try file.seek(toOffset: UInt64(page - 1) * 4096 + 100)
            try file.write(contentsOf: [1, 2, 3, 4])
            try file.close()
        }
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$passing.withValue(
                { point in
                    // After the last pages were copied, while all accesses wait.
                    if point == .copied, round == 3 { try? damage(page: 1) }
                },
                operation: {
                    _ = try pool.rotateKey(to: Keys.new, options: options()) { step in
                        // Page 3 has the first rows, and is a part of each round. Page 100 is copied once.
                        if step.phase == .copying, step.totalPageCount > 0,
                            step.completedPageCount == step.totalPageCount
                        {
                            if step.round == round { try damage(page: round == 0 ? 100 : 3) }
                        }
                        if step.phase == .copying && step.round == 0 || step.phase == .verifying {
                            try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1 WHERE id < 30") }
                        }
                    }
                })
        }
        if case .copyRejected = error?.reason {} else { Issue.record("\(String(describing: error))") }
        try checkUnchanged(pool)
    }

    private func isUnsupported<T>(_ body: () throws -> T) -> Bool {
        if case .unsupported = reason(body) { true } else { false }
    }
}

extension TestDirectory {
    fileprivate func opensAtAll(_ key: DatabaseKey) -> Bool {
        (try? DatabaseFile(path: path("a.db")).inspect(key: key)) != nil
    }
}

extension String {
    /// The digest that a rotation of a copy of this file has, with a raw key: it depends on the content and
    /// the key only.
    fileprivate func digestOfRotation(_ from: DatabaseKey, _ to: DatabaseKey, _ pool: DatabasePool) throws
        -> String?
    {
        let copy = "\(self).copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try FileManager.default.copyItem(atPath: self, toPath: copy)
        try DatabaseFile(path: copy).rotate(from: from, to: Keys.other)
        return try DatabaseFile(path: copy).rotate(from: Keys.other, to: to).proof?.contentDigest
    }
}

extension Mutex where Value == [String] {
    fileprivate borrowing func store(_ value: [String]) { withLock { $0 = value } }

    fileprivate var value: [String] { withLock { $0 } }
}
