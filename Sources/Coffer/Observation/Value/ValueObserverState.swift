/// What one started observation of a value does next. Decisions only (I9).
///
/// At most one fetch is under way: so values are in order, and changes that come faster than values become one.
struct ValueObserverState: Equatable, Sendable {
    private enum Phase: Equatable {
        /// The last value is that of the database.
        case idle

        /// A value is being fetched, or reduced. If it is stale, there will be another fetch after it.
        case fetching(isStale: Bool)

        /// A fetch was put off, until anything happens.
        case waiting

        /// Cancelled, or failed.
        case ended
    }

    private var phase = Phase.idle

    var hasEnded: Bool { phase == .ended }

    /// Starts with a fetch. Returns whether to do it.
    mutating func start() -> Bool { databaseDidChange() }

    /// The value may be another one, or what a fetch was put off for is over. Returns whether to fetch it now.
    mutating func databaseDidChange() -> Bool {
        switch phase {
        case .idle, .waiting:
            phase = .fetching(isStale: false)
            return true
        case .fetching:
            phase = .fetching(isStale: true)
            return false
        case .ended:
            return false
        }
    }

    /// The fetch has given a value. Returns whether to fetch another one now.
    mutating func didFetch() -> Bool {
        guard case .fetching(let isStale) = phase else { return false }
        phase = isStale ? .fetching(isStale: false) : .idle
        return isStale
    }

    /// The fetch is not possible now.
    mutating func putOff() {
        if case .fetching = phase { phase = .waiting }
    }

    /// Ends the observation. Returns false if it has ended before.
    mutating func end() -> Bool {
        defer { phase = .ended }
        return phase != .ended
    }
}
