extension Database {
    /// The period during which an observer is notified of changes and transactions.
    public enum TransactionObservationExtent: Sendable {
        /// As long as the observer lives. The connection does not keep it alive.
        case observerLifetime

        /// Until the end of the current transaction, or of the next one. The connection keeps the observer
        /// alive until then.
        case nextTransaction

        /// As long as the connection is open. The connection keeps the observer alive.
        case databaseLifetime
    }

    /// Adds an observer of changes and transactions.
    ///
    /// If a transaction is open, the observer is notified of the rest of it. Observers are called in the
    /// order in which they were added.
    ///
    /// - Parameters:
    ///   - transactionObserver: called with the changes of each transaction.
    ///   - extent: the period during which the connection calls the observer.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime
    ) {
        checkIsUsedInItsAccess()
        guard !isClosed || isAwaitingFile else { return }
        observerNotifier.add(transactionObserver, extent: extent, isListening: !isClosed)
    }

    /// Removes an observer, which is not called afterwards.
    public func remove(transactionObserver: some TransactionObserver) {
        checkIsUsedInItsAccess()
        observerNotifier.remove(transactionObserver)
    }

    /// Calls a function at the end of the current transaction, or of the next one.
    ///
    /// The functions are called where the connection is used, after the statement that ends the transaction.
    /// They may use the connection.
    ///
    ///     try queue.write { db in
    ///         db.afterNextTransaction { _ in print("The item is gone for good.") }
    ///         try Item.deleteOne(db, key: 1)
    ///     }
    ///
    /// - Parameters:
    ///   - onCommit: called after the transaction has been committed.
    ///   - onRollback: called after it has been rolled back.
    /// - Precondition: the access may write, because observers are not called at the end of a read-only
    ///   transaction.
    public func afterNextTransaction(
        onCommit: @escaping @Sendable (Database) -> Void,
        onRollback: @escaping @Sendable (Database) -> Void = { _ in }
    ) {
        precondition(!isReadingOnly, "A read-only transaction has no handlers for its end.")
        add(
            transactionObserver: TransactionEndHandler(onCommit: onCommit, onRollback: onRollback),
            extent: .nextTransaction)
    }
}

/// Calls one of two functions at the end of a transaction.
private final class TransactionEndHandler: TransactionObserver {
    private let onCommit: (Database) -> Void
    private let onRollback: (Database) -> Void

    init(onCommit: @escaping (Database) -> Void, onRollback: @escaping (Database) -> Void) {
        self.onCommit = onCommit
        self.onRollback = onRollback
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { onCommit(db) }
    func databaseDidRollback(_ db: Database) { onRollback(db) }
}

extension DatabaseWriter {
    /// Adds an observer of changes and transactions to the writer connection. Waits for that connection.
    ///
    /// - Parameters:
    ///   - transactionObserver: called with the changes of each transaction.
    ///   - extent: the period during which the connection calls the observer.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: Database.TransactionObservationExtent = .observerLifetime
    ) {
        unsafeReentrantWrite { $0.add(transactionObserver: transactionObserver, extent: extent) }
    }

    /// Removes an observer, which is not called afterwards. Waits for the writer connection.
    public func remove(transactionObserver: some TransactionObserver) {
        unsafeReentrantWrite { $0.remove(transactionObserver: transactionObserver) }
    }
}
