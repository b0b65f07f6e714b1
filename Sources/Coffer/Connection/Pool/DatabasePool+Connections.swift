// Interrupting and closing connections, and freeing their memory.

internal import Dispatch

extension DatabasePool {
    public func interrupt() {
        writer.interrupt()
        readers.interrupt()
    }

    /// Closes all connections after the accesses that were requested before.
    ///
    /// The writer closes last: it checkpoints the WAL file, which readers cannot do.
    ///
    /// - Throws: `SQLITE_BUSY` if statements are still alive. The pool remains usable then.
    public func close() throws { try close(within: .none) }

    func close(within bounds: WaitBounds) throws {
        precondition(
            readers.readerOfCurrentThread == nil, "A pool cannot be closed inside one of its reads.")
        let start = ContinuousClock.now
        try writer.sync(within: bounds) { db in
            guard !db.isClosed || db.isAwaitingFile else { return }
            try readers.barrier(within: bounds.remaining(after: start.duration(to: .now))) {
                try readers.closeReadersInBarrier()
                try db.closeOrThrow()
                readers.markClosed()
            }
            db.keying.keys.removeDerivedKeys()
        }
    }

    /// Makes later reads use new connections. Running reads keep their connections.
    ///
    /// Use it after changes of the schema or the key by others that open connections do not detect.
    public func invalidateReadOnlyConnections() {
        readers.invalidate()
    }

    /// Frees memory: closes the readers, unless the configuration keeps them, and empties the caches of the
    /// writer.
    ///
    /// The call waits for running accesses.
    public func releaseMemory() {
        writer.sync { $0.releaseMemory() }
        if configuration.persistentReadOnlyConnections {
            readers.forEachIdle { $0.releaseMemory() }
        } else {
            // The barrier waits for busy readers, so that their memory is freed as well. A closed pool has no
            // readers.
            try? readers.barrier { readers.closeIdleReaders() }
        }
    }

    /// Frees memory like ``releaseMemory()``, without waiting: connections in use are skipped.
    public func releaseMemoryEventually() {
        if configuration.persistentReadOnlyConnections {
            readers.forEachIdle { $0.releaseMemory() }
        } else {
            readers.closeIdleReaders()
        }
        writer.async { $0.releaseMemory() }
    }

    /// Runs `body` on the writer connection while no other connection is in use.
    ///
    /// - Parameters:
    ///   - patience: the maximum time to wait for running reads, in seconds. Later accesses wait during this
    ///     time.
    ///   - didBegin: a function that is called when later accesses begin to wait. Running reads may continue
    ///     for a while.
    /// - Returns: nil if reads were still running, so that `body` was not called.
    func withoutOtherAccesses<T>(
        patience: Double, didBegin: () -> Void, _ body: (Database) throws -> T
    ) throws -> T? {
        precondition(
            readers.readerOfCurrentThread == nil, "A barrier inside a read would wait for itself.")
        return try writer.sync { db in
            didBegin()
            let ticket = ReaderPool.Ticket()
            // A separate queue, so that the timer does not wait for other work.
            DispatchQueue(label: "Coffer.Patience").asyncAfter(deadline: .now() + patience) {
                [weak readers] in
                if let readers { ticket.cancel(in: readers) }
            }
            var isAlone = false
            do {
                return try readers.barrier(ticket) {
                    isAlone = true
                    return try snapshotGate.whileClosed { try body(db) }
                }
            } catch is CancellationError where !isAlone {
                return nil
            }
        }
    }
}
