import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// The last check of a rotation in use: no commit may be missed between the last state that was read and the
/// lock on the file.
@Suite("The end of a log that others write to")
struct LogHistoryTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Returns the state of the log according to its index.
    private func state(_ queue: DatabaseQueue) throws -> LogState {
        try queue.writeWithoutTransaction { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            return try db.handle.logState().state
        }
    }

    private func write(_ queue: DatabaseQueue) throws {
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (randomblob(3000))") }
    }

    private func checkpoint(_ queue: DatabaseQueue, _ mode: Database.CheckpointMode) throws {
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(mode) }
    }

    private func makeQueue() throws -> DatabaseQueue {
        try directory.makeQueue("a.db", .rawKeyed.with { $0.journalMode = .wal })
    }

    /// How the log is emptied before the history begins.
    enum Emptying: CaseIterable {
        case truncated, restarted, new
    }

    /// Makes a log without frames, a history of its state, and a connection that has never begun a log.
    private func makeEmptyLog(_ emptying: Emptying) throws -> (
        first: DatabaseQueue, second: DatabaseQueue, history: LogHistory
    ) {
        let first = try makeQueue()
        try first.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        switch emptying {
        case .truncated: try checkpoint(first, .truncate)
        case .restarted:
            try checkpoint(first, .restart)
            // This restarts the log in the index only.
            try first.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    return .rollback
                }
            }
        case .new:
            try checkpoint(first, .truncate)
            try write(first)
            try first.close()
            let first = try makeQueue()
            return (first, try makeQueue(), try history(of: first))
        }
        return (first, try makeQueue(), try history(of: first))
    }

    private func history(of queue: DatabaseQueue) throws -> LogHistory {
        let history = try LogHistory(path: queue.path)
        _ = try history.advance(to: state(queue))
        return history
    }

    @Test("a log without a commit is complete", arguments: Emptying.allCases)
    func complete(emptying: Emptying) throws {
        let (first, second, history) = try makeEmptyLog(emptying)
        let start = try history.start()
        try history.checkIsComplete(since: start)
        _ = try (state(first), state(second))
        try history.checkIsComplete(since: start)
    }

    @Test(
        "a commit is found even if the log's header is read before the commit is in the index",
        arguments: Emptying.allCases, [false, true])
    func headerBeforeIndex(emptying: Emptying, isBySecond: Bool) throws {
        let (first, second, history) = try makeEmptyLog(emptying)
        // SQLite writes and syncs the header before the commit is in the index. Until then, the state is
        // the one of the history.
        try write(isBySecond ? second : first)
        let error = #expect(throws: DatabaseFileError.self) {
            try history.checkIsComplete(since: history.start())
        }
        #expect(error?.reason == .busy([]))
    }

    @Test("a commit after the header was read is found", arguments: Emptying.allCases)
    func laterCommit(emptying: Emptying) throws {
        let (_, second, history) = try makeEmptyLog(emptying)
        let start = try history.start()
        try write(second)
        #expect(throws: DatabaseFileError.self) { try history.checkIsComplete(since: start) }
    }

    @Test("a log that has replaced the opened one is followed from the pinned state on")
    func replacedLog() throws {
        let queue = try makeQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        // A rotation cannot tell an empty log that was removed from one without commits.
        try checkpoint(queue, .truncate)
        let history = try LogHistory(path: queue.path)
        try queue.writeWithoutTransaction { (db) throws in
            for mode in ["delete", "wal"] {
                #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)") == mode)
            }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 0)
        }
        let protection = try #require(try queue.writeWithoutTransaction { try $0.knownProtection() })
        let pin = try PinnedState(queue.path, protection, timeout: 0)
        try history.begin(at: pin)
        let start = try history.start()
        try write(queue)
        let error = #expect(throws: DatabaseFileError.self) { try history.checkIsComplete(since: start) }
        #expect(error?.reason == .busy([]))
        withExtendedLifetime(pin.state) {}
    }

    @Test("a database that another operation switched to another journal mode is busy")
    func withoutLog() throws {
        let queue = try directory.makeQueue("a.db", .rawKeyed)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let error = #expect(throws: DatabaseFileError.self) { try LogHistory(path: queue.path) }
        #expect(error?.reason == .busy([]))
    }

    @Test("a commit is found in a log with frames, and in the log after a restart")
    func logWithFrames() throws {
        let first = try makeQueue()
        try first.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let second = try makeQueue()
        for restarts in [false, true] {
            let history = try history(of: first)
            let start = try history.start()
            try history.checkIsComplete(since: start)
            if restarts { try checkpoint(second, .restart) }
            try write(second)
            #expect(throws: DatabaseFileError.self) { try history.checkIsComplete(since: start) }
            #expect(throws: DatabaseFileError.self) { try history.checkIsComplete(since: history.start()) }
        }
    }
}
