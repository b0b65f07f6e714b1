import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Cancelled tasks", .timeLimit(.minutes(Patience.minutes)))
struct CancellationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// A query that produces one row for every million numbers, so neither a cursor nor a table makes much
    /// progress. It ends on its own after many minutes: on a busy machine, a cancellation may arrive late,
    /// and a lost one must fail the test rather than hang it.
    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000000000) SELECT i FROM n WHERE i % 1000000 = 1"

    private func make(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access, "a.db", .rawKeyed.with { $0.maximumReaderCount = 1 })
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        return writer
    }

    private func expectUsable(_ writer: any DatabaseWriter, count: Int = 0) async throws {
        #expect(try writer.int("SELECT count(*) FROM t") == count)
        try await writer.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(try writer.int("SELECT count(*) FROM t") == count + 1)
    }

    @Test("a task that is cancelled already does nothing", arguments: Access.allCases)
    func before(access: Access) async throws {
        let writer = try make(access)
        let task = Task {
            cancelCurrentTask()
            try await writer.write { try $0.execute(sql: "INSERT INTO t VALUES (0)") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let reading = Task {
            cancelCurrentTask()
            return try await writer.read { try Int.fetchOne($0, sql: "SELECT 1") }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        try await expectUsable(writer)
    }

    @Test("a long read ends with CancellationError", arguments: Access.allCases)
    func longRead(access: Access) async throws {
        let writer = try make(access)
        let (isRunning, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            defer { signal.finish() }
            try await writer.read { db in
                let cursor = try Int.fetchCursor(db, sql: CancellationTests.endless)
                while let value = try cursor.next() { if value == 1 { signal.yield() } }
            }
        }
        for await _ in isRunning { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(writer)
    }

    @Test("a long write ends with CancellationError and is rolled back", arguments: Access.allCases)
    func longWrite(access: Access) async throws {
        let writer = try make(access)
        let (isRunning, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            defer { signal.finish() }
            try await writer.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (0)")
                signal.yield()
                try db.execute(sql: "INSERT INTO t \(CancellationTests.endless)")
            }
        }
        for await _ in isRunning { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(writer)
    }

    @Test(
        "a transaction that is cancelled between its statements is rolled back, also when it catches the error",
        arguments: Access.allCases)
    func betweenStatements(access: Access) async throws {
        let writer = try make(access)
        let task = Task {
            try await writer.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (0)")
                cancelCurrentTask()
                #expect(throws: CancellationError.self) { try db.execute(sql: "INSERT INTO t VALUES (0)") }
                #expect(throws: CancellationError.self) { try Int.fetchOne(db, sql: "SELECT 1") }
                #expect(throws: CancellationError.self) { try db.inSavepoint { .commit } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(writer)
    }

    @Test("a task that is cancelled while it waits for its turn never starts", arguments: Access.allCases)
    func waiting(access: Access) async throws {
        let writer = try make(access)
        let mayEnd = DispatchSemaphore(value: 0)
        let (isRunning, signal) = AsyncStream<Void>.makeStream()
        let block: @Sendable () -> Void = {
            signal.yield()
            // Two accesses of a pool are waiting, and each is released once.
            if mayEnd.wait(timeout: .now() + Patience.seconds) == .timedOut {
                Issue.record("The accesses were not let go.")
            }
        }
        writer.asyncWriteWithoutTransaction { _ in block() }
        if access == .pool { writer.asyncRead { _ in block() } }
        var started = 0
        for await _ in isRunning {
            started += 1
            if started == (access == .pool ? 2 : 1) { break }
        }
        let tasks = (0..<10).map { index in
            Task {
                if index.isMultiple(of: 2) {
                    try await writer.write { try $0.execute(sql: "INSERT INTO t VALUES (0)") }
                } else {
                    _ = try await writer.read { try Int.fetchOne($0, sql: "SELECT 1") }
                }
            }
        }
        for task in tasks { task.cancel() }
        mayEnd.signal()
        mayEnd.signal()
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await expectUsable(writer)
    }

    @Test("a cancellation never hits the access of another task", arguments: Access.allCases)
    func others(access: Access) async throws {
        let writer = try make(access)
        for _ in 0..<100 {
            let cancelled = Task {
                try await writer.write { try $0.execute(sql: "INSERT INTO t VALUES (0); DELETE FROM t") }
            }
            async let other: Int? = writer.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (0); DELETE FROM t")
                return try Int.fetchOne(db, sql: "SELECT 7")
            }
            cancelled.cancel()
            _ = try? await cancelled.value
            #expect(try await other == 7)
        }
        try await expectUsable(writer)
    }

    @Test("cancelling after the end has no effect")
    func after() async throws {
        let writer = try make(.queue)
        let task = Task { try await writer.write { try $0.execute(sql: "INSERT INTO t VALUES (0)") } }
        try await task.value
        task.cancel()
        try await expectUsable(writer, count: 1)
    }
}

private func cancelCurrentTask() {
    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
}
