internal import Foundation

/// What a connection knows of its accesses and transactions, beside what SQLite reports.
///
/// A class, because each change of a struct in a property of another class would cost a check of exclusive
/// access, several in each statement.
final class TransactionContext {
    /// Whether a function that wraps a transaction expects it to be still open: a statement must not run
    /// outside of it then.
    private(set) var isExpected = false

    /// Whether the connection is that of a snapshot, whose transaction the application may end to begin
    /// another one.
    private(set) var isOfSnapshot = false

    /// How many nested accesses there are that must not write.
    private var nestedReadCount = 0

    /// Whether the connection goes on to refuse to write after an access that only read.
    private(set) var refusesUntilNextWrite = false

    /// How many nested operations must run to their end although their task is cancelled: rollbacks.
    private var uncancellableDepth = 0

    /// The date of the current transaction, once it was asked.
    private(set) var date: Date?

    /// How many statements have begun to run, and how many had when the last transaction was begun.
    @exclusivity(unchecked) private var executionCount = 0
    private var executionCountAtBeginning = -1

    /// Whether the transaction that is open has changed the schema.
    private(set) var changesSchema = false

    // MARK: - Accesses

    /// Whether the connection is in an access that must not write.
    var isReadOnly: Bool { nestedReadCount > 0 }

    /// Enters an access that must not write.
    func beginReadOnly() { nestedReadCount += 1 }

    /// Leaves an access that must not write. Returns whether it was the outermost one.
    func endReadOnly() -> Bool {
        nestedReadCount -= 1
        return nestedReadCount == 0
    }

    func refuseUntilNextWrite(_ refuses: Bool) { refusesUntilNextWrite = refuses }

    /// Whether what runs now ends with its task.
    var isCancellable: Bool { uncancellableDepth == 0 }

    /// Runs `body` to its end although the task may be cancelled.
    func uncancellably<T>(_ body: () throws -> T) rethrows -> T {
        uncancellableDepth += 1
        defer { uncancellableDepth -= 1 }
        return try body()
    }

    // MARK: - Transactions

    /// Runs `body`, whose statements expect an open transaction, or do not.
    func expecting<T>(_ isExpected: Bool, _ body: () throws -> T) rethrows -> T {
        let outer = self.isExpected
        self.isExpected = isExpected
        defer { self.isExpected = outer }
        return try body()
    }

    /// From here on the open transaction is expected by each statement: it is the state that a snapshot
    /// shows.
    func becomeSnapshot(mayBeginAnother: Bool) {
        isExpected = true
        isOfSnapshot = mayBeginAnother
    }

    /// Gives up the state of a snapshot, which another one is to take the place of.
    func leaveSnapshot() { isExpected = false }

    /// Whether no statement has begun since the transaction was begun.
    var isUntouched: Bool { unsafe executionCount == executionCountAtBeginning }

    /// Keeps the date of the transaction until its end.
    func keep(_ date: Date) { self.date = date }

    // MARK: - Statements

    func executionWillBegin() { unsafe executionCount &+= 1 }

    /// Notes that the schema was changed, in a transaction that may be rolled back or not.
    func schemaDidChange(isInsideTransaction: Bool) { changesSchema = isInsideTransaction }

    /// Notes that a statement has begun or ended a transaction or a savepoint.
    func transactionDidChange(begins: Bool, isInsideTransaction: Bool) {
        date = nil
        if !isInsideTransaction { changesSchema = false }
        if begins { executionCountAtBeginning = unsafe executionCount }
    }

    /// Notes that a statement has failed, and no transaction is open any more.
    func transactionWasAborted() {
        date = nil
        changesSchema = false
    }
}
