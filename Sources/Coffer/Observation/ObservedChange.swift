/// A change, which may be held until the end of a savepoint, and its observers.
struct ObservedChange {
    enum Event {
        case row(DatabaseEvent)

        /// A row that is about to change.
        case rowAhead(DatabasePreUpdateEvent)

        /// Changes of a table that SQLite does not report row by row.
        case table
    }

    /// The observers of one kind of change made by a statement.
    struct Audience {
        let kind: DatabaseEventKind
        let registrations: [ObserverRegistration]
        var watchers: [RegionWatch.ID]
        /// True if the rows of all changes are reported, as far as the watchers need them.
        let tellsAllRows: Bool
    }

    let event: Event
    let audience: Audience
}

extension ObservedChange {
    /// True if observers of events are notified of a row.
    var isOfRowForObservers: Bool {
        if case .table = event { return false }
        return !audience.registrations.isEmpty
    }

    /// Notifies the observers.
    ///
    /// - Returns: the watchers that need further events.
    func send(to watch: RegionWatch) -> [RegionWatch.ID] {
        let watchers = audience.watchers
        switch event {
        case .rowAhead(let event):
            for registration in audience.registrations { registration.send(event) }
            return watchers
        case .row(let event):
            for registration in audience.registrations { registration.send(event) }
            if audience.tellsAllRows && !watchers.isEmpty {
                return watch.rowDidChange(event, for: watchers)
            }
        case .table: break
        }
        if !watchers.isEmpty { watch.tableDidChange(for: watchers) }
        return []
    }
}
