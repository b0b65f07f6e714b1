internal import Dispatch
internal import Synchronization

/// The turns of the accesses to a connection, which run one after the other, in the order of their requests.
///
/// A turn that is free costs one short lock, and no allocation.
final class AccessLine: Sendable {
    private let state = Mutex(TurnState<Resumption>())
    private let resource: DatabaseWaitError.Resource

    /// - Parameter resource: the connection, for errors.
    init(for resource: DatabaseWaitError.Resource) { self.resource = resource }

    /// Takes the turn, or returns false if the caller would have to wait.
    func takeTurn() -> Bool { state.withLock { $0.takeNow() } }

    /// Blocks the current thread until it has the turn.
    func enter() {
        guard !takeTurn() else { return }
        let turn = DispatchSemaphore(value: 0)
        enter { turn.signal() }
        turn.wait()
    }

    /// Blocks the current thread until it has the turn.
    ///
    /// - Throws: ``DatabaseWaitError`` if the bounds do not allow the wait.
    func enter(within bounds: WaitBounds) throws {
        guard !takeTurn() else { return }
        try AccessTicket<AccessLine>().wait(for: .turn, in: self, within: bounds)
    }

    /// Calls `resume` once the caller has the turn: before this function returns, or on the thread of an
    /// access that ends.
    func enter(_ resume: @escaping @Sendable () -> Void) {
        let isWaiting = state.withLock { $0.request { _ in resume() } != nil }
        if !isWaiting { resume() }
    }

    /// Ends a turn, and passes it to the access that has waited longest.
    func leave() {
        let next = state.withLock { $0.end() }
        next?(.success(()))
    }

    /// True while an access has the turn, and the number of accesses that wait for it.
    var turns: (isTaken: Bool, waiting: Int) {
        state.withLock { ($0.isTaken, $0.waitingRequestCount) }
    }
}

extension AccessLine: AccessGranter {
    typealias Grant = Void

    enum Kind { case turn }

    func request(_ kind: Kind, within bounds: WaitBounds, _ resume: @escaping Resumption) throws
        -> AccessRequest<Void>
    {
        let (id, alarm) = try state.withLock { state in
            let id = try state.request(resume, for: resource, within: bounds) { .now }
            return (id, state.takeAlarm())
        }
        if let alarm { setAlarm(at: alarm) }
        return id.map { .waiting($0) } ?? .granted(())
    }

    func cancel(_ id: RequestID) -> [@Sendable () -> Void]? {
        state.withLock { $0.cancel(id) } == nil ? nil : []
    }

    private func setAlarm(at time: ContinuousClock.Instant) {
        WaitQueue.schedule(at: time) { [weak self] in self?.expire(at: time) }
    }

    /// - Parameter time: the time of the alarm, which rings a little earlier if clocks differ.
    private func expire(at time: ContinuousClock.Instant) {
        let (expired, alarm) = state.withLock {
            ($0.expire(at: max(time, ContinuousClock.now)), $0.takeAlarm())
        }
        if let alarm { setAlarm(at: alarm) }
        for request in expired { request.element(.failure(request.error)) }
    }
}
