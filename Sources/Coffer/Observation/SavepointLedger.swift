/// The open savepoints of a connection, and the events held for them. Makes decisions only (invariant "Pure
/// state machines").
///
/// An event counts when its outermost savepoint is released. An event in a savepoint that is rolled back is
/// discarded. Names are compared as SQLite compares them, and refer to the innermost savepoint of that name.
struct SavepointLedger<Event> {
    private struct Savepoint {
        let name: CaseInsensitiveName

        /// The number of held events when the savepoint began.
        let eventCount: Int
    }

    private var savepoints: [Savepoint] = []
    private var events: [Event] = []

    /// True if events must be held.
    var isHolding: Bool { !savepoints.isEmpty }

    /// The name of the innermost savepoint, or nil if none is open.
    var innermost: String? { savepoints.last?.name.spelling }

    mutating func begin(_ name: String) {
        savepoints.append(Savepoint(name: CaseInsensitiveName(name), eventCount: events.count))
    }

    mutating func hold(_ event: Event) {
        events.append(event)
    }

    /// Ends a savepoint and those nested in it. Returns the events that now count.
    mutating func release(_ name: String) -> [Event] {
        guard let index = lastIndex(of: name) else { return [] }
        savepoints.removeSubrange(index...)
        return savepoints.isEmpty ? takeEvents() : []
    }

    /// Discards the events since a savepoint began, and the savepoints nested in it. The savepoint itself
    /// stays open.
    mutating func rollback(to name: String) {
        guard let index = lastIndex(of: name) else { return }
        events.removeSubrange(savepoints[index].eventCount...)
        savepoints.removeSubrange((index + 1)...)
    }

    /// Returns all events, because the whole transaction is about to be committed. The savepoints stay open,
    /// because the commit may fail.
    mutating func takeEvents() -> [Event] {
        let result = events
        events = []
        savepoints = savepoints.map { Savepoint(name: $0.name, eventCount: 0) }
        return result
    }

    /// Discards everything, because the transaction has ended.
    mutating func removeAll() {
        savepoints.removeAll()
        events.removeAll()
    }

    private func lastIndex(of name: String) -> Int? {
        let name = CaseInsensitiveName(name)
        return savepoints.lastIndex { $0.name == name }
    }
}
