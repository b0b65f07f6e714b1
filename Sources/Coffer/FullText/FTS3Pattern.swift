/// A search pattern for ``FTS3`` and ``FTS4`` tables.
///
/// Create it from user input, which never causes a syntax error:
///
///     if let pattern = FTS3Pattern(matchingAllPrefixesIn: "gold ri") {  // gold* ri*
///         let found = try ItemText.matching(pattern).fetchAll(db)
///     }
///
/// A pattern needs no connection: it is checked in a separate in-memory database.
public struct FTS3Pattern: Sendable {
    /// The pattern in the syntax of SQLite's `MATCH` operator: see
    /// <https://www.sqlite.org/fts3.html#full_text_index_queries>.
    public let rawPattern: String

    /// Creates a pattern from SQLite's syntax.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_ERROR` if SQLite rejects the pattern.
    public init(rawPattern: String) throws {
        try FullTextLaboratory.checkFTS3(rawPattern)
        self.rawPattern = rawPattern
    }

    /// Creates a pattern that matches texts with at least one of the words: `red OR oak`.
    ///
    /// - Parameter string: any text, which the tokenizer ``FTS3TokenizerDescriptor/simple`` splits into
    ///   words. Returns nil if there are none.
    public init?(matchingAnyTokenIn string: String) {
        self.init(string) { $0.joined(separator: " OR ") }
    }

    /// Creates a pattern that matches texts with all of the words: `red oak`.
    public init?(matchingAllTokensIn string: String) {
        self.init(string) { $0.joined(separator: " ") }
    }

    /// Creates a pattern that matches texts with words that begin with these, in any order: `red* oak*`.
    public init?(matchingAllPrefixesIn string: String) {
        self.init(string) { $0.map { $0 + "*" }.joined(separator: " ") }
    }

    /// Creates a pattern that matches texts with the words in sequence: `"red oak"`.
    public init?(matchingPhrase string: String) {
        self.init(string) { "\"\($0.joined(separator: " "))\"" }
    }

    private init?(_ string: String, _ pattern: ([String]) -> String) {
        // The tokenizer treats NUL as a letter and would put it into a word, but a NUL ends a pattern.
        let scalars = string.unicodeScalars.map { $0 == "\0" ? " " : $0 }
        guard let tokens = try? FTS3.tokenize(String(String.UnicodeScalarView(scalars))), !tokens.isEmpty
        else { return nil }
        try? self.init(rawPattern: pattern(tokens))
    }
}

extension FTS3Pattern: DatabaseValueConvertible {
    /// The text of the pattern.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// Creates a pattern from its text, or returns nil if SQLite rejects it.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS3Pattern? {
        String.fromDatabaseValue(dbValue).flatMap { try? FTS3Pattern(rawPattern: $0) }
    }
}
