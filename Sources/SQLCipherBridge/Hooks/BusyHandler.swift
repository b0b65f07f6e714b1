internal import CSQLCipher

/// Decides whether SQLite tries again to take a lock that another connection holds. Lives by the rule of
/// ``HookContext``.
package final class BusyHandler {
    fileprivate let body: (_ numberOfTries: Int) -> Bool

    /// Installs the handler, in place of the one before it and of a busy timeout.
    ///
    /// - Parameter body: returns true to try again, false to fail with `SQLITE_BUSY`. The number of tries for
    ///   this lock starts at 0.
    package init(_ connection: ConnectionHandle, _ body: @escaping (_ numberOfTries: Int) -> Bool) {
        self.body = body
        unsafe sqlite3_busy_handler(connection.pointer, busyTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_busy_handler(connection.pointer, nil, nil)
    }
}

private func busyTrampoline(_ context: UnsafeMutableRawPointer?, _ numberOfTries: CInt) -> CInt {
    guard let handler = unsafe HookContext.hook(context, as: BusyHandler.self) else { return 0 }
    return handler.body(Int(numberOfTries)) ? 1 : 0
}
