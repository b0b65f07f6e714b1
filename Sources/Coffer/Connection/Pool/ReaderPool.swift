internal import Dispatch
internal import Synchronization

/// The reader connections of a pool: opened when they are needed, lent to one access at a time.
///
/// Locks are taken in one order: the access of the writer, then readers and barriers. A barrier is only
/// waited for inside of an access of the writer, or by a thread that has no access at all.
final class ReaderPool: Sendable {
    /// A reader connection, and when it was opened.
    struct Lease: Sendable {
        let id: Int
        let connection: SerializedConnection
        fileprivate let generation: UInt64
    }

    typealias Grant = ReaderPoolState<Lease>.Grant
    typealias RequestID = ReaderPoolState<Lease>.RequestID
    typealias Resumption = @Sendable (Grant) -> Void

    private struct State {
        var pool: ReaderPoolState<Lease>
        var resumptions: [RequestID: Resumption] = [:]
        /// The readers in use, so that they can be interrupted: a few, in no order.
        private(set) var busy: [(id: Int, connection: SerializedConnection)] = []
        var openedCount = 0
        var isClosed = false
        /// The thread that has exclusive access, or zero.
        var barrierThread: UInt = 0

        mutating func noteLoan(_ grant: Grant?) {
            if case .reader(let lease) = grant { noteLoan(lease.id, lease.connection) }
        }

        mutating func noteLoan(_ id: Int, _ connection: SerializedConnection) {
            busy.append((id, connection))
        }

        mutating func noteReturn(_ id: Int) {
            guard let index = busy.firstIndex(where: { $0.id == id }) else { return }
            busy.swapAt(index, busy.count - 1)
            busy.removeLast()
        }

        /// The reader that the current thread accesses, if there is one.
        var readerOfCurrentThread: SerializedConnection? {
            busy.first { $0.connection.isAccessedByCurrentThread }?.connection
        }

        /// What to call, outside of the lock, for requests that can go on.
        mutating func take(_ granted: [(RequestID, Grant)]) -> [@Sendable () -> Void] {
            granted.map { id, grant in
                noteLoan(grant)
                guard let resumption = resumptions.removeValue(forKey: id) else {
                    preconditionFailure("A request was granted that did not wait.")
                }
                return { resumption(grant) }
            }
        }
    }

    private let state: Mutex<State>
    private let openReader: @Sendable (_ number: Int) throws -> SerializedConnection

    /// Kept alive until the last reader is closed, whoever still reads.
    private let writer: SerializedConnection?

    /// - Parameters:
    ///   - writer: closes last, which brings the WAL file into the database file: a reader cannot do that.
    ///   - openReader: opens the connection with this number; may be called on any thread, also on several at
    ///     a time.
    init(
        maximumReaderCount: Int, writer: SerializedConnection,
        openReader: @escaping @Sendable (_ number: Int) throws -> SerializedConnection
    ) {
        self.state = Mutex(State(pool: ReaderPoolState(maximumReaderCount: maximumReaderCount)))
        self.writer = writer
        self.openReader = openReader
    }

    /// A pool of readers that are open already; it opens no others.
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
    /// - Parameter mayHaveAnother: whether the current thread may be inside of an access to a reader: where
    ///   another thread uses this one.
    /// - Precondition: the current thread does not have exclusive access: it would wait for itself.
    func acquire(mayHaveAnother: Bool = false) throws -> Lease {
        let grant = try state.withLock { state in
            precondition(
                state.barrierThread != currentThreadID(),
                "A read inside of a barrier would wait for itself: read with the connection of the barrier.")
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            precondition(
                mayHaveAnother || state.readerOfCurrentThread == nil,
                "This thread is inside of an access already: pass its Database on.")
            let grant = state.pool.takeReaderNow()
            state.noteLoan(grant)
            return grant
        }
        return try lease(for: grant ?? PoolTicket().wait(for: .reader, in: self))
    }

    /// Runs `body` on a reader.
    func withReader<T>(_ body: (Database) throws -> T) throws -> T {
        let lease = try acquire()
        defer { release(lease) }
        return try lease.connection.syncOnLoan(body)
    }

    /// Runs `body` on a reader, for a task.
    ///
    /// The task comes back on the queue of its reader, and the reader is given back there. On this way
    /// nothing waits for one of the threads that tasks share: all of them may be blocked by calls that wait
    /// for this very reader, such as a barrier.
    ///
    /// - Throws: the error of `body`, or `CancellationError` if the task is cancelled while it waits or
    ///   reads.
    func withReader<T: Sendable>(_ body: @Sendable (Database) throws -> T) async throws -> T {
        if let lease = try acquireIdle() {
            return try await lease.connection.perform(isOnLoan: true, body) { release(lease) }
        }
        let (ticket, cancellation) = (PoolTicket(), AccessCancellation())
        let answer = Mutex(Result<Lease, any Error>.failure(CancellationError()))
        let turn = QueueActor { job in
            self.acquire(ticket) { result in
                answer.withLock { $0 = result }
                let queue =
                    if case .success(let lease) = result { lease.connection.queue } else {
                        DispatchQueue.global()
                    }
                queue.async(execute: job)
            }
        }
        return try await withTaskCancellationHandler {
            try await turn.run {
                let lease = try answer.withLock { $0 }.get()
                defer { release(lease) }
                return try lease.connection.accessOnQueue(body, cancellation)
            }
        } onCancel: {
            ticket.cancel(in: self)
            cancellation.cancel()
        }
    }

    /// A reader that is open and idle, if there is one and nobody waits for it.
    private func acquireIdle() throws -> Lease? {
        try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            let lease = state.pool.takeIdleReader()
            if let lease { state.noteLoan(lease.id, lease.connection) }
            return lease
        }
    }

    /// Asks for a reader and returns at once; `body` runs later on the reader's queue, or on another one if
    /// there is an error.
    func withLeaseLater(_ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        acquire { result in
            switch result {
            case .failure(let error):
                DispatchQueue.global().async { body(.failure(error)) }
            case .success(let lease):
                lease.connection.async({ body(.success($0)) }, end: { self.release(lease) })
            }
        }
    }

    /// Asks for a reader and returns at once; `body` runs later on another thread, or before the return if an
    /// open reader is free.
    ///
    /// - Parameter ticket: what another thread can end the wait with.
    private func acquire(
        _ ticket: PoolTicket = PoolTicket(), _ body: @escaping @Sendable (Result<Lease, any Error>) -> Void
    ) {
        ticket.begin(.reader, in: self) { answer in
            let open: @Sendable () -> Void = { body(Result { try self.lease(for: answer.get()) }) }
            // Opening blocks, on the file and its locks: it must not keep a thread that came to give
            // something back.
            if case .success(.newReader) = answer {
                DispatchQueue.global().async(execute: open)
            } else {
                open()
            }
        }
    }

    /// Gives a reader back, or closes it if the readers were invalidated since it was opened.
    ///
    /// A reader that is closed counts as in use until it is. Therefore no reader is open inside of a barrier
    /// that the pool does not have, whatever threads are still on their way out of an access: the writer that
    /// closes there is the last connection.
    /// - Precondition: the access has ended.
    func release(_ lease: Lease) {
        if giveBack(lease, isClosed: false) { return }
        lease.connection.closeUnused()
        _ = giveBack(lease, isClosed: true)
    }

    /// Returns false if the reader must be closed first. That does not change any more: generations only
    /// grow.
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

    /// The reader of a grant: an idle one, or a new one.
    private func lease(for grant: Grant) throws -> Lease {
        switch grant {
        case .reader(let lease):
            return lease
        case .barrier:
            preconditionFailure("A reader was asked for.")
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
    /// Runs `body` when no reader is in use, and lends none before it has ended.
    ///
    /// - Parameter ticket: what another thread can end the wait with.
    /// - Throws: the error of `body`, `SQLITE_MISUSE` if the readers are closed, `CancellationError` if the
    ///   wait was cancelled.
    func barrier<T>(_ ticket: PoolTicket = PoolTicket(), _ body: () throws -> T) throws -> T {
        precondition(readerOfCurrentThread == nil, "A barrier inside of a read would wait for itself.")
        _ = try ticket.wait(for: .barrier, in: self)
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

    /// Whether the current thread has exclusive access.
    var isBarrierOfCurrentThread: Bool { state.withLock { $0.barrierThread == currentThreadID() } }
}

// MARK: - Requests

extension ReaderPool {
    enum Kind {
        case reader
        case barrier
    }

    /// Asks for a grant, which comes now or with a later call of `resume`, on the thread of an access that
    /// ends.
    func request(_ kind: Kind, _ resume: @escaping Resumption) throws -> (id: RequestID, grant: Grant?) {
        try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError.connectionIsClosed() }
            let request =
                switch kind {
                case .reader: state.pool.requestReader()
                case .barrier: state.pool.requestBarrier()
                }
            if request.grant == nil { state.resumptions[request.id] = resume }
            state.noteLoan(request.grant)
            return request
        }
    }

    /// Takes back a request that waits.
    ///
    /// - Returns: nil if the grant is on its way, else what to call outside of all locks for the requests
    ///   that can go on instead.
    func cancel(_ id: RequestID) -> [@Sendable () -> Void]? {
        state.withLock { state in
            let result = state.pool.cancel(id)
            guard result.wasWaiting else { return nil }
            state.resumptions[id] = nil
            return state.take(result.granted)
        }
    }
}

// MARK: - Closing and interrupting

extension ReaderPool {
    /// Closes the readers that are idle now, and those in use when they come back.
    func invalidate() {
        let readers = state.withLock { $0.pool.invalidate() }
        for reader in readers { reader.connection.closeUnused() }
    }

    /// Closes the readers that are idle now.
    func closeIdleReaders() {
        let readers = state.withLock { $0.pool.removeIdleReaders() }
        for reader in readers { reader.connection.closeUnused() }
    }

    /// Closes the readers that can be closed, and keeps the others.
    ///
    /// - Precondition: called inside of a barrier, so that all readers are idle.
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

    /// Aborts the statements that the readers execute.
    func interrupt() {
        let connections = state.withLock { $0.busy.map(\.connection) }
        connections.forEach { $0.interrupt() }
    }

    /// The reader that the current thread accesses, if there is one.
    var readerOfCurrentThread: SerializedConnection? { state.withLock { $0.readerOfCurrentThread } }

    /// Calls `body` with each reader that nobody uses now, one after the other.
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
    /// - Precondition: called inside of a barrier, so that all readers are idle.
    func forEachReaderInBarrier(_ body: (Database) -> Void) {
        for lease in state.withLock({ $0.pool.idleReaders }) { lease.connection.sync(body) }
    }

    /// How many readers are open, for tests.
    var openReaderCount: Int { state.withLock { $0.busy.count + $0.pool.idleReaders.count } }

    /// How many requests wait, for tests.
    var waitingRequestCount: Int { state.withLock { $0.pool.waitingRequestCount } }
}
