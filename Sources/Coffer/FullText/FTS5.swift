/// The module of full-text tables of the fifth generation.
///
///     try db.create(virtualTable: "itemText", using: FTS5()) { index in
///         index.column("name")
///         index.column("details")
///         index.synchronize(withTable: "item")
///         index.tokenizer = .unicode61(diacritics: .remove)
///     }
///
/// The index is in the file of the database, and encrypted with it. Search it with
/// ``TableRequest/matching(_:)-(FTS5Pattern?)`` and a pattern that is made of what a person types:
///
///     let pattern = FTS5Pattern(matchingAllPrefixesIn: "gold ri")
///     let found = try ItemText.matching(pattern).order(Column.rank).fetchAll(db)
///
/// See <https://www.sqlite.org/fts5.html>.
public struct FTS5: Sendable {
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
}

extension FTS5: VirtualTableModule {
    public typealias TableDefinition = FTS5TableDefinition

    /// `fts5`.
    public var moduleName: String { "fts5" }

    /// Creates the definition of a table.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS5TableDefinition {
        FTS5TableDefinition(configuration)
    }

    /// The arguments of the module: the columns, then the options.
    ///
    /// - Parameters:
    ///   - definition: what the closure has defined.
    ///   - db: the connection of the access.
    /// - Throws: a ``DatabaseError`` if the table is synchronized with one that does not exist, or has no row
    ///   IDs.
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
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - tableName: the name of the table that is created.
    ///   - definition: what its closure has defined.
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
    /// How well a row of an ``FTS5`` table matches the pattern that is searched for: the smaller the better.
    ///
    ///     // SELECT * FROM "itemText" WHERE "itemText" MATCH 'ring' ORDER BY "rank"
    ///     ItemText.matching(pattern).order(Column.rank)
    public static let rank = Column("rank")
}
