internal import SQLCipherBridge

// Who hears of which changes, and when.

extension DatabaseObservationBroker {
    /// Finds out who wants to hear of changes, and listens to SQLite only if somebody does.
    func listen(to kinds: [DatabaseEventKind], of statement: Statement) {
        audiences = kinds.compactMap { audience(of: $0, tellsAllRows: statement.tellsAllRows(ofChanges: $0)) }
        guard !audiences.isEmpty else { return stopListening() }
        startListening()
    }

    /// Those who want to hear of a kind of changes; nil if nobody does.
    ///
    /// - Parameter tellsAllRows: whether there is an event for each row. It is found out only where it matters.
    func audience(of kind: DatabaseEventKind, tellsAllRows: @autoclosure () -> Bool) -> Audience? {
        let interested = observations.filter { $0.observes(kind) }
        let watchers: [RegionWatch.ID] = watch.isEmpty ? [] : watch.watchers(of: kind)
        guard !interested.isEmpty || !watchers.isEmpty else { return nil }
        let tellsAllRows = !watch.dependOnRows(watchers, ofTable: kind.tableName) || tellsAllRows()
        return Audience(kind: kind, observations: interested, watchers: watchers, tellsAllRows: tellsAllRows)
    }

    func startListening() {
        eventCount = 0
        changesCountBefore = connection.totalChangesCount
        updateHook.install(on: connection)
        isListening = true
    }

    /// Stops listening after a statement, whose changes may not all have been told.
    func stopListening(in database: Database) {
        isExecuting = false
        guard isListening else { return }
        noteUntoldChanges(in: database)
        stopListening()
    }

    func stopListening() {
        guard isListening else { return }
        isListening = false
        audiences = []
        updateHook.remove(from: connection)
        authorizer.allowTruncation()
    }

    func didChange(_ event: DatabaseEvent) {
        eventCount += 1
        guard let index = audiences.firstIndex(where: { event.matchesKind($0.kind) }) else { return }
        let audience = audiences[index]
        let change = HeldChange(
            event: event, observations: audience.observations, watchers: audience.watchers, tellsAllRows: audience.tellsAllRows)
        if savepoints.isHolding {
            savepoints.hold(change)
        } else {
            audiences[index].watchers = send(change)
        }
    }

    /// Takes note of changes of a table that SQLite has not told one by one.
    func tableDidChange(_ audience: Audience) {
        let change = HeldChange(event: nil, observations: [], watchers: audience.watchers)
        if savepoints.isHolding {
            savepoints.hold(change)
        } else {
            send(change)
        }
    }

    /// Tells of a change, and returns the watchers who want to hear of more.
    @discardableResult
    func send(_ change: HeldChange) -> [RegionWatch.ID] {
        guard let event = change.event else {
            watch.tableDidChange(for: change.watchers)
            return []
        }
        for observation in change.observations {
            observation.send(event)
        }
        guard !change.watchers.isEmpty else { return [] }
        guard change.tellsAllRows else {
            watch.tableDidChange(for: change.watchers)
            return []
        }
        return watch.rowDidChange(event, for: change.watchers)
    }

    /// Tells those who observe one of these kinds that something has changed.
    ///
    /// Outside of a transaction, the change counts as a transaction of its own.
    func notifyChanges(ofKinds kinds: [DatabaseEventKind], in database: Database) throws {
        for observation in observations where kinds.contains(where: observation.observes) {
            observation.sendUnspecifiedChange()
        }
        if !watch.isEmpty {
            for kind in kinds { watch.tableDidChange(for: watch.watchers(of: kind)) }
        }
        if connection.isAutocommit {
            try endEmptyTransaction(in: database)
        }
    }
}
