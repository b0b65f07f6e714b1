/// The state machine of one started observation of a value. Makes decisions only (invariant "Pure state
/// machines").
///
/// At most one fetch runs at a time. So values are in order, and changes that come faster than values are
/// combined. The same happens when more values than a maximum wait to be reduced, so that a slow reduction
/// does not fill memory.
struct ValueObserverState: Equatable, Sendable {
    private enum Phase: Equatable {
        /// The last value is up to date.
        case idle

        /// A value must be fetched. It will include all earlier changes.
        case requested

        /// A value is being fetched. If it is stale, another fetch follows.
        case fetching(isStale: Bool)

        /// Too many values wait to be reduced. If the last one is stale, a fetch follows the next reduction.
        case full(isStale: Bool)

        /// A fetch was postponed until something happens.
        case waiting

        /// Cancelled, or failed.
        case ended
    }

    /// The maximum number of values that may wait to be reduced when the next one is fetched.
    let maximumBacklog: Int

    private var phase = Phase.idle
    private var backlog = 0

    init(maximumBacklog: Int = 0) {
        self.maximumBacklog = maximumBacklog
    }

    var hasEnded: Bool { phase == .ended }

    /// Starts with a fetch. Returns true if it must be made.
    mutating func start() -> Bool { databaseDidChange() }

    /// Records that the value may have changed, or that a postponed fetch is possible now. Returns true if a
    /// fetch must be made now.
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

    /// Records that a fetch begins. Later changes may not be in its value.
    mutating func willFetch() {
        if phase == .requested { phase = .fetching(isStale: false) }
    }

    /// Records that a value was fetched, which must be reduced. Returns true if another fetch must be made
    /// now.
    mutating func didFetch() -> Bool {
        guard case .fetching(let isStale) = phase else { return false }
        backlog += 1
        guard backlog <= maximumBacklog else {
            phase = .full(isStale: isStale)
            return false
        }
        return goOn(isStale)
    }

    /// Records that a value was reduced. Returns true if another fetch must be made now.
    mutating func didReduce() -> Bool {
        backlog -= 1
        guard case .full(let isStale) = phase else { return false }
        return goOn(isStale)
    }

    private mutating func goOn(_ isStale: Bool) -> Bool {
        phase = isStale ? .requested : .idle
        return isStale
    }

    /// Records that the fetch is not possible now.
    mutating func putOff() {
        switch phase {
        case .requested, .fetching: phase = .waiting
        case .idle, .full, .waiting, .ended: break
        }
    }

    /// Ends the observation. Returns false if it had already ended.
    mutating func end() -> Bool {
        defer { phase = .ended }
        return phase != .ended
    }
}
