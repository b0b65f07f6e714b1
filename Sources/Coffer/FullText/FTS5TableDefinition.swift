/// The definition of an FTS5 table: see ``FTS5``.
public final class FTS5TableDefinition {
    /// The tokenizer of the table; nil for SQLite's default, `unicode61`.
    public var tokenizer: FTS5TokenizerDescriptor?

    /// The table that stores the texts, so that the full-text table stores only the index. An empty string if
    /// the texts are not stored at all.
    ///
    /// Setting the property cancels the synchronization requested by ``synchronize(withTable:)``. See
    /// <https://www.sqlite.org/fts5.html#external_content_and_contentless_tables>.
    public var content: String? {
        get { contentTable }
        set {
            contentTable = newValue
            synchronizedTable = nil
        }
    }

    /// The column of the ``content`` table that is its row ID; nil for `rowid`.
    public var contentRowID: String?

    /// The lengths of prefixes that have their own index, which makes prefix searches faster.
    public var prefixes: Set<Int>?

    /// 0 omits the number of words of each row, so that the table is smaller and `bm25` is slower.
    public var columnSize: Int?

    /// The precision of the word positions in the index: `full`, `column` or `none`. See
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
    /// - Returns: the column, for further options.
    @discardableResult
    public func column(_ name: String) -> FTS5ColumnDefinition {
        let column = FTS5ColumnDefinition(name: name)
        columns.append(column)
        return column
    }

    /// Synchronizes the table with another table, whose texts it indexes. Triggers keep the index up to date.
    ///
    ///     try db.create(virtualTable: "itemText", using: FTS5()) { t in
    ///         t.synchronize(withTable: "item")
    ///         t.column("name")
    ///         t.column("details")
    ///     }
    ///
    /// The existing rows of the other table are indexed immediately. Before you drop the full-text table,
    /// drop the triggers: otherwise, all writes to the other table fail. See
    /// ``Database/dropFTS5SynchronizationTriggers(forTable:)``.
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
extension FTS5TableDefinition: Sendable {}

/// The definition of a column of an ``FTS5`` table.
public final class FTS5ColumnDefinition {
    let name: String
    private var isIndexed = true

    fileprivate init(name: String) {
        self.name = name
    }

    /// Excludes the column from the index: it is stored but cannot be searched.
    @discardableResult
    public func notIndexed() -> Self {
        isIndexed = false
        return self
    }

    /// The column in the form of a module argument.
    var moduleArgument: String { isIndexed ? name.bareOrQuotedWord : "\(name.bareOrQuotedWord) UNINDEXED" }
}

@available(*, unavailable)
extension FTS5ColumnDefinition: Sendable {}
