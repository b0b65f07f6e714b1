import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// The configurations wait for an hour, longer than any test may take.
@Suite("A cancelled wait for the lock of another connection", .timeLimit(.minutes(2)))
struct CancelledLockWaitTests {
    enum Mode: CaseIterable {
        case timeout, endlessTimeout, callback, pragma
    }

    let directory: TestDirectory
    let owner: DatabaseQueue

    init() throws {
        directory = try TestDirectory()
        var configuration = Configuration.rawKeyed
        configuration.allowsUnsafeTransactions = true
        owner = try directory.makeQueue("a.db", configuration)
        try owner.write { db in try db.execute(sql: "CREATE TABLE t(x)") }
    }

    /// Returns a queue that waits for locks, and calls `begin` when it begins to wait, or is about to.
    private func makeWaiting(_ mode: Mode, begin: @escaping @Sendable () -> Void) throws -> DatabaseQueue {
        var configuration = Configuration.rawKeyed
        switch mode {
        case .timeout: configuration.busyMode = .timeout(3600)
        case .endlessTimeout: configuration.busyMode = .timeout(.infinity)
        case .callback:
            configuration.busyMode = .callback { _ in
                begin()
                Thread.sleep(forTimeInterval: 0.001)
                return true
            }
        case .pragma: break
        }
        let queue = try directory.makeQueue("a.db", configuration)
        queue.inDatabase { db in
            if mode == .pragma { try? db.execute(sql: "PRAGMA busy_timeout = 3600000") }
            db.trace { _ in begin() }
        }
        return queue
    }

    /// Runs `body` while another connection keeps everybody else out of the file.
    private func whileLocked(_ body: () async throws -> Void) async throws {
        try owner.inDatabase { db in try db.execute(sql: "BEGIN EXCLUSIVE") }
        try await body()
        try owner.inDatabase { db in try db.execute(sql: "ROLLBACK") }
    }

    @Test("ends without changing anything", arguments: Mode.allCases, [false, true])
    func cancelled(mode: Mode, reads: Bool) async throws {
        let (beginnings, continuation) = AsyncStream.makeStream(of: Void.self)
        let queue = try makeWaiting(mode) { continuation.yield() }
        try await whileLocked {
            let task = Task {
                if reads {
                    _ = try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                } else {
                    try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
                }
            }
            for await _ in beginnings { break }
            // Give the statement the time to get from its beginning to its first pause.
            try await Task.sleep(for: .milliseconds(20))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try await queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try await owner.read { try Int.fetchAll($0, sql: "SELECT x FROM t") } == [2])
        try queue.close()
    }

    @Test("ends when the database is closed, without waiting for the grace period")
    func closed() async throws {
        let (beginnings, continuation) = AsyncStream.makeStream(of: Void.self)
        let queue = try makeWaiting(.timeout) { continuation.yield() }
        try await whileLocked {
            let task = Task { try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") } }
            for await _ in beginnings { break }
            try await queue.close(within: .milliseconds(20), grace: .seconds(3600))
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("does not end the wait of another access, nor of an operation that must complete")
    func others() throws {
        let queue = try makeWaiting(.timeout) {}
        let otherQueue = try directory.makeQueue("b.db")
        queue.inDatabase { db in
            db.sharedState.cancel(.ofTask)
            defer { db.sharedState.endCancellation(.ofTask) }
            #expect(LockWait.isStopped)
            db.withoutInterruption { #expect(!LockWait.isStopped) }
            db.sharedState.cancel(.ofConnection)
            db.sharedState.endCancellation(.ofConnection)
            #expect(LockWait.isStopped)
            // The synchronous access of another database may wait, whatever the access around it does.
            otherQueue.inDatabase { _ in #expect(!LockWait.isStopped) }
            #expect(LockWait.isStopped)
            let other = Thread { #expect(!LockWait.isStopped) }
            other.start()
            while !other.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        }
        #expect(!LockWait.isStopped)
    }
}
