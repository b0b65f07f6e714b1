internal import Synchronization

/// An object that is notified of transactions that change a region.
protocol RegionListener: AnyObject, Sendable {
    /// Called after the commit of a transaction that has changed the region, or may have.
    ///
    /// It is called where the writer is used, before any other write. It may use the connection.
    func regionDidChange(_ db: Database)

    /// Called when the connection was closed.
    func databaseDidClose()
}

/// The observations of one connection's writes.
///
/// Watchers are added and removed on any thread, without waiting for the connection. A watcher that has read
/// on another connection misses no change: see ``RegionWatchState``, which makes the decisions.
final class RegionWatch: Sendable {
    typealias ID = RegionWatchState.ID

    private struct Content {
        var state = RegionWatchState()
        var listeners: [ID: any RegionListener] = [:]
    }

    let clock = WriteClock()
    private let content = Mutex(Content())

    /// The number of watchers, which the connection reads for each statement.
    private let watcherCount = Atomic<Int>(0)

    var isEmpty: Bool { watcherCount.load(ordering: .sequentiallyConsistent) == 0 }

    // MARK: Any thread

    /// Adds a watcher, which is kept alive until it is removed or the connection is closed.
    ///
    /// - Parameter region: nil if it is unknown until ``setRegion(_:of:readSince:)``.
    func add(_ listener: any RegionListener, region: DatabaseRegion? = nil) -> ID {
        content.withLock { content in
            let id = content.state.add(region)
            content.listeners[id] = listener
            watcherCount.store(content.state.count, ordering: .sequentiallyConsistent)
            return id
        }
    }

    func remove(_ id: ID) {
        // Release the listener outside the lock, because this may be the last reference.
        let listener = content.withLock { content in
            content.state.remove(id)
            watcherCount.store(content.state.count, ordering: .sequentiallyConsistent)
            return content.listeners.removeValue(forKey: id)
        }
        withExtendedLifetime(listener) {}
    }

    /// Sets the region that a watcher has read.
    ///
    /// - Parameter start: the clock's time before the reading began; nil if no writes were possible during
    ///   it.
    /// - Returns: true if a change may have been missed.
    func setRegion(_ region: DatabaseRegion, of id: ID, readSince start: WriteClock.Time?) -> Bool {
        // The clock is read inside the lock: a transaction that ends later finds the new region, and one that
        // has already ended is counted.
        content.withLock { $0.state.setRegion(region, of: id, readSince: start, now: clock.now) }
    }

    // MARK: The thread of the connection

    func watchers(of kind: DatabaseEventKind) -> [ID] {
        content.withLock { $0.state.watchers(of: kind) }
    }

    func dependOnRows(_ ids: [ID], ofTable table: String) -> Bool {
        content.withLock { $0.state.dependOnRows(ids, ofTable: table) }
    }

    func rowDidChange(_ event: DatabaseEvent, for ids: [ID]) -> [ID] {
        content.withLock { $0.state.rowDidChange(event, for: ids) }
    }

    func tableDidChange(for ids: [ID]) {
        content.withLock { $0.state.tableDidChange(for: ids) }
    }

    /// Ensures that a watcher is notified of the end of the open transaction, however it ends.
    func waitForEnd(_ id: ID) {
        content.withLock { $0.state.waitForEnd(id) }
    }

    /// Ends the transaction, after the clock has advanced, and returns the listeners to notify.
    func transactionDidEnd(rolledBack: Bool) -> [any RegionListener] {
        content.withLock { content in
            content.state.transactionDidEnd(rolledBack: rolledBack).compactMap { content.listeners[$0] }
        }
    }

    func databaseDidClose() {
        let listeners = content.withLock { content in
            let listeners = content.listeners
            content = Content()
            watcherCount.store(0, ordering: .sequentiallyConsistent)
            return listeners
        }
        for listener in listeners.sorted(by: { $0.key < $1.key }) { listener.value.databaseDidClose() }
    }
}
