import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// Opening and closing in tasks. No test measures a time.
@Suite("Opening and closing in tasks", .timeLimit(.minutes(Patience.minutes)))
struct ClosingTests {
    private let directory: TestDirectory
    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT sum(i) FROM n"

    init() throws { directory = try TestDirectory() }

    private func isMisuse(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return isError(.SQLITE_MISUSE)(error)
        }
    }

    // MARK: Opening

    @Test("a task opens a queue or a pool", arguments: Access.allCases)
    func opening(access: Access) async throws {
        let path = directory.path("players.db")
        let writer: any DatabaseWriter =
            switch access {
            case .queue: try await DatabaseQueue.open(path: path, configuration: .rawKeyed)
            case .pool: try await DatabasePool.open(path: path, configuration: .rawKeyed)
            }
        try await writer.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
        try writer.close()
        let error = await #expect(throws: DatabaseError.self) {
            switch access {
            case .queue: _ = try await DatabaseQueue.open(path: path, configuration: .rawKeyed(1))
            case .pool: _ = try await DatabasePool.open(path: path, configuration: .rawKeyed(1))
            }
        }
        #expect(error?.encryptionFailure == .wrongKey)
    }

    @Test("a task that is cancelled before it opens a file creates none")
    func cancelledOpening() async throws {
        let path = directory.path("players.db")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await DatabasePool.open(path: path, configuration: .rawKeyed)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(directory.fileNames().isEmpty)
    }

    @Test("a task that is cancelled while it opens a file closes it again")
    func cancelledInOpening() async throws {
        let path = directory.path("players.db")
        let (isAsked, mayAnswer) = (Gate(), Gate())
        let key = DatabaseKey.provider {
            isAsked.open()
            mayAnswer.pass()
            return .rawKey([UInt8](repeating: 0x42, count: 32))
        }
        let task = Task {
            _ = try await DatabasePool.open(path: path, configuration: .rawKeyed.with { $0.key = key })
        }
        await Task.detached { isAsked.pass() }.value
        task.cancel()
        mayAnswer.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(directory.fileNames() == ["players.db"])
    }

    @Test("slow openings do not block other tasks")
    func blockedOpenings() async throws {
        let count = 3 * ProcessInfo.processInfo.activeProcessorCount + 8
        let (asked, mayAnswer) = (Notes<Void>(), Gate())
        let key = DatabaseKey.provider {
            asked.append(())
            mayAnswer.pass()
            return .rawKey([UInt8](repeating: 0x42, count: 32))
        }
        let paths = (0..<count).map { directory.path("\($0).db") }
        let tasks = paths.map { path in
            Task { try await DatabasePool.open(path: path, configuration: .rawKeyed.with { $0.key = key }) }
        }
        // This task runs although all openings are blocked.
        #expect(await eventuallyAwaited { asked.values.count == count })
        mayAnswer.open()
        for task in tasks { try await task.value.close(within: nil) }
    }

    // MARK: Closing

    @Test("closing checkpoints the log, and later accesses throw", arguments: Access.allCases)
    func closing(access: Access) async throws {
        let limits: [Duration?] = [nil, .seconds(1000), .seconds(Int64.max), .zero, .seconds(-1)]
        for (number, limit) in limits.enumerated() {
            let writer = try directory.make(access, "\(number).db")
            try await writer.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
            try await writer.close(within: limit)
            #expect(isMisuse { try writer.read { _ in } })
            #expect(isMisuse { try writer.write { _ in } })
            // Closing again does nothing.
            try await writer.close(within: limit)
        }
        #expect(directory.fileNames() == (0..<limits.count).map { "\($0).db" })
    }

    @Test("closing waits for an access that ends in time", arguments: Access.allCases)
    func patience(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let busy = BusyConnection.writing(writer)
        let closing = Task { try await writer.close(within: .seconds(1000)) }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 1 })
        #expect(busy.isBusy)
        try busy.end()
        try await closing.value
        #expect(try await directory.make(access, "players.db").read { try $0.playerCount() } == 1)
    }

    @Test(
        "R20: accesses that do not end in time are cancelled, and their changes are rolled back",
        arguments: Access.allCases, [Duration.zero, .seconds(-3), .milliseconds(30)])
    func force(access: Access, limit: Duration) async throws {
        let writer = try directory.makePlayers(access)
        let hasWritten = Gate()
        let write = Task {
            try await writer.write { db in
                try db.insertPlayer()
                hasWritten.open()
                _ = try db.int(Self.endless)
            }
        }
        await Task.detached { hasWritten.pass() }.value
        let waiting = (0..<1000).map { _ in Task { try await writer.write { try $0.insertPlayer() } } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == waiting.count })
        var read: Job<Void>?
        if access == .pool {
            let hasBegun = Gate()
            read = Job {
                try writer.read { db in
                    hasBegun.open()
                    _ = try db.int(Self.endless)
                }
            }
            await Task.detached { hasBegun.pass() }.value
        }
        try await writer.close(within: limit, grace: .seconds(Int64(Patience.seconds)))
        await #expect(throws: CancellationError.self) { try await write.value }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
        if let read { #expect(throws: CancellationError.self) { try read.value() } }
        #expect(isMisuse { try writer.write { _ in } })
        #expect(directory.fileNames() == ["players.db"])
        #expect(try await directory.make(access, "players.db").read { try $0.playerCount() } == 0)
    }

    @Test(
        "R20: an access without SQL can prevent closing, and the database remains usable",
        arguments: Access.allCases)
    func failure(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let resource: DatabaseWaitError.Resource = access == .pool ? .writer : .connection
        let busy = BusyConnection.writing(writer)
        for grace in [Duration.zero, .seconds(-1), .milliseconds(30)] {
            let error = await #expect(throws: DatabaseWaitError.self) {
                try await writer.close(within: .zero, grace: grace)
            }
            #expect(error?.resource == resource)
        }
        #expect(throws: CancellationError.self) { try busy.end() }
        try await writer.write { try $0.insertPlayer() }
        #expect(try await writer.read { try $0.playerCount() } == 1)
    }

    @Test(
        "R20: a cancelled access stays cancelled even if closing fails before the access ends",
        arguments: Access.allCases, [Duration.zero, .milliseconds(30)])
    func failureDuringAccess(access: Access, grace: Duration) async throws {
        let writer = try directory.makePlayers(access)
        let (hasWritten, mayContinue) = (Gate(), Gate())
        let write = Job<Void> {
            try writer.writeWithoutTransaction { db in
                try db.beginTransaction()
                try db.insertPlayer()
                hasWritten.open()
                mayContinue.pass()
                try db.insertPlayer()
                try db.commit()
            }
        }
        await Task.detached { hasWritten.pass() }.value
        await #expect(throws: DatabaseWaitError.self) {
            try await writer.close(within: .zero, grace: grace)
        }
        mayContinue.open()
        #expect(throws: CancellationError.self) { try write.value() }
        try await writer.write { try $0.insertPlayer() }
        #expect(try await writer.read { try $0.playerCount() } == 1)
    }

    @Test(
        "R20: a transaction of a cancelled access is rolled back even if closing has since failed",
        arguments: Access.allCases)
    func failureDuringTransaction(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let database = try #require(writer as? any ClosableDatabase)
        #expect(throws: CancellationError.self) {
            try writer.writeWithoutTransaction { db in
                try db.beginTransaction()
                try db.insertPlayer()
                database.cancelAccesses()
                do {
                    try db.insertPlayer()
                    Issue.record("a statement of a cancelled access has run")
                } catch is CancellationError {}
                database.allowAccesses()
                try db.insertPlayer()
                try db.commit()
            }
        }
        try writer.write { try $0.insertPlayer() }
        #expect(try writer.read { try $0.playerCount() } == 1)
    }

    @Test(
        "R20: closing without grace interrupts statements; if closing fails, the database stays usable",
        arguments: Access.allCases)
    func failureDuringStatement(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        for _ in 0..<5 {
            let hasBegun = Gate()
            let read = Job<Void> {
                try writer.read { db in
                    hasBegun.open()
                    _ = try db.int(Self.endless)
                }
            }
            await Task.detached { hasBegun.pass() }.value
            let isClosed: Bool
            do {
                try await writer.close(within: .zero, grace: .zero)
                isClosed = true
            } catch is DatabaseWaitError {
                isClosed = false
            }
            #expect(throws: CancellationError.self) { try read.value() }
            // An interrupted read may end before the closing gives up, which then succeeds.
            if isClosed { return }
        }
        #expect(try await writer.read { try $0.playerCount() } == 0)
    }

    @Test(
        "R20: accesses are cancelled until the last of several closings has ended", arguments: Access.allCases
    )
    func severalClosings(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let busy = BusyConnection.writing(writer)
        let write = Task { try await writer.write { try $0.insertPlayer() } }
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 1 })
        let closing = Task {
            try await writer.close(within: .zero, grace: .seconds(Int64(Patience.seconds)))
        }
        // It has cancelled the accesses before it waits.
        #expect(await eventuallyAwaited { writer.waitingWriteCount == 2 })
        await #expect(throws: DatabaseWaitError.self) {
            try await writer.close(within: .zero, grace: .zero)
        }
        #expect(throws: CancellationError.self) { try busy.end() }
        await #expect(throws: CancellationError.self) { try await write.value }
        try await closing.value
        #expect(isMisuse { try writer.read { _ in } })
    }

    @Test("a read without SQL can prevent closing, and the pool remains usable")
    func failureOfReads() async throws {
        let pool = try directory.makePlayersPool()
        let busy = BusyConnection.reading(pool)
        let error = await #expect(throws: DatabaseWaitError.self) {
            try await pool.close(within: .milliseconds(5), grace: .milliseconds(30))
        }
        #expect(error?.resource == .exclusiveAccess)
        // The readers that were in use, and new ones:
        try busy.end()
        let others = (0..<3).map { _ in BusyConnection.reading(pool) }
        for other in others { try other.end() }
        #expect(try await pool.read { try $0.playerCount() } == 0)
        try await pool.close(within: .zero)
    }

    @Test("closing that fails interrupts no later access", arguments: Access.allCases)
    func laterAccesses(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        for _ in 0..<20 {
            let busy = BusyConnection.writing(writer)
            await #expect(throws: DatabaseWaitError.self) {
                try await writer.close(within: .zero, grace: .milliseconds(2))
            }
            #expect(throws: CancellationError.self) { try busy.end() }
            for _ in 0..<20 { try await writer.write { try $0.insertPlayer() } }
        }
        #expect(try await writer.read { try $0.playerCount() } == 400)
    }

    @Test(
        "closing that fails keeps the observations, also one whose fetch it has cancelled", arguments: Way.all
    )
    func observations(way: Way) async throws {
        let writer = try directory.makePlayers(way.access)
        let log = ValueLog<Int>(), isFirst = Mutex(true)
        let (hasBegun, wasCancelled, mayEnd) = (Gate(), Gate(), Gate())
        var observation = ValueObservation.tracking { db in
            guard isFirst.withLock({ exchange(&$0, with: false) }) else { return try db.playerCount() }
            hasBegun.open()
            defer {
                wasCancelled.open()
                // In a queue, only the fetch itself can prevent closing.
                if !way.hasOtherAccess { mayEnd.pass() }
            }
            return try db.int(Self.endless) ?? -1
        }
        observation.requiresWriteAccess = way.writes
        let cancellable = observation.start(
            in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        await Task.detached { hasBegun.pass() }.value
        let other = way.hasOtherAccess ? BusyConnection.reading(writer) : nil
        await #expect(throws: DatabaseWaitError.self) {
            try await writer.close(within: .zero, grace: .milliseconds(200))
        }
        await Task.detached { wasCancelled.pass() }.value
        mayEnd.open()
        try other?.end()
        await log.values(upTo: 0)
        try await writer.write { try $0.insertPlayer() }
        #expect(await log.values(upTo: 1).last == 1)
        #expect(log.error == nil)
        // Closing that succeeds ends it.
        try await writer.close(within: .zero)
        #expect(await log.failure().map(isError(.SQLITE_MISUSE)) == true)
        cancellable.cancel()
    }

    /// An observation, and the access that prevents closing.
    struct Way: CustomTestStringConvertible, Sendable {
        let access: Access
        var writes = false
        var hasOtherAccess: Bool { access == .pool }
        var testDescription: String { "\(access)\(writes ? ", with write access" : "")" }
        static let all = [Way(access: .queue), Way(access: .pool), Way(access: .pool, writes: true)]
    }

    @Test("closing waits for a rotation to the same key that was requested before")
    func rotationToTheSameKey() throws {
        let pool = try directory.makePlayersPool()
        let key = try #require(Configuration.rawKeyed.key)
        let busy = BusyConnection.writing(pool)
        let rotation = Job {
            var options = DatabaseFile.RotationOptions()
            options.whileInUse = DatabaseFile.WhileInUse()
            return try pool.rotateKey(to: key, options: options)
        }
        #expect(eventually { pool.waitingWriteCount == 1 })
        let closing = Job { try pool.close() }
        #expect(eventually { pool.waitingWriteCount == 2 })
        try busy.end()
        let error = #expect(throws: DatabaseFileError.self) { _ = try rotation.value() }
        #expect(error?.reason == .sameKey)
        try closing.value()
    }

    @Test("a statement that is still alive prevents closing", arguments: Access.allCases)
    func livingStatements(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        do {
            let statement = try writer.unsafeReentrantWrite { db in
                try Holder(db.makeStatement(sql: "SELECT 1"))
            }
            let error = await #expect(throws: DatabaseError.self) { try await writer.close(within: .zero) }
            #expect(error?.resultCode == .SQLITE_BUSY)
            withExtendedLifetime(statement) {}
        }
        try await writer.close(within: .zero)
    }

    // @unchecked: only one thread at a time uses the statement, and only to release it.
    private final class Holder: @unchecked Sendable {
        let statement: Statement
        init(_ statement: Statement) { self.statement = statement }
    }

    @Test("a task that is cancelled closes all the same")
    func cancelledClosing() async throws {
        let pool = try directory.makePlayersPool()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await pool.close(within: .seconds(1000))
        }
        task.cancel()
        try await task.value
        #expect(isMisuse { try pool.read { _ in } })
    }

    @Test(
        "interrupting an idle database does not prevent the removal of its WAL at close",
        arguments: Access.allCases,
        [true, false])
    func interruptionWhileIdle(access: Access, isClosedExplicitly: Bool) throws {
        do {
            let writer = try directory.makePlayers(access, .rawKeyed.with { $0.journalMode = .wal })
            try writer.write { try $0.insertPlayer() }
            writer.interrupt()
            if isClosedExplicitly { try writer.close() }
        }
        #expect(directory.fileNames() == ["players.db"])
        #expect(try directory.make(access, "players.db").read { try $0.playerCount() } == 1)
    }

    @Test("many pools are opened and closed at the same time")
    func manyPools() async throws {
        let directory = directory
        try await withThrowingTaskGroup(of: DatabasePool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let pool = try await DatabasePool.open(
                        path: directory.path("\(number).db"), configuration: .rawKeyed)
                    try await pool.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER)") }
                    return pool
                }
            }
            let pools = try await group.reduce(into: []) { $0.append($1) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for pool in pools { group.addTask { try await pool.close(within: .seconds(1000)) } }
                try await group.waitForAll()
            }
        }
        #expect(directory.fileNames().count == 100)
    }
}

extension DatabaseWriter {
    fileprivate func close(within limit: Duration?, grace: Duration = .seconds(5)) async throws {
        switch self {
        case let pool as DatabasePool: try await pool.close(within: limit, grace: grace)
        case let queue as DatabaseQueue: try await queue.close(within: limit, grace: grace)
        default: Issue.record("There is no such function.")
        }
    }
}
