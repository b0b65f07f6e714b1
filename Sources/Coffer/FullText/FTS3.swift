/// The module of full-text tables of the third generation. Prefer ``FTS5``, unless a file has such tables
/// already.
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
    /// What becomes of the diacritics of letters, such as the accent of "é".
    public enum Diacritics: Sendable {
        /// Letters that differ in their diacritics are different.
        case keep

        /// Diacritics are removed from letters of one code point, but not from those that are composed with
        /// two of them.
        case removeLegacy

        /// Diacritics are removed.
        case remove
    }

    /// Creates the module.
    public init() {}

    /// The words that a tokenizer finds in a text, in the form in which they are searched for.
    ///
    ///     try FTS3.tokenize("Sealed letters", withTokenizer: .porter)  // ["seal", "letter"]
    ///
    /// It needs no connection, and can be called inside of a database access.
    /// - Parameters:
    ///   - string: the text.
    ///   - tokenizer: the tokenizer of the table that is meant.
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

    /// The arguments of the module: the columns, then the tokenizer.
    ///
    /// - Parameters:
    ///   - definition: what the closure has defined.
    ///   - db: the connection of the access.
    public func moduleArguments(for definition: FTS3TableDefinition, in db: Database) -> [String] {
        definition.columns.map(\.bareOrQuotedWord) + (definition.tokenizer.map { [$0.moduleArgument] } ?? [])
    }

    /// Does nothing: such a table is complete.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - tableName: the name of the table that is created.
    ///   - definition: what its closure has defined.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS3TableDefinition) {
    }
}

/// Defines a full-text table of the third generation: see ``FTS3``.
public final class FTS3TableDefinition {
    /// How texts are cut into words; nil for SQLite's default, which is ``FTS3TokenizerDescriptor/simple``.
    public var tokenizer: FTS3TokenizerDescriptor?

    fileprivate var columns: [String] = []

    fileprivate init() {}

    /// Adds a column.
    ///
    /// - Parameter name: the name of the column.
    public func column(_ name: String) { columns.append(name) }
}

@available(*, unavailable)
extension FTS3TableDefinition: Sendable {}
