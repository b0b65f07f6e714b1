internal import SQLCipherBridge
internal import Synchronization

extension Database {
    /// A function that receives errors of SQLite.
    public typealias LogErrorFunction = @Sendable (_ resultCode: ResultCode, _ message: String) -> Void

    private static let currentLogError = Mutex<LogErrorFunction?>(nil)

    /// A function that is called with all errors of SQLite in the whole process. Nil by default.
    ///
    /// Set it before any connection is opened: SQLite accepts no log function afterwards. You can replace it
    /// later. The function is called on any thread, in the middle of a call to SQLite, and must not use a
    /// database.
    ///
    /// Messages contain no keys. A message about SQL is cut before the first literal or comment. If the SQL
    /// contains a word that can introduce a key, such as `PRAGMA` or `ATTACH`, or if the complete SQL is not
    /// known, the message is replaced with the description of the result code.
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

// MARK: - Warnings

extension Database {
    private static let hasWarnedOfKeyMemory = Mutex(false)

    /// Logs a warning, once per process, if keys are in memory that could not be locked.
    static func warnOfUnlockedKeyMemory() {
        let count = DatabaseKey.memoryUse.unlockedByteCount
        guard count > 0, let log = logError else { return }
        let isFirst = hasWarnedOfKeyMemory.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        log(
            .SQLITE_WARNING,
            "\(count) bytes of key memory could not be locked, and may be written to swap. Raise "
                + "RLIMIT_MEMLOCK ('ulimit -l', or LimitMEMLOCK= in a systemd unit). This is logged once.")
    }
}
