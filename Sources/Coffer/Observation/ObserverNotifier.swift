internal import SQLCipherBridge

/// Notifies the observers of a connection, at the moments that ``TransactionObserver`` guarantees.
///
/// The connection calls it for each statement that writes or affects transactions. SQLite's hooks are
/// installed only while they are needed, so a connection without observers pays nothing. The notifier makes
/// no decisions: ``SavepointLedger`` decides which events count, ``TransactionTracker`` how transactions end,
/// and ``RegionWatchState`` which regions they have changed (invariant "Pure state machines").
final class ObserverNotifier {
    private typealias Change = ObservedChange
    private typealias Audience = ObservedChange.Audience

    /// The observations of regions and values, which are added and removed on any thread.
    let watch = RegionWatch()
    private var connection: ConnectionHandle
    private var inspector: StatementInspector
    private var registrations = ObserverRegistrations() {
        didSet { hasRegistrations = !registrations.isEmpty }
    }
    private var audiences: [Audience] = []
    private var savepoints = SavepointLedger<Change>() { didSet { isHolding = savepoints.isHolding } }
    private var transaction = TransactionTracker() { didSet { hasReport = transaction.hasReport } }

    // Each statement reads these. Unlike the values that they follow, they are read without a check for
    // overlapping accesses.
    private var hasRegistrations = false
    private var isHolding = false
    private var hasReport = false
    private var isListening = false

    /// True if an observer has been notified of a row since the last transaction ended.
    private var hasToldOfRows = false

    /// True while a statement runs whose changes may have to be reported.
    private var isExecuting = false

    /// The statements whose changes are reported.
    private var executions = ReportedExecutions<Listening>()

    /// The state of listening to one statement.
    private struct Listening {
        let audiences: [Audience]
        let isExecuting: Bool
        let eventCount: Int
    }

    /// The number of events of the current statement, and the connection's total change count before it.
    private var eventCount = 0
    private var changesCountBefore = 0

    /// The number of rows changed by the last statement, if observers of its commit have changed rows since.
    private(set) var keptChangesCount: Int?

    private lazy var updateHook = UpdateHook { [unowned self] operation, names, rowID in
        didChange(DatabaseEvent(operation, names, rowID: rowID))
    }

    /// Installed only while an observer needs rows before they change, and only with an engine that can
    /// report them.
    private lazy var preUpdateHook = PreUpdateHook { [unowned self] change in willChange(change) }
    private var isListeningAhead = false

    private lazy var hooks = TransactionHooks(
        willCommit: { [unowned self] in transactionWillCommit() },
        didRollBack: { [unowned self] in transaction.rollbackHookDidRun() })

    init(_ connection: ConnectionHandle, inspector: StatementInspector) {
        self.connection = connection
        self.inspector = inspector
    }

    /// Detaches from the connection, which may outlive the notifier.
    func removeHooks() {
        stopListening()
        hooks.remove(from: connection)
    }

    /// Continues with another connection, after ``removeHooks()``.
    func move(to connection: ConnectionHandle, inspector: StatementInspector) {
        self.connection = connection
        self.inspector = inspector
        if isObserved { hooks.install(on: connection) }
    }

    /// The name of the innermost savepoint, or nil if none is open.
    var innermostSavepoint: String? { savepoints.innermost }

    private var isObserved: Bool { hasRegistrations || !watch.isEmpty }

    /// Forgets the observers and the closed connection.
    func databaseDidClose() {
        registrations = ObserverRegistrations()
        savepoints.removeAll()
        audiences = []
        executions.removeAll()
        isListening = false
        isListeningAhead = false
        hooks.connectionDidClose()
        watch.databaseDidClose()
    }
}

// MARK: - Observers

extension ObserverNotifier {
    /// - Parameter isListening: false if there is no connection at the moment.
    func add(
        _ observer: any TransactionObserver, extent: Database.TransactionObservationExtent, isListening: Bool
    ) {
        registrations.add(observer, extent: extent)
        if isListening { hooks.install(on: connection) }
    }

    func remove(_ observer: any TransactionObserver) {
        registrations.remove(observer)
        removeHooksIfUseless()
    }

    /// Runs `body`, and forgets the observers that it adds.
    func withoutNewObservers<T>(_ body: () throws -> T) rethrows -> T {
        let registrations = self.registrations
        defer { self.registrations = registrations }
        return try body()
    }

    /// Runs `body` without notifying observers of its transactions.
    ///
    /// - Precondition: before and after, no transaction is open, or one in which nothing has happened.
    func unobserved<T>(_ body: () throws -> T) rethrows -> T {
        let registrations = self.registrations
        self.registrations = ObserverRegistrations()
        hooks.remove(from: connection)
        defer {
            self.registrations = registrations
            if !registrations.isEmpty { hooks.install(on: connection) }
        }
        return try body()
    }

    private func removeHooksIfUseless() {
        if !isObserved { hooks.remove(from: connection) }
    }
}

// MARK: - Statements

extension ObserverNotifier {
    /// Ends a statement that neither begins nor ends transactions or savepoints. Returns false if observers
    /// must be notified of it.
    func endIdleStatement() -> Bool {
        // Advance the clock before checking for watchers: a watcher added later has then read the clock after
        // the change.
        if connection.isAutocommit, !executions.hasOuter { watch.clock.transactionDidEnd() }
        return isIdle
    }

    /// True if there are no observers to notify.
    private var isIdle: Bool {
        !isObserved && !isListening && !isHolding && !hasReport
    }

    /// Prepares for the changes that a statement is about to make.
    func executionWillBegin(_ statement: Statement) throws {
        if !statement.isReadonly { watch.clock.writeWillBegin() }
        if keptChangesCount != nil { keptChangesCount = nil }
        guard isObserved else { return }
        hooks.install(on: connection)
        if hasReport {
            // The program has ended a transaction with the raw C functions.
            try statementDidEnd(in: statement.database, successfully: true, step: nil)
        }
        try statement.updateFacts()
        executions.begin(
            statement,
            after: Listening(audiences: audiences, isExecuting: isExecuting, eventCount: eventCount))
        isExecuting = !statement.isReadonly && !statement.changesTransactionOrSchema
        listen(to: statement.isReadonly ? [] : statement.facts.eventKinds, of: statement)
        let observed = statement.facts.maybeTruncatedTables.filter { table in
            audiences.contains { $0.kind == .delete(tableName: table) }
        }
        if !observed.isEmpty { inspector.preventTruncation(of: observed) }
    }

    /// Ends an execution. If a function has executed the statement, listens again to the one that has called
    /// the function.
    private func endExecution(of statement: Statement) {
        guard let outer = executions.end(statement) else { return }
        (audiences, isExecuting) = (outer.audiences, outer.isExecuting)
        guard !audiences.isEmpty else { return }
        // SQLite counts the changes of the outer statement at its end.
        startListening()
        eventCount = outer.eventCount
    }

    /// Ends an execution that was prepared, and never begun.
    func executionWasDropped(_ statement: Statement) {
        stopListening(to: statement)
        endExecution(of: statement)
    }

    /// Calls observers if the transaction has ended.
    ///
    /// - Throws: the error of an observer that has refused the commit of a transaction without writes.
    func executionDidEnd(_ statement: Statement) throws {
        defer { endExecution(of: statement) }
        let isInsideTransaction = !connection.isAutocommit || executions.isInsideOther
        if !isInsideTransaction { watch.clock.transactionDidEnd() }
        if isIdle, !statement.changesSavepoints {
            return transactionStepDidEnd(in: statement.database, isInsideTransaction: isInsideTransaction)
        }
        stopListening(to: statement)
        switch statement.facts.transactionStep {
        case .beginSavepoint(let name)?: savepoints.begin(name)
        case .releaseSavepoint(let name)?: savepoints.release(name).forEach { send($0) }
        case .rollbackToSavepoint(let name)?: savepoints.rollback(to: name)
        default: break
        }
        try statementDidEnd(in: statement.database, successfully: true, step: statement.facts.transactionStep)
    }

    /// Ends a statement that may have begun or ended a transaction, if there are no observers to notify.
    private func transactionStepDidEnd(in database: Database, isInsideTransaction: Bool) {
        isExecuting = false
        if !isInsideTransaction { hasToldOfRows = false }
        _ = transaction.statementDidEnd(
            successfully: true, step: nil, isInsideTransaction: isInsideTransaction,
            isReadOnly: database.isReadingOnly)
    }

    /// Calls observers if the transaction was rolled back.
    ///
    /// - Throws: the error of an observer that has refused the commit, which is the reason for the failure.
    func executionDidFail(_ statement: Statement, _ error: DatabaseError) throws {
        defer { endExecution(of: statement) }
        stopListening(to: statement)
        if transaction.hasRollbackReport && !connection.isAutocommit {
            // The outermost savepoint was released, but could not be committed. SQLite has undone the
            // changes, and leaves an empty savepoint open.
            try? connection.execute("ROLLBACK")
        }
        try statementDidEnd(
            in: statement.database, successfully: false, step: statement.facts.transactionStep)
    }

    /// Calls observers if the transaction has ended because an unfinished statement was reset.
    ///
    /// No caller can receive an error here, but an observer that refuses the commit still causes a rollback.
    func statementWasAbandoned(_ statement: Statement, _ code: CInt) {
        defer { endExecution(of: statement) }
        stopListening(to: statement)
        try? statementDidEnd(
            in: statement.database, successfully: code == EngineCode.ok, step: statement.facts.transactionStep
        )
    }

    private func statementDidEnd(
        in database: Database, successfully: Bool, step: StatementFacts.TransactionStep?
    ) throws {
        let isInsideTransaction = !connection.isAutocommit || executions.isInsideOther
        if !isInsideTransaction {
            watch.clock.transactionDidEnd()
            if isHolding { savepoints.removeAll() }
        }
        let ending = transaction.statementDidEnd(
            successfully: successfully, step: step, isInsideTransaction: isInsideTransaction,
            isReadOnly: database.isReadingOnly)
        let (rowID, changesCount) = (connection.lastInsertedRowID, connection.changesCount)
        // Observers may write. The code that executed the statement must still see the row ID and the changes
        // of its own statement.
        defer {
            if connection.lastInsertedRowID != rowID { connection.lastInsertedRowID = rowID }
            if connection.changesCount != changesCount { keptChangesCount = changesCount }
        }
        let undoesWhatWasTold = hasToldOfRows
        if !isInsideTransaction { hasToldOfRows = false }
        switch ending {
        case nil:
            // Watchers that were added in the middle of a transaction without hooks are notified too.
            if !isInsideTransaction { tellWatchers(in: database) }
        case .commit?:
            endTransaction(in: database) { $0.databaseDidCommit(database) }
            tellWatchers(in: database)
        case .emptyCommit?:
            try endEmptyTransaction(in: database)
        case .failedStatement? where !undoesWhatWasTold:
            tellWatchers(rolledBack: true, in: database)
        case .failedStatement?:
            endTransaction(in: database) { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
        case .rollback(let refusal)?:
            endTransaction(in: database) { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
            if let refusal { throw refusal }
        }
    }
}

// MARK: - Ends of transactions

extension ObserverNotifier {
    /// Asks the observers during the statement that commits. Returns true if the commit may proceed.
    private func transactionWillCommit() -> Bool {
        savepoints.takeEvents().forEach { send($0) }
        do {
            try registrations.askForPermission()
            transaction.commitHookDidAllow()
            return true
        } catch {
            transaction.commitHookDidRefuse(error)
            return false
        }
    }

    /// Asks the observers to allow the end of a transaction that has written nothing, and notifies them of
    /// it.
    private func endEmptyTransaction(in database: Database) throws {
        do {
            try registrations.askForPermission()
        } catch {
            endTransaction(in: database) { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
            throw error
        }
        endTransaction(in: database) { $0.databaseDidCommit(database) }
        tellWatchers(in: database)
    }

    /// Calls all observers at the end of a transaction.
    ///
    /// An observer may use the connection and run whole transactions, so all state must be final before the
    /// first one is notified. The observers do not belong to the task of the access, so its cancellation does
    /// not end their statements.
    private func endTransaction(in database: Database, _ notify: (any TransactionObserver) -> Void) {
        let ended = registrations.transactionDidEnd()
        if !ended.isEmpty {
            database.withoutCancellationOfTask {
                for registration in ended {
                    if let observer = registration.observer { notify(observer) }
                }
            }
        }
        registrations.removeUseless()
        removeHooksIfUseless()
    }

    /// Notifies the watchers whose regions the transaction has changed that it has ended. A watcher that runs
    /// code of the application handles a cancelled task itself.
    private func tellWatchers(rolledBack: Bool = false, in database: Database) {
        guard !watch.isEmpty else { return }
        for listener in watch.transactionDidEnd(rolledBack: rolledBack) {
            listener.regionDidChange(database)
        }
    }
}

// MARK: - Changes

extension ObserverNotifier {
    /// Finds the observers of some kinds of changes, and listens to SQLite only if there are any.
    private func listen(to kinds: [DatabaseEventKind], of statement: Statement) {
        audiences = kinds.compactMap { audience(of: $0, tellsAllRows: statement.tellsAllRows(ofChanges: $0)) }
        guard !audiences.isEmpty else { return stopListening() }
        startListening()
    }

    /// Returns the observers of a kind of change; nil if there are none.
    ///
    /// - Parameter tellsAllRows: true if each row causes an event. Evaluated only if it matters.
    private func audience(of kind: DatabaseEventKind, tellsAllRows: @autoclosure () -> Bool) -> Audience? {
        let interested = registrations.observing([kind])
        let watchers: [RegionWatch.ID] = watch.isEmpty ? [] : watch.watchers(of: kind)
        guard !interested.isEmpty || !watchers.isEmpty else { return nil }
        let tellsAllRows = !watch.dependOnRows(watchers, ofTable: kind.tableName) || tellsAllRows()
        return Audience(kind: kind, registrations: interested, watchers: watchers, tellsAllRows: tellsAllRows)
    }

    private func startListening() {
        eventCount = 0
        changesCountBefore = connection.totalChangesCount
        updateHook.install(on: connection)
        isListening = true
        guard Engine.hasPreUpdateHook else { return }
        let isWanted = audiences.contains { $0.registrations.contains { !$0.ignoresChangesAhead } }
        guard isWanted != isListeningAhead else { return }
        isListeningAhead = isWanted
        if isWanted { preUpdateHook.install(on: connection) } else { preUpdateHook.remove(from: connection) }
    }

    /// Stops listening after a statement. Some of its changes may not have been reported.
    private func stopListening(to statement: Statement) {
        guard !executions.reportsOther(than: statement) else { return }
        isExecuting = false
        guard isListening else { return }
        noteUntoldChanges(in: statement.database)
        stopListening()
    }

    private func stopListening() {
        guard isListening else { return }
        isListening = false
        audiences = []
        updateHook.remove(from: connection)
        if isListeningAhead {
            isListeningAhead = false
            preUpdateHook.remove(from: connection)
        }
        inspector.allowTruncation()
    }

    private func didChange(_ event: DatabaseEvent) {
        eventCount += 1
        guard let index = audiences.firstIndex(where: { event.matchesKind($0.kind) }) else { return }
        let watchers = tell(Change(event: .row(event), audience: audiences[index]))
        // An observer may have begun another statement, although it must not.
        if let watchers, audiences.indices.contains(index) { audiences[index].watchers = watchers }
    }

    /// Reports a row that is about to change to observers of events, but not to watchers of regions.
    private func willChange(_ change: PreUpdateHook.Change) {
        let current = DatabasePreUpdateEvent.Current(change)
        defer { current.end() }
        let event = DatabasePreUpdateEvent(current, change)
        guard let audience = audiences.first(where: { event.matchesKind($0.kind) }),
            !audience.registrations.isEmpty
        else { return }
        // A held event is reported after its values are no longer available from the engine, so copy it.
        tell(Change(event: .rowAhead(savepoints.isHolding ? event.copy() : event), audience: audience))
    }

    /// Reports a change, or holds it until the end of a savepoint.
    ///
    /// - Returns: the watchers that need further events, if they were called.
    @discardableResult
    private func tell(_ change: Change) -> [RegionWatch.ID]? {
        guard savepoints.isHolding else { return send(change) }
        savepoints.hold(change)
        return nil
    }

    /// Reports a change, and returns the watchers that need further events.
    @discardableResult
    private func send(_ change: Change) -> [RegionWatch.ID] {
        if change.isOfRowForObservers { hasToldOfRows = true }
        return change.send(to: watch)
    }

    /// Notifies the observers of these kinds that something has changed.
    ///
    /// Outside a transaction, the change counts as a transaction of its own.
    func notifyChanges(ofKinds kinds: [DatabaseEventKind], in database: Database) throws {
        for registration in registrations.observing(kinds) { registration.sendUnspecifiedChange() }
        if !watch.isEmpty {
            for kind in kinds { watch.tableDidChange(for: watch.watchers(of: kind)) }
        }
        if connection.isAutocommit {
            try endEmptyTransaction(in: database)
        }
    }

    /// Reports the changes of the finished statement that caused no events: those of tables without row IDs,
    /// and of virtual tables.
    ///
    /// They are detected by SQLite's change count, which includes them.
    private func noteUntoldChanges(in database: Database) {
        guard audiences.contains(where: { !$0.watchers.isEmpty }), !database.isClosed,
            connection.totalChangesCount - changesCountBefore > eventCount
        else { return }
        for audience in audiences
        where !audience.watchers.isEmpty && !database.hasEvents(forChangesOf: audience.kind.tableName) {
            tell(Change(event: .table, audience: audience))
        }
    }
}

// MARK: - Recompiled statements

// A statement may be older than the schema, if another connection has changed the schema or the application
// keeps its statements. SQLite compiles the statement again in its first step, after which it may read and
// change other tables.

extension ObserverNotifier {
    /// Starts to listen for changes that the current statement was not known to make. Returns true if any
    /// observer must be notified of them.
    func statementMayAlsoChange(_ kind: DatabaseEventKind) -> Bool {
        guard isExecuting else { return false }
        var kind = kind
        let index = audiences.firstIndex { $0.kind.isSameOperation(as: kind) }
        if let index {
            if case (.update(let table, let known), .update(_, let new)) = (audiences[index].kind, kind) {
                kind = .update(tableName: table, columnNames: known.union(new))
            }
            guard audiences[index].kind != kind else { return true }
        }
        guard let audience = audience(of: kind, tellsAllRows: false) else { return false }
        if let index { audiences[index] = audience } else { audiences.append(audience) }
        if !isListening { startListening() }
        return true
    }
}
