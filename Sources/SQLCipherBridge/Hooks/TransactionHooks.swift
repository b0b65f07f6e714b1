internal import CSQLCipher

/// SQLite's hooks for the end of transactions. Either both are installed, or none. For their lifetime, see
/// ``HookContext``.
package final class TransactionHooks {
    fileprivate let willCommit: () -> Bool
    fileprivate let didRollBack: () -> Void
    private var isInstalled = false

    /// - Parameters:
    ///   - willCommit: a function that is called before the commit of a transaction that has written. It
    ///     returns true to commit. False turns the commit into a rollback, and the statement fails with
    ///     `SQLITE_CONSTRAINT_COMMITHOOK`.
    ///   - didRollBack: a function that is called for transactions that a statement or an error rolls back,
    ///     but not when the connection is closed.
    package init(willCommit: @escaping () -> Bool, didRollBack: @escaping () -> Void) {
        self.willCommit = willCommit
        self.didRollBack = didRollBack
    }

    /// Installs the hooks, unless they are already installed. They replace the previous ones.
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

    /// Records that the connection no longer exists.
    package func connectionDidClose() { isInstalled = false }
}

private func commitTrampoline(_ context: UnsafeMutableRawPointer?) -> CInt {
    guard let hooks = unsafe HookContext.hook(context, as: TransactionHooks.self) else { return 0 }
    return hooks.willCommit() ? 0 : 1
}

private func rollbackTrampoline(_ context: UnsafeMutableRawPointer?) {
    unsafe HookContext.hook(context, as: TransactionHooks.self)?.didRollBack()
}
