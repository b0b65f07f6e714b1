import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Work on parts by several threads")
struct PartedWorkTests {
    private struct Failure: Error, Equatable {
        var name: String
    }

    /// A numbered part.
    private struct Room: ~Copyable {
        var number = -1
    }

    /// Works on parts numbered from 0.
    ///
    /// - Parameters:
    ///   - read: called before each part is read.
    ///   - work: called with the number of a part, on any thread.
    private func run(
        count: Int, threadCount: Int, read: (Int) throws -> Void = { _ in },
        work: @escaping @Sendable (Int) throws -> Int = { $0 }, take: (Int) throws -> Void
    ) throws {
        var next = 0
        try PartedWork<Room, Int>.run(
            threadCount: threadCount, makeRoom: { Room() },
            read: { place in
                guard next < count else { return false }
                try read(next)
                place.room.withLock { [next] in $0.number = next }
                next += 1
                return true
            },
            work: { try work($0.number) }, take: take)
    }

    @Test("results come in the order of the parts, on the calling thread", arguments: 1...5)
    func order(threadCount: Int) throws {
        for count in [0, 1, 2, 3, 100] {
            let caller = pthread_self()
            var found: [Int] = []
            try run(
                count: count, threadCount: threadCount,
                read: { _ in #expect(pthread_self() == caller) },
                work: { number in
                    // The first parts take longest.
                    if number < 4 { usleep(UInt32(4 - number) * 1000) }
                    return number * number
                },
                take: {
                    #expect(pthread_self() == caller)
                    found.append($0)
                })
            #expect(found == (0..<count).map { $0 * $0 })
        }
    }

    @Test("other threads take part, but no more than are requested")
    func threads() throws {
        let now = Mutex(0)
        let most = Mutex(0)
        try run(
            count: 200, threadCount: 2,
            work: { number in
                let count = now.withLock { now in
                    now += 1
                    return now
                }
                most.withLock { $0 = max($0, count) }
                usleep(500)
                now.withLock { $0 -= 1 }
                return number
            },
            take: { _ in })
        #expect(most.withLock { $0 } == 2)
    }

    @Test("the read-ahead uses the available room, and no more")
    func room() throws {
        let isWorking = Mutex(true)
        var readCount = 0
        var takenCount = 0
        try run(
            count: 50, threadCount: 3,
            read: { number in
                readCount += 1
                #expect(readCount - takenCount <= 6)
                // The first part does not complete until all the room is used.
                if number == 5 { isWorking.withLock { $0 = false } }
            },
            work: { number in
                while number == 0, isWorking.withLock({ $0 }) {}
                return number
            },
            take: { _ in takenCount += 1 })
        #expect(readCount == 50 && takenCount == 50)
    }

    @Test("an error of the work is thrown in the order of the parts, and no work runs afterwards")
    func workFails() throws {
        for threadCount in 1...4 {
            let running = Mutex(0)
            var found: [Int] = []
            #expect(throws: Failure(name: "7")) {
                try run(
                    count: 100, threadCount: threadCount,
                    work: { number in
                        running.withLock { $0 += 1 }
                        defer { running.withLock { $0 -= 1 } }
                        if number >= 7 { throw Failure(name: "\(number)") }
                        return number
                    },
                    take: { found.append($0) })
            }
            #expect(found == Array(0..<7))
            #expect(running.withLock { $0 } == 0)
        }
    }

    @Test("an error of the reading or of the receiving function ends all of it", arguments: [true, false])
    func callerFails(reads: Bool) throws {
        let running = Mutex(0)
        #expect(throws: Failure(name: "caller")) {
            try run(
                count: 100, threadCount: 3,
                read: { if reads, $0 == 40 { throw Failure(name: "caller") } },
                work: { number in
                    running.withLock { $0 += 1 }
                    defer { running.withLock { $0 -= 1 } }
                    usleep(200)
                    return number
                },
                take: { if !reads, $0 == 40 { throw Failure(name: "caller") } })
        }
        #expect(running.withLock { $0 } == 0)
    }

    @Test("the calling thread does all of the work if no other thread takes part")
    func alone() throws {
        // More concurrent runs than the system has threads for.
        let sums = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 40) { _ in
            var sum = 0
            try? run(count: 100, threadCount: 4, take: { sum += $0 })
            sums.withLock { [sum] in $0.append(sum) }
        }
        #expect(sums.withLock { $0 } == [Int](repeating: 4950, count: 40))
    }
}
