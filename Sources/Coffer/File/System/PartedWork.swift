internal import Dispatch
internal import Synchronization

/// Work on the parts of a file, by several threads.
///
/// The thread that calls reads the parts, and takes what was found in them, in their order. Each thread that
/// is free works on a part that was read: that one too, when it has read ahead as far as there is room.
///
/// No thread is taken for granted: what nobody has begun is done by the thread that calls.
final class PartedWork<Room: ~Copyable, Found: Sendable>: Sendable {
    /// The room for one part, in which it is read and worked on.
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
            guard let outcome = outcome.withLock({ $0.take() }) else { throw CancellationError() }
            return try outcome.get()
        }
    }

    /// Parts are counted from 0, and each is in the place that the one had which many parts before it.
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

    /// Reads and works on all parts, and returns when no thread does so any more.
    ///
    /// - Parameters:
    ///   - threadCount: how many threads there are at most, this one included. There is room for twice as
    ///     many parts.
    ///   - makeRoom: makes the room for a part.
    ///   - read: called on this thread, with the place for the next part; returns false when there is none.
    ///   - work: called on any thread, with a part that was read.
    ///   - take: called on this thread with what was found in each part, in the order of the parts.
    /// - Throws: the error of a function, that of `work` in the turn of its part.
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
            // A queue of its own: the few threads of the global one are for work that ends soon. One that
            // begins after the end finds nothing, and holds nothing until then.
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

    /// The place of a part that was read, which nobody else has begun; nil where there is none.
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
