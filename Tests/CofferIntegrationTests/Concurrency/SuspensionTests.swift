import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// The notifications reach every database of the process that observes them. No other suite creates such a
/// database.
@Suite("Suspension", .serialized)
struct SuspensionTests {
    let directory: TestDirectory
    private let configuration = Configuration.rawKeyed.with { $0.observesSuspensionNotifications = true }

    init() throws { directory = try TestDirectory() }

    private func suspend() {
        NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
    }
    private func resume() { NotificationCenter.default.post(name: Database.resumeNotification, object: nil) }

    @Test(
        "a suspended database refuses to write, and writes again once it is resumed",
        arguments: Access.allCases)
    func writes(access: Access) throws {
        let writer = try directory.makePlayers(access, configuration)
        suspend()
        #expect { try writer.write { try $0.insertPlayer() } } throws: { isSuspension($0) }
        #expect { try writer.writeWithoutTransaction { try $0.insertPlayer() } } throws: { isSuspension($0) }
        resume()
        try writer.write { try $0.insertPlayer() }
        #expect(try writer.read { try $0.playerCount() } == 1)
    }

    @Test(
        "reads continue in WAL mode; in other modes they would lock, and are refused",
        arguments: Access.allCases)
    func reads(access: Access) throws {
        let writer = try directory.makePlayers(access, configuration)
        suspend()
        defer { resume() }
        if access == .pool {
            #expect(try writer.read { try $0.playerCount() } == 0)
            #expect(try writer.writeWithoutTransaction { try $0.playerCount() } == 0)
        } else {
            #expect { try writer.read { try $0.playerCount() } } throws: { isSuspension($0) }
        }
    }

    /// Inserts a player after the first value of an observation, and verifies both values.
    private func checkValues(in log: ValueLog<Int>, of writer: any DatabaseWriter) async throws {
        await log.values(upTo: 0)
        try await writer.write { try $0.insertPlayer() }
        #expect(await log.values(upTo: 1) == [0, 1])
        #expect(log.error == nil)
    }

    @Test(
        "an observation of a suspended database has its values once it is resumed", arguments: Access.allCases
    )
    func observation(access: Access) async throws {
        let writer = try directory.makePlayers(access, configuration)
        let log = ValueLog<Int>()
        suspend()
        let cancellable = ValueObservation.tracking { try $0.playerCount() }
            .start(in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        if access == .queue {
            try await writer.unsafeRead { _ in }
            #expect(log.values.isEmpty)
        }
        resume()
        try await checkValues(in: log, of: writer)
        cancellable.cancel()
    }

    @Test(
        "an observation whose fetch was interrupted by a suspension that has already ended fetches again",
        arguments: Access.allCases)
    func observationAfterShortSuspension(access: Access) async throws {
        let writer = try directory.makePlayers(access, configuration)
        let log = ValueLog<Int>(), isFirst = Mutex(true)
        var observation = ValueObservation.tracking { db in
            guard isFirst.withLock({ exchange(&$0, with: false) }) else { return try db.playerCount() }
            // The suspension begins during a statement, and has ended before its error is reported.
            db.add(
                function: DatabaseFunction("suspend", argumentCount: 0) { _ in
                    suspend()
                    resume()
                    return 0
                })
            let endless =
                "WITH RECURSIVE n(i) AS (SELECT suspend() UNION ALL SELECT 1 FROM n) SELECT sum(i) FROM n"
            return try db.int(endless) ?? -1
        }
        // Notifications have no effect on the readers of a pool.
        observation.requiresWriteAccess = access == .pool
        let cancellable = observation.start(
            in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        try await checkValues(in: log, of: writer)
        cancellable.cancel()
    }

    @Test(
        "an observation that was refused by a suspension that has already ended fetches again",
        arguments: Access.allCases)
    func observationAfterRefusal(access: Access) async throws {
        let writer = try directory.makePlayers(access, configuration)
        let log = ValueLog<Int>(), isFirst = Mutex(true)
        var observation = ValueObservation.tracking { db in
            guard isFirst.withLock({ exchange(&$0, with: false) }) else { return try db.playerCount() }
            suspend()
            defer { resume() }
            try db.insertPlayer()
            return -1
        }
        observation.requiresWriteAccess = true
        let cancellable = observation.start(
            in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        #expect(await log.values(upTo: 0) == [0])
        #expect(log.error == nil)
        cancellable.cancel()
    }

    @Test("a queue in WAL mode continues to read")
    func queueInWALMode() throws {
        let queue = try directory.makePlayers(.queue, configuration.with { $0.journalMode = .wal })
        suspend()
        defer { resume() }
        #expect(try queue.read { try $0.playerCount() } == 0)
        #expect { try queue.write { try $0.insertPlayer() } } throws: { isSuspension($0) }
    }

    @Test("an open transaction that writes is rolled back", arguments: Access.allCases)
    func openTransaction(access: Access) throws {
        let writer = try directory.makePlayers(access, configuration)
        #expect {
            try writer.write { db in
                try db.insertPlayer()
                suspend()
                do {
                    try db.insertPlayer()
                    Issue.record("A suspended database has written")
                } catch {
                    #expect(isSuspension(error))
                }
                #expect(!db.isInsideTransaction)
                try db.insertPlayer()
            }
        } throws: {
            isError(.SQLITE_ABORT)($0)
        }
        resume()
        #expect(try writer.read { try $0.playerCount() } == 0)
    }

    @Test(
        "a transaction that has run its last statement is committed, which releases its lock",
        arguments: Access.allCases)
    func finishedTransaction(access: Access) throws {
        let writer = try directory.makePlayers(access, configuration)
        try writer.write { db in
            try db.insertPlayer()
            suspend()
            // In WAL mode, a statement that only reads takes no lock.
            if access == .pool { #expect(try db.playerCount() == 1) }
        }
        resume()
        #expect(try writer.read { try $0.playerCount() } == 1)
        try writer.write { db in
            try db.inSavepoint {
                try db.insertPlayer()
                suspend()
                return .rollback
            }
        }
        resume()
        #expect(try writer.read { try $0.playerCount() } == 1)
    }

    @Test("the running statement is interrupted")
    func runningStatement() throws {
        let pool = try directory.makePlayers(.pool, configuration)
        let hasBegun = Gate()
        let job = Job {
            try pool.write { db in
                try db.insertPlayer()
                hasBegun.open()
                _ = try db.int(endlessQuery)
            }
        }
        hasBegun.pass()
        _ = eventually {
            suspend()
            return job.isDone
        }
        #expect { try job.value() } throws: { isError(.SQLITE_INTERRUPT)($0) || isError(.SQLITE_ABORT)($0) }
        resume()
        #expect(try pool.read { try $0.playerCount() } == 0)
    }

    @Test("a transaction left open between accesses is rolled back at once")
    func leftTransaction() throws {
        let writer = try directory.makePlayers(
            .queue, configuration.with { $0.allowsUnsafeTransactions = true })
        try writer.writeWithoutTransaction { db in
            try db.beginTransaction()
            try db.insertPlayer()
        }
        suspend()
        writer.unsafeReentrantWrite { #expect(!$0.isInsideTransaction) }
        resume()
        #expect(try writer.read { try $0.playerCount() } == 0)
    }

    @Test("databases that do not observe the notifications take no notice", arguments: Access.allCases)
    func notObserving(access: Access) throws {
        let writer = try directory.makePlayers(access)
        suspend()
        defer { resume() }
        try writer.write { try $0.insertPlayer() }
    }

    private func isSuspension(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_ABORT
            && (error as? DatabaseError)?.message == "Database is suspended"
    }
}
