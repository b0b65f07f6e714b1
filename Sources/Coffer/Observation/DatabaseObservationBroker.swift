internal import SQLCipherBridge

/// Tells the observers of a connection what happens to it, at the moments that ``TransactionObserver`` promises.
///
/// Its owner tells it of each statement that writes or has to do with transactions. SQLite's hooks are installed only as long as somebody
/// needs them, so that a connection without observers pays nothing. The broker decides nothing by itself: ``SavepointStack`` tells which
/// events count, and ``TransactionTracker`` how transactions end (I9).
final class DatabaseObservationBroker {
    /// An event that waits for the end of a savepoint, and those who want to hear of it.
    private struct HeldEvent {
        let event: DatabaseEvent
        let observations: [TransactionObservation]
    }

    /// Those who want to hear of one kind of changes of the statement that runs now.
    private struct Audience {
        let kind: DatabaseEventKind
        let observations: [TransactionObservation]
    }

    private var connection: ConnectionHandle
    private var authorizer: StatementAuthorizer
    private var observations: [TransactionObservation] = []
    private var audiences: [Audience] = []
    private var savepoints = SavepointStack<HeldEvent>()
    private var transaction = TransactionTracker()
    private var commitHook: CommitHook?
    private var rollbackHook: RollbackHook?
    private var isListening = false

    private lazy var updateHook = UpdateHook { [unowned self] operation, names, rowID in
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
        if !observations.isEmpty { installTransactionHooks() }
    }

    /// Forgets the observers, and the connection that exists no more.
    func databaseDidClose() {
        observations.removeAll()
        savepoints.removeAll()
        audiences = []
        isListening = false
        commitHook = nil
        rollbackHook = nil
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

    private func removeUselessObservations() {
        observations.removeAll { $0.observer == nil }
        if observations.isEmpty {
            removeTransactionHooks()
        }
    }

    private func installTransactionHooks() {
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

// MARK: - The course of an execution

extension DatabaseObservationBroker {
    /// Prepares for the changes that a statement is about to make.
    func statementWillExecute(_ statement: Statement) throws {
        guard !observations.isEmpty else { return }
        if transaction.hasReport {
            // Somebody has ended a transaction with the raw C functions.
            try statementDidEnd(in: statement.database, successfully: true, effect: nil)
        }
        listen(to: statement.isReadonly ? [] : statement.facts.eventKinds)
        if let table = statement.facts.maybeTruncatedTable, audiences.contains(where: { $0.kind == .delete(tableName: table) }) {
            authorizer.preventTruncation(of: table)
        }
    }

    /// Tells observers how the transaction has ended, if it has.
    ///
    /// - Throws: the error of an observer who has refused the commit of a transaction without writes.
    func statementDidExecute(_ statement: Statement) throws {
        stopListening()
        switch statement.facts.transactionEffect {
        case .beginSavepoint(let name)?: savepoints.begin(name)
        case .releaseSavepoint(let name)?: savepoints.release(name).forEach(send)
        case .rollbackToSavepoint(let name)?: savepoints.rollback(to: name)
        default: break
        }
        try statementDidEnd(in: statement.database, successfully: true, effect: statement.facts.transactionEffect)
    }

    /// Tells observers that the transaction was rolled back, if it was.
    ///
    /// - Throws: the error of an observer who has refused the commit, which is the reason for the failure.
    func statementDidFail(_ statement: Statement, _ error: DatabaseError) throws {
        stopListening()
        if transaction.hasRollbackReport && !connection.isAutocommit {
            // A release of the outermost savepoint that could not be committed: SQLite has undone the changes, and leaves an empty
            // savepoint behind.
            try? connection.execute("ROLLBACK")
        }
        try statementDidEnd(in: statement.database, successfully: false, effect: statement.facts.transactionEffect)
    }

    /// Tells observers how the transaction has ended, if it has with the reset of a statement that was not run to its end.
    ///
    /// There is nobody left to throw at: an observer who refuses the commit has it rolled back all the same.
    func statementWasAbandoned(_ statement: Statement, _ code: CInt) {
        stopListening()
        try? statementDidEnd(in: statement.database, successfully: code == EngineCode.ok, effect: statement.facts.transactionEffect)
    }

    private func statementDidEnd(in database: Database, successfully: Bool, effect: StatementFacts.TransactionEffect?) throws {
        let isInsideTransaction = !connection.isAutocommit
        if !isInsideTransaction && savepoints.isHolding {
            savepoints.removeAll()
        }
        let ending = transaction.statementDidEnd(
            successfully: successfully, effect: effect, isInsideTransaction: isInsideTransaction,
            isReadOnly: database.readOnlyDepth > 0 || database.configuration.readonly)
        switch ending {
        case nil:
            break
        case .commit?:
            endTransaction { $0.databaseDidCommit(database) }
        case .emptyCommit?:
            try endEmptyTransaction(in: database)
        case .rollback(let refusal)?:
            endTransaction { $0.databaseDidRollback(database) }
            if let refusal { throw refusal }
        }
    }
}

// MARK: - Changes

extension DatabaseObservationBroker {
    /// Finds out who wants to hear of changes, and listens to SQLite only if somebody does.
    private func listen(to kinds: [DatabaseEventKind]) {
        audiences = kinds.compactMap { kind in
            let interested = observations.filter { $0.observes(kind) }
            return interested.isEmpty ? nil : Audience(kind: kind, observations: interested)
        }
        guard !audiences.isEmpty else { return stopListening() }
        updateHook.install(on: connection)
        isListening = true
    }

    private func stopListening() {
        guard isListening else { return }
        isListening = false
        audiences = []
        updateHook.remove(from: connection)
        authorizer.allowTruncation()
    }

    private func didChange(_ event: DatabaseEvent) {
        guard let audience = audiences.first(where: { event.matchesKind($0.kind) }) else { return }
        let heldEvent = HeldEvent(event: event, observations: audience.observations)
        if savepoints.isHolding {
            savepoints.hold(heldEvent)
        } else {
            send(heldEvent)
        }
    }

    private func send(_ heldEvent: HeldEvent) {
        for observation in heldEvent.observations {
            observation.send(heldEvent.event)
        }
    }

    /// Tells those who observe one of these kinds that something has changed.
    ///
    /// Outside of a transaction, the change counts as a transaction of its own.
    func notifyChanges(ofKinds kinds: [DatabaseEventKind], in database: Database) throws {
        for observation in observations where kinds.contains(where: observation.observes) {
            observation.sendUnspecifiedChange()
        }
        if connection.isAutocommit {
            try endEmptyTransaction(in: database)
        }
    }
}

// MARK: - Transactions

extension DatabaseObservationBroker {
    /// Asks the observers, in the middle of the statement that commits. Returns whether it may go on.
    private func transactionWillCommit() -> Bool {
        savepoints.takeEvents().forEach(send)
        do {
            try askForPermission()
            transaction.commitHookDidAllow()
            return true
        } catch {
            transaction.commitHookDidRefuse(error)
            return false
        }
    }

    private func askForPermission() throws {
        for observation in observations {
            try observation.observer?.databaseWillCommit()
        }
    }

    /// Asks and tells the observers of the end of a transaction that has written nothing.
    private func endEmptyTransaction(in database: Database) throws {
        do {
            try askForPermission()
        } catch {
            endTransaction { $0.databaseDidRollback(database) }
            throw error
        }
        endTransaction { $0.databaseDidCommit(database) }
    }

    /// Tells all observers of the end of a transaction.
    ///
    /// An observer may use the connection, and run whole transactions: before the first one is told, everything is ready for them.
    private func endTransaction(_ notify: (any TransactionObserver) -> Void) {
        let audience = observations
        observations.removeAll { $0.extent == .nextTransaction }
        for observation in audience {
            observation.isPaused = false
        }
        for observation in audience {
            if let observer = observation.observer { notify(observer) }
        }
        removeUselessObservations()
    }
}
