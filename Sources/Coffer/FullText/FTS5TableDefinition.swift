/// Defines a full-text table of the fifth generation: see ``FTS5``.
public final class FTS5TableDefinition {
    /// How texts are cut into words; nil for SQLite's default, which is `unicode61`.
    public var tokenizer: FTS5TokenizerDescriptor?

    /// The table that has the texts, so that the full-text table has only the index; an empty string if they
    /// are nowhere.
    ///
    /// Setting it ends the synchronization that ``synchronize(withTable:)`` asked for.
    /// See <https://www.sqlite.org/fts5.html#external_content_and_contentless_tables>.
    public var content: String? {
        get { contentTable }
        set {
            contentTable = newValue
            synchronizedTable = nil
        }
    }

    /// The column of the ``content`` table that is its row ID; nil for `rowid`.
    public var contentRowID: String?

    /// The lengths of prefixes that have an index of their own, which makes searches for them faster.
    public var prefixes: Set<Int>?

    /// 0 leaves out how many words each row has: the table is smaller, and `bm25` slower.
    public var columnSize: Int?

    /// How exactly the index knows where words are: `full`, `column` or `none`. See
    /// <https://www.sqlite.org/fts5.html#the_detail_option>.
    public var detail: String?

    let configuration: VirtualTableConfiguration
    private(set) var columns: [FTS5ColumnDefinition] = []
    private(set) var synchronizedTable: String?
    private var contentTable: String?

    init(_ configuration: VirtualTableConfiguration) {
        self.configuration = configuration
    }

    /// Adds a column.
    ///
    /// - Parameter name: the name of the column.
    /// - Returns: the column, to say more about it.
    @discardableResult
    public func column(_ name: String) -> FTS5ColumnDefinition {
        let column = FTS5ColumnDefinition(name: name)
        columns.append(column)
        return column
    }

    /// Makes the table an index of another table, which triggers keep right from now on.
    ///
    ///     try db.create(virtualTable: "itemText", using: FTS5()) { t in
    ///         t.synchronize(withTable: "item")
    ///         t.column("name")
    ///         t.column("details")
    ///     }
    ///
    /// The rows that the other table has already are indexed at once. Before you drop the full-text table,
    /// drop the triggers, or they make all writes to the other table fail: see
    /// ``Database/dropFTS5SynchronizationTriggers(forTable:)``.
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
extension FTS5TableDefinition: Sendable {}

/// Defines a column of an ``FTS5`` table.
public final class FTS5ColumnDefinition {
    let name: String
    private var isIndexed = true

    fileprivate init(name: String) {
        self.name = name
    }

    /// Keeps the words of the column out of the index: it is stored, and not searched.
    ///
    /// - Returns: the column.
    @discardableResult
    public func notIndexed() -> Self {
        isIndexed = false
        return self
    }

    /// The column among the arguments of the module.
    var moduleArgument: String { isIndexed ? name.bareOrQuotedWord : "\(name.bareOrQuotedWord) UNINDEXED" }
}

@available(*, unavailable)
extension FTS5ColumnDefinition: Sendable {}
