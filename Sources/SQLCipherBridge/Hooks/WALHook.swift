internal import CSQLCipher

/// Hears of each commit in WAL mode, after the write lock is released. Lives by the rule of ``HookContext``.
///
/// SQLite's automatic checkpoints are such a hook themselves: installing one ends them, and `setWALAutocheckpoint` removes it.
package final class WALHook {
    fileprivate let body: (_ schema: String, _ pageCount: Int) -> Void

    /// Installs the hook in place of the one before it.
    ///
    /// - Parameter body: is given the name of the schema and the number of pages in its write-ahead log.
    package init(_ connection: ConnectionHandle, _ body: @escaping (_ schema: String, _ pageCount: Int) -> Void) {
        self.body = body
        unsafe sqlite3_wal_hook(connection.pointer, walTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_wal_hook(connection.pointer, nil, nil)
    }
}

private func walTrampoline(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ schema: UnsafePointer<CChar>?, _ pageCount: CInt
) -> CInt {
    guard let hook = unsafe HookContext.hook(context, as: WALHook.self), let schema = unsafe schema else { return SQLITE_OK }
    unsafe hook.body(String(cString: schema), Int(pageCount))
    return SQLITE_OK
}
