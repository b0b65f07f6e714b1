extension Database {
    /// How long an observer is called with changes and transactions.
    public enum TransactionObservationExtent: Sendable {
        /// As long as the observer lives. The connection does not keep it alive.
        case observerLifetime

        /// Up to the end of the current transaction, or of the next one. The connection keeps the observer
        /// alive until then.
        case nextTransaction

        /// As long as the connection is open. The connection keeps the observer alive.
        case databaseLifetime
    }

    /// Adds an observer of changes and transactions.
    ///
    /// In the middle of a transaction, the observer is called with what is left of it. Observers are called
    /// in the order in which they were added.
    ///
    /// - Parameters:
    ///   - transactionObserver: called with the changes of each transaction that it observes.
    ///   - extent: how long the connection calls it.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime
    ) {
        checkIsUsedInItsAccess()
        guard !isClosed else { return }
        observerNotifier.add(transactionObserver, extent: extent)
    }

    /// Removes an observer, which is not called any more.
    public func remove(transactionObserver: some TransactionObserver) {
        checkIsUsedInItsAccess()
        observerNotifier.remove(transactionObserver)
    }

    /// Calls a function at the end of the current transaction, or of the next one.
    ///
    /// The functions run where the connection is used, after the statement that ends the transaction, and may
    /// use the connection.
    ///
    ///     try queue.write { db in
    ///         db.afterNextTransaction { _ in print("The item is gone for good.") }
    ///         try Item.deleteOne(db, key: 1)
    ///     }
    ///
    /// - Parameters:
    ///   - onCommit: called when the transaction has been committed.
    ///   - onRollback: called when it has been rolled back.
    /// - Precondition: the access may write: no observer is called at the end of a transaction that only
    ///   reads.
    public func afterNextTransaction(
        onCommit: @escaping @Sendable (Database) -> Void,
        onRollback: @escaping @Sendable (Database) -> Void = { _ in }
    ) {
        precondition(!isReadingOnly, "Only a transaction that can write has handlers of its end.")
        add(
            transactionObserver: TransactionEndHandler(onCommit: onCommit, onRollback: onRollback),
            extent: .nextTransaction)
    }
}

/// Turns the end of a transaction into a call of one of two functions.
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
    /// Adds an observer of changes and transactions to the connection that writes. It waits for that
    /// connection.
    ///
    /// - Parameters:
    ///   - transactionObserver: called with the changes of each transaction that it observes.
    ///   - extent: how long the connection calls it.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: Database.TransactionObservationExtent = .observerLifetime
    ) {
        unsafeReentrantWrite { $0.add(transactionObserver: transactionObserver, extent: extent) }
    }

    /// Removes an observer, which is not called any more. It waits for the connection that writes.
    public func remove(transactionObserver: some TransactionObserver) {
        unsafeReentrantWrite { $0.remove(transactionObserver: transactionObserver) }
    }
}
