// SQLite's messages quote fragments of SQL. A fragment does not show where a quoted text begins and ends, and
// the word before a key may be missing. So a fragment is shown only if its statement takes no key.

extension KeyRedaction {
    /// The length in bytes from which SQLite may have truncated a message.
    ///
    /// `renderLogMsg` in SQLite's `printf.c` uses a buffer of three times `SQLITE_PRINT_BUF_SIZE`; the
    /// longest character and the terminator are subtracted.
    private static let longestLogMessage = 200

    /// Returns a message of SQLite's log without the keys that it could quote.
    ///
    /// There are three forms. `statement aborts at 4: [SQL] words` quotes a statement from its beginning.
    /// `words in "SQL"` quotes the rest of a statement that failed to compile, from the position of the
    /// error, and its words quote text from before that position. Other messages quote no SQL, but may
    /// contain paths, which can be URIs.
    ///
    /// - Parameters:
    ///   - description: the description of the result code, which replaces a message that cannot be shown.
    ///   - text: the whole text that was being compiled; nil if it is not known.
    static func redactingKeys(inLogMessage message: String, description: String, compiling text: String?)
        -> String
    {
        if message.hasPrefix("statement aborts at ") {
            let number = message.prefix { $0 != ":" }
            guard !mayTakeKey(message) else { return "\(number): \(description)" }
            let shown = upToFirstLiteral(message)
            let isWhole = shown.utf8.count == message.utf8.count && message.utf8.count < longestLogMessage
            guard isWhole, let end = message.firstRange(of: "] ")?.upperBound else {
                return "\(number): \(description); \(shown.dropFirst(number.utf8.count + 2))…"
            }
            // The words may quote an argument, such as a full-text query or a JSON path.
            let words = redactingKeys(inErrorMessage: String(message[end...]), description: description)
            return message[..<end] + words
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

    /// Returns SQLite's message for the last error of a connection if it cannot quote a key for any
    /// statement; otherwise the description of the result code.
    static func redactingKeys(inErrorMessage message: String, description: String) -> String {
        guard !message.contains(where: { "\"'`[".contains($0) }) else { return description }
        let quotesNames = message.contains(" constraint failed: ") || message.hasPrefix("no such table: ")
        return quotesNames || !message.contains(": ") ? message : description
    }

    /// Returns true if a text contains a keyword of statements that take keys, or is part of a batch with a
    /// key.
    private static func mayTakeKey(_ text: String) -> Bool {
        let words: [StaticString] = ["attach", "pragma", "vacuum", "sqlcipher"]
        return !secretsOfBatch.isEmpty || words.contains { contains($0, text) }
    }

    /// Returns the part of a text before its first literal or comment.
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
    /// Returns true if a text may contain a URI with a key. The parameter's name can be percent-encoded.
    static func isURIWithKey(_ text: String) -> Bool {
        contains("key=", text) || text.utf8.contains(UInt8(ascii: "?")) && contains("file:", text)
    }

    /// Returns true if a statement takes a path that may be written as a URI.
    static func takesPath(_ sql: String) -> Bool { contains("attach", sql) || contains("vacuum", sql) }
}
