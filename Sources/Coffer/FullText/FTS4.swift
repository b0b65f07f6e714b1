/// The FTS4 full-text module. Prefer ``FTS5``, unless a file already contains FTS4 tables.
///
///     // CREATE VIRTUAL TABLE "itemText" USING fts4(name, details, tokenize=unicode61, prefix="2,4")
///     try db.create(virtualTable: "itemText", using: FTS4()) { t in
///         t.column("name")
///         t.column("details")
///         t.tokenizer = .unicode61()
///         t.prefixes = [2, 4]
///     }
///
/// See <https://www.sqlite.org/fts3.html>.
public struct FTS4: Sendable {
    /// Creates the module.
    public init() {}
}

extension FTS4: VirtualTableModule {
    public typealias TableDefinition = FTS4TableDefinition

    /// `fts4`.
    public var moduleName: String { "fts4" }

    /// Creates the definition of a table.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS4TableDefinition {
        FTS4TableDefinition(configuration)
    }

    /// Returns the arguments of the module: the columns, then the options.
    public func moduleArguments(for definition: FTS4TableDefinition, in db: Database) -> [String] {
        var arguments = definition.columns.flatMap(\.moduleArguments)
        if let tokenizer = definition.tokenizer { arguments.append(tokenizer.moduleArgument) }
        let options = [
            ("content", definition.content), ("compress", definition.compress),
            ("uncompress", definition.uncompress),
            ("matchinfo", definition.matchinfo),
            ("prefix", definition.prefixes.map { $0.sorted().map(String.init).joined(separator: ",") }),
        ]
        return arguments
            + options.compactMap { name, value in value.map { "\(name)=\($0.quotedDatabaseIdentifier)" } }
    }

    /// Creates the triggers of a synchronized table, and builds its index.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS4TableDefinition)
        throws
    {
        guard let contentTable = definition.synchronizedTable else { return }
        try FullTextSynchronization(
            db, of: tableName, with: contentTable, columns: definition.columns.map(\.name)
        )
        .start(db, triggers: \.fts4Triggers, definition.configuration)
    }
}

/// The definition of an FTS4 table: see ``FTS4``.
public final class FTS4TableDefinition {
    /// The tokenizer of the table; nil for SQLite's default, ``FTS3TokenizerDescriptor/simple``.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// The table that stores the texts, so that the full-text table stores only the index. An empty string if
    /// the texts are not stored at all.
    ///
    /// Setting the property cancels the synchronization requested by ``synchronize(withTable:)``. See
    /// <https://www.sqlite.org/fts3.html#fts4_options>.
    public var content: String? {
        get { contentTable }
        set {
            contentTable = newValue
            synchronizedTable = nil
        }
    }

    /// The SQL function that compresses texts before they are stored.
    public var compress: String?

    /// The SQL function that undoes ``compress``.
    public var uncompress: String?

    /// `"fts3"` omits data that only the `matchinfo` function needs, so that the table is smaller.
    public var matchinfo: String?

    /// The lengths of prefixes that have their own index, which makes prefix searches faster.
    public var prefixes: Set<Int>?

    let configuration: VirtualTableConfiguration
    private(set) var columns: [FTS4ColumnDefinition] = []
    private(set) var synchronizedTable: String?
    private var contentTable: String?

    fileprivate init(_ configuration: VirtualTableConfiguration) {
        self.configuration = configuration
    }

    /// Adds a column.
    ///
    /// - Returns: the column, for further options.
    @discardableResult
    public func column(_ name: String) -> FTS4ColumnDefinition {
        let column = FTS4ColumnDefinition(name: name)
        columns.append(column)
        return column
    }

    /// Synchronizes the table with another table, whose texts it indexes. Triggers keep the index up to date.
    ///
    ///     try db.create(virtualTable: "itemText", using: FTS4()) { t in
    ///         t.synchronize(withTable: "item")
    ///         t.column("name")
    ///         t.column("details")
    ///     }
    ///
    /// The existing rows of the other table are indexed immediately. Before you drop the full-text table,
    /// drop the triggers: otherwise, all writes to the other table fail. See
    /// ``Database/dropFTS4SynchronizationTriggers(forTable:)``.
    ///
    /// - Parameter tableName: the table of the texts. It must have the columns of this table.
    /// - Precondition: the full-text table is not temporary.
    public func synchronize(withTable tableName: String) {
        precondition(
            !configuration.options.contains(.temporary), "A temporary full-text table cannot be synchronized."
        )
        contentTable = tableName
        synchronizedTable = tableName
    }
}

@available(*, unavailable)
extension FTS4TableDefinition: Sendable {}
