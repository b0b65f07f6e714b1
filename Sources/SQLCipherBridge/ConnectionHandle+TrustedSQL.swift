internal import CSQLCipher

/// SQL that this package writes itself, from checked parts, and never from text of users. Escaped bytes of
/// names (``Swift/String/init(identifier:)``) are passed to SQLite without the escapes.
///
/// A result only counts if its statement has run to the end: SQLite may return a row first and fail
/// afterwards. For example, `PRAGMA journal_mode = WAL` returns its row before it commits. Therefore, each
/// function here steps to `SQLITE_DONE` or throws, and no other code in the package may leave one of its own
/// statements unfinished.
extension ConnectionHandle {
    /// Runs statements without arguments, and discards their results.
    package func execute(_ sql: StaticString) throws(EngineError) {
        try execute(trusted: sql.description)
    }

    /// Runs statements without arguments, and discards their results.
    package func execute(trusted sql: String) throws(EngineError) {
        // `sqlite3_exec` steps each statement to its end, and returns the result of finalizing it.
        let code = unsafe sql.withEngineText { unsafe sqlite3_exec(pointer, $0, nil, nil, nil) }
        try check(code)
    }

    /// Runs one query to its end, and returns the first column of its first row as text; nil for NULL, or if
    /// there is no row.
    package func firstText(trusted sql: String) throws(EngineError) -> String? {
        var answer: String?
        var isFirst = true
        try readRows(trusted: sql) { row in
            if isFirst, !row.isNull(at: 0) { answer = row.string(at: 0) }
            isFirst = false
        }
        return answer
    }

    /// Runs one query until a row satisfies `isWanted`, and returns its first column as text; nil if there is
    /// no such row.
    package func firstText(
        trusted sql: String, where isWanted: (String) -> Bool
    ) throws(EngineError) -> String? {
        guard let statement = try prepare(trusted: sql) else { return nil }
        while try step(statement.handle) {
            let text = statement.handle.string(at: 0)
            if isWanted(text) { return text }
        }
        return nil
    }

    /// Runs one query to its end, and returns a column of all rows as text.
    package func column(_ index: CInt = 0, trusted sql: String) throws(EngineError) -> [String] {
        var result: [String] = []
        try readRows(trusted: sql) { result.append($0.string(at: index)) }
        return result
    }

    /// Runs one query to its end, and returns a column of all rows as names.
    package func identifiers(_ index: CInt = 0, trusted sql: String) throws(EngineError) -> [String] {
        var result: [String] = []
        try readRows(trusted: sql) { result.append($0.identifier(at: index)) }
        return result
    }

    /// Runs the first statement of a text to its end, and calls `body` with each row. Further statements are
    /// not run.
    ///
    /// - Throws: an error of SQLite, even after the last row; the error of `body`, which ends the statement.
    package func forEachRow(trusted sql: String, _ body: (StatementHandle) throws -> Void) throws {
        guard let statement = try prepare(trusted: sql) else { return }
        while try step(statement.handle) { try body(statement.handle) }
    }

    /// Runs the first statement like ``forEachRow(trusted:_:)``, for a body that does not throw.
    private func readRows(trusted sql: String, _ body: (StatementHandle) -> Void) throws(EngineError) {
        guard let statement = try prepare(trusted: sql) else { return }
        while try step(statement.handle) { body(statement.handle) }
    }

    /// Steps a statement, and returns true if it has a row, and false if it has run to its end.
    package func step(_ statement: StatementHandle) throws(EngineError) -> Bool {
        switch statement.step() {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    /// Runs a statement that returns no rows to its end, and resets it, so that it can run again.
    package func run(_ statement: StatementHandle) throws(EngineError) {
        defer { statement.reset() }
        let code = statement.step()
        guard code == SQLITE_DONE else { throw error(code) }
    }
}
