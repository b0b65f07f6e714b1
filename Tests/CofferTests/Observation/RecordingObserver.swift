import Coffer

/// An observer that logs its notifications.
final class RecordingObserver: TransactionObserver {
    struct Refusal: Error, Equatable {}

    private(set) var log: [String] = []
    private(set) var askedKinds: [DatabaseEventKind] = []

    var observes: (DatabaseEventKind) -> Bool = { _ in true }
    var refusesCommits = false
    var stopsAfterChanges: Int?
    var onCommit: (Database) throws -> Void = { _ in }
    var onRollback: (Database) throws -> Void = { _ in }

    /// Returns the notifications since the last call.
    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    func takeKinds() -> [DatabaseEventKind] {
        defer { askedKinds = [] }
        return askedKinds
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        askedKinds.append(eventKind)
        return observes(eventKind)
    }

    func databaseDidChange() {
        log.append("something changed")
        stopMaybe()
    }

    func databaseDidChange(with event: DatabaseEvent) {
        log.append("\(event.kind) \(event.tableName) \(event.rowID)")
        stopMaybe()
    }

    func databaseWillCommit() throws {
        log.append("will commit")
        if refusesCommits { throw Refusal() }
    }

    func databaseDidCommit(_ db: Database) {
        log.append("commit")
        do { try onCommit(db) } catch { log.append("\(error)") }
    }

    func databaseDidRollback(_ db: Database) {
        log.append("rollback")
        do { try onRollback(db) } catch { log.append("\(error)") }
    }

    private func stopMaybe() {
        guard let count = stopsAfterChanges else { return }
        stopsAfterChanges = count - 1
        if count <= 1 { stopObservingDatabaseChangesUntilNextTransaction() }
    }
}

/// Makes a queue with a table of players, a table of teams whose deletion also deletes its players, and an
/// observer of both.
func makeObservedQueue() throws -> (DatabaseQueue, RecordingObserver) {
    let queue = try DatabaseQueue()
    try queue.writeWithoutTransaction { db throws in
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT, score INTEGER, teamId INTEGER REFERENCES team(id) ON \
                DELETE CASCADE);
                """)
    }
    let observer = RecordingObserver()
    queue.add(transactionObserver: observer)
    return (queue, observer)
}
