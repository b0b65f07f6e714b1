/// The FTS5 full-text module.
///
///     try db.create(virtualTable: "itemText", using: FTS5()) { index in
///         index.column("name")
///         index.column("details")
///         index.synchronize(withTable: "item")
///         index.tokenizer = .unicode61(diacritics: .remove)
///     }
///
/// The index is stored in the database file, and encrypted with it. Search it with
/// ``TableRequest/matching(_:)-(FTS5Pattern?)`` and a pattern made from user input:
///
///     let pattern = FTS5Pattern(matchingAllPrefixesIn: "gold ri")
///     let found = try ItemText.matching(pattern).order(Column.rank).fetchAll(db)
///
/// See <https://www.sqlite.org/fts5.html>.
public struct FTS5: Sendable {
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
}

extension FTS5: VirtualTableModule {
    public typealias TableDefinition = FTS5TableDefinition

    /// `fts5`.
    public var moduleName: String { "fts5" }

    /// Creates the definition of a table.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS5TableDefinition {
        FTS5TableDefinition(configuration)
    }

    /// Returns the arguments of the module: the columns, then the options.
    ///
    /// - Throws: a ``DatabaseError`` if the content table does not exist, or has no row IDs.
    /// - Precondition: there is a column.
    public func moduleArguments(for definition: FTS5TableDefinition, in db: Database) throws -> [String] {
        precondition(!definition.columns.isEmpty, "An FTS5 table needs a column.")
        var arguments = definition.columns.map(\.moduleArgument)
        if let tokenizer = definition.tokenizer { arguments.append(tokenizer.moduleArgument) }
        let texts = [
            ("content", definition.content), ("content_rowid", try contentRowID(of: definition, db)),
            ("prefix", definition.prefixes.map { $0.sorted().map(String.init).joined(separator: " ") }),
        ]
        arguments += texts.compactMap { name, value in value.map { "\(name)=\($0.sqlLiteral)" } }
        let words = [
            ("columnSize", definition.columnSize.map { "\($0)" }),
            ("detail", definition.detail?.bareOrQuotedWord),
        ]
        arguments += words.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return arguments
    }

    private func contentRowID(of definition: FTS5TableDefinition, _ db: Database) throws -> String? {
        guard definition.contentRowID == nil, let synchronizedTable = definition.synchronizedTable else {
            return definition.contentRowID
        }
        let rowID = try FullTextSynchronization.rowIDName(of: synchronizedTable, db)
        return CaseInsensitiveName(rowID) == CaseInsensitiveName("rowid") ? nil : rowID
    }

    /// Creates the triggers of a synchronized table, and builds its index.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS5TableDefinition)
        throws
    {
        guard let contentTable = definition.synchronizedTable else { return }
        try FullTextSynchronization(
            db, of: tableName, with: contentTable, columns: definition.columns.map(\.name)
        )
        .start(db, triggers: \.fts5Triggers, definition.configuration)
    }
}

extension Column {
    /// The rank of a row of an ``FTS5`` table for the searched pattern: smaller is better.
    ///
    ///     // SELECT * FROM "itemText" WHERE "itemText" MATCH 'ring' ORDER BY "rank"
    ///     ItemText.matching(pattern).order(Column.rank)
    public static let rank = Column("rank")
}
