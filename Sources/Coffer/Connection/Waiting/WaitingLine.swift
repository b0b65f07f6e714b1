/// Requests that wait, in the order of their arrival, with the bounds of their waits. It is a state machine
/// without threads, locks or timers (invariant "Pure state machines").
///
/// A request leaves the line in exactly one way: it is served, is withdrawn, or expires. An owner whose
/// requests expire calls ``takeAlarm()`` after each change, and ``expire(at:)`` at the time that it returns.
struct WaitingLine<Element: Sendable>: Sendable {
    typealias RequestID = UInt64
    typealias Instant = ContinuousClock.Instant

    /// A request that has waited for as long as it may.
    typealias Expired = (id: RequestID, element: Element, error: DatabaseWaitError)

    private struct Waiter: Sendable {
        let id: RequestID
        let limit: Limit?
        /// Nil once the request has left the line.
        var element: Element?
    }

    private struct Limit: Sendable {
        let resource: DatabaseWaitError.Resource
        let began: Instant
        let end: Instant
    }

    /// Ordered by identifier. All requests before `start` have left the line, and the one at `start` has not.
    private var waiters: [Waiter] = []
    private var start = 0
    private var lastID: RequestID = 0

    /// The number of waiting requests.
    private(set) var count = 0

    /// The earliest time at which the owner will call ``expire(at:)``, if any.
    private var alarm: Instant?
    private var newAlarm: Instant?

    /// The shortest time between two alarms, each of which searches the line.
    static var alarmInterval: Duration { .milliseconds(1) }

    // MARK: Arriving

    /// Returns an identifier that no request in the line has or will have.
    mutating func makeID() -> RequestID {
        lastID += 1
        return lastID
    }

    /// Adds a request that waits forever.
    @discardableResult mutating func append(_ element: Element) -> RequestID {
        append(element, until: nil)
    }

    /// Adds a request that waits within bounds.
    ///
    /// - Parameter now: the current time. It is not read for a wait without end.
    /// - Throws: the error of a request that may not wait. The line is unchanged.
    mutating func append(
        _ element: Element, for resource: DatabaseWaitError.Resource, within bounds: WaitBounds,
        now: () -> Instant
    ) throws(DatabaseWaitError) -> RequestID {
        guard bounds.allowsWaiting else { throw .timedOut(resource, waited: 0) }
        if let maximum = bounds.maximumWaiterCount, count >= maximum {
            throw .overloaded(resource, waiterCount: count)
        }
        let limit = bounds.duration.map { duration in
            let began = now()
            return Limit(resource: resource, began: began, end: began + duration)
        }
        return append(element, until: limit)
    }

    private mutating func append(_ element: Element, until limit: Limit?) -> RequestID {
        let id = makeID()
        waiters.append(Waiter(id: id, limit: limit, element: element))
        count += 1
        if let limit { setAlarm(limit.end) }
        return id
    }

    // MARK: Leaving

    /// The request that has waited longest.
    var first: (id: RequestID, element: Element)? {
        guard start < waiters.count, let element = waiters[start].element else { return nil }
        return (waiters[start].id, element)
    }

    /// Removes the request that has waited longest.
    @discardableResult mutating func removeFirst() -> Element? { removeElement(at: start) }

    /// Removes a request, or returns nil if it is not in the line any more.
    mutating func remove(_ id: RequestID) -> Element? { removeElement(at: index(of: id)) }

    /// Removes the requests whose time is over, in the order of their arrival.
    mutating func expire(at now: Instant) -> [Expired] {
        var expired: [Expired] = []
        var earliest: Instant?
        for index in start..<waiters.count {
            guard let limit = waiters[index].limit, let element = waiters[index].element else { continue }
            if limit.end <= now {
                waiters[index].element = nil
                let waited = limit.began.duration(to: now).inSeconds
                expired.append((waiters[index].id, element, .timedOut(limit.resource, waited: waited)))
            } else {
                earliest = min(earliest ?? limit.end, limit.end)
            }
        }
        count -= expired.count
        compact()
        if let alarm, alarm <= now { self.alarm = nil }
        if let earliest { setAlarm(max(earliest, now + Self.alarmInterval)) }
        return expired
    }

    /// Returns the time at which the owner must call ``expire(at:)``, in addition to the times that were
    /// returned before.
    mutating func takeAlarm() -> Instant? {
        defer { newAlarm = nil }
        return newAlarm
    }

    /// The number of requests in memory, including some that have left the line. For tests.
    var storedCount: Int { waiters.count }

    // MARK: Implementation

    private mutating func setAlarm(_ time: Instant) {
        if let alarm, alarm <= time { return }
        alarm = time
        newAlarm = time
    }

    private mutating func removeElement(at index: Int) -> Element? {
        guard index < waiters.count, let element = waiters[index].element else { return nil }
        waiters[index].element = nil
        count -= 1
        compact()
        return element
    }

    /// Returns the index of a request, or the end. It uses binary search, because thousands of requests may
    /// be cancelled at once.
    private func index(of id: RequestID) -> Int {
        var low = start
        var high = waiters.count
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < waiters.count && waiters[low].id == id ? low : waiters.count
    }

    /// Restores the meaning of `start`, and frees the memory of requests that have left the line once they
    /// are more than half of it. Those in its middle count as well: its head may wait for hours.
    private mutating func compact() {
        while start < waiters.count, waiters[start].element == nil { start += 1 }
        guard waiters.count > 32, count * 2 < waiters.count else { return }
        waiters.removeAll { $0.element == nil }
        start = 0
    }
}
