public import Foundation
internal import SQLCipherBridge
internal import Synchronization

// MARK: - State

extension Database {
    /// Whether a transaction or a savepoint is open.
    public var isInsideTransaction: Bool { !isClosed && !handle.isAutocommit }

    /// The date of the current transaction: the same from its first use to the end of the transaction.
    ///
    /// Outside of transactions, the current date. Both as the configuration's transaction clock tells.
    public var transactionDate: Date {
        get throws {
            checkIsUsedInItsAccess()
            guard isInsideTransaction else { return try configuration.transactionClock.now(self) }
            if let cachedTransactionDate { return cachedTransactionDate }
            let date = try configuration.transactionClock.now(self)
            cachedTransactionDate = date
            return date
        }
    }
}

// MARK: - One by one

extension Database {
    /// Begins a transaction.
    ///
    /// - Parameter kind: nil is immediate on a connection that can write, so that a lock that is not free is noticed at once instead
    ///   of in the middle; deferred on one that only reads.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        try beginning(kind ?? defaultTransactionKind).execute()
    }

    /// Commits the transaction.
    public func commit() throws {
        if let statement = statementCaches.commit { return try statement.execute() }
        let statement = try makeStatement(sql: "COMMIT TRANSACTION", persistent: true)
        statementCaches.commit = statement
        try statement.execute()
    }

    /// Rolls the transaction back, also in a cancelled task. There is no error if SQLite has done so already.
    public func rollback() throws {
        guard isInsideTransaction else {
            checkIsUsedInItsAccess()
            return
        }
        // The transaction that a wrapper expects is about to end on purpose.
        let expected = expectsTransaction
        expectsTransaction = false
        defer { expectsTransaction = expected }
        try withoutInterruption { try executeInternal("ROLLBACK TRANSACTION") }
    }

    private var defaultTransactionKind: TransactionKind { isReadingOnly ? .deferred : .immediate }

    /// Whether the connection can only read now.
    var isReadingOnly: Bool { configuration.readonly || readOnlyDepth > 0 }

    /// The statement that begins a transaction. Each access needs one: it is found without its SQL.
    private func beginning(_ kind: TransactionKind) throws -> Statement {
        let known =
            switch kind {
            case .deferred: statementCaches.beginDeferred
            case .immediate: statementCaches.beginImmediate
            case .exclusive: statementCaches.beginExclusive
            }
        if let known { return known }
        let statement = try makeStatement(sql: "BEGIN \(kind.rawValue) TRANSACTION", persistent: true)
        switch kind {
        case .deferred: statementCaches.beginDeferred = statement
        case .immediate: statementCaches.beginImmediate = statement
        case .exclusive: statementCaches.beginExclusive = statement
        }
        return statement
    }

    func executeInternal(_ sql: String) throws {
        try internalCachedStatement(sql: sql).execute()
    }
}

// MARK: - Wrapped

extension Database {
    /// Runs `operations` in a transaction.
    ///
    /// An error rolls the transaction back and is rethrown. When SQLite rolls the transaction back by itself (an interruption, a full
    /// disk), each later statement in `operations` throws `SQLITE_ABORT`, and so does this method.
    public func inTransaction(_ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion) throws {
        try beginTransaction(kind)
        try finish(commit: commit, rollback: rollback, operations)
    }

    /// Runs `operations` in a savepoint, or in a transaction if none is open.
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        guard isInsideTransaction else {
            return try inTransaction(nil, operations)
        }
        let name = "coffer"
        try executeInternal("SAVEPOINT \(name)")
        try finish(
            commit: { try self.executeInternal("RELEASE SAVEPOINT \(name)") },
            rollback: {
                guard self.isInsideTransaction else { return }
                try self.executeInternal("ROLLBACK TRANSACTION TO SAVEPOINT \(name)")
                try self.executeInternal("RELEASE SAVEPOINT \(name)")
            },
            operations)
    }

    private func finish(
        commit: () throws -> Void, rollback: () throws -> Void, _ operations: () throws -> TransactionCompletion
    ) throws {
        let outerExpectation = expectTransaction()
        try finish(Result { try operations() }, outerExpectation, commit: commit, rollback: rollback)
    }

    /// - Returns: what was expected before.
    private func expectTransaction() -> Bool {
        defer { expectsTransaction = true }
        return expectsTransaction
    }

    /// - Parameter outcome: of the operations in the transaction.
    private func finish(
        _ outcome: Result<TransactionCompletion, any Error>, _ outerExpectation: Bool, commit: () throws -> Void,
        rollback: () throws -> Void
    ) throws {
        let wasAborted = !isInsideTransaction
        expectsTransaction = outerExpectation && !wasAborted
        defer { expectsTransaction = outerExpectation }

        switch outcome {
        case .success(.commit):
            guard !wasAborted else {
                throw DatabaseError(resultCode: .SQLITE_ABORT, message: "Transaction was aborted")
            }
            do {
                // What was read is of one state, however the transaction ends.
                if isReadingOnly { try withoutInterruption(commit) } else { try commit() }
            } catch {
                // A failed commit leaves the transaction open: `SQLITE_BUSY`, a deferred foreign key.
                try? withoutInterruption(rollback)
                throw error
            }
        case .success(.rollback):
            if !wasAborted {
                try withoutInterruption(rollback)
            }
        case .failure(let error):
            if !wasAborted {
                // The first error is the one that matters.
                try? withoutInterruption(rollback)
            }
            throw error
        }
    }

    /// Does what the connection must not go on without: again, if it is interrupted, and also when the task is cancelled.
    func withoutInterruption(_ body: () throws -> Void) throws {
        uncancellableDepth += 1
        defer { uncancellableDepth -= 1 }
        var remainingTries = 100
        while true {
            do {
                return try body()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT && remainingTries > 0 {
                // An interruption lasts as long as any statement is in the middle of its rows, and would hit each further try.
                remainingTries -= 1
                for statement in handle.pendingStatements { statement.reset() }
            }
        }
    }
}

// MARK: - Reading only

extension Database {
    /// Runs `value` on a connection that refuses to write: each try throws `SQLITE_READONLY`.
    public func readOnly<T>(_ value: () throws -> T) throws -> T {
        try readOnly(untilNextWrite: false, value)
    }

    /// - Parameter untilNextWrite: whether the connection may go on to refuse, up to the next access that calls ``endReadingOnly()``: each change
    ///   makes SQLite compile all statements again.
    private func readOnly<T>(untilNextWrite: Bool, _ value: () throws -> T) throws -> T {
        checkIsUsedInItsAccess()
        if readOnlyDepth == 0 && !configuration.readonly && !refusesUntilNextWrite {
            try setQueryOnly(true)
        }
        readOnlyDepth += 1
        let result = Result { try value() }
        readOnlyDepth -= 1
        if readOnlyDepth == 0 && !configuration.readonly {
            // A program that sets the pragma itself may have changed it.
            refusesUntilNextWrite = untilNextWrite && !isClosed && !authorizer.hasSeenQueryOnly
            if !refusesUntilNextWrite {
                try withoutInterruption { try setQueryOnly(false) }
            }
        }
        return try result.get()
    }

    /// Lets the connection write again, if the last access has left it refusing.
    func endReadingOnly() {
        guard refusesUntilNextWrite, !isClosed else { return }
        do {
            try withoutInterruption { try setQueryOnly(false) }
            refusesUntilNextWrite = false
        } catch {
            // It goes on to refuse, and the next access tries again.
        }
    }

    /// Refuses to write from now on, for as long as the connection lives.
    func stayReadOnly() throws {
        checkIsUsedInItsAccess()
        try setQueryOnly(true)
        // It never comes to the end of the outermost access that only reads.
        readOnlyDepth += 1
    }

    private func setQueryOnly(_ isOn: Bool) throws {
        guard !isClosed else { throw DatabaseError.connectionIsClosed() }
        authorizer.setsQueryOnly = true
        defer { authorizer.setsQueryOnly = false }
        do {
            try isOn ? handle.execute("PRAGMA query_only = 1") : handle.execute("PRAGMA query_only = 0")
        } catch {
            throw DatabaseError(error)
        }
    }

    /// Runs `value` in a deferred transaction, so that all that it reads is of one state; read-only on demand.
    ///
    /// - Parameters:
    ///   - settled: whether that state is chosen before `value` runs, and not with its first query: it makes a difference where others may
    ///   write meanwhile.
    ///   - untilNextWrite: whether the connection may go on to refuse to write: see ``endReadingOnly()``.
    func isolated<T>(readOnly: Bool, settled: Bool = false, untilNextWrite: Bool = false, _ value: () throws -> T) throws -> T {
        guard readOnly else { return try isolatedInTransaction(settled: settled, value) }
        return try self.readOnly(untilNextWrite: untilNextWrite) { try isolatedInTransaction(settled: settled, value) }
    }

    /// Gives `value` the connection inside of a deferred transaction, or the reason why there is none: once, whatever happens.
    ///
    /// - Parameters:
    ///   - settled: whether the state is chosen before `value` runs.
    ///   - didEnter: called, also once, before `value` runs, or when there is no transaction.
    func isolatedOnce(
        readOnly: Bool, settled: Bool = false, didEnter: (() -> Void)? = nil, _ value: (Result<Database, any Error>) -> Void
    ) {
        var wasCalled = false
        do {
            try isolated(readOnly: readOnly, settled: settled) {
                wasCalled = true
                didEnter?()
                value(.success(self))
            }
        } catch {
            // How a read ends makes no difference to what it has read.
            guard !wasCalled else { return }
            didEnter?()
            value(.failure(error))
        }
    }

    /// The connection, or the error of a closed one.
    var ifOpen: Result<Database, any Error> { isClosed ? .failure(DatabaseError.connectionIsClosed()) : .success(self) }

    private func isolatedInTransaction<T>(settled: Bool, _ value: () throws -> T) throws -> T {
        // As `inTransaction`, without an optional of a type that only run time knows, which each short read would pay for.
        try beginTransaction(.deferred)
        let outerExpectation = expectTransaction()
        let result: T
        do {
            if settled { try enterReadTransaction() }
            result = try value()
        } catch {
            try finish(.failure(error), outerExpectation, commit: commit, rollback: rollback)
            throw error
        }
        try finish(.success(.commit), outerExpectation, commit: commit, rollback: rollback)
        return result
    }

    /// Makes the current deferred transaction choose the state that it reads, which it would do with its first query.
    ///
    /// It is done by the check of the schema that the first request needs anyway.
    func enterReadTransaction() throws {
        // The usual case, in which nothing else has to be done.
        if traceHook == nil, !schemaCache.isHeld, let watch = schemaCache.watch, watch.isUnchanged() {
            schemaCache.isVerified = true
        } else {
            try readSchema {}
        }
    }

    /// Runs `body` outside of the current transaction, in which nothing has run yet, and begins it again.
    func restartingTransaction<T>(_ body: () throws -> T) throws -> T {
        let expected = expectsTransaction
        expectsTransaction = false
        defer { expectsTransaction = expected }
        try rollback()
        let result = Result { try body() }
        if !isClosed {
            try withoutInterruption {
                do {
                    try beginTransaction()
                } catch {
                    // Whoever has the lock now is met by the first write.
                    try beginTransaction(.deferred)
                }
            }
        }
        return try result.get()
    }

    /// Whether the application has run no statement since it began the current transaction.
    var isTransactionUntouched: Bool { unsafe isInsideTransaction && executionCount == executionCountAtBeginning }

    /// The journal mode of the main database, in lower case.
    func journalMode() throws -> String? {
        do {
            return try handle.firstText(trusted: "PRAGMA main.journal_mode")
        } catch {
            throw DatabaseError(error)
        }
    }

    /// Rolls back a transaction that was left open because its task was cancelled: a statement that would have ended it was refused.
    func rollBackAfterCancellation() {
        guard isInsideTransaction, !configuration.allowsUnsafeTransactions, sharedState.isCancelled.load(ordering: .relaxed) else { return }
        // The cancellation is the error that matters.
        try? rollback()
    }

    /// Traps when an access ends in the middle of a transaction, unless the configuration allows it.
    func checkNoTransactionLeft() {
        precondition(
            configuration.allowsUnsafeTransactions || !isInsideTransaction,
            "A transaction has been left opened at the end of a database access")
    }
}
