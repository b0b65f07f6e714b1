internal import CSQLCipher

/// Is asked before a transaction that has written is committed. Lives by the rule of ``HookContext``.
///
/// SQLite does not ask for transactions that have not written.
package final class CommitHook {
    fileprivate let body: () -> Bool

    /// - Parameter body: returns true to go on; false turns the commit into a rollback, and the statement fails with
    ///   `SQLITE_CONSTRAINT_COMMITHOOK`.
    package init(_ body: @escaping () -> Bool) {
        self.body = body
    }

    /// Installs the hook in place of the one before it.
    package func install(on connection: ConnectionHandle) {
        unsafe sqlite3_commit_hook(connection.pointer, commitTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_commit_hook(connection.pointer, nil, nil)
    }
}

private func commitTrampoline(_ context: UnsafeMutableRawPointer?) -> CInt {
    guard let hook = unsafe HookContext.hook(context, as: CommitHook.self) else { return 0 }
    return hook.body() ? 0 : 1
}
