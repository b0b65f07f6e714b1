internal import CSQLCipher

/// A hook that decides whether SQLite retries a lock that another connection holds. For its lifetime, see
/// ``HookContext``.
package final class BusyHandler {
    fileprivate let body: (_ numberOfTries: Int) -> Bool

    /// Installs the handler. It replaces the previous one and any busy timeout.
    ///
    /// - Parameter body: a function that returns true to retry, or false to fail with `SQLITE_BUSY`. Its
    ///   argument is the number of tries for this lock, starting at 0.
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
