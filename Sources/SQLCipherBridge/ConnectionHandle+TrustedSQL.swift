internal import CSQLCipher

/// SQL that this package writes itself, from checked parts, and never from a user's text.
///
/// An answer is read to its end, or there is none: the engine may give a row first and fail afterwards.
/// `PRAGMA journal_mode = WAL` is such a statement, it answers before it commits. So each function here steps
/// to `SQLITE_DONE` or throws, and nothing else in the package may leave a statement of its own in the
/// middle.
extension ConnectionHandle {
    /// Runs statements without arguments, and drops what they answer.
    package func execute(_ sql: StaticString) throws(EngineError) {
        try execute(trusted: sql.description)
    }

    /// Runs statements without arguments, and drops what they answer.
    package func execute(trusted sql: String) throws(EngineError) {
        // `sqlite3_exec` steps each statement to its end, and answers what finalizing it says.
        try check(unsafe sqlite3_exec(pointer, sql, nil, nil, nil))
    }

    /// Runs one query to its end, and returns the first column of its first row as text; nil for NULL, and
    /// when there is no row.
    package func firstText(trusted sql: String) throws(EngineError) -> String? {
        var answer: String?
        var isFirst = true
        try readRows(trusted: sql) { row in
            if isFirst, !row.isNull(at: 0) { answer = row.string(at: 0) }
            isFirst = false
        }
        return answer
    }

    /// Runs one query up to the first row that is wanted, and returns its first column as text; nil when
    /// there is none.
    package func firstText(
        trusted sql: String, where isWanted: (String) -> Bool
    ) throws(EngineError) -> String? {
        guard let statement = try prepare(trusted: sql) else { return nil }
        while true {
            switch statement.handle.step() {
            case SQLITE_ROW:
                let text = statement.handle.string(at: 0)
                if isWanted(text) { return text }
            case SQLITE_DONE: return nil
            case let code: throw EngineError(code: code, message: lastErrorMessage)
            }
        }
    }

    /// Runs one query to its end, and returns the first column of all rows as text.
    package func column(trusted sql: String) throws(EngineError) -> [String] {
        var result: [String] = []
        try readRows(trusted: sql) { result.append($0.string(at: 0)) }
        return result
    }

    /// Runs the first statement of a text to its end, and calls `body` with each row. What follows the first
    /// statement is not run.
    ///
    /// - Throws: the error of the engine, also one that comes after the last row; that of `body`, which ends
    ///   the statement.
    package func forEachRow(trusted sql: String, _ body: (StatementHandle) throws -> Void) throws {
        guard let statement = try prepare(trusted: sql) else { return }
        while true {
            switch statement.handle.step() {
            case SQLITE_ROW: try body(statement.handle)
            case SQLITE_DONE: return
            case let code: throw EngineError(code: code, message: lastErrorMessage)
            }
        }
    }

    /// The same for a body that does not throw.
    private func readRows(trusted sql: String, _ body: (StatementHandle) -> Void) throws(EngineError) {
        guard let statement = try prepare(trusted: sql) else { return }
        while true {
            switch statement.handle.step() {
            case SQLITE_ROW: body(statement.handle)
            case SQLITE_DONE: return
            case let code: throw EngineError(code: code, message: lastErrorMessage)
            }
        }
    }
}
