public import Foundation
internal import SQLCipherBridge

// MARK: - Types

extension Database {
    /// The way in which a transaction takes its locks: see <https://www.sqlite.org/lang_transaction.html>.
    public enum TransactionKind: String, Sendable {
        /// Takes each lock when a statement first needs it.
        case deferred = "DEFERRED"

        /// Takes the write lock at the start.
        case immediate = "IMMEDIATE"

        /// Also prevents other connections from reading, except in WAL mode.
        case exclusive = "EXCLUSIVE"
    }

    /// The outcome of a transaction.
    @frozen public enum TransactionCompletion: Hashable, Sendable {
        case commit
        /// The changes are undone.
        case rollback
    }
}

// MARK: - State

extension Database {
    /// A Boolean value that indicates whether a transaction or a savepoint is open.
    public var isInsideTransaction: Bool { !isClosed && !handle.isAutocommit }

    /// The date of the current transaction. It is constant from its first use to the end of the transaction.
    ///
    /// Outside transactions, it is the current date. Both come from the configuration's transaction clock.
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

// MARK: - Single steps

extension Database {
    /// Begins a transaction.
    ///
    ///     try queue.writeWithoutTransaction { db in
    ///         try db.beginTransaction(.exclusive)
    ///         try Item.filter { $0.amount == 0 }.deleteAll(db)
    ///         try db.commit()
    ///     }
    ///
    /// - Parameter kind: the kind of the transaction. Nil means immediate on a connection that can write, so
    ///   that a conflict is detected at the start instead of in the middle, and deferred on a read-only
    ///   connection.
    /// - Throws: a ``DatabaseError`` with `SQLITE_BUSY` if another connection holds the lock, or
    ///   `SQLITE_ERROR` inside a transaction.
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
    /// - Throws: a ``DatabaseError`` with `SQLITE_BUSY`, or with `SQLITE_CONSTRAINT` for a deferred foreign
    ///   key, both of which leave the transaction open; `SQLITE_ERROR` outside a transaction; the error of an
    ///   observer that rejects the commit, which rolls the transaction back.
    public func commit() throws { try checkOut(.commit).execute() }

    /// Rolls the transaction back, even in a cancelled task. Does nothing if SQLite has already rolled it
    /// back.
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
        // The surrounding function expects an open transaction, which is about to end on purpose.
        try transactions.expecting(false) {
            try withoutInterruption { try checkOut(.rollback).execute() }
        }
    }

    /// True if the connection cannot write now.
    var isReadingOnly: Bool { configuration.readonly || transactions.isReadOnly }
}

// MARK: - Closures

extension Database {
    /// Runs `operations` in a transaction.
    ///
    /// An error rolls the transaction back and is rethrown. If SQLite itself rolls the transaction back
    /// (after an interruption, or on a full disk), each later statement in `operations` throws
    /// `SQLITE_ABORT`, and so does this method.
    ///
    ///     try queue.writeWithoutTransaction { db in
    ///         try db.inTransaction {
    ///             let removed = try Share.deleteAll(db)
    ///             return removed > 10 ? .rollback : .commit
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - kind: the kind of the transaction. Nil means immediate on a connection that can write.
    ///   - operations: a function that reads and writes, and returns whether to commit or to roll back.
    /// - Throws: the error of `operations`, and the errors of ``beginTransaction(_:)`` and ``commit()``. In
    ///   each case, the transaction is rolled back.
    public func inTransaction(
        _ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion
    ) throws {
        try beginTransaction(kind)
        try end(run(operations, rollback: rollback), commit: commit, rollback: rollback)
    }

    /// Runs `operations` in a transaction, and returns their result. Accesses that run in a transaction call
    /// this method.
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
    /// An error rolls the savepoint back and is rethrown. If Coffer itself has to roll the savepoint back
    /// (``EngineFault/typeErrors``), each later statement in `operations` throws `SQLITE_ABORT`, and so does
    /// this method if it is to keep the changes. The transaction continues.
    ///
    ///     try queue.write { db in
    ///         try db.inSavepoint {
    ///             try Share.deleteAll(db)
    ///             return .rollback
    ///         }
    ///     }
    ///
    /// - Parameter operations: a function that reads and writes, and returns whether to keep its changes.
    /// - Throws: the error of `operations`. Its changes are rolled back.
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

    /// Runs the body of a transaction or a savepoint, and rolls back if it fails.
    private func run<T>(_ operations: () throws -> T, rollback: () throws -> Void) throws -> T {
        do {
            return try transactions.expecting(true, operations)
        } catch {
            // Rethrow the first error, not an error of the rollback.
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
                // An interruption cannot change the state that was read, so the end of a read is not
                // interrupted.
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

    /// Runs an operation that must not end halfway: one that keeps the connection usable, or undoes its own
    /// changes. Its statements cannot be interrupted, and run even if the task is cancelled. A long operation
    /// must check for cancellation itself, at points where it can end.
    ///
    /// If the connection was interrupted before, cursors that are in use throw the interruption at their next
    /// row.
    func withoutInterruption<Result>(_ body: () throws -> Result) rethrows -> Result {
        try sharedState.shielded {
            forgetInterruption()
            return try transactions.uncancellably(body)
        }
    }

    /// Runs code that does not belong to the task of the access, such as an observer of its commit: the
    /// statements also run if the task is cancelled. They end if the connection is being closed by force.
    func withoutCancellationOfTask<Result>(_ body: () throws -> Result) rethrows -> Result {
        try sharedState.shielded(from: .ofTask) {
            forgetInterruption()
            return try body()
        }
    }

    private func forgetInterruption() {
        guard handle.isInterrupted else { return }
        // The interruption lasts while any statement is between two of its rows.
        executions.end(handle.pendingStatements)
        withoutTrace { handle.forgetInterruption() }
    }
}

// MARK: - Reading only

extension Database {
    /// Runs `value` on a connection that rejects writes: each attempt throws `SQLITE_READONLY`.
    ///
    ///     let number = try db.readOnly { try Item.fetchCount(db) }
    public func readOnly<T>(_ value: () throws -> T) throws -> T {
        try readOnly(untilNextWrite: false, value)
    }

    /// - Parameter untilNextWrite: true if the connection may keep rejecting writes until the next access
    ///   that calls ``endReadingOnly()``. This avoids changing the setting, which makes SQLite recompile all
    ///   statements.
    private func readOnly<T>(untilNextWrite: Bool, _ value: () throws -> T) throws -> T {
        checkIsUsedInItsAccess()
        if !isReadingOnly && !transactions.refusesUntilNextWrite { try setQueryOnly(true) }
        transactions.beginReadOnly()
        let result = Result { try value() }
        if transactions.endReadOnly(), !configuration.readonly {
            // The application may have changed the pragma if it sets it itself.
            transactions.refuseUntilNextWrite(
                untilNextWrite && !isClosed && !inspector.pragmas.hasSeenQueryOnly)
            if !transactions.refusesUntilNextWrite {
                try withoutInterruption { try setQueryOnly(false) }
            }
        }
        return try result.get()
    }

    /// Makes the connection writable again, if the last access has left it rejecting writes.
    func endReadingOnly() {
        guard transactions.refusesUntilNextWrite, !isClosed else { return }
        do {
            try withoutInterruption { try setQueryOnly(false) }
            transactions.refuseUntilNextWrite(false)
        } catch {
            // The connection still rejects writes, and the next access tries again.
        }
    }

    /// Makes the connection reject writes for the rest of its life.
    func stayReadOnly() throws {
        checkIsUsedInItsAccess()
        try setQueryOnly(true)
        // Never balanced by `endReadOnly()`.
        transactions.beginReadOnly()
    }

    private func setQueryOnly(_ isOn: Bool) throws {
        try checkIsUsable()
        inspector.pragmas.setsQueryOnly = true
        defer { inspector.pragmas.setsQueryOnly = false }
        try DatabaseError.converting {
            try isOn ? handle.execute("PRAGMA query_only = 1") : handle.execute("PRAGMA query_only = 0")
        }
    }

    /// Runs `value` in a deferred transaction, so that everything it reads belongs to one state; read-only if
    /// requested.
    ///
    /// - Parameters:
    ///   - settled: true if the state is fixed before `value` runs, instead of by its first query. This
    ///     matters if other connections may write in between.
    ///   - untilNextWrite: true if the connection may keep rejecting writes: see ``endReadingOnly()``.
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

    /// Calls `value` exactly once, with the connection in a deferred transaction, or with the error that
    /// prevented the transaction.
    ///
    /// - Parameters:
    ///   - settled: true if the state is fixed before `value` runs.
    ///   - didEnter: a function that is also called once, before `value`.
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
            // An error from the end of the read is ignored: the value has already been read.
            guard !wasCalled else { return }
            didEnter?()
            value(.failure(error))
        }
    }

    /// The connection, or an error if it is closed.
    var ifOpen: Result<Database, any Error> {
        Result {
            try checkIsOpen()
            return self
        }
    }

    /// Fixes the state that the current deferred transaction reads, instead of leaving that to its first
    /// query.
    ///
    /// The schema check that the first query would need anyway does this.
    func enterReadTransaction() throws {
        // The usual case: nothing else is required.
        if traceHook == nil, !knownSchema.isHeld, let watch = knownSchema.watch, watch.isUnchanged() {
            knownSchema.didVerify()
        } else {
            try readSchema {}
        }
    }

    /// Runs `body` outside the current transaction, which has not executed anything yet, and begins a new
    /// transaction afterwards.
    func restartingTransaction<T>(_ body: () throws -> T) throws -> T {
        try transactions.expecting(false) {
            try rollback()
            let result = Result { try body() }
            if !isClosed {
                try withoutInterruption {
                    do {
                        try beginTransaction()
                    } catch {
                        // If another connection holds the lock, the first write reports it.
                        try beginTransaction(.deferred)
                    }
                }
            }
            return try result.get()
        }
    }

    /// True if the application has run no statement since the current transaction began.
    var isTransactionUntouched: Bool { isInsideTransaction && transactions.isUntouched }

    /// The journal mode of the main database, in lower case.
    func journalMode() throws -> String? {
        return try DatabaseError.converting { try handle.firstText(trusted: "PRAGMA main.journal_mode") }
    }

    /// Rolls back a transaction that is still open because its task was cancelled and the statement to end it
    /// was rejected.
    func rollBackAfterCancellation() {
        guard isInsideTransaction, !configuration.allowsUnsafeTransactions,
            sharedState.isCancelled
        else { return }
        // The access throws `CancellationError`, which matters more than an error of the rollback.
        try? rollback()
    }

    /// Traps if an access ends with an open transaction, unless the configuration allows it.
    func checkNoTransactionLeft() {
        precondition(
            configuration.allowsUnsafeTransactions || !isInsideTransaction,
            "The database access ended inside a transaction that it had begun. Commit it or roll it back.")
    }
}
