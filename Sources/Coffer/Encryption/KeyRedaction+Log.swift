extension KeyRedaction {
    /// How many bytes a message has at least that SQLite may have cut.
    ///
    /// `SQLITE_PRINT_BUF_SIZE` times three, as `renderLogMsg` in SQLite's `printf.c` has it, less the longest
    /// character and the terminator.
    private static let longestLogMessage = 200

    /// A message of SQLite's log without the keys in it.
    ///
    /// A message about a statement quotes all of its SQL, and before it the words that SQLite stumbled over.
    /// It has one of the forms `words in "SQL"`, `statement aborts at 4: [SQL] words` and `statement aborts
    /// at 4: words; [SQL]`, and is cut where it gets long. The words stay only if the whole SQL can be seen
    /// to have no key.
    static func redactingKeys(inLogMessage message: String, description: String) -> String {
        // Cut in the middle of what was added, it is not recognized any more.
        let message =
            message.utf8.count < longestLogMessage ? AttachStatement.withoutWrappers(message) : message
        let isCut = message.utf8.count >= longestLogMessage
        if message.hasPrefix("statement aborts at "), let open = message.firstIndex(of: "[") {
            // The SQL may have brackets of its own.
            let close = message.lastIndex(of: "]")
            let sql = String(
                message[
                    message.index(after: open)..<max(close ?? message.endIndex, message.index(after: open))])
            let number = message.prefix { $0 != ":" }
            guard !isCut, close != nil, !containsKey(sql, compiles: false) else {
                return "\(number): \(description); [\(redactingKeys(in: sql, compiles: false))]"
            }
            return message
        }
        guard let range = message.firstRange(of: " in \"") else {
            return containsKey(message, compiles: false) ? description : message
        }
        let sql = String(message[range.upperBound...].dropLast(message.hasSuffix("\"") && !isCut ? 1 : 0))
        guard !isCut, !containsKey(sql, compiles: false), !containsKey(message, compiles: false) else {
            // The words may have the same characters in them: of two places, the SQL begins at one of them.
            let isPlain = message[range.upperBound...].firstRange(of: " in \"") == nil
            return isPlain ? "\(description) in \"\(redactingKeys(in: sql, compiles: false))\"" : description
        }
        return message
    }
}
