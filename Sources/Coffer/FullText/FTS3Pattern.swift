/// A pattern that ``FTS3`` and ``FTS4`` tables can be searched for.
///
/// Make it of what a person types, which never fails for a reason of syntax:
///
///     if let pattern = FTS3Pattern(matchingAllPrefixesIn: "gold ri") {  // gold* ri*
///         let found = try ItemText.matching(pattern).fetchAll(db)
///     }
///
/// No connection is needed: patterns are checked in a database of their own, in memory.
public struct FTS3Pattern: Sendable {
    /// The pattern, as SQLite's `MATCH` operator takes it: see
    /// <https://www.sqlite.org/fts3.html#full_text_index_queries>.
    public let rawPattern: String

    /// Creates a pattern from the syntax of SQLite.
    ///
    /// - Parameter rawPattern: the pattern.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_ERROR` if SQLite does not take it.
    public init(rawPattern: String) throws {
        try FullTextLaboratory.checkFTS3(rawPattern)
        self.rawPattern = rawPattern
    }

    /// Creates a pattern of all texts that have at least one of the words: `red OR oak`.
    ///
    /// - Parameter string: any text. Words are taken out of it as ``FTS3TokenizerDescriptor/simple`` does.
    ///   Without one, there is no pattern.
    public init?(matchingAnyTokenIn string: String) {
        self.init(string) { $0.joined(separator: " OR ") }
    }

    /// Creates a pattern of all texts that have all of the words: `red oak`.
    ///
    /// - Parameter string: any text, as for ``init(matchingAnyTokenIn:)``.
    public init?(matchingAllTokensIn string: String) {
        self.init(string) { $0.joined(separator: " ") }
    }

    /// Creates a pattern of all texts that have words that begin with these, in any order: `red* oak*`.
    ///
    /// - Parameter string: any text, as for ``init(matchingAnyTokenIn:)``.
    public init?(matchingAllPrefixesIn string: String) {
        self.init(string) { $0.map { $0 + "*" }.joined(separator: " ") }
    }

    /// Creates a pattern of all texts that have the words one after the other: `"red oak"`.
    ///
    /// - Parameter string: any text, as for ``init(matchingAnyTokenIn:)``.
    public init?(matchingPhrase string: String) {
        self.init(string) { "\"\($0.joined(separator: " "))\"" }
    }

    private init?(_ string: String, _ pattern: ([String]) -> String) {
        // The tokenizer takes NUL for a letter, and would make it a part of a pattern, which it ends.
        let scalars = string.unicodeScalars.map { $0 == "\0" ? " " : $0 }
        guard let tokens = try? FTS3.tokenize(String(String.UnicodeScalarView(scalars))), !tokens.isEmpty
        else { return nil }
        try? self.init(rawPattern: pattern(tokens))
    }
}

extension FTS3Pattern: DatabaseValueConvertible {
    /// The text of the pattern.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// Creates a pattern from its text, or returns nil if SQLite does not take it.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS3Pattern? {
        String.fromDatabaseValue(dbValue).flatMap { try? FTS3Pattern(rawPattern: $0) }
    }
}
