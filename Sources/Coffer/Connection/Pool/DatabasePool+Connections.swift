// The connections themselves: interrupted, closed, and made to give memory back.

internal import Dispatch

extension DatabasePool {
    public func interrupt() {
        writer.interrupt()
        readers.interrupt()
    }

    /// Closes all connections, once the accesses before it have ended.
    ///
    /// The writer closes last: it brings the WAL file into the database file, and no reader does.
    /// - Throws: `SQLITE_BUSY` if statements are still alive. The pool can be used as before then.
    public func close() throws {
        precondition(
            readers.readerOfCurrentThread == nil, "A pool cannot be closed inside of one of its reads.")
        try writer.sync { db in
            guard !db.isClosed else { return }
            try readers.barrier {
                try readers.closeReadersInBarrier()
                try db.closeOrThrow()
                readers.markClosed()
            }
            db.keying.keys.removeDerivedKeys()
        }
    }

    /// Makes later reads use new connections. Reads that are running go on with theirs.
    ///
    /// For changes of the schema or of the key by others, that open connections do not notice.
    public func invalidateReadOnlyConnections() {
        readers.invalidate()
    }

    /// Gives memory back: closes the readers, unless the configuration keeps them, and empties the caches of
    /// the writer.
    ///
    /// Waits for the accesses that are running.
    public func releaseMemory() {
        writer.sync { $0.releaseMemory() }
        if configuration.persistentReadOnlyConnections {
            readers.forEachIdle { $0.releaseMemory() }
        } else {
            // Waiting for the readers is what frees the memory of those in use; a closed pool has none.
            try? readers.barrier { readers.closeIdleReaders() }
        }
    }

    /// Frees memory as ``releaseMemory()`` does, without waiting: what is in use is left alone.
    public func releaseMemoryEventually() {
        if configuration.persistentReadOnlyConnections {
            readers.forEachIdle { $0.releaseMemory() }
        } else {
            readers.closeIdleReaders()
        }
        writer.async { $0.releaseMemory() }
    }

    /// Runs `body` on the connection that writes while no other one is in use.
    ///
    /// - Parameters:
    ///   - patience: how long reads that are running are waited for, in seconds. All others wait meanwhile.
    ///   - didBegin: called when accesses begin to wait: those that read may go on for a while.
    /// - Returns: nil if reads were still running, and `body` was not called.
    func withoutOtherAccesses<T>(
        patience: Double, didBegin: () -> Void, _ body: (Database) throws -> T
    ) throws -> T? {
        precondition(
            readers.readerOfCurrentThread == nil, "A barrier inside of a read would wait for itself.")
        return try writer.sync { db in
            didBegin()
            let ticket = PoolTicket()
            // A queue of its own, which waits for no other one's work.
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
