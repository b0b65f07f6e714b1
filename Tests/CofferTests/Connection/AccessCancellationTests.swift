import CofferTestSupport
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The cancellation of an access")
struct AccessCancellationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("also interrupts a statement that was about to begin")
    func beginning() throws {
        let queue = try directory.makeQueue()
        queue.inDatabase { db in
            let cancellation = AccessCancellation()
            #expect(cancellation.begin(db.sharedState))
            cancellation.cancel()
            #expect(cancellation.isCancelled)
            defer { cancellation.end(db.sharedState) }
            // As if the check before the statement had come before the cancellation. The engine forgets an
            // interruption when it begins a statement and no other is running. Counting takes seconds.
            let error = #expect(throws: EngineError.self) {
                try db.handle.execute(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000000)
                    SELECT count(*) FROM n
                    """)
            }
            #expect(error?.primaryCode == EngineCode.interrupt)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }

    @Test("has no effect on a checkpoint of a later access")
    func checkpoint() throws {
        let pool = try directory.makePool()
        try pool.write { db in try db.execute(sql: "CREATE TABLE t(x)") }
        // The connection is idle, as after an access that was cancelled behind its last statement.
        pool.interrupt()
        try pool.writeWithoutTransaction { db in
            let frameCount = try db.checkpoint(.truncate).walFrameCount
            #expect(frameCount == 0)
        }
    }

    @Test("waits for an operation that must not be interrupted")
    func uninterrupted() throws {
        try directory.makeQueue().inDatabase { db in
            let cancellation = AccessCancellation()
            #expect(cancellation.begin(db.sharedState))
            defer { cancellation.end(db.sharedState) }
            try db.withoutInterruption {
                cancellation.cancel()
                // Takes several times as long as the time between two interruptions.
                let sql = """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
                    SELECT count(*) FROM n
                    """
                let count = try Int.fetchOne(db, sql: sql)
                #expect(count == 1_000_000)
            }
            #expect(throws: CancellationError.self) { try Int.fetchOne(db, sql: "SELECT 1") }
        }
    }

    @Test("of a task does not end the statements of observers, but closing the connection does")
    func observers() throws {
        try directory.makeQueue().inDatabase { db in
            let cancellation = AccessCancellation()
            #expect(cancellation.begin(db.sharedState))
            defer { cancellation.end(db.sharedState) }
            cancellation.cancel()
            try db.withoutCancellationOfTask {
                let sql = """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
                    SELECT count(*) FROM n
                    """
                let count = try Int.fetchOne(db, sql: sql)
                #expect(count == 1_000_000)
                db.sharedState.cancel(.ofConnection)
                defer { db.sharedState.endCancellation(.ofConnection) }
                #expect(throws: CancellationError.self) { try Int.fetchOne(db, sql: "SELECT 1") }
            }
            #expect(throws: CancellationError.self) { try Int.fetchOne(db, sql: "SELECT 1") }
        }
    }

    @Test("an access interrupted because its connection is closing throws CancellationError")
    func closing() async throws {
        let queue = try directory.makeQueue()
        await #expect(throws: CancellationError.self) {
            try await queue.writeWithoutTransaction { db in
                db.sharedState.cancel(.ofConnection)
                throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
            }
        }
    }

    @Test("a rotation interrupted because its connection is closing throws CancellationError")
    func rotation() throws {
        let pool = try directory.makePool()
        try pool.writeWithoutTransaction { db in
            // An interruption lasts while a statement is between two of its rows.
            let cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
            #expect(try cursor.next() == 1)
            db.sharedState.cancel(.ofConnection)
            defer { db.sharedState.endCancellation(.ofConnection) }
            db.sharedState.interrupt()
            #expect(throws: CancellationError.self) { _ = try db.planLiveKeyChange(to: .random()) }
            withExtendedLifetime(cursor) {}
        }
    }

    @Test(
        "a cancelled file operation throws CancellationError, unless its result is published",
        arguments: [false, true])
    func fileOperation(isPublished: Bool) async throws {
        let queue = try directory.makeQueue()
        let task = Task {
            try await queue.writeWithoutTransaction { db in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                var error = DatabaseFileError(.engine(.SQLITE_INTERRUPT, "interrupted"), path: db.path)
                error.isPublished = isPublished
                throw error
            }
        }
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error is CancellationError == !isPublished)
    }
}
