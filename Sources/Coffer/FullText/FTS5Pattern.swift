/// A search pattern for ``FTS5`` tables.
///
/// Create it from user input, which never causes a syntax error:
///
///     if let pattern = FTS5Pattern(matchingAllPrefixesIn: "gold ri") {  // gold* ri*
///         let found = try ItemText.matching(pattern).order(Column.rank).fetchAll(db)
///     }
///
/// A pattern needs no connection: it is checked in a separate in-memory database.
public struct FTS5Pattern: Sendable {
    /// The pattern in the syntax of SQLite's `MATCH` operator: see
    /// <https://www.sqlite.org/fts5.html#full_text_query_syntax>.
    public let rawPattern: String

    /// Creates a pattern from SQLite's syntax.
    ///
    /// ``Database/makeFTS5Pattern(rawPattern:forTable:)`` allows the columns of a table.
    ///
    /// - Parameters:
    ///   - rawPattern: the pattern.
    ///   - allowedColumns: the columns that the pattern may name.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_ERROR` if SQLite rejects the pattern, for example
    ///   because it names another column.
    public init(rawPattern: String, allowedColumns: [String] = []) throws {
        try FullTextLaboratory.checkFTS5(rawPattern, columns: allowedColumns)
        self.rawPattern = rawPattern
    }

    /// Creates a pattern that matches texts with at least one of the words: `red OR oak`.
    ///
    /// - Parameter string: any text, which the tokenizer `ascii` splits into words. Returns nil if there are
    ///   none.
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

    /// Creates a pattern that matches texts that begin with the words: `^"red oak"`.
    public init?(matchingPrefixPhrase string: String) {
        self.init(string) { "^\"\($0.joined(separator: " "))\"" }
    }

    private init?(_ string: String, _ pattern: ([String]) -> String) {
        guard let tokens = try? FullTextLaboratory.fts5Tokens(of: string), !tokens.isEmpty else { return nil }
        try? self.init(rawPattern: pattern(tokens))
    }
}

extension FTS5Pattern: DatabaseValueConvertible {
    /// The text of the pattern.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// Creates a pattern from its text, or returns nil if SQLite rejects it.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS5Pattern? {
        String.fromDatabaseValue(dbValue).flatMap { try? FTS5Pattern(rawPattern: $0) }
    }
}

extension Database {
    /// Creates a pattern that may name the columns of a table.
    ///
    ///     let pattern = try db.makeFTS5Pattern(rawPattern: "name: ring OR details: gold", forTable: "itemText")
    ///
    /// - Parameters:
    ///   - rawPattern: the pattern, in SQLite's syntax.
    ///   - table: the name of an ``FTS5`` table.
    /// - Throws: a ``DatabaseError`` if there is no such table, or SQLite rejects the pattern.
    public func makeFTS5Pattern(rawPattern: String, forTable table: String) throws -> FTS5Pattern {
        try FTS5Pattern(rawPattern: rawPattern, allowedColumns: columns(in: table).map(\.name))
    }
}
