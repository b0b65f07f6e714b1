import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// The measurements of accesses, and the health of a pool.
@Suite("Reports of accesses", .timeLimit(.minutes(Patience.minutes)))
struct AccessReportTests {
    private let directory: TestDirectory
    private let reports = Notes<DatabaseAccessReport>()

    init() throws { directory = try TestDirectory() }

    private var configuration: Configuration {
        let reports = reports
        return .rawKeyed.with { $0.accessObserver = { reports.append($0) } }
    }

    private var last: DatabaseAccessReport {
        get throws { try #require(reports.values.last) }
    }

    // MARK: Reports

    private func expectReport(
        _ number: Int, _ kind: DatabaseAccessReport.Kind, statements: Int, changes: Int, _ comment: Comment
    ) throws {
        let reports = reports.values
        #expect(reports.count == number, comment)
        let report = try #require(reports.last)
        #expect(report.kind == kind && report.statementCount == statements, comment)
        #expect(report.changedRowCount == changes && report.error == nil, comment)
        #expect(report.path == directory.path("players.db"))
        #expect(report.waited >= .zero && report.ran > .zero)
    }

    @Test("each access is reported once, with its kind and its statements", arguments: Access.allCases)
    func kinds(access: Access) throws {
        let writer = try directory.makePlayers(access, configuration)
        try expectReport(1, .write, statements: 1, changes: 0, "creation")
        try writer.write { try $0.insertPlayer() }
        try expectReport(2, .write, statements: 1, changes: 1, "write")
        #expect(try writer.read { try $0.playerCount() } == 1)
        try expectReport(3, .read, statements: 1, changes: 0, "read")
        try writer.writeWithoutTransaction { db in
            try db.inTransaction {
                for _ in 0..<3 { try db.insertPlayer() }
                return .commit
            }
        }
        try expectReport(4, .write, statements: 3, changes: 3, "write in its own transaction")
        try writer.write { db in try db.execute(sql: "DELETE FROM player WHERE id > 0") }
        try expectReport(5, .write, statements: 1, changes: 4, "deletion")
        writer.writeWithoutTransaction { _ in }
        try expectReport(6, .write, statements: 0, changes: 0, "nothing")
    }

    @Test("accesses of tasks and callbacks are reported", arguments: Access.allCases)
    func asynchronousKinds(access: Access) async throws {
        let writer = try directory.makePlayers(access, configuration)
        try await writer.write { db in
            for _ in 0..<3 { try db.insertPlayer() }
        }
        try expectReport(2, .write, statements: 3, changes: 3, "write")
        #expect(try await writer.read { try $0.playerCount() } == 3)
        try expectReport(3, .read, statements: 1, changes: 0, "read")
        writer.asyncWriteWithoutTransaction { db in try? db.insertPlayer() }
        #expect(await eventuallyAwaited { reports.values.count == 4 })
        try expectReport(4, .write, statements: 1, changes: 1, "later write")
    }

    @Test("the slowest statement is reported without values")
    func slowestStatement() throws {
        let queue = try directory.makePlayers(.queue, configuration)
        // A read, because a commit of a write waits for the disk.
        try queue.read { db in
            _ = try db.int("SELECT id FROM player WHERE name = ?", ["a secret name"])
            let slow =
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) "
                + "SELECT sum(i) FROM n"
            _ = try db.int(slow, [1_000_000])
            _ = try db.int("SELECT id FROM player WHERE name = ?", ["another secret"])
        }
        let report = try last
        let slowest = try #require(report.slowestStatement)
        #expect(slowest.sql.hasPrefix("WITH RECURSIVE"))
        #expect(slowest.duration > .zero && slowest.duration <= report.ran)
        #expect(report.statementCount == 3)
        #expect(!"\(report)".contains("secret"))
    }

    @Test("an error is reported, and accesses that did not begin are not", arguments: Access.allCases)
    func errors(access: Access) async throws {
        let writer = try directory.makePlayers(access, configuration)
        await #expect(throws: TestFailure.self) { try await writer.write { _ in throw TestFailure() } }
        #expect(try last.error is TestFailure)
        await #expect(throws: DatabaseError.self) { try await writer.read { try $0.insertPlayer() } }
        #expect(try last.error is DatabaseError && last.kind == .read)
        let count = reports.values.count
        let busy = BusyConnection.writing(writer)
        await #expect(throws: DatabaseWaitError.self) { try await writer.write(timeout: 0) { _ in } }
        #expect(reports.values.count == count)
        try busy.end()
        #expect(reports.values.count == count + 1)
    }

    @Test("the time that an access waits for its turn is reported", arguments: Access.allCases)
    func waiting(access: Access) async throws {
        let writer = try directory.makePlayers(access, configuration)
        let busy = BusyConnection.writing(writer)
        let task = Task { try await writer.write { try $0.insertPlayer() } }
        let job = Job { try writer.write { try $0.insertPlayer() } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 2 })
        try busy.end()
        try await task.value
        try job.value()
        let waits = reports.values.suffix(2).map(\.waited)
        #expect(waits.allSatisfy { $0 > .zero })
    }

    @Test("a nested access of a pool has its own report; a reentrant one is part of the outer access")
    func nesting() throws {
        let pool = try directory.makePlayersPool(configuration)
        try pool.write { db in
            try db.insertPlayer()
            #expect(try pool.read { try $0.playerCount() } == 0)
            try pool.unsafeReentrantWrite { try $0.insertPlayer() }
        }
        #expect(reports.values.suffix(2).map(\.kind) == [.read, .write])
        #expect(try last.statementCount == 2)
    }

    @Test("a database with an access observer can be rotated and closed", arguments: Access.allCases)
    func closing(access: Access) throws {
        let writer = try directory.makePlayers(access, configuration)
        try writer.write { try $0.insertPlayer() }
        try writer.rotateKey(to: .rawKey([UInt8](repeating: 1, count: 32)))
        #expect(try writer.read { try $0.playerCount() } == 1)
        try writer.close()
        #expect(directory.fileNames() == ["players.db"])
    }

    // MARK: Statistics

    @Test("the statistics count the accesses that were measured")
    func statistics() async throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.measuresAccesses = true })
        let before = pool.statistics
        for _ in 0..<10 { _ = try await pool.read { try $0.playerCount() } }
        for _ in 0..<3 { try await pool.write { try $0.insertPlayer() } }
        let after = pool.statistics
        let (reads, writes) = (try #require(after.reads), try #require(after.writes))
        #expect(reads.ran.count == 10 && reads.waited.count == 10)
        #expect(writes.ran.count - (before.writes?.ran.count ?? 0) == 3)
        #expect(reads.ran.sum > .zero && reads.ran.quantile(1) > .zero)
        #expect(after.cachedPageCount > before.cachedPageCount && after.readPageCount > 0)
        #expect(after.logByteCount > 0 && after.lastCheckpoint != nil)
        #expect(after.keyDerivationCount == 0)
    }

    @Test("nothing is measured by default")
    func unmeasured() throws {
        let pool = try directory.makePlayersPool()
        _ = try pool.read { try $0.playerCount() }
        let statistics = pool.statistics
        #expect(statistics.reads == nil && statistics.writes == nil)
        #expect(statistics.cachedPageCount == 0 && statistics.readPageCount == 0)
        #expect(pool.writer.timeOfRequest == nil)
    }

    @Test("a checkpoint changes the time of the last checkpoint, and a write does not")
    func checkpoints() throws {
        let pool = try directory.makePlayersPool()
        try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        // A time that no checkpoint has.
        let past = Date(timeIntervalSince1970: 1_000_000)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: pool.path)
        try pool.write { try $0.insertPlayer() }
        #expect(pool.statistics.lastCheckpoint == past && pool.statistics.logByteCount > 0)
        try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        #expect(try #require(pool.statistics.lastCheckpoint) > past && pool.statistics.logByteCount == 0)
    }

    @Test("a pool counts the keys that it has derived")
    func derivations() throws {
        let pool = try directory.makePool("p.db", .passphrase())
        _ = try pool.read { try $0.int("SELECT 1") }
        #expect(pool.statistics.keyDerivationCount == 1)
    }

    // MARK: Health

    @Test("the health of a working pool has no errors, and shows which key opened it")
    func health() async throws {
        try directory.makePlayersPool().close()
        let pool = try directory.makePool("players.db")
        let health = await pool.health()
        #expect(health.readError == nil && health.writeError == nil && health.usedKey == .current)
        #expect(try #require(health.freeByteCount) > 0)
        try pool.close()
        let closed = await pool.health()
        #expect((closed.readError as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        #expect((closed.writeError as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        let later = try directory.makePool(
            "players.db",
            .rawKeyed(3).with {
                $0.previousKeys = [2, 0x42].map { .rawKey([UInt8](repeating: $0, count: 32)) }
            })
        #expect(await later.health().usedKey == .previous(index: 1))
        try await later.rotateKey(to: .rawKey([UInt8](repeating: 3, count: 32)))
        #expect(await later.health().usedKey == .current)
        let plain = try directory.makePool("plain.db", Configuration().with { $0.allowsPlaintext = true })
        #expect(await plain.health().usedKey == .none)
    }

    @Test("a busy, a locked and a read-only pool cannot write")
    func unhealthy() async throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.maximumReaderCount = 1 })
        let busy = [BusyConnection.writing(pool), .reading(pool)]
        let health = await pool.health(timeout: 0.01)
        #expect((health.readError as? DatabaseWaitError)?.resource == .reader)
        #expect((health.writeError as? DatabaseWaitError)?.resource == .writer)
        for access in busy { try access.end() }
        let other = try directory.makeQueue("players.db")
        try await other.writeWithoutTransaction { db in
            try db.beginTransaction(.immediate)
            let gate = Gate()
            let error = Notes<(any Error)?>()
            Task.detached {
                error.append(await pool.health().writeError)
                gate.open()
            }
            gate.pass()
            #expect((error.values.first as? DatabaseError)?.resultCode == .SQLITE_BUSY)
            try db.rollback()
        }
        let reader = try directory.makePool("players.db", .rawKeyed.with { $0.readonly = true })
        let readOnly = await reader.health()
        #expect(readOnly.readError == nil)
        #expect((readOnly.writeError as? DatabaseError)?.resultCode == .SQLITE_READONLY)
    }
}
