internal import CSQLCipher

/// Is asked now and then whether a long statement goes on. Lives by the rule of ``HookContext``.
package final class ProgressHandler {
    fileprivate let body: () -> Bool

    /// Installs the handler in place of the one before it.
    ///
    /// - Parameters:
    ///   - instructions: about how many instructions of SQLite's virtual machine lie between two calls.
    ///   - body: returns true to go on, false to end the statement with `SQLITE_INTERRUPT`.
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
