internal import Dispatch
internal import Synchronization
internal import SystemCalls

/// The reader connections of a pool, which are opened on demand and lent to one access at a time.
///
/// Locks are taken in one order: the access of the writer first, then readers and barriers. Only an access of
/// the writer, or a thread without any access, waits for a barrier.
final class ReaderPool: Sendable {
    /// A reader connection, and the generation in which it was opened.
    struct Lease: Sendable {
        let id: Int
        let connection: SerializedConnection
        fileprivate let generation: UInt64
    }

    typealias Grant = ReaderPoolState<Lease>.Grant
    typealias RequestID = ReaderPoolState<Lease>.RequestID
    typealias Ticket = AccessTicket<ReaderPool>

    private struct State {
        var pool: ReaderPoolState<Lease>
        var resumptions: [RequestID: Resumption] = [:]
        /// The readers in use, so that they can be interrupted. They are few, in no particular order.
        private(set) var busy: [(id: Int, connection: SerializedConnection)] = []
        var openedCount = 0
        var isClosed = false
        /// True while accesses are cancelled, because the pool is about to be closed.
        var isCancelling = false
        /// The thread with exclusive access, or zero.
        var barrierThread: UInt = 0

        mutating func noteLoan(_ grant: Grant?) {
            if case .reader(let lease) = grant { noteLoan(lease.id, lease.connection) }
        }

        mutating func noteLoan(_ id: Int, _ connection: SerializedConnection) {
            busy.append((id, connection))
            if isCancelling { connection.cancelAccesses() }
        }

        mutating func noteReturn(_ id: Int) {
            guard let index = busy.firstIndex(where: { $0.id == id }) else { return }
            busy.swapAt(index, busy.count - 1)
            busy.removeLast()
        }

        /// The reader that the current thread is accessing, if any.
        var readerOfCurrentThread: SerializedConnection? {
            busy.first { $0.connection.isAccessedByCurrentThread }?.connection
        }

        /// Returns functions that resume granted requests. Call them outside the lock.
        mutating func take(_ granted: [(RequestID, Grant)]) -> [@Sendable () -> Void] {
            granted.map { id, grant in
                noteLoan(grant)
                let resumption = takeResumption(id)
                return { resumption(.success(grant)) }
            }
        }

        mutating func takeResumption(_ id: RequestID) -> Resumption {
            guard let resumption = resumptions.removeValue(forKey: id) else {
                preconditionFailure("A request was answered that was not waiting.")
            }
            return resumption
        }
    }

    private let state: Mutex<State>
    private let openReader: @Sendable (_ number: Int) throws -> SerializedConnection

    /// The writer, which is kept alive until the last reader is closed.
    private let writer: SerializedConnection?

    /// - Parameters:
    ///   - writer: the connection that closes last and checkpoints the WAL file, which readers cannot do.
    ///   - openReader: a function that opens the connection with this number. It may be called on any thread,
    ///     also concurrently.
    init(
        maximumReaderCount: Int, writer: SerializedConnection,
        openReader: @escaping @Sendable (_ number: Int) throws -> SerializedConnection
    ) {
        self.state = Mutex(State(pool: ReaderPoolState(maximumReaderCount: maximumReaderCount)))
        self.writer = writer
        self.openReader = openReader
    }

    /// Creates a pool of open readers. It opens no others.
    init(opened connections: [SerializedConnection]) {
        var pool = ReaderPoolState<Lease>(maximumReaderCount: connections.count)
        for (number, connection) in connections.enumerated() {
            pool.addIdleReader(Lease(id: number, connection: connection, generation: 0))
        }
        self.state = Mutex(State(pool: pool, openedCount: connections.count))
        self.writer = nil
        self.openReader = { _ in throw DatabaseError.connectionIsClosed() }
    }

    deinit {
        // Accesses keep the pool of readers alive: all readers are idle.
        closeIdleReaders()
    }
}

// MARK: - Readers

extension ReaderPool {
    /// Waits for a reader on the current thread.
    ///
    /// - Parameter mayHaveAnother: true if the current thread may be inside an access of a reader, because
    ///   another thread will use the new one.
    /// - Throws: ``DatabaseWaitError`` if the bounds do not allow the wait; `SQLITE_MISUSE` if the pool is
    ///   closed; an error from opening a connection.
    /// - Precondition: the current thread does not have exclusive access: it would wait for itself.
    func acquire(mayHaveAnother: Bool = false, within bounds: WaitBounds = .none) throws -> Lease {
        let grant = try state.withLock { state in
            precondition(
                state.barrierThread != currentThreadID(),
                "A read inside a barrier would wait for itself. Read with the connection of the barrier.")
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            precondition(
                mayHaveAnother || state.readerOfCurrentThread == nil,
                "This thread is already inside a database access. Use the Database of that access.")
            let grant = state.pool.takeReaderNow()
            state.noteLoan(grant)
            return grant
        }
        return try lease(for: grant ?? Ticket().wait(for: .reader, in: self, within: bounds))
    }

    /// Runs `body` on a reader.
    func withReader<T>(within bounds: WaitBounds = .none, _ body: (Database) throws -> T) throws -> T {
        let request = writer?.timeOfRequest
        let lease = try acquire(within: bounds)
        defer { release(lease) }
        return try lease.connection.syncOnLoan(since: request, body)
    }

    /// Runs `body` on a reader, for a task.
    ///
    /// The task resumes on the queue of its reader, and returns the reader there. It never waits for one of
    /// the threads that tasks share, because all of them may be blocked by calls that wait for this very
    /// reader, such as a barrier.
    ///
    /// - Throws: the error of `body`; `CancellationError` if the task is cancelled while it waits or reads;
    ///   ``DatabaseWaitError`` if the bounds do not allow the wait.
    func withReader<T: Sendable>(
        within bounds: WaitBounds, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        if let lease = try acquireIdle() {
            return try await lease.connection.performOnLoan(body) { release(lease) }
        }
        let request = writer?.timeOfRequest
        let (ticket, cancellation) = (Ticket(), AccessCancellation())
        let answer = Mutex(Result<Lease, any Error>.failure(CancellationError()))
        let turn = QueueActor { job in
            self.acquire(ticket, within: bounds) { result in
                answer.withLock { $0 = result }
                let queue =
                    if case .success(let lease) = result { lease.connection.queue } else {
                        WaitQueue.queue
                    }
                queue.async(execute: job)
            }
        }
        return try await withTaskCancellationHandler {
            try await turn.run {
                let lease = try answer.withLock { $0 }.get()
                defer { release(lease) }
                return try lease.connection.accessOnQueue(since: request, body, cancellation)
            }
        } onCancel: {
            ticket.cancel(in: self)
            cancellation.cancel()
        }
    }

    /// Returns an idle open reader, unless there is none or other requests are waiting.
    private func acquireIdle() throws -> Lease? {
        try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            let lease = state.pool.takeIdleReader()
            if let lease { state.noteLoan(lease.id, lease.connection) }
            return lease
        }
    }

    /// Requests a reader and returns immediately. `body` runs later on the reader's queue, or on another one
    /// if there is an error.
    func withLeaseLater(_ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        acquire(Ticket(), within: .none) { result in
            switch result {
            case .failure(let error):
                OwnThread.run { body(.failure(error)) }
            case .success(let lease):
                lease.connection.async({ body(.success($0)) }, end: { self.release(lease) })
            }
        }
    }

    /// Requests a reader and returns immediately. `body` runs later on another thread, or before this
    /// function returns if an open reader is free.
    ///
    /// - Parameter ticket: a ticket by which another thread can cancel the wait.
    private func acquire(
        _ ticket: Ticket, within bounds: WaitBounds,
        _ body: @escaping @Sendable (Result<Lease, any Error>) -> Void
    ) {
        ticket.begin(.reader, in: self, within: bounds) { answer in
            let open: @Sendable () -> Void = { body(Result { try self.lease(for: answer.get()) }) }
            // Opening blocks on the file and its locks. It must not block a thread that is returning a
            // reader, nor wait for a thread of a queue: all of them may be waiting for this reader.
            if case .success(.newReader) = answer {
                OwnThread.run(open)
            } else {
                open()
            }
        }
    }

    /// Returns a reader to the pool, or closes it if the readers were invalidated since it was opened.
    ///
    /// A reader counts as in use until it is closed. Therefore, no reader outside the pool is open during a
    /// barrier, even while threads are still leaving an access, and a writer that closes there is the last
    /// connection.
    ///
    /// - Precondition: the access has ended.
    func release(_ lease: Lease) {
        if giveBack(lease, isClosed: false) { return }
        lease.connection.closeUnused()
        _ = giveBack(lease, isClosed: true)
    }

    /// Returns a reader to the pool, or returns false if it must be closed first. This result is final:
    /// generations only grow.
    private func giveBack(_ lease: Lease, isClosed: Bool) -> Bool {
        let resumptions: [@Sendable () -> Void]? = state.withLock { state in
            guard isClosed || lease.generation == state.pool.generation else { return nil }
            state.noteReturn(lease.id)
            return state.take(state.pool.release(lease, generation: lease.generation))
        }
        resumptions?.forEach { $0() }
        return resumptions != nil
    }

    private func giveBackNewReader() {
        let resumptions = state.withLock { state in state.take(state.pool.didFailToOpenReader()) }
        resumptions.forEach { $0() }
    }

    /// Returns the reader of a grant: an idle one, or a new one.
    private func lease(for grant: Grant) throws -> Lease {
        switch grant {
        case .reader(let lease):
            return lease
        case .barrier:
            preconditionFailure("A reader was requested.")
        case .newReader:
            do {
                let (number, generation) = try state.withLock { state in
                    // The pool may have been closed while the request waited.
                    guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
                    state.openedCount += 1
                    return (state.openedCount, state.pool.generation)
                }
                let connection = try openReader(number)
                state.withLock { $0.noteLoan(number, connection) }
                return Lease(id: number, connection: connection, generation: generation)
            } catch {
                giveBackNewReader()
                throw error
            }
        }
    }
}

// MARK: - Exclusive access

extension ReaderPool {
    /// Runs `body` when no reader is in use, and lends no reader until it has ended.
    ///
    /// - Parameter ticket: a ticket by which another thread can cancel the wait.
    /// - Throws: the error of `body`; `SQLITE_MISUSE` if the readers are closed; `CancellationError` if the
    ///   wait was cancelled; ``DatabaseWaitError`` if the bounds do not allow the wait.
    func barrier<T>(
        _ ticket: Ticket = Ticket(), within bounds: WaitBounds = .none, _ body: () throws -> T
    ) throws -> T {
        precondition(readerOfCurrentThread == nil, "A barrier inside a read would wait for itself.")
        _ = try ticket.wait(for: .barrier, in: self, within: bounds)
        state.withLock { $0.barrierThread = currentThreadID() }
        defer {
            let resumptions = state.withLock { state in
                state.barrierThread = 0
                return state.take(state.pool.endBarrier())
            }
            resumptions.forEach { $0() }
        }
        return try body()
    }

    /// True if the current thread has exclusive access.
    var isBarrierOfCurrentThread: Bool { state.withLock { $0.barrierThread == currentThreadID() } }
}

// MARK: - Requests

extension ReaderPool: AccessGranter {
    typealias Kind = ReaderPoolState<Lease>.Kind

    func request(_ kind: Kind, within bounds: WaitBounds, _ resume: @escaping Resumption) throws
        -> AccessRequest<Grant>
    {
        let (request, alarm) = try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            let request =
                switch kind {
                case .reader: try state.pool.requestReader(within: bounds)
                case .barrier: try state.pool.requestBarrier(within: bounds)
                }
            if request.grant == nil { state.resumptions[request.id] = resume }
            state.noteLoan(request.grant)
            return (request, state.pool.takeAlarm())
        }
        if let alarm { setAlarm(at: alarm) }
        return request.grant.map { .granted($0) } ?? .waiting(request.id)
    }

    func cancel(_ id: RequestID) -> [@Sendable () -> Void]? {
        state.withLock { state in
            let result = state.pool.cancel(id)
            guard result.wasWaiting else { return nil }
            state.resumptions[id] = nil
            return state.take(result.granted)
        }
    }

    private func setAlarm(at time: ContinuousClock.Instant) {
        WaitQueue.schedule(at: time) { [weak self] in self?.expire(at: time) }
    }

    /// - Parameter time: the time of the alarm, which rings a little earlier if clocks differ.
    private func expire(at time: ContinuousClock.Instant) {
        let (calls, alarm) = state.withLock { state in
            let (expired, granted) = state.pool.expire(at: max(time, ContinuousClock.now))
            let ends = expired.map { id, error in
                let resumption = state.takeResumption(id)
                return { @Sendable in resumption(.failure(error)) }
            }
            return (ends + state.take(granted), state.pool.takeAlarm())
        }
        if let alarm { setAlarm(at: alarm) }
        calls.forEach { $0() }
    }
}

// MARK: - Closing and interrupting

extension ReaderPool {
    /// Closes the idle readers now, and the busy ones when they are returned.
    func invalidate() {
        let readers = state.withLock { $0.pool.invalidate() }
        for reader in readers { reader.connection.closeUnused() }
    }

    /// Closes the idle readers.
    func closeIdleReaders() {
        let readers = state.withLock { $0.pool.removeIdleReaders() }
        for reader in readers { reader.connection.closeUnused() }
    }

    /// Closes all readers that can be closed, and keeps the others.
    ///
    /// - Precondition: called inside a barrier, so that all readers are idle.
    /// - Throws: `SQLITE_BUSY` if statements of a reader are still alive.
    func closeReadersInBarrier() throws {
        let readers = state.withLock { $0.pool.removeIdleReaders() }
        var failure: (any Error)?
        for reader in readers {
            do {
                try reader.connection.close()
            } catch {
                failure = failure ?? error
                state.withLock { $0.pool.addIdleReader(reader) }
            }
        }
        if let failure { throw failure }
    }

    /// Makes waiting and later requests throw `SQLITE_MISUSE`.
    func markClosed() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Aborts the statements that are running on readers.
    func interrupt() {
        let connections = state.withLock { $0.busy.map(\.connection) }
        connections.forEach { $0.interrupt() }
    }

    /// Makes the statements of the current reads and of later ones throw `CancellationError`.
    func cancelAccesses() {
        state.withLock { state in
            state.isCancelling = true
            for (_, connection) in state.busy { connection.cancelAccesses() }
        }
    }

    /// Ends the effect of ``cancelAccesses()`` for later reads.
    func allowAccesses() {
        state.withLock { state in
            state.isCancelling = false
            for (_, connection) in state.busy { connection.allowAccesses() }
            for lease in state.pool.idleReaders { lease.connection.allowAccesses() }
        }
    }

    /// Aborts the statements of reads that are cancelled although later ones are allowed. Returns false if
    /// there are none.
    func interruptCancelledAccesses() -> Bool {
        let connections = state.withLock { $0.busy.map(\.connection) }
        return connections.count { $0.interruptCancelledAccess() } > 0
    }

    /// The reader that the current thread is accessing, if any.
    var readerOfCurrentThread: SerializedConnection? { state.withLock { $0.readerOfCurrentThread } }

    /// Calls `body` with each idle reader, one after the other.
    func forEachIdle(_ body: (Database) -> Void) {
        var leases: [Lease] = []
        state.withLock { state in
            while let lease = state.pool.takeIdleReader() {
                state.noteLoan(lease.id, lease.connection)
                leases.append(lease)
            }
        }
        for lease in leases {
            lease.connection.sync(body)
            release(lease)
        }
    }

    /// Calls `body` with each reader.
    ///
    /// - Precondition: called inside a barrier, so that all readers are idle.
    func forEachReaderInBarrier(_ body: (Database) -> Void) {
        for lease in state.withLock({ $0.pool.idleReaders }) { lease.connection.sync(body) }
    }

    /// The number of open readers, of readers in use, and of waiting requests. A reader that is being opened
    /// is open and in use.
    var counts: (open: Int, busy: Int, waiting: Int) {
        state.withLock { state in
            let busy = state.pool.busyCount
            return (busy + state.pool.idleReaders.count, busy, state.pool.waitingRequestCount)
        }
    }

    /// The number of open readers, for tests.
    var openReaderCount: Int { state.withLock { $0.busy.count + $0.pool.idleReaders.count } }

    /// The number of waiting requests, for tests.
    var waitingRequestCount: Int { state.withLock { $0.pool.waitingRequestCount } }
}
