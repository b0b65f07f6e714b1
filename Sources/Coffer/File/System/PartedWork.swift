internal import Dispatch
internal import Synchronization

/// Work on the parts of a file by several threads.
///
/// The calling thread reads the parts, and takes their results in order. Each free thread works on a part
/// that was read. The calling thread does so too when it has filled all places.
///
/// No free thread is assumed: the calling thread does all work that no other thread has begun.
final class PartedWork<Room: ~Copyable, Found: Sendable>: Sendable {
    /// The place of one part, with the room in which it is read and processed.
    final class Place: Sendable {
        let room: Mutex<Room>
        private let outcome = Mutex<Result<Found, any Error>?>(nil)

        fileprivate init(_ room: consuming sending Room) { self.room = Mutex(room) }

        fileprivate func perform(_ work: @Sendable (inout Room) throws -> Found) {
            let result = room.withLock { room in Result { try work(&room) } }
            outcome.withLock { $0 = result }
        }

        fileprivate var isDone: Bool { outcome.withLock { $0 != nil } }

        fileprivate func found() throws -> Found {
            guard let outcome = outcome.withLock({ $0.take() }) else {
                preconditionFailure("The result of a part was taken before the part was done.")
            }
            return try outcome.get()
        }
    }

    /// Parts are counted from 0. Places are used in turn, each for one part after the other.
    private struct Counts {
        var read = 0
        var begun = 0
        var isEnded = false
    }

    private let places: [Place]
    private let work: @Sendable (inout Room) throws -> Found
    private let counts = Mutex(Counts())
    /// Signaled when a part was read, and at the end.
    private let ready = DispatchSemaphore(value: 0)
    /// Signaled when another thread is done with a part.
    private let done = DispatchSemaphore(value: 0)
    /// The other threads that have begun.
    private let others = DispatchGroup()

    private init(_ places: [Place], _ work: @escaping @Sendable (inout Room) throws -> Found) {
        self.places = places
        self.work = work
    }

    /// Reads and processes all parts, and returns when no thread is at work any more.
    ///
    /// - Parameters:
    ///   - threadCount: the maximum number of threads, including this one. With several threads, there are
    ///     twice as many places.
    ///   - makeRoom: makes the room for a part.
    ///   - read: called on this thread with the place for the next part; returns false if there are no more
    ///     parts.
    ///   - work: called on any thread with a part that was read.
    ///   - take: called on this thread with the result of each part, in the order of the parts.
    /// - Throws: the error of a function. An error of `work` is thrown in the turn of its part.
    static func run(
        threadCount: Int, makeRoom: () throws -> sending Room,
        read: (Place) throws -> Bool,
        work: @escaping @Sendable (inout Room) throws -> Found,
        take: (Found) throws -> Void
    ) throws {
        let count = threadCount == 1 ? 1 : 2 * threadCount
        let places = try (0..<count).map { _ in Place(try makeRoom()) }
        let run = PartedWork(places, work)
        for _ in 1..<threadCount {
            // Uses a separate queue: the few threads of the global one are for short work. A block that
            // starts after the end finds nothing to do, and retains nothing until then.
            DispatchQueue(label: "Coffer.PartedWork").async { [weak run] in run?.workAside() }
        }
        defer { run.end(threadCount: threadCount) }
        try run.perform(read: read, take: take)
    }

    private func perform(read: (Place) throws -> Bool, take: (Found) throws -> Void) throws {
        var readCount = 0
        var takenCount = 0
        var isAtEnd = false
        while !isAtEnd || takenCount < readCount {
            let next = places[takenCount % places.count]
            if takenCount < readCount, next.isDone {
                takenCount += 1
                try take(next.found())
            } else if !isAtEnd, readCount - takenCount < places.count {
                guard try read(places[readCount % places.count]) else {
                    isAtEnd = true
                    continue
                }
                readCount += 1
                counts.withLock { [readCount] in $0.read = readCount }
                ready.signal()
            } else if let place = begin() {
                place.perform(work)
            } else {
                done.wait()
            }
        }
    }

    /// Returns the place of a part that was read and that no thread has begun; nil if there is none.
    private func begin() -> Place? {
        counts.withLock { counts in
            guard !counts.isEnded, counts.begun < counts.read else { return nil }
            counts.begun += 1
            return places[(counts.begun - 1) % places.count]
        }
    }

    private func workAside() {
        let isLate = counts.withLock { counts in
            if !counts.isEnded { others.enter() }
            return counts.isEnded
        }
        guard !isLate else { return }
        defer { others.leave() }
        while !counts.withLock({ $0.isEnded }) {
            ready.wait()
            guard let place = begin() else { continue }
            place.perform(work)
            done.signal()
        }
    }

    private func end(threadCount: Int) {
        counts.withLock { $0.isEnded = true }
        for _ in 1..<threadCount { ready.signal() }
        others.wait()
    }
}
