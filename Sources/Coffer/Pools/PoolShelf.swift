internal import Dispatch
internal import Synchronization

/// The open databases of ``DatabasePools``: the owner of a ``PoolsState``.
///
/// Files are opened and closed on threads of their own, for all requests together, so a request never blocks
/// its thread, and its cancellation does not end an opening for which others wait.
final class PoolShelf: Sendable {
    typealias State = PoolsState<DatabasePool, Resumption>

    private let state: Mutex<State>
    private let slotCount: Int
    private let open: @Sendable (_ name: String) throws -> DatabasePool

    /// Entered by each database from the beginning of its opening to the end of its closing.
    private let files = DispatchGroup()

    /// Entered by each database while it is opened.
    private let openings = DispatchGroup()

    /// Entered by each database while it is closed because its last lease has ended.
    private let closings = DispatchGroup()

    /// The names of the databases that are being created.
    private let created = Mutex<Set<String>>([])

    /// The number of files that are opened at the same time. More would only compete for the processors.
    private static let maximumOpeningCount = 16

    /// - Parameter open: opens a database. It is called on a thread of its own, and may block.
    init(slotCount: Int, open: @escaping @Sendable (_ name: String) throws -> DatabasePool) {
        state = Mutex(State(slotCount: slotCount, maximumOpeningCount: Self.maximumOpeningCount))
        self.slotCount = slotCount
        self.open = open
    }

    // MARK: Leases

    /// Leases a database. ``release(_:)`` ends the lease.
    func lease(_ name: String, within bounds: WaitBounds) async throws -> DatabasePool {
        if let pool = state.withLock({ $0.takeNow(name) }) { return pool }
        let ticket = AccessTicket<PoolShelf>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                ticket.begin(name, in: self, within: bounds) { continuation.resume(with: $0) }
            }
        } onCancel: {
            ticket.cancel(in: self)
        }
    }

    func release(_ name: String) { perform(state.withLock { $0.release(name) }) }

    var statistics: DatabasePools.Statistics {
        state.withLock { state in
            let counts = state.openCounts
            return DatabasePools.Statistics(
                openCount: counts.open, leasedCount: counts.leased, usedSlotCount: state.usedSlotCount,
                waitingCount: state.waitingRequestCount, maximumOpenCount: slotCount)
        }
    }

    /// Runs `body`, which creates a file. Closing waits for it as for a database that is being opened.
    func creating(_ name: String, at path: String, _ body: () throws -> Void) throws {
        guard created.withLock({ $0.insert(name).inserted }) else {
            throw DatabaseFileError(.exists, path: path)
        }
        defer { created.withLock { _ = $0.remove(name) } }
        try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            files.enter()
            openings.enter()
        }
        defer {
            openings.leave()
            files.leave()
        }
        try body()
    }

    // MARK: Closing

    /// Ends all waits, closes the databases without a lease now, and the others when their leases end.
    func close() { perform(state.withLock { $0.close(DatabaseError.connectionIsClosed()) }) }

    /// Blocks the current thread until all databases are closed. Returns false if the time is over before.
    func waitUntilClosed(_ limit: Duration?) -> Bool {
        guard let seconds = limit?.limitInSeconds else {
            files.wait()
            return true
        }
        return files.wait(timeout: .now() + seconds) == .success
    }

    /// Blocks the current thread until no database is being opened. Returns false if the time is over before.
    func waitForOpenings(_ limit: Duration) -> Bool {
        openings.wait(timeout: .now() + limit.inSeconds) == .success
    }

    /// Blocks the current thread until all databases without a lease are closed, or the time is over.
    func waitForClosings(_ limit: Duration) { _ = closings.wait(timeout: .now() + limit.inSeconds) }

    /// The databases that are open, with or without a lease.
    var openPools: [DatabasePool] { state.withLock { $0.openPools } }

    // MARK: Actions

    private func perform(_ actions: State.Actions) {
        for name in actions.openings {
            files.enter()
            openings.enter()
            DispatchQueue(label: "Coffer.Opening").async { self.openNow(name) }
        }
        for (name, pool) in actions.closings {
            closings.enter()
            DispatchQueue(label: "Coffer.Closing").async { self.closeNow(name, pool) }
        }
        for answer in actions.answers { answer.waiter(answer.result) }
    }

    private func openNow(_ name: String) {
        defer { openings.leave() }
        switch Result(catching: { try open(name) }) {
        case .success(let pool): perform(state.withLock { $0.didOpen(name, pool) })
        case .failure(let error):
            perform(state.withLock { $0.didFailToOpen(name, error) })
            files.leave()
        }
    }

    private func closeNow(_ name: String, _ pool: DatabasePool) {
        // A statement that the application still holds keeps its connection open until it is released.
        // Nothing else can be done about it here.
        try? pool.close()
        perform(state.withLock { $0.didClose(name) })
        closings.leave()
        files.leave()
    }
}

extension PoolShelf: AccessGranter {
    typealias Kind = String
    typealias Grant = DatabasePool

    func request(_ name: String, within bounds: WaitBounds, _ resume: @escaping Resumption) throws
        -> AccessRequest<DatabasePool>
    {
        let (request, actions, alarm) = try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            if let pool = state.takeNow(name) {
                return (AccessRequest<DatabasePool>.granted(pool), State.Actions(), nil as State.Instant?)
            }
            let (id, actions) = try state.request(name, resume, within: bounds)
            return (.waiting(id), actions, state.takeAlarm())
        }
        // A request answers no other: it only opens and closes files.
        perform(actions)
        if let alarm { setAlarm(at: alarm) }
        return request
    }

    func cancel(_ id: RequestID) -> [@Sendable () -> Void]? { state.withLock { $0.cancel(id) } ? [] : nil }

    private func setAlarm(at time: ContinuousClock.Instant) {
        WaitQueue.schedule(at: time) { [weak self] in self?.expire(at: time) }
    }

    /// - Parameter time: the time of the alarm, which rings a little earlier if clocks differ.
    private func expire(at time: ContinuousClock.Instant) {
        let (actions, alarm) = state.withLock {
            ($0.expire(at: max(time, ContinuousClock.now)), $0.takeAlarm())
        }
        if let alarm { setAlarm(at: alarm) }
        perform(actions)
    }
}
