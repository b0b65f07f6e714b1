internal import SQLCipherBridge

/// The executions of a connection's statements that were ended between two of their rows, because an
/// interruption would have hit the statements that clean up after it.
///
/// SQLite would start such a statement again at its next step, from its first row.
@usableFromInline
final class InterruptedExecutions {
    /// The number of times that executions were ended. Each step reads it, and a check of exclusive access
    /// would cost a fifth of the time of a small row.
    @exclusivity(unchecked) @usableFromInline private(set) var count = 0

    /// The last end of each statement, as a ``count``.
    private var ends: [StatementHandle: Int] = [:]

    /// Ends the executions that have begun.
    func end(_ statements: [StatementHandle]) {
        unsafe count += 1
        for statement in statements where statement.isBusy {
            statement.reset()
            ends[statement] = unsafe count
        }
    }

    /// Returns true if an execution was ended.
    ///
    /// - Parameter start: the ``count`` when the execution began. A later statement can have the same handle.
    func contain(_ statement: StatementHandle, startedAt start: Int) -> Bool {
        ends[statement].map { $0 > start } ?? false
    }
}
