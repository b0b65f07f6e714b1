/// What one started observation of a value does next. Decisions only (I9).
///
/// At most one fetch is under way: so values are in order, and changes that come faster than values become
/// one. The same happens when more values than a maximum wait to be reduced, so that a slow reduction fills
/// no memory.
struct ValueObserverState: Equatable, Sendable {
    private enum Phase: Equatable {
        /// The last value is that of the database.
        case idle

        /// A value is to be fetched. It will have all that has changed before.
        case requested

        /// A value is being fetched. If it is stale, there will be another fetch after it.
        case fetching(isStale: Bool)

        /// Too many values wait to be reduced. If the last one is stale, there will be a fetch after the next
        /// reduction.
        case full(isStale: Bool)

        /// A fetch was put off, until anything happens.
        case waiting

        /// Cancelled, or failed.
        case ended
    }

    /// How many values may wait to be reduced when the next one is fetched.
    let maximumBacklog: Int

    private var phase = Phase.idle
    private var backlog = 0

    init(maximumBacklog: Int = 0) {
        self.maximumBacklog = maximumBacklog
    }

    var hasEnded: Bool { phase == .ended }

    /// Starts with a fetch. Returns whether to do it.
    mutating func start() -> Bool { databaseDidChange() }

    /// The value may be another one, or what a fetch was put off for is over. Returns whether to fetch it
    /// now.
    mutating func databaseDidChange() -> Bool {
        switch phase {
        case .idle, .waiting:
            phase = .requested
            return true
        case .requested:
            return false
        case .fetching:
            phase = .fetching(isStale: true)
            return false
        case .full:
            phase = .full(isStale: true)
            return false
        case .ended:
            return false
        }
    }

    /// The fetch begins: what changes from now on may not be in its value.
    mutating func willFetch() {
        if phase == .requested { phase = .fetching(isStale: false) }
    }

    /// The fetch has given a value, which is to be reduced. Returns whether to fetch another one now.
    mutating func didFetch() -> Bool {
        guard case .fetching(let isStale) = phase else { return false }
        backlog += 1
        guard backlog <= maximumBacklog else {
            phase = .full(isStale: isStale)
            return false
        }
        return goOn(isStale)
    }

    /// A value was reduced. Returns whether to fetch another one now.
    mutating func didReduce() -> Bool {
        backlog -= 1
        guard case .full(let isStale) = phase else { return false }
        return goOn(isStale)
    }

    private mutating func goOn(_ isStale: Bool) -> Bool {
        phase = isStale ? .requested : .idle
        return isStale
    }

    /// The fetch is not possible now.
    mutating func putOff() {
        switch phase {
        case .requested, .fetching: phase = .waiting
        case .idle, .full, .waiting, .ended: break
        }
    }

    /// Ends the observation. Returns false if it has ended before.
    mutating func end() -> Bool {
        defer { phase = .ended }
        return phase != .ended
    }
}
