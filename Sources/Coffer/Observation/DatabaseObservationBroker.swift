internal import SQLCipherBridge

/// Tells the observers of a connection what happens to it, at the moments that ``TransactionObserver`` promises.
///
/// Its owner tells it of each statement that writes or has to do with transactions. SQLite's hooks are installed only as long as somebody
/// needs them, so that a connection without observers pays nothing. The broker decides nothing by itself: ``SavepointStack`` tells which
/// events count, ``TransactionTracker`` how transactions end, and ``RegionWatchState`` whose regions they have changed (I9).
final class DatabaseObservationBroker {
    /// A change that waits for the end of a savepoint, and those who want to hear of it.
    struct HeldChange {
        /// Nil for changes of a table that SQLite does not tell one by one.
        let event: DatabaseEvent?

        let observations: [TransactionObservation]
        let watchers: [RegionWatch.ID]
        var tellsAllRows = true
    }

    /// Those who want to hear of one kind of changes of the statement that runs now.
    struct Audience {
        let kind: DatabaseEventKind
        let observations: [TransactionObservation]
        var watchers: [RegionWatch.ID]

        /// Whether the rows of all changes are told, as far as it matters to the watchers.
        let tellsAllRows: Bool
    }

    /// The observations of regions and values, which come and go on any thread.
    let watch = RegionWatch()

    private(set) var connection: ConnectionHandle
    private(set) var authorizer: StatementAuthorizer
    private var commitHook: CommitHook?
    private var rollbackHook: RollbackHook?

    // What follows is shared by the extensions of the broker, each of which has a file of its own, and used by nobody else.

    var observations: [TransactionObservation] = []
    var audiences: [Audience] = []
    var savepoints = SavepointStack<HeldChange>()
    var transaction = TransactionTracker()
    var isListening = false

    /// Whether a statement runs whose changes somebody may want to hear of.
    var isExecuting = false

    /// How many events the statement that runs now has had, and the connection's count of changes before it.
    var eventCount = 0
    var changesCountBefore = 0

    /// How many rows the last statement has changed, where those who were told of its commit have changed rows since.
    var keptChangesCount: Int?

    private(set) lazy var updateHook = UpdateHook { [unowned self] operation, names, rowID in
        didChange(DatabaseEvent(operation, names, rowID: rowID))
    }

    init(_ connection: ConnectionHandle, authorizer: StatementAuthorizer) {
        self.connection = connection
        self.authorizer = authorizer
    }

    /// Lets go of the connection, which may live on without the broker.
    func removeHooks() {
        stopListening()
        removeTransactionHooks()
    }

    /// Goes on with another connection, after ``removeHooks()``.
    func move(to connection: ConnectionHandle, authorizer: StatementAuthorizer) {
        self.connection = connection
        self.authorizer = authorizer
        if isObserved { installTransactionHooks() }
    }

    var isObserved: Bool { !observations.isEmpty || !watch.isEmpty }

    /// Forgets the observers, and the connection that exists no more.
    func databaseDidClose() {
        observations.removeAll()
        savepoints.removeAll()
        audiences = []
        isListening = false
        commitHook = nil
        rollbackHook = nil
        watch.databaseDidClose()
    }
}

// MARK: - Observers

extension DatabaseObservationBroker {
    func add(_ observer: any TransactionObserver, extent: Database.TransactionObservationExtent) {
        observations.append(TransactionObservation(observer, extent: extent))
        installTransactionHooks()
    }

    func remove(_ observer: any TransactionObserver) {
        for observation in observations where observation.isObservation(of: observer) {
            observation.isRemoved = true
        }
        removeUselessObservations()
    }

    /// Runs `body`, of whose transactions no observer hears.
    ///
    /// - Precondition: no transaction is open, before and after.
    func unobserved<T>(_ body: () throws -> T) rethrows -> T {
        let observations = self.observations
        self.observations = []
        removeTransactionHooks()
        defer {
            self.observations = observations
            if !observations.isEmpty { installTransactionHooks() }
        }
        return try body()
    }

    func removeUselessObservations() {
        observations.removeAll { $0.observer == nil }
        if !isObserved {
            removeTransactionHooks()
        }
    }

    func installTransactionHooks() {
        guard commitHook == nil else { return }
        let commitHook = CommitHook { [unowned self] in transactionWillCommit() }
        let rollbackHook = RollbackHook { [unowned self] in transaction.rollbackHookDidRun() }
        commitHook.install(on: connection)
        rollbackHook.install(on: connection)
        self.commitHook = commitHook
        self.rollbackHook = rollbackHook
    }

    private func removeTransactionHooks() {
        commitHook?.remove(from: connection)
        rollbackHook?.remove(from: connection)
        commitHook = nil
        rollbackHook = nil
    }
}
