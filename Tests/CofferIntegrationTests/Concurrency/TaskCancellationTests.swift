import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Cancellation of tasks", .timeLimit(.minutes(Patience.minutes)))
struct TaskCancellationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("C1: a task that is cancelled before its access never begins it", arguments: Access.allCases)
    func before(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            await #expect(throws: CancellationError.self) {
                try await writer.read { _ in Issue.record("began") }
            }
            await #expect(throws: CancellationError.self) {
                try await writer.unsafeRead { _ in Issue.record("began") }
            }
            await #expect(throws: CancellationError.self) {
                try await writer.write { _ in Issue.record("began") }
            }
            await #expect(throws: CancellationError.self) {
                try await writer.writeWithoutTransaction { _ in Issue.record("began") }
            }
            await #expect(throws: CancellationError.self) {
                try await writer.barrierWriteWithoutTransaction { _ in Issue.record("began") }
            }
        }
        await task.value
        #expect(try await writer.read { try $0.playerCount() } == 0)
    }

    @Test(
        "C2: a write that is cancelled midway throws CancellationError and is rolled back",
        arguments: Access.allCases)
    func during(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let hasBegun = Notes<Void>()
        let task = Task {
            try await writer.write { db in
                try db.insertPlayer()
                hasBegun.append(())
                _ = try db.int(endlessQuery)
            }
        }
        #expect(await eventuallyAwaited { !hasBegun.values.isEmpty })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await writer.read { try $0.playerCount() } == 0)
        try await writer.write { try $0.insertPlayer() }
    }

    @Test("C3: a cancelled access that catches its error is not committed", arguments: Access.allCases)
    func caught(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let hasBegun = Notes<Void>()
        let task = Task {
            try await writer.write { db in
                try db.insertPlayer()
                hasBegun.append(())
                _ = try? db.int(endlessQuery)
            }
        }
        #expect(await eventuallyAwaited { !hasBegun.values.isEmpty })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await writer.read { try $0.playerCount() } == 0)
    }

    @Test("C4: tasks that wait for a reader can be cancelled, and the others get their turn")
    func whileWaiting() async throws {
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.maximumReaderCount = 1 })
        let hasBegun = Gate(), mayEnd = Gate()
        let first = Job {
            try pool.read { _ in
                hasBegun.open()
                mayEnd.pass()
            }
        }
        hasBegun.pass()
        let cancelled = (0..<50).map { _ in Task { try await pool.read { _ in } } }
        let served = (0..<50).map { _ in Task { try await pool.read { try $0.playerCount() } } }
        #expect(await eventuallyAwaited { pool.readers.waitingRequestCount == 100 })
        for task in cancelled { task.cancel() }
        for task in cancelled { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(pool.readers.waitingRequestCount == 50)
        mayEnd.open()
        try first.value()
        for task in served { #expect(try await task.value == 0) }
        #expect(pool.readers.waitingRequestCount == 0 && pool.readers.openReaderCount == 1)
    }

    @Test("C5: a barrier that waits for readers can be cancelled, and lets the readers after it proceed")
    func waitingBarrier() async throws {
        let pool = try directory.makePlayersPool()
        let hasBegun = Gate(), mayEnd = Gate()
        let first = Job {
            try pool.read { _ in
                hasBegun.open()
                mayEnd.pass()
            }
        }
        hasBegun.pass()
        let barrier = Task { try await pool.barrierWriteWithoutTransaction { _ in Issue.record("began") } }
        #expect(await eventuallyAwaited { pool.readers.waitingRequestCount == 1 })
        let behind = Task { try await pool.read { try $0.playerCount() } }
        #expect(await eventuallyAwaited { pool.readers.waitingRequestCount == 2 })
        barrier.cancel()
        await #expect(throws: CancellationError.self) { try await barrier.value }
        #expect(try await behind.value == 0)
        mayEnd.open()
        try first.value()
        try await pool.barrierWriteWithoutTransaction { try $0.insertPlayer() }
    }

    @Test(
        "C6: accesses that are cancelled at random leave a usable database, and no partial write",
        arguments: Access.allCases)
    func random(access: Access) async throws {
        let writer = try directory.makePlayers(access, .rawKeyed.with { $0.maximumReaderCount = 2 })
        let committed = Notes<Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                let task = Task {
                    switch number % 4 {
                    case 0, 1:
                        let count = try await writer.read { try $0.playerCount() }
                        #expect(count % 2 == 0)
                    case 2:
                        try await writer.write { db in
                            try db.insertPlayer()
                            try db.insertPlayer()
                        }
                        committed.append(2)
                    default:
                        let count = try await writer.barrierWriteWithoutTransaction { try $0.playerCount() }
                        #expect(count % 2 == 0)
                    }
                }
                group.addTask {
                    for _ in 0..<Int.random(in: 0..<40) { await Task.yield() }
                    task.cancel()
                    do {
                        try await task.value
                    } catch {
                        #expect(error is CancellationError)
                    }
                }
            }
        }
        #expect(try await writer.read { try $0.playerCount() } == committed.values.reduce(0, +))
        if let pool = writer as? DatabasePool {
            #expect(pool.readers.waitingRequestCount == 0)
            // All readers are available at the same time, so none was lost.
            try await pool.barrierWriteWithoutTransaction { _ in }
            let reads = (0..<10).map { _ in Task { try await pool.read { _ in } } }
            for read in reads { try await read.value }
        }
    }

    @Test("C7: ten thousand awaited reads at the same time need few threads and little memory")
    func manyReads() async throws {
        let pool = try directory.makePlayersPool()
        try await pool.read { _ in }
        let memoryBefore = try processStatus("VmRSS")
        // Threads of earlier tests may still be idle.
        let threadsBefore = try processStatus("Threads")
        let mostThreads = Mutex(0)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10_000 { group.addTask { try await pool.read { try $0.playerCount() } } }
            var number = 0
            for try await count in group {
                #expect(count == 0)
                number += 1
                if number % 500 == 0 {
                    let threads = try processStatus("Threads") - threadsBefore
                    mostThreads.withLock { $0 = max($0, threads) }
                }
            }
        }
        let grown = try processStatus("VmRSS") - memoryBefore
        print(
            "10,000 awaited reads: \(mostThreads.withLock { $0 }) more threads, \(grown) KiB more memory")
        #expect(mostThreads.withLock { $0 } < 200)
        #expect(grown < 200_000)
        #expect(pool.readers.openReaderCount <= 5)
    }
}

/// Returns a value from the process status in `/proc`, such as a number of threads, or an amount of memory in
/// KiB.
func processStatus(_ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
}
