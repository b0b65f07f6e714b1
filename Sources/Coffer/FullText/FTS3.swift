/// The FTS3 full-text module. Prefer ``FTS5``, unless a file already contains FTS3 tables.
///
///     // CREATE VIRTUAL TABLE "itemText" USING fts3(name, details, tokenize=porter)
///     try db.create(virtualTable: "itemText", using: FTS3()) { t in
///         t.column("name")
///         t.column("details")
///         t.tokenizer = .porter
///     }
///
/// See <https://www.sqlite.org/fts3.html>.
public struct FTS3: Sendable {
    /// The treatment of diacritics, such as the accent of "é".
    public enum Diacritics: Sendable {
        /// Letters with different diacritics are different.
        case keep

        /// Diacritics are removed, except from letters that combine two of them in a single code point.
        case removeLegacy

        /// Diacritics are removed.
        case remove
    }

    /// Creates the module.
    public init() {}

    /// Returns the words that a tokenizer finds in a text, in the form in which they are indexed and
    /// searched.
    ///
    ///     try FTS3.tokenize("Sealed letters", withTokenizer: .porter)  // ["seal", "letter"]
    ///
    /// The function needs no connection, and may be called inside a database access.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such tokenizer.
    public static func tokenize(_ string: String, withTokenizer tokenizer: FTS3TokenizerDescriptor = .simple)
        throws -> [String]
    {
        try FullTextLaboratory.fts3Tokens(of: string, tokenizer)
    }
}

extension FTS3: VirtualTableModule {
    public typealias TableDefinition = FTS3TableDefinition

    /// `fts3`.
    public var moduleName: String { "fts3" }

    /// Creates the definition of a table.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS3TableDefinition {
        FTS3TableDefinition()
    }

    /// Returns the arguments of the module: the columns, then the tokenizer.
    public func moduleArguments(for definition: FTS3TableDefinition, in db: Database) -> [String] {
        definition.columns.map(\.bareOrQuotedWord) + (definition.tokenizer.map { [$0.moduleArgument] } ?? [])
    }

    /// Does nothing: the table needs no triggers or content.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS3TableDefinition) {
    }
}

/// The definition of an FTS3 table: see ``FTS3``.
public final class FTS3TableDefinition {
    /// The tokenizer of the table; nil for SQLite's default, ``FTS3TokenizerDescriptor/simple``.
    public var tokenizer: FTS3TokenizerDescriptor?

    fileprivate var columns: [String] = []

    fileprivate init() {}

    /// Adds a column.
    public func column(_ name: String) { columns.append(name) }
}

@available(*, unavailable)
extension FTS3TableDefinition: Sendable {}
