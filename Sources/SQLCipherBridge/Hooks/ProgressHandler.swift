internal import CSQLCipher

/// A hook that decides periodically whether a long statement continues. For its lifetime, see
/// ``HookContext``.
package final class ProgressHandler {
    fileprivate let body: () -> Bool

    /// Installs the handler. It replaces the previous one.
    ///
    /// - Parameters:
    ///   - instructions: the approximate number of virtual machine instructions between two calls.
    ///   - body: a function that returns true to continue, or false to end the statement with
    ///     `SQLITE_INTERRUPT`.
    package init(_ connection: ConnectionHandle, every instructions: CInt, _ body: @escaping () -> Bool) {
        self.body = body
        unsafe sqlite3_progress_handler(
            connection.pointer, instructions, progressTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_progress_handler(connection.pointer, 0, nil, nil)
    }
}

private func progressTrampoline(_ context: UnsafeMutableRawPointer?) -> CInt {
    guard let handler = unsafe HookContext.hook(context, as: ProgressHandler.self) else { return 0 }
    return handler.body() ? 0 : 1
}
