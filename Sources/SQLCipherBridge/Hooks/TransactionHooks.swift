internal import CSQLCipher

/// SQLite's hooks for the ends of transactions: both are installed, or none. They live by the rule of
/// ``HookContext``.
package final class TransactionHooks {
    fileprivate let willCommit: () -> Bool
    fileprivate let didRollBack: () -> Void
    private var isInstalled = false

    /// - Parameters:
    ///   - willCommit: asked before a transaction that has written is committed. Returns true to go on; false
    ///     turns the commit into a rollback, and the statement fails with `SQLITE_CONSTRAINT_COMMITHOOK`.
    ///   - didRollBack: is notified of transactions that are rolled back, by a statement or by an error, and
    ///     not by the closing of the connection.
    package init(willCommit: @escaping () -> Bool, didRollBack: @escaping () -> Void) {
        self.willCommit = willCommit
        self.didRollBack = didRollBack
    }

    /// Installs the hooks in place of those before them, unless they are installed.
    package func install(on connection: ConnectionHandle) {
        guard !isInstalled else { return }
        unsafe sqlite3_commit_hook(connection.pointer, commitTrampoline, HookContext.borrowing(self))
        unsafe sqlite3_rollback_hook(connection.pointer, rollbackTrampoline, HookContext.borrowing(self))
        isInstalled = true
    }

    package func remove(from connection: ConnectionHandle) {
        guard isInstalled else { return }
        unsafe sqlite3_commit_hook(connection.pointer, nil, nil)
        unsafe sqlite3_rollback_hook(connection.pointer, nil, nil)
        isInstalled = false
    }

    /// Notes that the connection exists no more.
    package func connectionDidClose() { isInstalled = false }
}

private func commitTrampoline(_ context: UnsafeMutableRawPointer?) -> CInt {
    guard let hooks = unsafe HookContext.hook(context, as: TransactionHooks.self) else { return 0 }
    return hooks.willCommit() ? 0 : 1
}

private func rollbackTrampoline(_ context: UnsafeMutableRawPointer?) {
    unsafe HookContext.hook(context, as: TransactionHooks.self)?.didRollBack()
}
