/// A type that is notified of changes and transactions on the writer connection.
///
/// An observer is called in this order: any number of ``databaseDidChange(with:)`` before the commit, then
/// ``databaseWillCommit()``, then ``databaseDidCommit(_:)`` or ``databaseDidRollback(_:)``. Changes inside a
/// savepoint are held until it is released: changes that are rolled back with it are never reported.
///
/// All functions are called where the connection is used, between its statements or during one. Only
/// ``databaseDidCommit(_:)`` and ``databaseDidRollback(_:)`` may use the connection. The cancellation of the
/// task that has written does not end their statements.
///
/// These changes are not reported: changes by other connections, changes of the schema, of tables `WITHOUT
/// ROWID`, of rows that `ON CONFLICT REPLACE` deletes, and changes made with the raw C functions. With a
/// custom engine (``EngineFeature``), ``databaseWillChange(with:)`` is called with rows before they change,
/// with their values, and for tables `WITHOUT ROWID` as well. See ``Database/notifyChanges(in:)``.
public protocol TransactionObserver: AnyObject {
    /// Returns a Boolean value that indicates whether the observer is to be notified of changes of this kind.
    ///
    /// It is called once for each execution of a statement that may make such changes, before the statement
    /// runs. If no observer needs them, the statement runs as fast as without observers.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Called when something may have changed, without further detail: see ``Database/notifyChanges(in:)``.
    func databaseDidChange()

    /// Called after a row has changed, if the observer observes changes of this kind.
    ///
    /// It must not use the connection.
    func databaseDidChange(with event: DatabaseEvent)

    /// Called before a row changes, with its values, if the observer observes changes of this kind.
    ///
    /// ``databaseDidChange(with:)`` follows, except for tables `WITHOUT ROWID`. Inside a savepoint, both are
    /// held. The function must not use the connection. The event is valid only during the call: to store it,
    /// use ``DatabasePreUpdateEvent/copy()``.
    ///
    /// The engines of distributions never call it. With them, `try EngineFeature.preUpdateEvents.require()`
    /// throws an error that names the script that builds a suitable engine.
    func databaseWillChange(with event: DatabasePreUpdateEvent)

    /// Called when the transaction is about to be committed.
    ///
    /// It must not use the connection.
    ///
    /// - Throws: any error, to roll back the transaction. The statement that was to commit throws the same
    ///   error.
    func databaseWillCommit() throws

    /// Called when the transaction has been committed.
    func databaseDidCommit(_ db: Database)

    /// Called when the transaction has been rolled back: explicitly, by an observer, or because of an error.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    /// Does nothing.
    public func databaseDidChange() {}

    /// Does nothing, and disables this notification for the observer, so that no more values are read for it.
    public func databaseWillChange(with event: DatabasePreUpdateEvent) {
        guard let observation = ObserverRegistration.current, observation.isRegistration(of: self) else {
            return
        }
        observation.ignoresChangesAhead = true
    }

    /// Does nothing, and allows the commit.
    public func databaseWillCommit() throws {}

    /// Stops notifications of changes until the end of the current transaction.
    ///
    /// An observer calls this on itself when it needs no more changes.
    ///
    /// - Precondition: called from ``databaseDidChange(with:)`` or ``databaseDidChange()`` of the same
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
