internal import SQLCipherBridge

// How statements and transactions begin and end.

extension DatabaseObservationBroker {
    /// Ends a statement that itself neither begins nor ends transactions or savepoints. Returns false if it matters to somebody, who has to be
    /// told.
    func endIdleStatement() -> Bool {
        guard observations.isEmpty && watch.isEmpty && !isListening && !savepoints.isHolding && !transaction.hasReport else { return false }
        if connection.isAutocommit { watch.clock.transactionDidEnd() }
        return true
    }

    /// Prepares for the changes that a statement is about to make.
    func statementWillExecute(_ statement: Statement) throws {
        if !statement.isReadonly { watch.clock.writeWillBegin() }
        if keptChangesCount != nil { keptChangesCount = nil }
        guard isObserved else { return }
        installTransactionHooks()
        if transaction.hasReport {
            // Somebody has ended a transaction with the raw C functions.
            try statementDidEnd(in: statement.database, successfully: true, effect: nil)
        }
        try statement.updateFacts()
        isExecuting = !statement.isReadonly && !statement.changesTransactionOrSchema
        listen(to: statement.isReadonly ? [] : statement.facts.eventKinds, of: statement)
        let observed = statement.facts.maybeTruncatedTables.filter { table in audiences.contains { $0.kind == .delete(tableName: table) } }
        if !observed.isEmpty { authorizer.preventTruncation(of: observed) }
    }

    /// Tells observers how the transaction has ended, if it has.
    ///
    /// - Throws: the error of an observer who has refused the commit of a transaction without writes.
    func statementDidExecute(_ statement: Statement) throws {
        stopListening(in: statement.database)
        switch statement.facts.transactionEffect {
        case .beginSavepoint(let name)?: savepoints.begin(name)
        case .releaseSavepoint(let name)?: savepoints.release(name).forEach { send($0) }
        case .rollbackToSavepoint(let name)?: savepoints.rollback(to: name)
        default: break
        }
        try statementDidEnd(in: statement.database, successfully: true, effect: statement.facts.transactionEffect)
    }

    /// Tells observers that the transaction was rolled back, if it was.
    ///
    /// - Throws: the error of an observer who has refused the commit, which is the reason for the failure.
    func statementDidFail(_ statement: Statement, _ error: DatabaseError) throws {
        stopListening(in: statement.database)
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
        stopListening(in: statement.database)
        try? statementDidEnd(in: statement.database, successfully: code == EngineCode.ok, effect: statement.facts.transactionEffect)
    }

    private func statementDidEnd(in database: Database, successfully: Bool, effect: StatementFacts.TransactionEffect?) throws {
        let isInsideTransaction = !connection.isAutocommit
        if !isInsideTransaction {
            watch.clock.transactionDidEnd()
            if savepoints.isHolding { savepoints.removeAll() }
        }
        let ending = transaction.statementDidEnd(
            successfully: successfully, effect: effect, isInsideTransaction: isInsideTransaction,
            isReadOnly: database.readOnlyDepth > 0 || database.configuration.readonly)
        let (rowID, changesCount) = (connection.lastInsertedRowID, connection.changesCount)
        // Those who are told may write, but whoever has executed the statement wants to know of its own row and changes.
        defer {
            if connection.lastInsertedRowID != rowID { connection.lastInsertedRowID = rowID }
            if connection.changesCount != changesCount { keptChangesCount = changesCount }
        }
        switch ending {
        case nil:
            // Those who began to watch in the middle of a transaction without hooks are told all the same.
            if !isInsideTransaction { tellWatchers(in: database) }
        case .commit?:
            endTransaction { $0.databaseDidCommit(database) }
            tellWatchers(in: database)
        case .emptyCommit?:
            try endEmptyTransaction(in: database)
        case .rollback(let refusal)?:
            endTransaction { $0.databaseDidRollback(database) }
            tellWatchers(rolledBack: true, in: database)
            if let refusal { throw refusal }
        }
    }
}
