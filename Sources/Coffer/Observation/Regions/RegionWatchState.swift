/// Which regions are watched, and which of them the current transaction of the writer has changed. Decisions
/// only (I9).
///
/// A change is reported by its kind first, before the statement runs, and then row by row. A watcher whose
/// region becomes known, or becomes another one, in the middle of all that may have been passed over:
/// ``setRegion(_:of:readSince:now:)`` returns what follows from it.
struct RegionWatchState: Sendable {
    typealias ID = Int

    private struct Watcher {
        /// Nil as long as it is not known.
        var region: DatabaseRegion?

        /// Whether the current transaction has changed the region, or may have.
        var isConcerned = false

        /// Whether the end of the current transaction is to be reported, however it ends.
        var waitsForEnd = false
    }

    private var watchers: [ID: Watcher] = [:]
    private var lastID = 0

    /// Most statements concern nobody, and that must be found out at once, however many watchers there are.
    private var index = RegionIndex()

    /// Whether there is anybody to notify of the end of the transaction, maybe: mostly there is not, and each
    /// commit asks.
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

    /// Sets the region that a watcher has read, where it may be another one than before.
    ///
    /// - Parameters:
    ///   - start: the time before the watcher began to read.
    ///   - now: the time now.
    /// - Returns: whether a change may have been missed, because it was committed while the watcher read.
    mutating func setRegion(
        _ region: DatabaseRegion, of id: ID, readSince start: WriteClock.Time?, now: WriteClock.Time
    ) -> Bool {
        guard let watcher = watchers[id], watcher.region != region else { return false }
        if let other = watcher.region { index.remove(other, of: id) }
        watchers[id]?.region = region
        index.insert(region, of: id)
        // The reading was done where nobody can write.
        guard let start else { return false }
        if now.isWriting {
            // The open transaction may have changed the region before anybody knew that it is of interest.
            watchers[id]?.isConcerned = true
            hasNews = true
        }
        return now.transactionCount != start.transactionCount
    }

    // MARK: Changes

    /// The watchers whose regions such changes can alter, in the order of their IDs.
    ///
    /// Those who are concerned anyway are among them: what a savepoint undoes concerns nobody.
    func watchers(of kind: DatabaseEventKind) -> [ID] {
        index.candidates(for: kind).filter { watchers[$0]?.region?.isModified(byEventsOfKind: kind) == true }
            .sorted()
    }

    /// Whether it matters to any of these watchers which rows of a table change.
    func dependOnRows(_ ids: [ID], ofTable table: String) -> Bool {
        ids.contains { watchers[$0]?.region?.dependsOnRows(ofTable: table) == true }
    }

    /// Takes note of a change of one row, of a kind that `ids` watch.
    ///
    /// - Returns: those of `ids` that are not concerned by the transaction yet.
    mutating func rowDidChange(_ event: DatabaseEvent, for ids: [ID]) -> [ID] {
        ids.filter { id in
            guard let watcher = watchers[id], !watcher.isConcerned else { return false }
            guard watcher.region?.isModified(by: event) != false else { return true }
            watchers[id]?.isConcerned = true
            hasNews = true
            return false
        }
    }

    /// Takes note of changes whose rows are not known, of a kind that `ids` watch.
    mutating func tableDidChange(for ids: [ID]) {
        for id in ids { watchers[id]?.isConcerned = true }
        hasNews = hasNews || !ids.isEmpty
    }

    /// Has a watcher be notified of the end of the current transaction, however it ends.
    mutating func waitForEnd(_ id: ID) {
        watchers[id]?.waitsForEnd = true
        hasNews = true
    }

    /// Ends the transaction.
    ///
    /// - Returns: those who have to be notified, in the order in which they came.
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
