internal import Dispatch
internal import Foundation
internal import Synchronization

/// The open databases of ``DatabasePools``: the owner of a ``PoolsState``.
///
/// Files are opened and closed on threads of their own, for all requests together, so a request never blocks
/// its thread, and its cancellation does not end an opening for which others wait.
final class PoolShelf: Sendable {
    /// Names are compared by their bytes, as the system compares names of files. Strings that are equal in
    /// Swift may be the names of two files.
    typealias State = PoolsState<ExactText, DatabasePool, Resumption>

    private let state: Mutex<State>
    private let slotCount: Int
    private let checks: ExistenceChecks
    private let open: @Sendable (_ name: String) throws -> DatabasePool

    /// Entered by each database from the beginning of its opening to the end of its closing.
    private let files = DispatchGroup()

    /// Entered by each database while it is opened or created.
    private let openings = DispatchGroup()

    /// Entered by each database while it is closed because its last lease has ended.
    private let closings = DispatchGroup()

    /// The maximum number of files that are opened or created at the same time.
    private static let maximumOpeningCount = 16

    /// The maximum number of openings and creations that are not overdue, and of such closings. More would
    /// compete for the processors, and for locks of SQLite and the kernel: with 16 openings at once on two
    /// processors, a request takes a sixth more processor time than with four.
    private static let maximumPromptCount = min(
        max(4, 2 * ProcessInfo.processInfo.activeProcessorCount), maximumOpeningCount)

    /// The time after which an opening, creation or closing is overdue, and others may begin.
    private static let promptness = Duration.milliseconds(10)

    /// - Parameters:
    ///   - checkExists: throws an error if a database has no file. It is called on a thread of its own.
    ///   - open: opens a database. It is called on a thread of its own, and may block.
    init(
        slotCount: Int, checkExists: @escaping @Sendable (_ name: String) throws -> Void,
        open: @escaping @Sendable (_ name: String) throws -> DatabasePool
    ) {
        state = Mutex(
            State(
                slotCount: slotCount, maximumOpeningCount: Self.maximumOpeningCount,
                maximumPromptCount: Self.maximumPromptCount))
        self.slotCount = slotCount
        checks = ExistenceChecks(maximumThreadCount: Self.maximumOpeningCount, checkExists)
        self.open = open
    }

    // MARK: Leases

    /// Leases a database. ``release(_:)`` ends the lease.
    func lease(_ name: ExactText, within bounds: WaitBounds) async throws -> DatabasePool {
        if let pool = takeNow(name) { return pool }
        // A name without a file must not close a database, nor wait for one to be released.
        if try state.withLock({ try needsCheck(name, $0) }) { try await checks.check(name) }
        guard case .lease(let pool) = try await wait(for: .lease(name), within: bounds) else {
            preconditionFailure("A lease was requested.")
        }
        return pool
    }

    /// Leases a database that is open. If it has no lease and its path leads to no file or to another one,
    /// it is closed instead: each of its accesses would fail.
    private func takeNow(_ name: ExactText) -> DatabasePool? {
        let (leased, idle) = state.withLock { ($0.takeLeased(name), $0.idlePool(name)) }
        guard let idle else { return leased }
        guard idle.hasLostFile else { return state.withLock { $0.takeNow(name) } }
        perform(state.withLock { $0.closeIdle(name) })
        return nil
    }

    private func needsCheck(_ name: ExactText, _ state: borrowing State) throws -> Bool {
        guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
        return !state.isAwaited(name)
    }

    private func wait(for kind: Kind, within bounds: WaitBounds) async throws -> Grant {
        let ticket = AccessTicket<PoolShelf>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                ticket.begin(kind, in: self, within: bounds) { continuation.resume(with: $0) }
            }
        } onCancel: {
            ticket.cancel(in: self)
        }
    }

    func release(_ name: ExactText) { perform(state.withLock { $0.release(name) }) }

    var statistics: DatabasePools.Statistics {
        state.withLock { state in
            let counts = state.openCounts
            return DatabasePools.Statistics(
                openCount: counts.open, leasedCount: counts.leased, usedSlotCount: state.usedSlotCount,
                waitingCount: state.waitingRequestCount, maximumOpenCount: slotCount)
        }
    }

    // MARK: Creating

    /// Runs `body`, which creates and closes a file, on a thread of its own. The database is claimed during
    /// the call.
    ///
    /// - Throws: ``DatabaseFileError`` with the reason `exists` if the database is open, or another call is
    ///   creating it; the errors of a wait that ends; the error of `body`.
    func create(
        _ name: ExactText, at path: String, within bounds: WaitBounds,
        _ body: @escaping @Sendable () throws -> Void
    ) async throws {
        do {
            _ = try await wait(for: .claim(name, .creation), within: bounds)
        } catch is DatabaseNameTaken {
            throw DatabaseFileError(.exists, path: path)
        }
        // This must run even if the task is cancelled.
        try await end(.creation, of: name) { _ in try body() }
    }

    /// Runs `body`, which works on the file of a database, on a thread of its own. The database is claimed
    /// during the call.
    ///
    /// - Throws: the errors of a wait that ends; the error of `body`.
    func work<T: Sendable>(
        on name: ExactText, within bounds: WaitBounds, _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        _ = try await wait(for: .claim(name, .work), within: bounds)
        return try await end(.work, of: name) { signal in
            try signal.check()
            return try body()
        }
    }

    private func end<T: Sendable>(
        _ claim: State.Claim, of name: ExactText, after body: @escaping @Sendable (StopSignal) throws -> T
    ) async throws -> T {
        try await BlockingWork.run("Coffer.Claim") { signal in
            defer {
                self.perform(self.state.withLock { $0.didEndClaim(name) })
                if claim == .creation { self.openings.leave() }
                self.files.leave()
            }
            return try body(signal)
        }
    }

    /// Closes a database that is open although it has no file.
    ///
    /// - Throws: ``DatabaseFileError`` with the reason `busy` if it is leased.
    func closeDeleted(_ name: ExactText, at path: String) throws {
        let (isLeased, actions) = state.withLock { state in
            let actions = state.closeIdle(name)
            return (state.isOpen(name), actions)
        }
        perform(actions)
        if isLeased { throw DatabaseFileError(.busy([FileUsers.thisProcess]), path: path) }
    }

    private func begin(_ claim: State.Claim, of name: ExactText) {
        files.enter()
        guard claim == .creation else { return }
        openings.enter()
        watch(name)
    }

    /// - Throws: `SQLITE_MISUSE` after ``close()``.
    func checkIsOpen() throws {
        guard !state.withLock({ $0.isClosed }) else { throw DatabaseError.connectionIsClosed() }
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
            watch(name)
            DispatchQueue(label: "Coffer.Opening").async { self.openNow(name) }
        }
        for (name, pool) in actions.closings {
            closings.enter()
            watch(name)
            DispatchQueue(label: "Coffer.Closing").async { self.closeNow(name, pool) }
        }
        for (name, claim, waiter) in actions.claims {
            begin(claim, of: name)
            waiter(.success(.claim))
        }
        for answer in actions.answers { answer.waiter(answer.result.map { .lease($0) }) }
    }

    /// Lets others begin if the opening, creation or closing of a database takes long.
    ///
    /// The timer is not cancelled. If the database is opened or closed again by then, that work counts as
    /// overdue too early, and one more begins.
    private func watch(_ name: ExactText) {
        WaitQueue.schedule(at: .now + Self.promptness) { [weak self] in
            guard let self else { return }
            perform(state.withLock { $0.didBecomeOverdue(name) })
        }
    }

    private func openNow(_ name: ExactText) {
        defer { openings.leave() }
        switch Result(catching: { try open(name.text) }) {
        case .success(let pool): perform(state.withLock { $0.didOpen(name, pool) })
        case .failure(let error):
            perform(state.withLock { $0.didFailToOpen(name, error) })
            files.leave()
        }
    }

    private func closeNow(_ name: ExactText, _ pool: DatabasePool) {
        // A statement that the application still holds keeps its connection open until it is released.
        // Nothing else can be done about it here.
        try? pool.close()
        perform(state.withLock { $0.didClose(name) })
        closings.leave()
        files.leave()
    }
}

extension PoolShelf: AccessGranter {
    /// A request, with the name of its database.
    enum Kind {
        case lease(ExactText)
        case claim(ExactText, State.Claim)
    }

    enum Grant: Sendable {
        case lease(DatabasePool)

        /// The exclusive use of the file.
        case claim
    }

    func request(_ kind: Kind, within bounds: WaitBounds, _ resume: @escaping Resumption) throws
        -> AccessRequest<Grant>
    {
        let (request, actions, alarm) = try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            let (id, actions): (State.RequestID, State.Actions)
            switch kind {
            case .lease(let name):
                if let pool = state.takeNow(name) { return granted(.lease(pool)) }
                (id, actions) = try state.request(name, resume, within: bounds)
            case .claim(let name, let claim):
                if try state.claimNow(name, for: claim) {
                    begin(claim, of: name)
                    return granted(.claim)
                }
                (id, actions) = try state.requestClaim(name, for: claim, resume, within: bounds)
            }
            return (AccessRequest<Grant>.waiting(id), actions, state.takeAlarm())
        }
        // A request that waits answers no other: it only opens and closes files.
        perform(actions)
        if let alarm { setAlarm(at: alarm) }
        return request
    }

    private func granted(_ grant: Grant) -> (AccessRequest<Grant>, State.Actions, State.Instant?) {
        (.granted(grant), State.Actions(), nil)
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
