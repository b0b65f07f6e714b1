internal import SQLCipherBridge

/// The state that all statements of a connection share. It outlives the connection.
@usableFromInline
final class ConnectionExecutions {
    /// True if the connection was closed.
    var isClosed = false

    /// The number of times that executions were ended between two of their rows, because an interruption
    /// would have hit the statements that clean up after it. SQLite would start such a statement again at its
    /// next step, from its first row.
    ///
    /// Each step reads the number, and a check of exclusive access would cost a fifth of the time of a small
    /// row.
    @exclusivity(unchecked) @usableFromInline private(set) var endCount = 0

    /// The number of statements that SQLite is running: more than one if one has called a function that
    /// executes another.
    @exclusivity(unchecked) @usableFromInline var steppingCount = 0

    /// The last end of each statement, as an ``endCount``.
    private var ends: [StatementHandle: Int] = [:]

    /// Ends the executions that have begun, unless the caller is a function of one of them: it then ends by
    /// itself when the function returns.
    func end(_ statements: [StatementHandle]) {
        guard unsafe steppingCount == 0 else { return }
        unsafe endCount += 1
        for statement in statements where statement.isBusy {
            statement.reset()
            ends[statement] = unsafe endCount
        }
    }

    /// Returns true if an execution was ended.
    ///
    /// - Parameter start: the ``endCount`` when the execution began. A later statement can have the same
    ///   handle.
    func contain(_ statement: StatementHandle, startedAt start: Int) -> Bool {
        ends[statement].map { $0 > start } ?? false
    }
}
