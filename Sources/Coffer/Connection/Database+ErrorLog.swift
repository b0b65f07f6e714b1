internal import SQLCipherBridge
internal import Synchronization

extension Database {
    /// Called with an error of SQLite.
    public typealias LogErrorFunction = @Sendable (_ resultCode: ResultCode, _ message: String) -> Void

    private static let currentLogError = Mutex<LogErrorFunction?>(nil)

    /// A function that is called with all errors of SQLite, in the whole process; nil by default.
    ///
    /// The first one must be set before any connection is opened: later, SQLite takes no log function any
    /// more. The function is called on any thread, in the middle of a call of SQLite, and must not use any
    /// database.
    ///
    /// Messages show no key. One about SQL ends before the first literal or comment of the SQL. If the SQL
    /// has a word by which SQL takes keys, such as `PRAGMA` or `ATTACH`, or if it is not known in full, the
    /// message is the description of the result code.
    public static var logError: LogErrorFunction? {
        get { currentLogError.withLock { $0 } }
        set {
            currentLogError.withLock { $0 = newValue }
            guard let log = newValue else {
                ErrorLog.handler = nil
                return
            }
            ErrorLog.handler = { code, message, text in
                let words = KeyRedaction.redactingKeys(
                    inLogMessage: message, description: ConnectionHandle.describe(code), compiling: text)
                log(ResultCode(rawValue: code), words)
            }
        }
    }
}
