/// Decides whose turn it is to use a connection. It is a state machine without connections, threads or locks
/// (invariant "Pure state machines").
///
/// Turns are given in the order of the requests: a turn that ends is passed to the request that has waited
/// longest, and cannot be taken by a later one in between.
struct TurnState<Waiter: Sendable>: Sendable {
    typealias RequestID = WaitingLine<Waiter>.RequestID
    typealias Instant = WaitingLine<Waiter>.Instant

    /// True while an access has the turn. Requests wait only then.
    private(set) var isTaken = false

    private var line = WaitingLine<Waiter>()

    /// The number of waiting requests.
    var waitingRequestCount: Int { line.count }

    /// Takes the turn without a request, or returns false if the caller would have to wait.
    mutating func takeNow() -> Bool {
        if isTaken { return false }
        isTaken = true
        return true
    }

    /// Requests the turn and waits forever. Returns nil if the caller has it now.
    mutating func request(_ waiter: Waiter) -> RequestID? {
        takeNow() ? nil : line.append(waiter)
    }

    /// Requests the turn and waits within bounds. Returns nil if the caller has it now.
    ///
    /// - Throws: the error of a request that may not wait.
    mutating func request(
        _ waiter: Waiter, for resource: DatabaseWaitError.Resource, within bounds: WaitBounds,
        now: () -> Instant
    ) throws(DatabaseWaitError) -> RequestID? {
        if takeNow() { return nil }
        return try line.append(waiter, for: resource, within: bounds, now: now)
    }

    /// Withdraws a waiting request. Returns nil if it is no longer waiting: it may have been given the turn,
    /// which it must end as usual.
    mutating func cancel(_ id: RequestID) -> Waiter? { line.remove(id) }

    /// Removes the requests that have waited for as long as they may.
    mutating func expire(at now: Instant) -> [WaitingLine<Waiter>.Expired] { line.expire(at: now) }

    /// Returns the next time to call ``expire(at:)``: see ``WaitingLine/takeAlarm()``.
    mutating func takeAlarm() -> Instant? { line.takeAlarm() }

    /// Ends a turn. Returns the request that has the turn now, if any was waiting.
    mutating func end() -> Waiter? {
        let next = line.removeFirst()
        isTaken = next != nil
        return next
    }
}
