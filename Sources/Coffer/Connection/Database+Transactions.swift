public import Foundation
internal import SQLCipherBridge
internal import Synchronization

// MARK: - State

extension Database {
    /// Whether a transaction or a savepoint is open.
    public var isInsideTransaction: Bool { !isClosed && !handle.isAutocommit }

    /// The date of the current transaction: the same from its first use to the end of the transaction.
    ///
    /// Outside of transactions, the current date. Both are as the configuration's transaction clock says.
    public var transactionDate: Date {
        get throws {
            checkIsUsedInItsAccess()
            guard isInsideTransaction else { return try configuration.transactionClock.now(self) }
            if let date = transactions.date { return date }
            let date = try configuration.transactionClock.now(self)
            transactions.keep(date)
            return date
        }
    }
}

// MARK: - One by one

extension Database {
    /// Begins a transaction.
    ///
    ///     try queue.writeWithoutTransaction { db in
    ///         try db.beginTransaction(.exclusive)
    ///         try Item.filter { $0.amount == 0 }.deleteAll(db)
    ///         try db.commit()
    ///     }
    ///
    /// - Parameter kind: nil is immediate on a connection that can write, so that a lock that is not free is
    ///   noticed at once instead of in the middle; deferred on one that only reads.
    /// - Throws: a ``DatabaseError``: `SQLITE_BUSY` if another connection has the lock, `SQLITE_ERROR` inside
    ///   of a transaction.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        let text: StatementCaches.FixedText =
            switch kind ?? (isReadingOnly ? .deferred : .immediate) {
            case .deferred: .beginDeferred
            case .immediate: .beginImmediate
            case .exclusive: .beginExclusive
            }
        try checkOut(text).execute()
    }

    /// Commits the transaction.
    ///
    /// - Throws: a ``DatabaseError``: `SQLITE_BUSY`, or `SQLITE_CONSTRAINT` for a deferred foreign key, which
    ///   leave the transaction open; `SQLITE_ERROR` outside of a transaction; the error of an observer who
    ///   refuses the commit, which rolls it back.
    public func commit() throws { try checkOut(.commit).execute() }

    /// Rolls the transaction back, also in a cancelled task. There is no error if SQLite has done so already.
    ///
    ///     try queue.writeWithoutTransaction { db in
    ///         try db.beginTransaction()
    ///         try Share.deleteAll(db)
    ///         try db.rollback()
    ///     }
    public func rollback() throws {
        guard isInsideTransaction else {
            checkIsUsedInItsAccess()
            return
        }
        // The transaction that a wrapper expects is about to end on purpose.
        try transactions.expecting(false) {
            try withoutInterruption { try checkOut(.rollback).execute() }
        }
    }

    /// Whether the connection can only read now.
    var isReadingOnly: Bool { configuration.readonly || transactions.isReadOnly }
}

// MARK: - Wrapped

extension Database {
    /// Runs `operations` in a transaction.
    ///
    /// An error rolls the transaction back and is rethrown. When SQLite rolls the transaction back by itself
    /// (an interruption, a full disk), each later statement in `operations` throws `SQLITE_ABORT`, and so
    /// does this method.
    ///
    ///     try queue.writeWithoutTransaction { db in
    ///         try db.inTransaction {
    ///             let removed = try Share.deleteAll(db)
    ///             return removed > 10 ? .rollback : .commit
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - kind: nil is immediate on a connection that can write.
    ///   - operations: reads and writes, and says how the transaction ends.
    /// - Throws: the error of `operations`, and what ``beginTransaction(_:)`` and ``commit()`` throw. The
    ///   transaction is rolled back then.
    public func inTransaction(
        _ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion
    ) throws {
        try beginTransaction(kind)
        try end(run(operations, rollback: rollback), commit: commit, rollback: rollback)
    }

    /// Runs `operations` in a transaction, and returns what they return. Accesses that run in a transaction
    /// call it directly.
    func transaction<T>(
        _ kind: TransactionKind? = nil, endingWith completion: TransactionCompletion = .commit,
        _ operations: () throws -> T
    ) throws -> T {
        try beginTransaction(kind)
        let value = try run(operations, rollback: rollback)
        try end(completion, commit: commit, rollback: rollback)
        return value
    }

    /// Runs `operations` in a savepoint, or in a transaction if none is open.
    ///
    ///     try queue.write { db in
    ///         try db.inSavepoint {
    ///             try Share.deleteAll(db)
    ///             return .rollback
    ///         }
    ///     }
    ///
    /// - Parameter operations: reads and writes, and says whether its changes stay.
    /// - Throws: the error of `operations`, whose changes are taken back then.
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        guard isInsideTransaction else {
            return try inTransaction(nil, operations)
        }
        try checkOut(.savepoint).execute()
        let rollback = {
            guard self.isInsideTransaction else { return }
            try self.checkOut(.rollbackToSavepoint).execute()
            try self.checkOut(.releaseSavepoint).execute()
        }
        try end(
            run(operations, rollback: rollback), commit: { try checkOut(.releaseSavepoint).execute() },
            rollback: rollback)
    }

    /// Runs what is in a transaction or a savepoint, which is rolled back if that fails.
    private func run<T>(_ operations: () throws -> T, rollback: () throws -> Void) throws -> T {
        do {
            return try transactions.expecting(true, operations)
        } catch {
            // The first error is the one that matters.
            if isInsideTransaction { try? withoutInterruption(rollback) }
            throw error
        }
    }

    private func end(
        _ completion: TransactionCompletion, commit: () throws -> Void, rollback: () throws -> Void
    ) throws {
        switch completion {
        case .commit:
            guard isInsideTransaction else {
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
        case .rollback:
            if isInsideTransaction { try withoutInterruption(rollback) }
        }
    }

    /// Does what the connection must not go on without: again, if it is interrupted, and also when the task
    /// is cancelled.
    func withoutInterruption(_ body: () throws -> Void) throws {
        try transactions.uncancellably {
            var remainingTries = 100
            while true {
                do {
                    return try body()
                } catch let error as DatabaseError
                    where error.resultCode == .SQLITE_INTERRUPT && remainingTries > 0
                {
                    // An interruption lasts as long as any statement is in the middle of its rows, and would
                    // hit each further try.
                    remainingTries -= 1
                    for statement in handle.pendingStatements { statement.reset() }
                }
            }
        }
    }
}

// MARK: - Reading only

extension Database {
    /// Runs `value` on a connection that refuses to write: each try throws `SQLITE_READONLY`.
    ///
    ///     let number = try db.readOnly { try Item.fetchCount(db) }
    public func readOnly<T>(_ value: () throws -> T) throws -> T {
        try readOnly(untilNextWrite: false, value)
    }

    /// - Parameter untilNextWrite: whether the connection may go on to refuse, up to the next access that
    ///   calls ``endReadingOnly()``: each change makes SQLite compile all statements again.
    private func readOnly<T>(untilNextWrite: Bool, _ value: () throws -> T) throws -> T {
        checkIsUsedInItsAccess()
        if !isReadingOnly && !transactions.refusesUntilNextWrite { try setQueryOnly(true) }
        transactions.beginReadOnly()
        let result = Result { try value() }
        if transactions.endReadOnly(), !configuration.readonly {
            // A program that sets the pragma itself may have changed it.
            transactions.refuseUntilNextWrite(untilNextWrite && !isClosed && !inspector.hasSeenQueryOnly)
            if !transactions.refusesUntilNextWrite {
                try withoutInterruption { try setQueryOnly(false) }
            }
        }
        return try result.get()
    }

    /// Lets the connection write again, if the last access has left it refusing.
    func endReadingOnly() {
        guard transactions.refusesUntilNextWrite, !isClosed else { return }
        do {
            try withoutInterruption { try setQueryOnly(false) }
            transactions.refuseUntilNextWrite(false)
        } catch {
            // It goes on to refuse, and the next access tries again.
        }
    }

    /// Refuses to write from now on, for as long as the connection lives.
    func stayReadOnly() throws {
        checkIsUsedInItsAccess()
        try setQueryOnly(true)
        // It never comes to the end of the outermost access that only reads.
        transactions.beginReadOnly()
    }

    private func setQueryOnly(_ isOn: Bool) throws {
        try checkIsUsable()
        inspector.setsQueryOnly = true
        defer { inspector.setsQueryOnly = false }
        try DatabaseError.converting {
            try isOn ? handle.execute("PRAGMA query_only = 1") : handle.execute("PRAGMA query_only = 0")
        }
    }

    /// Runs `value` in a deferred transaction, so that all that it reads is of one state; read-only on
    /// demand.
    ///
    /// - Parameters:
    ///   - settled: whether that state is chosen before `value` runs, and not with its first query: it makes
    ///   a difference where others may write meanwhile.
    ///   - untilNextWrite: whether the connection may go on to refuse to write: see ``endReadingOnly()``.
    func isolated<T>(
        readOnly: Bool, settled: Bool = false, untilNextWrite: Bool = false, _ value: () throws -> T
    ) throws -> T {
        guard !readOnly else {
            return try self.readOnly(untilNextWrite: untilNextWrite) {
                try isolated(readOnly: false, settled: settled, value)
            }
        }
        return try transaction(.deferred) {
            if settled { try enterReadTransaction() }
            return try value()
        }
    }

    /// Gives `value` the connection inside of a deferred transaction, or the reason why there is none: once,
    /// whatever happens.
    ///
    /// - Parameters:
    ///   - settled: whether the state is chosen before `value` runs.
    ///   - didEnter: called, also once, before `value` runs, or when there is no transaction.
    func isolatedOnce(
        readOnly: Bool, settled: Bool = false, didEnter: (() -> Void)? = nil,
        _ value: (Result<Database, any Error>) -> Void
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
    var ifOpen: Result<Database, any Error> {
        isClosed ? .failure(DatabaseError.connectionIsClosed()) : .success(self)
    }

    /// Makes the current deferred transaction choose the state that it reads, which it would do with its
    /// first query.
    ///
    /// It is done by the check of the schema that the first request needs anyway.
    func enterReadTransaction() throws {
        // The usual case, in which nothing else has to be done.
        if traceHook == nil, !knownSchema.isHeld, let watch = knownSchema.watch, watch.isUnchanged() {
            knownSchema.didVerify()
        } else {
            try readSchema {}
        }
    }

    /// Runs `body` outside of the current transaction, in which nothing has run yet, and begins it again.
    func restartingTransaction<T>(_ body: () throws -> T) throws -> T {
        try transactions.expecting(false) {
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
    }

    /// Whether the application has run no statement since it began the current transaction.
    var isTransactionUntouched: Bool { isInsideTransaction && transactions.isUntouched }

    /// The journal mode of the main database, in lower case.
    func journalMode() throws -> String? {
        return try DatabaseError.converting { try handle.firstText(trusted: "PRAGMA main.journal_mode") }
    }

    /// Rolls back a transaction that was left open because its task was cancelled: a statement that would
    /// have ended it was refused.
    func rollBackAfterCancellation() {
        guard isInsideTransaction, !configuration.allowsUnsafeTransactions,
            sharedState.isCancelled.load(ordering: .relaxed)
        else { return }
        // The cancellation is the error that matters.
        try? rollback()
    }

    /// Traps when an access ends in the middle of a transaction, unless the configuration allows it.
    func checkNoTransactionLeft() {
        precondition(
            configuration.allowsUnsafeTransactions || !isInsideTransaction,
            "The database access ends inside of a transaction that it has begun. Commit it or roll it back.")
    }
}
