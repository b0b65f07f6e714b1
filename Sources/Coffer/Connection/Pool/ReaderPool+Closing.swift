internal import Synchronization

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

    /// Has all later requests throw `SQLITE_MISUSE`, and those that wait.
    func markClosed() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Aborts the statements that the readers execute.
    func interrupt() {
        let connections = state.withLock { Array($0.busy.values) }
        connections.forEach { $0.interrupt() }
    }

    /// The reader that the current thread accesses, if there is one.
    var readerOfCurrentThread: SerializedConnection? {
        state.withLock { state in state.busy.values.first { $0.isAccessedByCurrentThread } }
    }

    /// Calls `body` with each reader that nobody uses now, one after the other.
    func forEachIdle(_ body: (Database) -> Void) {
        var leases: [Lease] = []
        state.withLock { state in
            while let lease = state.pool.takeIdleReader() {
                state.busy[lease.id] = lease.connection
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
