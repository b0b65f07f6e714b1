import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer
@testable import SQLCipherBridge

/// Another process that acts between the steps of a replacement loses no commit that was reported to it.
@Suite("The lock on a file that is about to be replaced")
struct SourceLockTests {
    let directory: TestDirectory
    private var path: String { directory.path("players.db") }

    init() throws { directory = try TestDirectory() }

    enum Work: CaseIterable {
        case rotate, vacuum, decrypt, rotateQueue, rotatePool
    }

    private func makePlayers() throws {
        let queue = try directory.makeQueue("players.db")
        try queue.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
        try queue.close()
    }

    private func count(_ writer: any DatabaseReader) throws -> Int {
        try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM player") } ?? -1
    }

    /// Does the work on a file whose pool or queue is open, or on a closed file.
    private func run(_ work: Work, _ during: @escaping @Sendable (FailPoint) -> Void) throws
        -> DatabaseFileError.Reason?
    {
        let file = DatabaseFile(path: path)
        return try FailPoint.$passing.withValue(during) {
            switch work {
            case .rotate: return reason { try file.rotate(from: Keys.old, to: Keys.new) }
            case .vacuum: return reason { try file.vacuum(key: Keys.old) }
            case .decrypt:
                return reason {
                    try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone)
                }
            case .rotateQueue, .rotatePool:
                let writer = try directory.make(work == .rotatePool ? .pool : .queue, "players.db")
                let reason = reason { try writer.rotateKey(to: Keys.new) }
                #expect(try count(writer) == 0)
                try writer.close()
                return reason
            }
        }
    }

    @Test(
        "if a process sets WAL mode at the last moment, the replacement is busy and no commit is lost",
        arguments: Work.allCases, [FailPoint.alone, .cleared])
    func walAtTheLastMoment(work: Work, point: FailPoint) throws {
        try makePlayers()
        let other = Mutex<OtherProcess?>(nil)
        let path = path
        let reason = try run(work) { passed in
            guard passed == point, other.withLock({ $0 == nil }) else { return }
            do {
                // Its WAL is empty, because it has only read.
                let process = try OtherProcess(path: path, .pool)
                #expect(try process.tell("count") == "0")
                other.withLock { $0 = process }
            } catch {
                Issue.record(error)
            }
        }
        guard case .busy? = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        let process = try #require(other.withLock { $0 })
        #expect(directory.fileNames() == ["players.db", "players.db-shm", "players.db-wal"])
        // The next connection sees a commit that it makes now.
        #expect(try process.tell("insert") == "done")
        let queue = try directory.makeQueue("players.db")
        #expect(try count(queue) == 1)
        #expect(try process.tell("count") == "1")
        try queue.close()
        other.withLock { $0 = nil }
        #expect(directory.fileNames().contains("players.db"))
        #expect(try DatabaseFile(path: path).verify(key: Keys.old).isIntact)
    }

    private func job() -> ReplacementJob {
        let protection = FileProtection.plaintext
        let change = FileChange(path: path, before: protection, after: protection)
        return ReplacementJob(
            operation: .vacuum, change: change, method: PageCopy(threadCount: 1))
    }

    /// Opens a separate connection to a plaintext file, without the library's queue.
    private func open(_ mode: String) throws -> EngineConnection {
        let connection = try EngineConnection(path: path, flags: [.readWrite, .create])
        _ = try connection.handle.firstText(trusted: "PRAGMA journal_mode = \(mode)")
        try connection.handle.execute("CREATE TABLE IF NOT EXISTS t (a)")
        return connection
    }

    @Test(
        "a file in WAL mode is busy, and no side file is removed",
        arguments: [SourceLock.Level.reserved, .exclusive])
    func refusesWAL(level: SourceLock.Level) throws {
        let connection = try open("wal")
        do {
            _ = try SourceLock.begin(level, connection.handle, job())
            Issue.record("it was given")
        } catch let error as EngineError {
            #expect(error.primaryCode == EngineCode.busy)
        }
        #expect(connection.handle.isAutocommit)
        #expect(directory.fileNames() == ["players.db", "players.db-shm", "players.db-wal"])
    }

    @Test("side files are removed only while the exclusive lock is held")
    func removesUnderExclusiveLock() throws {
        let connection = try open("persist")
        try connection.handle.execute("INSERT INTO t VALUES (1)")
        try directory.write([], to: "players.db-wal")
        let all = ["players.db", "players.db-journal", "players.db-wal"]
        #expect(directory.fileNames() == all)
        do {
            let lock = try SourceLock.begin(.reserved, connection.handle, job())
            #expect(throws: EngineError.self) { try lock.removeSideFiles() }
        }
        #expect(directory.fileNames() == all && connection.handle.isAutocommit)
        let lock = try SourceLock.begin(.exclusive, connection.handle, job())
        // Another program has ended the transaction without the lock's knowledge.
        try connection.handle.execute("COMMIT")
        #expect(throws: EngineError.self) { try lock.removeSideFiles() }
        #expect(directory.fileNames() == all)
        try connection.handle.execute("BEGIN EXCLUSIVE")
        try lock.removeSideFiles()
        try lock.checkHasNoSideFiles()
        try lock.end()
        #expect(directory.fileNames() == ["players.db"])
    }

    @Test("a journal that a reader may still have open is not removed")
    func keepsJournalOfReader() throws {
        let reader = try open("persist")
        try reader.handle.execute("INSERT INTO t VALUES (1)")
        let other = try EngineConnection(path: path, flags: .readWrite)
        try reader.handle.execute("BEGIN")
        _ = try reader.handle.firstText(trusted: "SELECT a FROM t")
        do {
            _ = try SourceLock.begin(.exclusive, other.handle, job())
            Issue.record("it was given")
        } catch let error as EngineError {
            #expect(error.primaryCode == EngineCode.busy)
        }
        #expect(directory.fileNames() == ["players.db", "players.db-journal"])
        try reader.handle.execute("COMMIT")
    }

    @Test("a log with content is never removed")
    func keepsLogWithContent() throws {
        let connection = try open("delete")
        let lock = try SourceLock.begin(.exclusive, connection.handle, job())
        try directory.write([1, 2, 3], to: "players.db-wal")
        #expect(reason { try lock.removeSideFiles() } == .busy([]))
        #expect(throws: DatabaseFileError.self) { try lock.checkHasNoSideFiles() }
        #expect(directory.fileNames() == ["players.db", "players.db-wal"])
        try lock.end()
    }
}
