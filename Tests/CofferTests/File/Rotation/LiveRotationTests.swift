import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Rotating the key of a pool while it is in use")
struct LiveRotationTests: LiveRotationSuite {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("without other accesses, the result has the content and the digest of a blocking rotation")
    func alone() throws {
        let pool = try makePool()
        let expected = try content(pool)
        let result = try pool.rotateKey(to: Keys.new, options: options())
        #expect(try content(pool) == expected)
        #expect(try hasLocks(on: pool.path))
        // Copying the file in this process drops its locks, because closing any descriptor does.
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

    @Test("reads and writes of the pool continue during the copy, and none of them is lost")
    func accessesGoOn() throws {
        let pool = try makePool()
        let written = Mutex(0)
        let expected = Mutex<[String]>([])
        let result = try rotate(pool) { step in
            // These would deadlock if the copy had the access of the writer.
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
        "a file that shrinks, grows or is checkpointed between any two steps is rotated",
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
                    // A checkpoint that cannot complete is not an error of the rotation.
                    do { try db.execute(sql: statement) } catch let error as DatabaseError
                        where error.resultCode == .SQLITE_LOCKED
                    {}
                }
            }
            expected = try content(pool)
        }
        try checkRotated(pool, result, expected)
    }

    @Test("a commit may restart the log after the first state is pinned and before the log is read")
    func restartedLog() throws {
        let pool = try makePool()
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.full) }
        let result = try rotate(pool, at: .statePinned) { _ in
            do {
                let before = try directory.bytes(of: "a.db-wal").prefix(32)
                try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1 WHERE id % 7 = 0") }
                #expect(try directory.bytes(of: "a.db-wal").prefix(32) != before)
            } catch {
                Issue.record(error)
            }
        }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT sum(n) FROM t") } == 428)
        try checkRotated(pool, result, content(pool))
    }

    @Test(
        "the log may be empty at the start, or restart while the first state is in the file",
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

    @Test("permissions that are removed during the rotation are not restored")
    func permissions() throws {
        let pool = try makePool(rows: 500)
        let expected = try content(pool)
        _ = unsafe chmod(pool.path, 0o644)
        let result = try rotate(pool) { _ in _ = unsafe chmod(pool.path, 0o600) }
        let attributes = try FileManager.default.attributesOfItem(atPath: pool.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try checkRotated(pool, result, expected)
    }

    @Test(
        "a failure at any step leaves the old key, or the new one if the copy is in place",
        arguments: FailPoint.allCases.filter {
            ![.rekeyed, .oldKept, .oldCopied, .alone, .cleared].contains($0)
        })
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

    @Test("conditions that would fail the final stage are refused before anything is copied")
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

    @Test(
        "a page of the copy that differs from its source is found, in any round of copying",
        arguments: 0...3)
    func damagedCopy(round: Int) throws {
        let pool = try makePool()
        let directory = directory
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$passing.withValue(
                { point in
                    // After the last pages were copied, while all accesses wait.
                    if point == .copied, round == 3 { try? directory.damageCopy(page: 1) }
                },
                operation: {
                    _ = try pool.rotateKey(to: Keys.new, options: options()) { step in
                        // Page 3 contains the first rows and is part of every round. Page 100 is copied once.
                        if step.phase == .copying, step.totalPageCount > 0,
                            step.completedPageCount == step.totalPageCount
                        {
                            if step.round == round { try directory.damageCopy(page: round == 0 ? 100 : 3) }
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

    @Test(
        "writes during the last round are copied and verified while accesses wait",
        arguments: [false, true])
    func lastPages(isDamaged: Bool) throws {
        let pool = try makePool(rows: 500)
        let isReleased = Mutex(false)
        let written = Mutex(0)
        let directory = directory
        let outcome = Result {
            try FailPoint.$passing.withValue(
                { point in
                    do {
                        switch point {
                        case .released: isReleased.withLock { $0 = true }
                        case .copying where !isReleased.withLock({ $0 }):
                            // The state being copied was pinned earlier. Page 3 contains this row.
                            try pool.write { try $0.execute(sql: "UPDATE t SET n = n + 1 WHERE id = 1") }
                            written.withLock { $0 += 1 }
                        case .copied where isDamaged:
                            try directory.damageCopy(page: 3)
                        default: break
                        }
                    } catch {
                        Issue.record(error)
                    }
                },
                operation: { try pool.rotateKey(to: Keys.new, options: options()) })
        }
        let count = try pool.read { try Int.fetchOne($0, sql: "SELECT n FROM t WHERE id = 1") }
        #expect(count == written.withLock { $0 } && (count ?? 0) > 3)
        if isDamaged {
            let error = #expect(throws: DatabaseFileError.self) { try outcome.get() }
            if case .copyRejected = error?.reason {} else { Issue.record("\(String(describing: error))") }
            try checkUnchanged(pool)
        } else {
            try checkRotated(pool, outcome.get(), content(pool))
        }
    }
}
