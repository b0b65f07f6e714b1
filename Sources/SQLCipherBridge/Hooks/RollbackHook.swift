internal import CSQLCipher

/// Hears of transactions that are rolled back, by a statement or by an error. Lives by the rule of ``HookContext``.
///
/// SQLite does not tell of the rollback that comes with the closing of a connection.
package final class RollbackHook {
    fileprivate let body: () -> Void

    package init(_ body: @escaping () -> Void) {
        self.body = body
    }

    /// Installs the hook in place of the one before it.
    package func install(on connection: ConnectionHandle) {
        unsafe sqlite3_rollback_hook(connection.pointer, rollbackTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_rollback_hook(connection.pointer, nil, nil)
    }
}

private func rollbackTrampoline(_ context: UnsafeMutableRawPointer?) {
    unsafe HookContext.hook(context, as: RollbackHook.self)?.body()
}
