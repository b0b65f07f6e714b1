import CofferTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Accesses on the threads of tasks")
struct ImmediateAccessTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("a new task runs while all readers of a pool are held by reads that wait for it")
    func progress() async throws {
        let pool = try directory.makePlayersPool()
        let count = pool.configuration.maximumReaderCount
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let outcomes = try await withThrowingTaskGroup(of: DispatchTimeoutResult?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await pool.read { _ in
                        begun.signal()
                        return goOn.wait(timeout: .now() + Patience.seconds)
                    }
                }
            }
            // Once every read has its connection, one more task has to find a thread.
            DispatchQueue.global().async {
                for _ in 0..<count { begun.wait() }
                Task { for _ in 0..<count { goOn.signal() } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: .success, count: count))
    }

    @Test("a read runs on the target queue, if there is one, or else on the caller's thread")
    func targetQueue() throws {
        let target = DispatchQueue(label: "target")
        let key = DispatchSpecificKey<Int>()
        target.setSpecific(key: key, value: 7)
        let pool = try directory.makePlayersPool(.rawKeyed.with { $0.targetQueue = target })
        #expect(try pool.read { _ in DispatchQueue.getSpecific(key: key) } == 7)
        #expect(try pool.unsafeRead { _ in DispatchQueue.getSpecific(key: key) } == 7)
        let (own, caller) = (try directory.makePool("own.db"), pthread_self())
        #expect(try own.read { _ in DispatchQueue.getSpecific(key: key) } == nil)
        #expect(try own.read { _ in pthread_self() } == caller)
    }

    @Test("an awaited read finishes even if all task threads are blocked waiting for its reader")
    func blockedThreads() async {
        await #expect(processExitsWith: .success) {
            // The alarm ends a process that waits forever.
            alarm(UInt32(Patience.seconds))
            let directory = try TestDirectory()
            let configuration = Configuration.rawKeyed.with {
                $0.maximumReaderCount = 1
                // With a target queue, no read stays on the thread of its task.
                $0.targetQueue = DispatchQueue(label: "target", attributes: .concurrent)
            }
            let pool = try directory.makePlayersPool(configuration)
            let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let isBarred: @Sendable () throws -> Void = {
                begun.signal()
                try pool.barrierWriteWithoutTransaction { _ in }
            }
            let count = ProcessInfo.processInfo.activeProcessorCount + 1
            try await withThrowingTaskGroup(of: Void.self) { group in
                // One task reads, and one waits for the reader.
                for _ in 0..<2 {
                    group.addTask {
                        try await pool.read { _ in
                            begun.signal()
                            goOn.wait()
                        }
                    }
                }
                DispatchQueue.global().async {
                    begun.wait()
                    while pool.readers.waitingRequestCount == 0 { usleep(1000) }
                    Task { for _ in 0..<count { Task { try isBarred() } } }
                    // All tasks but the last have a thread and keep it.
                    for _ in 1..<count { begun.wait() }
                    for _ in 0..<2 { goOn.signal() }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a task reads on its own thread if the machine has one to spare")
    func thread() async throws {
        let pool = try directory.makePlayersPool()
        let readStays: @Sendable () async throws -> Bool = {
            let before = threadOfTask()
            let inside = try await pool.read { _ in threadOfTask() }
            return before == inside
        }
        guard ImmediateAccess.limit > 0 else {
            #expect(try await Task.detached { try await readStays() }.value == false)
            return
        }
        // Other tests may be using the threads.
        let end = Date(timeIntervalSinceNow: Patience.seconds)
        let hasStayed = try await Task.detached {
            while Date() < end {
                if try await readStays() { return true }
            }
            return false
        }.value
        #expect(hasStayed)
    }

    @Test("no access runs immediately on the main thread, on a detached thread, or on a queue")
    func otherThreads() async {
        let queue = DispatchQueue(label: "ImmediateAccessTests")
        #expect(
            await withCheckedContinuation { done in queue.async { done.resume(returning: beginsAndEnds()) } }
                == false)
        #expect(
            await withCheckedContinuation { done in
                Thread.detachNewThread { done.resume(returning: beginsAndEnds()) }
            } == false)
        #expect(await MainActor.run { beginsAndEnds() } == false)
    }

    @Test("the number of immediate accesses at a time is limited to the machine's spare threads")
    func limit() async {
        // Accesses by other tests count as well.
        let count = await Task.detached {
            var count = 0
            while count <= ImmediateAccess.limit, ImmediateAccess.begin() { count += 1 }
            for _ in 0..<count { ImmediateAccess.end() }
            return count
        }.value
        #expect(count <= ImmediateAccess.limit)
        #expect(ImmediateAccess.limit < ProcessInfo.processInfo.activeProcessorCount)
    }
}

private func threadOfTask() -> UInt { currentThreadID() }

private func beginsAndEnds() -> Bool {
    guard ImmediateAccess.begin() else { return false }
    ImmediateAccess.end()
    return true
}
