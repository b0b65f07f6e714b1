internal import SQLCipherBridge

/// SQLite's hooks for the ends of transactions: both are installed, or none.
struct TransactionHooks {
    private var installed: (commit: CommitHook, rollback: RollbackHook)?

    /// Installs the hooks, unless they are.
    ///
    /// - Parameter willCommit: returns whether the transaction may be committed.
    mutating func install(
        on connection: ConnectionHandle, willCommit: @escaping () -> Bool, didRollBack: @escaping () -> Void
    ) {
        guard installed == nil else { return }
        let (commit, rollback) = (CommitHook(willCommit), RollbackHook(didRollBack))
        commit.install(on: connection)
        rollback.install(on: connection)
        installed = (commit, rollback)
    }

    mutating func remove(from connection: ConnectionHandle) {
        installed?.commit.remove(from: connection)
        installed?.rollback.remove(from: connection)
        installed = nil
    }
}
