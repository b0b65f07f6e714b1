/// The watched regions, and which of them the writer's current transaction has changed. Makes decisions only
/// (invariant "Pure state machines").
///
/// A change is reported first by its kind, before the statement runs, and then row by row. A watcher whose
/// region becomes known, or changes, in the meantime may have been skipped: the result of
/// ``setRegion(_:of:readSince:now:)`` shows this.
struct RegionWatchState: Sendable {
    typealias ID = Int

    private struct Watcher {
        /// Nil while the region is unknown.
        var region: DatabaseRegion?

        /// True if the current transaction has changed the region, or may have.
        var isConcerned = false

        /// True if the end of the current transaction must be reported, however it ends.
        var waitsForEnd = false
    }

    private var watchers: [ID: Watcher] = [:]
    private var lastID = 0

    /// Finds the watchers of a change quickly. Most statements concern no watcher, which must be cheap to
    /// determine for any number of watchers.
    private var index = RegionIndex()

    /// True if a watcher may have to be notified at the end of the transaction. Usually none has to be, and
    /// this flag is checked at each commit.
    private var hasNews = false

    var count: Int { watchers.count }

    // MARK: Watchers

    mutating func add(_ region: DatabaseRegion?) -> ID {
        lastID += 1
        watchers[lastID] = Watcher(region: region)
        if let region { index.insert(region, of: lastID) }
        return lastID
    }

    mutating func remove(_ id: ID) {
        guard let region = watchers.removeValue(forKey: id)?.region else { return }
        index.remove(region, of: id)
    }

    /// Sets the region that a watcher has read, which may differ from the previous one.
    ///
    /// - Parameters:
    ///   - start: the time before the watcher began to read.
    ///   - now: the current time.
    /// - Returns: true if a change may have been missed, because it was committed while the watcher was
    ///   reading.
    mutating func setRegion(
        _ region: DatabaseRegion, of id: ID, readSince start: WriteClock.Time?, now: WriteClock.Time
    ) -> Bool {
        guard let watcher = watchers[id], watcher.region != region else { return false }
        if let other = watcher.region { index.remove(other, of: id) }
        watchers[id]?.region = region
        index.insert(region, of: id)
        // No writes were possible during the reading.
        guard let start else { return false }
        if now.isWriting {
            // The open transaction may have changed the region before the region was known.
            watchers[id]?.isConcerned = true
            hasNews = true
        }
        return now.transactionCount != start.transactionCount
    }

    // MARK: Changes

    /// Returns the watchers whose regions such changes can modify, in the order of their IDs.
    ///
    /// Watchers that are already concerned are included, because the changes that concern them may be undone
    /// with a savepoint.
    func watchers(of kind: DatabaseEventKind) -> [ID] {
        index.candidates(for: kind).filter { watchers[$0]?.region?.isModified(byEventsOfKind: kind) == true }
            .sorted()
    }

    /// Returns true if any of these watchers needs to know the changed rows of a table.
    func dependOnRows(_ ids: [ID], ofTable table: String) -> Bool {
        ids.contains { watchers[$0]?.region?.dependsOnRows(ofTable: table) == true }
    }

    /// Records a change of one row, of a kind that `ids` watch.
    ///
    /// - Returns: the members of `ids` that the transaction does not concern yet.
    mutating func rowDidChange(_ event: DatabaseEvent, for ids: [ID]) -> [ID] {
        ids.filter { id in
            guard let watcher = watchers[id], !watcher.isConcerned else { return false }
            guard watcher.region?.isModified(by: event) != false else { return true }
            watchers[id]?.isConcerned = true
            hasNews = true
            return false
        }
    }

    /// Records changes whose rows are unknown, of a kind that `ids` watch.
    mutating func tableDidChange(for ids: [ID]) {
        for id in ids { watchers[id]?.isConcerned = true }
        hasNews = hasNews || !ids.isEmpty
    }

    /// Ensures that a watcher is notified of the end of the current transaction, however it ends.
    mutating func waitForEnd(_ id: ID) {
        watchers[id]?.waitsForEnd = true
        hasNews = true
    }

    /// Ends the transaction.
    ///
    /// - Returns: the watchers to notify, in the order in which they were added.
    mutating func transactionDidEnd(rolledBack: Bool) -> [ID] {
        guard hasNews else { return [] }
        hasNews = false
        let concerned = watchers.filter { $0.value.isConcerned || $0.value.waitsForEnd }
        for id in concerned.keys {
            watchers[id]?.isConcerned = false
            watchers[id]?.waitsForEnd = false
        }
        return concerned.filter { !rolledBack || $0.value.waitsForEnd }.keys.sorted()
    }
}
