internal import CSQLCipher
internal import Synchronization

/// The error log of SQLite, which is one for the whole process.
package enum ErrorLog {
    package typealias Handler = @Sendable (_ code: CInt, _ message: String) -> Void

    private static let current = Mutex<Handler?>(nil)

    /// The log can be redirected only before SQLite is used for the first time in the process.
    private static let installOnce: CInt = unsafe coffer_config_log(logTrampoline, nil)

    /// What is called with errors from now on; nil by default.
    ///
    /// The first handler must be set before the first connection is opened: later, SQLite does not redirect
    /// its log any more. The handler is called on any thread, in the middle of a call of SQLite, and must not
    /// use SQLite itself.
    package static var handler: Handler? {
        get { current.withLock { $0 } }
        set {
            current.withLock { $0 = newValue }
            if newValue != nil { _ = installOnce }
        }
    }
}

private func logTrampoline(
    _ context: UnsafeMutableRawPointer?, _ code: CInt, _ message: UnsafePointer<CChar>?
) {
    guard let handler = ErrorLog.handler, let message = unsafe message else { return }
    unsafe handler(code, String(cString: message))
}
