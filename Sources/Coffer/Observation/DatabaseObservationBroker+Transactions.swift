// What observers are asked and told when a transaction ends.

extension DatabaseObservationBroker {
    /// Asks the observers, in the middle of the statement that commits. Returns whether it may go on.
    func transactionWillCommit() -> Bool {
        savepoints.takeEvents().forEach { send($0) }
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
    func endEmptyTransaction(in database: Database) throws {
        do {
            try askForPermission()
        } catch {
            endTransaction { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
            throw error
        }
        endTransaction { $0.databaseDidCommit(database) }
        tellWatchers(in: database)
    }

    /// Tells all observers of the end of a transaction.
    ///
    /// An observer may use the connection, and run whole transactions: before the first one is told, everything is ready for them.
    func endTransaction(_ notify: (any TransactionObserver) -> Void) {
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
