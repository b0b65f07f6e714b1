/// The open savepoints of a connection, and the events that they hold back. Decisions only (I9).
///
/// An event counts when the outermost savepoint around it is released; an event of a savepoint that is rolled
/// back never happened. Names are compared as SQLite compares them, and the innermost savepoint of a name is
/// meant.
struct SavepointLedger<Event> {
    private struct Savepoint {
        let name: CaseInsensitiveName

        /// How many events were held back when the savepoint began.
        let eventCount: Int
    }

    private var savepoints: [Savepoint] = []
    private var events: [Event] = []

    /// Whether events are to be held back.
    var isHolding: Bool { !savepoints.isEmpty }

    mutating func begin(_ name: String) {
        savepoints.append(Savepoint(name: CaseInsensitiveName(name), eventCount: events.count))
    }

    mutating func hold(_ event: Event) {
        events.append(event)
    }

    /// Ends a savepoint and those inside of it. Returns the events that count from now on.
    mutating func release(_ name: String) -> [Event] {
        guard let index = lastIndex(of: name) else { return [] }
        savepoints.removeSubrange(index...)
        return savepoints.isEmpty ? takeEvents() : []
    }

    /// Forgets the events since a savepoint began, and the savepoints inside of it; the savepoint itself
    /// stays open.
    mutating func rollback(to name: String) {
        guard let index = lastIndex(of: name) else { return }
        events.removeSubrange(savepoints[index].eventCount...)
        savepoints.removeSubrange((index + 1)...)
    }

    /// All events, as the whole transaction is about to be committed. The savepoints stay open, as the commit
    /// may fail.
    mutating func takeEvents() -> [Event] {
        let result = events
        events = []
        savepoints = savepoints.map { Savepoint(name: $0.name, eventCount: 0) }
        return result
    }

    /// Forgets everything, as the transaction has ended.
    mutating func removeAll() {
        savepoints.removeAll()
        events.removeAll()
    }

    private func lastIndex(of name: String) -> Int? {
        let name = CaseInsensitiveName(name)
        return savepoints.lastIndex { $0.name == name }
    }
}
