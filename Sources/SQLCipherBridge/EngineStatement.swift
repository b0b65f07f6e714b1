internal import CSQLCipher

/// A prepared SQLite statement, which is finalized when this value is destroyed.
///
/// Other code uses a ``StatementHandle``, which cannot finalize the statement and must not be used after it
/// is finalized.
@safe
package struct EngineStatement: ~Copyable {
    package let handle: StatementHandle

    /// Takes ownership of a statement.
    fileprivate init(owning pointer: OpaquePointer) {
        unsafe handle = StatementHandle(pointer)
    }

    deinit {
        unsafe sqlite3_finalize(handle.pointer)
    }
}

extension ConnectionHandle {
    /// Prepares the first statement of `sql[offset...]`.
    ///
    /// - Parameters:
    ///   - sql: UTF-8 text, terminated by a zero byte.
    ///   - offset: the start of the statement, in bytes; on return, the start of the next statement.
    ///   - persistent: true if the statement will be kept for a long time.
    /// - Returns: nil if there is no statement, only white space, comments, or the end.
    package func prepare(_ sql: [CChar], offset: inout Int, persistent: Bool) throws(EngineError)
        -> EngineStatement?
    {
        var statement: OpaquePointer?
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = ErrorLog.compiling(sql) {
            unsafe sql.withUnsafeBufferPointer { sql in
                guard let base = sql.baseAddress else { return SQLITE_OK }
                var tail: UnsafePointer<CChar>?
                let code = unsafe sqlite3_prepare_v3(
                    pointer, base + offset, CInt(clamping: sql.count - offset), flags, &statement, &tail)
                if code == SQLITE_OK {
                    unsafe offset = tail.map { unsafe base.distance(to: $0) } ?? sql.count
                }
                return code
            }
        }
        try check(code)
        guard let statement = unsafe statement else { return nil }
        return unsafe EngineStatement(owning: statement)
    }

    /// Prepares the first statement of an SQL text from this package, for repeated execution. Returns nil if
    /// there is no statement.
    ///
    /// The caller must step the statement to its end each time.
    package func prepare(trusted sql: String) throws(EngineError) -> EngineStatement? {
        var statement: OpaquePointer?
        let code = unsafe sql.withEngineText { unsafe sqlite3_prepare_v2(pointer, $0, -1, &statement, nil) }
        try check(code)
        guard let statement = unsafe statement else { return nil }
        return unsafe EngineStatement(owning: statement)
    }
}
