/// The module of full-text tables of the fourth generation. Prefer ``FTS5``, unless a file has such tables
/// already.
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

    /// The arguments of the module: the columns, then the options.
    ///
    /// - Parameters:
    ///   - definition: what the closure has defined.
    ///   - db: the connection of the access.
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
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - tableName: the name of the table that is created.
    ///   - definition: what its closure has defined.
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

/// Defines a full-text table of the fourth generation: see ``FTS4``.
public final class FTS4TableDefinition {
    /// How texts are cut into words; nil for SQLite's default, which is ``FTS3TokenizerDescriptor/simple``.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// The table that has the texts, so that the full-text table has only the index; an empty string if they
    /// are nowhere.
    ///
    /// Setting it ends the synchronization that ``synchronize(withTable:)`` asked for.
    /// See <https://www.sqlite.org/fts3.html#fts4_options>.
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

    /// `"fts3"` leaves out what only the `matchinfo` function needs: the table is smaller.
    public var matchinfo: String?

    /// The lengths of prefixes that have an index of their own, which makes searches for them faster.
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
    /// - Parameter name: the name of the column.
    /// - Returns: the column, to say more about it.
    @discardableResult
    public func column(_ name: String) -> FTS4ColumnDefinition {
        let column = FTS4ColumnDefinition(name: name)
        columns.append(column)
        return column
    }

    /// Makes the table an index of another table, which triggers keep right from now on.
    ///
    ///     try db.create(virtualTable: "itemText", using: FTS4()) { t in
    ///         t.synchronize(withTable: "item")
    ///         t.column("name")
    ///         t.column("details")
    ///     }
    ///
    /// The rows that the other table has already are indexed at once. Before you drop the full-text table,
    /// drop the triggers, or they make all writes to the other table fail: see
    /// ``Database/dropFTS4SynchronizationTriggers(forTable:)``.
    ///
    /// - Parameter tableName: the table of the texts, which has the columns of this one.
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
