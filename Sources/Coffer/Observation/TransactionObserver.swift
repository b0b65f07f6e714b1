/// A type that is called with changes and transactions, as they happen on the connection that writes.
///
/// An observer is called with changes before they are committed, in this order: any number of
/// ``databaseDidChange(with:)``, then ``databaseWillCommit()``, then ``databaseDidCommit(_:)`` or
/// ``databaseDidRollback(_:)``. Changes inside of a savepoint are held back until it is released: it is never
/// called with those that are rolled back with it.
///
/// All functions are called where the connection is used, between its statements or in the middle of one.
/// Only ``databaseDidCommit(_:)`` and ``databaseDidRollback(_:)`` may use the connection.
///
/// It is not called with these changes: those of other connections, of the schema, of tables `WITHOUT ROWID`,
/// of rows that `ON CONFLICT REPLACE` deletes, and those made with the raw C functions. With an engine of
/// one's own (``EngineFeature``), ``databaseWillChange(with:)`` is called with rows before they change, with
/// their values, and of tables `WITHOUT ROWID` as well. See ``Database/notifyChanges(in:)``.
public protocol TransactionObserver: AnyObject {
    /// Whether the observer is to be called with changes of this kind.
    ///
    /// It is asked once for each execution of a statement that may make such changes, before it runs. When no
    /// observer asks for them, the statement runs as fast as without observers.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Called when something may have changed, with no further detail: see ``Database/notifyChanges(in:)``.
    func databaseDidChange()

    /// Called with a change of a row, of a kind that the observer asked for.
    ///
    /// It must not use the connection.
    func databaseDidChange(with event: DatabaseEvent)

    /// Called with a change of a row, of a kind that the observer asked for, before it is made, with the
    /// values of the row.
    ///
    /// ``databaseDidChange(with:)`` follows, except for tables `WITHOUT ROWID`. Inside of a savepoint both
    /// are held back. It must not use the connection. The event can be asked during the call only: keep
    /// ``DatabasePreUpdateEvent/copy()``.
    ///
    /// It is never called with the engine of a distribution. `try EngineFeature.preUpdateEvents.require()`
    /// fails there, and names the script that builds an engine that can.
    func databaseWillChange(with event: DatabasePreUpdateEvent)

    /// Called when the transaction is about to be committed.
    ///
    /// It must not use the connection.
    /// - Throws: any error, to have the transaction rolled back. The statement that was to commit throws the
    ///   same error.
    func databaseWillCommit() throws

    /// Called when the transaction has been committed.
    func databaseDidCommit(_ db: Database)

    /// Called when the transaction has been rolled back: on purpose, by an observer, or by an error.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    /// Does nothing.
    public func databaseDidChange() {}

    /// Does nothing, and has nothing read for the observer from now on.
    public func databaseWillChange(with event: DatabasePreUpdateEvent) {
        guard let observation = ObserverRegistration.current, observation.isRegistration(of: self) else {
            return
        }
        observation.ignoresChangesAhead = true
    }

    /// Does nothing, and lets the transaction be committed.
    public func databaseWillCommit() throws {}

    /// Spares the observer all further changes, up to the end of the current transaction.
    ///
    /// An observer calls it of itself, as soon as it has received enough.
    /// - Precondition: it is called by ``databaseDidChange(with:)`` or ``databaseDidChange()`` of the same
    ///   observer.
    public func stopObservingDatabaseChangesUntilNextTransaction() {
        guard let observation = ObserverRegistration.current, observation.isRegistration(of: self) else {
            preconditionFailure(
                "stopObservingDatabaseChangesUntilNextTransaction() must be called by the observer, in its "
                    + "databaseDidChange method."
            )
        }
        observation.isPaused = true
    }
}
