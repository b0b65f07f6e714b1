/// A cursor over rows. All rows are the same object, which changes with each step: copy a row to keep it.
public final class RowCursor: DatabaseCursor {
    public typealias Element = Row

    // The properties that each step uses are not checked for exclusive access, which would take a tenth of
    // the time of a row. A cursor cannot be used by several threads, and no access to them calls other code.
    public let _statement: Statement
    @safe @exclusivity(unchecked) public var _isDone = false
    @safe @exclusivity(unchecked) public var _failure: (any Error)?
    @safe @exclusivity(unchecked) @usableFromInline private(set) var row: Row

    /// The row without the adapter.
    private var liveRow: Row
    private let adapter: (any RowAdapter)?
    @safe @exclusivity(unchecked) @usableFromInline var isBeforeFirstRow = true

    init(statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        _statement = statement
        try statement.prepareExecution(arguments: arguments)
        // The row, not the cursor, ends the execution when it is deallocated: a row may be read after the
        // last use of its cursor.
        liveRow = Row(executionOf: statement)
        row = try liveRow.adapted(with: adapter, layout: statement)
        self.adapter = adapter
    }

    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Row {
        if isBeforeFirstRow { try beginRows() }
        return row
    }

    /// Adapts to a change of the schema that SQLite has detected with the first step: the columns may have
    /// changed.
    @usableFromInline
    func beginRows() throws {
        isBeforeFirstRow = false
        guard !_statement.isColumnLayoutCurrent else { return }
        (liveRow.storage as? StatementRowStorage)?.disownExecution()
        liveRow = Row(executionOf: _statement)
        row = try liveRow.adapted(with: adapter, layout: _statement)
    }
}

@available(*, unavailable)
extension RowCursor: Sendable {}

extension Row {
    /// Returns the row seen through an adapter.
    func adapted(with adapter: (any RowAdapter)?, layout: some _RowLayout) throws -> Row {
        guard let adapter else { return self }
        return Row(base: self, layoutedAdapter: try adapter._layoutedAdapter(from: layout))
    }

    /// Creates a row seen through an adapter.
    convenience init(base: Row, adapter: some RowAdapter) throws {
        self.init(base: base, layoutedAdapter: try adapter._layoutedAdapter(from: base))
    }
}

extension Statement: _RowLayout {
    public var _layoutColumns: [(Int, String)] { columnNames.enumerated().map { ($0, $1) } }
    public func _layoutIndex(ofColumn name: String) -> Int? { index(ofColumn: name) }
}

// MARK: - Fetching from a prepared statement

extension Row {
    /// Returns a cursor over the rows of a statement.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the arguments do not match the parameters.
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try RowCursor(statement: statement, arguments: arguments, adapter: adapter)
    }

    /// Fetches all rows of a statement.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: [Row] = []
        while let row = try cursor.next() { rows.append(row.copy()) }
        return rows
    }

    /// Fetches the distinct rows of a statement.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: Set<Row> = []
        while let row = try cursor.next() { rows.insert(row.copy()) }
        return rows
    }

    /// Fetches the first row of a statement, or returns nil if there is none.
    ///
    /// - Parameters:
    ///   - arguments: the values of the parameters; nil keeps the arguments that are already set.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        return try cursor.first { $0.copy() }
    }
}

// MARK: - Fetching with SQL

extension Row {
    /// Returns a cursor over the rows of a query.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches all rows of a query.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        try fetchAll(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches the distinct rows of a query.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        try fetchSet(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches the first row of a query, or returns nil if there is none.
    ///
    /// - Parameters:
    ///   - sql: a single SQL statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: an adapter that changes the columns of each row before it is decoded; nil changes
    ///     nothing.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        try fetchOne(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}
