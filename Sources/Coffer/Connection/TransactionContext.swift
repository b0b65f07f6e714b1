internal import Foundation

/// The state of a connection's accesses and transactions, in addition to the state that SQLite reports.
///
/// It is a class because a struct in a property of another class would cost an exclusivity check on each
/// change, several per statement.
final class TransactionContext {
    /// True if a surrounding function expects an open transaction, so that a statement must not run outside
    /// it.
    private(set) var isExpected = false

    /// True if the connection belongs to a snapshot whose transaction the application may replace with
    /// another one.
    private(set) var isOfSnapshot = false

    /// The number of nested accesses that must not write.
    private var nestedReadCount = 0

    /// True if the connection still rejects writes after a read-only access has ended.
    private(set) var refusesUntilNextWrite = false

    /// The number of nested operations, such as rollbacks, that must complete even if their task is
    /// cancelled.
    private var uncancellableDepth = 0

    /// The date of the current transaction, once it was requested.
    private(set) var date: Date?

    /// The number of statements that have begun to run, and its value at the beginning of the last
    /// transaction.
    @exclusivity(unchecked) private var executionCount = 0
    private var executionCountAtBeginning = -1

    /// True if the open transaction has changed the schema.
    private(set) var changesSchema = false

    /// True if the library itself has rolled back the innermost savepoint, so that nothing may run before the
    /// program rolls it back, too.
    private(set) var isSavepointUndone = false

    // MARK: - Accesses

    /// True if the connection is in an access that must not write.
    var isReadOnly: Bool { nestedReadCount > 0 }

    /// Enters an access that must not write.
    func beginReadOnly() { nestedReadCount += 1 }

    /// Leaves an access that must not write. Returns true if it was the outermost one.
    func endReadOnly() -> Bool {
        nestedReadCount -= 1
        return nestedReadCount == 0
    }

    func refuseUntilNextWrite(_ refuses: Bool) { refusesUntilNextWrite = refuses }

    /// True if cancelling the task ends the current operation.
    var isCancellable: Bool { uncancellableDepth == 0 }

    /// Runs `body` to completion, even if the task is cancelled.
    func uncancellably<T>(_ body: () throws -> T) rethrows -> T {
        uncancellableDepth += 1
        defer { uncancellableDepth -= 1 }
        return try body()
    }

    // MARK: - Transactions

    /// Runs `body` with statements that expect an open transaction, or that do not.
    func expecting<T>(_ isExpected: Bool, _ body: () throws -> T) rethrows -> T {
        let outer = self.isExpected
        self.isExpected = isExpected
        defer { self.isExpected = outer }
        return try body()
    }

    /// Makes every later statement expect the open transaction, which holds the state of the snapshot.
    func becomeSnapshot(mayBeginAnother: Bool) {
        isExpected = true
        isOfSnapshot = mayBeginAnother
    }

    /// Abandons the state of a snapshot, which is about to be replaced.
    func leaveSnapshot() { isExpected = false }

    /// True if no statement has begun since the transaction began.
    var isUntouched: Bool { unsafe executionCount == executionCountAtBeginning }

    /// Keeps the date of the transaction until its end.
    func keep(_ date: Date) { self.date = date }

    // MARK: - Statements

    func executionWillBegin() { unsafe executionCount &+= 1 }

    /// Records that the schema was changed, and whether a transaction that may roll it back is open.
    func schemaDidChange(isInsideTransaction: Bool) { changesSchema = isInsideTransaction }

    /// Records that a statement has begun or ended a transaction or a savepoint.
    func transactionDidChange(begins: Bool, isInsideTransaction: Bool) {
        date = nil
        isSavepointUndone = false
        if !isInsideTransaction { changesSchema = false }
        if begins { executionCountAtBeginning = unsafe executionCount }
    }

    /// Records that a statement has failed and no transaction is open anymore.
    func transactionWasAborted() {
        date = nil
        changesSchema = false
        isSavepointUndone = false
    }

    /// Records that the library has rolled back the innermost savepoint.
    func savepointWasUndone() { isSavepointUndone = true }
}
