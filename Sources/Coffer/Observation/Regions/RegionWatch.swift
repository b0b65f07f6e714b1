internal import Synchronization

/// What wants to know of transactions that change a region.
protocol RegionListener: AnyObject, Sendable {
    /// A transaction that has changed the region, or may have, was committed.
    ///
    /// Called where the writer is used, before anybody else can use it. It may use the connection.
    func regionDidChange(_ db: Database)

    /// The connection was closed.
    func databaseDidClose()
}

/// The observations of what one connection writes.
///
/// Watchers come and go on any thread, without a wait for the connection. Those that have read on another
/// connection lose nothing: see ``RegionWatchState``, which decides.
final class RegionWatch: Sendable {
    typealias ID = RegionWatchState.ID

    private struct Content {
        var state = RegionWatchState()
        var listeners: [ID: any RegionListener] = [:]
    }

    let clock = WriteClock()
    private let content = Mutex(Content())

    /// How many watchers there are: the connection asks for it with each statement.
    private let watcherCount = Atomic<Int>(0)

    var isEmpty: Bool { watcherCount.load(ordering: .sequentiallyConsistent) == 0 }

    // MARK: Any thread

    /// Adds a watcher, which the watch keeps alive until it is removed, or the connection is closed.
    ///
    /// - Parameter region: nil if it is not known before ``setRegion(_:of:readSince:)``.
    func add(_ listener: any RegionListener, region: DatabaseRegion? = nil) -> ID {
        content.withLock { content in
            let id = content.state.add(region)
            content.listeners[id] = listener
            watcherCount.store(content.state.count, ordering: .sequentiallyConsistent)
            return id
        }
    }

    func remove(_ id: ID) {
        // The listener may end its life with the last reference: outside of the lock.
        let listener = content.withLock { content in
            content.state.remove(id)
            watcherCount.store(content.state.count, ordering: .sequentiallyConsistent)
            return content.listeners.removeValue(forKey: id)
        }
        withExtendedLifetime(listener) {}
    }

    /// Sets the region that a watcher has read.
    ///
    /// - Parameter start: the time of the clock before the reading began; nil if nobody could write
    ///   meanwhile.
    /// - Returns: whether a change may have been missed.
    func setRegion(_ region: DatabaseRegion, of id: ID, readSince start: WriteClock.Time?) -> Bool {
        // The clock is read inside of the lock: a transaction that ends later finds what is noted here, and
        // one that has ended is counted.
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

    /// Has a watcher be notified of the end of the transaction that is open now, however it ends.
    func waitForEnd(_ id: ID) {
        content.withLock { $0.state.waitForEnd(id) }
    }

    /// Ends the transaction, after the clock has moved, and returns those who have to be notified.
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
