// Messages of SQLite, which quote pieces of SQL. Where a quoted text begins and ends cannot be told from a
// piece, and the word before a key may be missing. So a piece is shown only if the SQL that it is from takes
// no key.

extension KeyRedaction {
    /// The length in bytes from which on SQLite may have cut a message.
    ///
    /// `SQLITE_PRINT_BUF_SIZE` times three, as `renderLogMsg` in SQLite's `printf.c` has it, less the longest
    /// character and the terminator.
    private static let longestLogMessage = 200

    /// Returns a message of SQLite's log without the keys that it could quote.
    ///
    /// There are three forms. `statement aborts at 4: [SQL] words` has a statement from its beginning.
    /// `words in "SQL"` has the rest of a statement that did not compile, from the place where SQLite gave
    /// up, and words that quote what is before that place. Other messages quote no SQL, but paths, which may
    /// be URIs.
    ///
    /// - Parameters:
    ///   - description: the words for the result code, which replace a message that cannot be shown.
    ///   - text: the whole text that was being compiled; nil if it is not known.
    static func redactingKeys(inLogMessage message: String, description: String, compiling text: String?)
        -> String
    {
        if message.hasPrefix("statement aborts at ") {
            let number = message.prefix { $0 != ":" }
            guard !mayTakeKey(message) else { return "\(number): \(description)" }
            let shown = upToFirstLiteral(message)
            let isWhole = shown.utf8.count == message.utf8.count && message.utf8.count < longestLogMessage
            return isWhole ? message : "\(number): \(description); \(shown.dropFirst(number.utf8.count + 2))…"
        }
        if let text {
            guard !mayTakeKey(text), !mayTakeKey(message), !contains("key", text), hasKnownVerbs(text) else {
                return description
            }
            let shown = upToFirstLiteral(message)
            return shown.utf8.count == message.utf8.count ? message : "\(shown)…"
        }
        guard !message.contains(where: { "\"'`".contains($0) }), !contains("key=", message) else {
            return description
        }
        guard let query = message.firstIndex(of: "?") else { return message }
        return "\(message[..<query])…"
    }

    /// Returns SQLite's words about the last error of a connection, if they cannot quote a key whatever the
    /// statement was; otherwise the description of the result code.
    static func redactingKeys(inErrorMessage message: String, description: String) -> String {
        guard !message.contains(where: { "\"'`[".contains($0) }) else { return description }
        let quotesNames = message.contains(" constraint failed: ") || message.hasPrefix("no such table: ")
        return quotesNames || !message.contains(": ") ? message : description
    }

    /// Whether a text has one of the words by which SQL takes a key, or is from a batch with a key.
    private static func mayTakeKey(_ text: String) -> Bool {
        let words: [StaticString] = ["attach", "pragma", "vacuum", "sqlcipher"]
        return !secretsOfBatch.isEmpty || words.contains { contains($0, text) }
    }

    /// The beginning of a text before its first literal and its first comment.
    private static func upToFirstLiteral(_ text: String) -> Substring {
        let ends = [
            text.firstIndex(of: "'"), text.firstRange(of: "/*")?.lowerBound,
            text.firstRange(of: "--")?.lowerBound,
        ]
        return text[..<(ends.compactMap { $0 }.min() ?? text.endIndex)]
    }
}

// MARK: - Paths that are URIs

extension KeyRedaction {
    /// Whether a text may have a URI with a key in it. The name of the parameter can be written with codes.
    static func isURIWithKey(_ text: String) -> Bool {
        contains("key=", text) || text.utf8.contains(UInt8(ascii: "?")) && contains("file:", text)
    }

    /// Whether a statement takes a path that a user may write as a URI.
    static func takesPath(_ sql: String) -> Bool { contains("attach", sql) || contains("vacuum", sql) }
}
