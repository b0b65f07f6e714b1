internal import SQLCipherBridge

/// Notifies the observers of a connection of what happens to it, at the moments that ``TransactionObserver``
/// promises.
///
/// Its owner notifies it of each statement that writes or has to do with transactions. SQLite's hooks are
/// installed only as long as they are needed, so that a connection without observers pays nothing. The
/// notifier decides nothing by itself: ``SavepointLedger`` says which events count, ``TransactionTracker``
/// how transactions end, and ``RegionWatchState`` whose regions they have changed (I9).
final class ObserverNotifier {
    /// A change that may wait for the end of a savepoint, and those who observe it.
    private struct Change {
        enum Event {
            case row(DatabaseEvent)

            /// A row that is about to change.
            case rowAhead(DatabasePreUpdateEvent)

            /// Changes of a table that SQLite does not report one by one.
            case table
        }

        let event: Event
        let audience: Audience
    }

    /// Those who observe one kind of changes of the statement that runs now.
    private struct Audience {
        let kind: DatabaseEventKind
        let registrations: [ObserverRegistration]
        var watchers: [RegionWatch.ID]
        /// Whether the rows of all changes are reported, as far as it matters to the watchers.
        let tellsAllRows: Bool
    }

    /// The observations of regions and values, which come and go on any thread.
    let watch = RegionWatch()
    private var connection: ConnectionHandle
    private var inspector: StatementInspector
    private var registrations = ObserverRegistrations()
    private var audiences: [Audience] = []
    private var savepoints = SavepointLedger<Change>()
    private var transaction = TransactionTracker()
    private var isListening = false

    /// Whether an observer has been notified of a row since the last end of a transaction.
    private var hasToldOfRows = false

    /// Whether a statement runs whose changes may have to be reported.
    private var isExecuting = false

    /// How many events the statement that runs now has had, and the connection's count of changes before it.
    private var eventCount = 0
    private var changesCountBefore = 0

    /// How many rows the last statement has changed, where those who were notified of its commit have changed
    /// rows since.
    private(set) var keptChangesCount: Int?

    private lazy var updateHook = UpdateHook { [unowned self] operation, names, rowID in
        didChange(DatabaseEvent(operation, names, rowID: rowID))
    }

    /// Installed only while an observer wants to be notified of rows before they change, and with an engine
    /// that can report them.
    private lazy var preUpdateHook = PreUpdateHook { [unowned self] change in willChange(change) }
    private var isListeningAhead = false

    private lazy var hooks = TransactionHooks(
        willCommit: { [unowned self] in transactionWillCommit() },
        didRollBack: { [unowned self] in transaction.rollbackHookDidRun() })

    init(_ connection: ConnectionHandle, inspector: StatementInspector) {
        self.connection = connection
        self.inspector = inspector
    }

    /// Lets go of the connection, which may live on without the notifier.
    func removeHooks() {
        stopListening()
        hooks.remove(from: connection)
    }

    /// Goes on with another connection, after ``removeHooks()``.
    func move(to connection: ConnectionHandle, inspector: StatementInspector) {
        self.connection = connection
        self.inspector = inspector
        if isObserved { hooks.install(on: connection) }
    }

    private var isObserved: Bool { !registrations.isEmpty || !watch.isEmpty }

    /// Forgets the observers, and the connection that exists no more.
    func databaseDidClose() {
        registrations = ObserverRegistrations()
        savepoints.removeAll()
        audiences = []
        isListening = false
        isListeningAhead = false
        hooks.connectionDidClose()
        watch.databaseDidClose()
    }
}

// MARK: - Observers

extension ObserverNotifier {
    func add(_ observer: any TransactionObserver, extent: Database.TransactionObservationExtent) {
        registrations.add(observer, extent: extent)
        hooks.install(on: connection)
    }

    func remove(_ observer: any TransactionObserver) {
        registrations.remove(observer)
        removeHooksIfUseless()
    }

    /// Runs `body`, of whose transactions no observer is notified.
    ///
    /// - Precondition: no transaction is open before and after, or one in which nothing has happened.
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
    /// Ends a statement that itself neither begins nor ends transactions or savepoints. Returns false if it
    /// matters to an observer, which has to be notified.
    func endIdleStatement() -> Bool {
        // Before the question who watches: those who come later have read the clock after this.
        if connection.isAutocommit { watch.clock.transactionDidEnd() }
        return isIdle
    }

    /// Whether nobody has to be notified of anything.
    private var isIdle: Bool {
        !isObserved && !isListening && !savepoints.isHolding && !transaction.hasReport
    }

    /// Prepares for the changes that a statement is about to make.
    func executionWillBegin(_ statement: Statement) throws {
        if !statement.isReadonly { watch.clock.writeWillBegin() }
        if keptChangesCount != nil { keptChangesCount = nil }
        guard isObserved else { return }
        hooks.install(on: connection)
        if transaction.hasReport {
            // The program has ended a transaction with the raw C functions.
            try statementDidEnd(in: statement.database, successfully: true, step: nil)
        }
        try statement.updateFacts()
        isExecuting = !statement.isReadonly && !statement.changesTransactionOrSchema
        listen(to: statement.isReadonly ? [] : statement.facts.eventKinds, of: statement)
        let observed = statement.facts.maybeTruncatedTables.filter { table in
            audiences.contains { $0.kind == .delete(tableName: table) }
        }
        if !observed.isEmpty { inspector.preventTruncation(of: observed) }
    }

    /// Calls observers when the transaction has ended, if it has.
    ///
    /// - Throws: the error of an observer who has refused the commit of a transaction without writes.
    func executionDidEnd(_ statement: Statement) throws {
        let isInsideTransaction = !connection.isAutocommit
        if !isInsideTransaction { watch.clock.transactionDidEnd() }
        if isIdle, !statement.changesSavepoints {
            return transactionStepDidEnd(in: statement.database, isInsideTransaction: isInsideTransaction)
        }
        stopListening(in: statement.database)
        switch statement.facts.transactionStep {
        case .beginSavepoint(let name)?: savepoints.begin(name)
        case .releaseSavepoint(let name)?: savepoints.release(name).forEach { send($0) }
        case .rollbackToSavepoint(let name)?: savepoints.rollback(to: name)
        default: break
        }
        try statementDidEnd(in: statement.database, successfully: true, step: statement.facts.transactionStep)
    }

    /// Ends a statement that may have begun or ended a transaction, while nobody has to be notified.
    private func transactionStepDidEnd(in database: Database, isInsideTransaction: Bool) {
        isExecuting = false
        if !isInsideTransaction { hasToldOfRows = false }
        _ = transaction.statementDidEnd(
            successfully: true, step: nil, isInsideTransaction: isInsideTransaction,
            isReadOnly: database.isReadingOnly)
    }

    /// Calls observers when the transaction was rolled back, if it was.
    ///
    /// - Throws: the error of an observer who has refused the commit, which is the reason for the failure.
    func executionDidFail(_ statement: Statement, _ error: DatabaseError) throws {
        stopListening(in: statement.database)
        if transaction.hasRollbackReport && !connection.isAutocommit {
            // A release of the outermost savepoint that could not be committed: SQLite has undone the
            // changes, and leaves an empty savepoint behind.
            try? connection.execute("ROLLBACK")
        }
        try statementDidEnd(
            in: statement.database, successfully: false, step: statement.facts.transactionStep)
    }

    /// Calls observers when the transaction has ended, if it has with the reset of a statement that was not
    /// run to its end.
    ///
    /// There is nobody left to throw at: an observer who refuses the commit has it rolled back all the same.
    func statementWasAbandoned(_ statement: Statement, _ code: CInt) {
        stopListening(in: statement.database)
        try? statementDidEnd(
            in: statement.database, successfully: code == EngineCode.ok, step: statement.facts.transactionStep
        )
    }

    private func statementDidEnd(
        in database: Database, successfully: Bool, step: StatementFacts.TransactionStep?
    ) throws {
        let isInsideTransaction = !connection.isAutocommit
        if !isInsideTransaction {
            watch.clock.transactionDidEnd()
            if savepoints.isHolding { savepoints.removeAll() }
        }
        let ending = transaction.statementDidEnd(
            successfully: successfully, step: step, isInsideTransaction: isInsideTransaction,
            isReadOnly: database.isReadingOnly)
        let (rowID, changesCount) = (connection.lastInsertedRowID, connection.changesCount)
        // Those who are notified may write, but whoever has executed the statement wants to know of its own
        // row and changes.
        defer {
            if connection.lastInsertedRowID != rowID { connection.lastInsertedRowID = rowID }
            if connection.changesCount != changesCount { keptChangesCount = changesCount }
        }
        let undoesWhatWasTold = hasToldOfRows
        if !isInsideTransaction { hasToldOfRows = false }
        switch ending {
        case nil:
            // Those who began to watch in the middle of a transaction without hooks are notified too.
            if !isInsideTransaction { tellWatchers(in: database) }
        case .commit?:
            endTransaction { $0.databaseDidCommit(database) }
            tellWatchers(in: database)
        case .emptyCommit?:
            try endEmptyTransaction(in: database)
        case .failedStatement? where !undoesWhatWasTold:
            tellWatchers(rolledBack: true, in: database)
        case .failedStatement?:
            endTransaction { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
        case .rollback(let refusal)?:
            endTransaction { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
            if let refusal { throw refusal }
        }
    }
}

// MARK: - The ends of transactions

extension ObserverNotifier {
    /// Asks the observers, in the middle of the statement that commits. Returns whether it may go on.
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

    /// Asks the observers about the end of a transaction that has written nothing, and notifies them of it.
    private func endEmptyTransaction(in database: Database) throws {
        do {
            try registrations.askForPermission()
        } catch {
            endTransaction { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
            throw error
        }
        endTransaction { $0.databaseDidCommit(database) }
        tellWatchers(in: database)
    }

    /// Calls all observers at the end of a transaction.
    ///
    /// An observer may use the connection, and run whole transactions: before the first one is notified,
    /// everything is ready for them.
    private func endTransaction(_ notify: (any TransactionObserver) -> Void) {
        for registration in registrations.transactionDidEnd() {
            if let observer = registration.observer { notify(observer) }
        }
        registrations.removeUseless()
        removeHooksIfUseless()
    }

    /// Notifies those whose regions the transaction has changed of its end.
    private func tellWatchers(rolledBack: Bool = false, in database: Database) {
        guard !watch.isEmpty else { return }
        for listener in watch.transactionDidEnd(rolledBack: rolledBack) {
            listener.regionDidChange(database)
        }
    }
}

// MARK: - Changes

extension ObserverNotifier {
    /// Finds out which observers want to be notified of changes, and listens to SQLite only if there are any.
    private func listen(to kinds: [DatabaseEventKind], of statement: Statement) {
        audiences = kinds.compactMap { audience(of: $0, tellsAllRows: statement.tellsAllRows(ofChanges: $0)) }
        guard !audiences.isEmpty else { return stopListening() }
        startListening()
    }

    /// Those who observe a kind of changes; nil if nobody does.
    ///
    /// - Parameter tellsAllRows: whether there is an event for each row. It is found out only where it
    ///   matters.
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

    /// Stops listening after a statement, whose changes may not all have been reported.
    private func stopListening(in database: Database) {
        isExecuting = false
        guard isListening else { return }
        noteUntoldChanges(in: database)
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
        if let watchers = tell(Change(event: .row(event), audience: audiences[index])) {
            audiences[index].watchers = watchers
        }
    }

    /// Reports a row that is about to change to those who are notified of its change by events, and not to
    /// those who watch regions.
    private func willChange(_ change: PreUpdateHook.Change) {
        let current = DatabasePreUpdateEvent.Current(change)
        defer { current.end() }
        let event = DatabasePreUpdateEvent(current, change)
        guard let audience = audiences.first(where: { event.matchesKind($0.kind) }),
            !audience.registrations.isEmpty
        else { return }
        // What is held back is reported when the engine cannot be asked any more.
        tell(Change(event: .rowAhead(savepoints.isHolding ? event.copy() : event), audience: audience))
    }

    /// Reports a change, or holds it until the end of a savepoint.
    ///
    /// - Returns: the watchers that observe more, if they were called.
    @discardableResult
    private func tell(_ change: Change) -> [RegionWatch.ID]? {
        guard savepoints.isHolding else { return send(change) }
        savepoints.hold(change)
        return nil
    }

    /// Reports a change, and returns the watchers that observe more.
    @discardableResult
    private func send(_ change: Change) -> [RegionWatch.ID] {
        let watchers = change.audience.watchers
        switch change.event {
        case .rowAhead(let event):
            hasToldOfRows = true
            for registration in change.audience.registrations { registration.send(event) }
            return watchers
        case .row(let event):
            if !change.audience.registrations.isEmpty { hasToldOfRows = true }
            for registration in change.audience.registrations { registration.send(event) }
            if change.audience.tellsAllRows && !watchers.isEmpty {
                return watch.rowDidChange(event, for: watchers)
            }
        case .table: break
        }
        if !watchers.isEmpty { watch.tableDidChange(for: watchers) }
        return []
    }

    /// Notifies those who observe one of these kinds that something has changed.
    ///
    /// Outside of a transaction, the change counts as a transaction of its own.
    func notifyChanges(ofKinds kinds: [DatabaseEventKind], in database: Database) throws {
        for registration in registrations.observing(kinds) { registration.sendUnspecifiedChange() }
        if !watch.isEmpty {
            for kind in kinds { watch.tableDidChange(for: watch.watchers(of: kind)) }
        }
        if connection.isAutocommit {
            try endEmptyTransaction(in: database)
        }
    }

    /// Finds the changes of the statement that has ended for which there was no event: those of tables
    /// without row IDs, and of virtual tables.
    ///
    /// SQLite counts them all the same.
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

// MARK: - Statements that are compiled again

// A statement may be older than the schema, where others have changed it, or the application keeps its
// statements. SQLite compiles it again in its first step: it may read and change other tables than before.

extension ObserverNotifier {
    /// Listens also to changes that the statement that runs now was not known to make. Returns whether
    /// any observer wants to be notified of them.
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

extension DatabaseEventKind {
    fileprivate func isSameOperation(as other: DatabaseEventKind) -> Bool {
        guard CaseInsensitiveName(tableName) == CaseInsensitiveName(other.tableName) else { return false }
        return switch (self, other) {
        case (.insert, .insert), (.delete, .delete), (.update, .update): true
        default: false
        }
    }
}
