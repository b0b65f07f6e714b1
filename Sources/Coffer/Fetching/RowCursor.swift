internal import SQLCipherBridge

/// A cursor over rows. All of them are the same object, which changes with each step: copy a row to keep it.
public final class RowCursor: DatabaseCursor {
    public typealias Element = Row

    public let _statement: Statement
    public var _isDone = false
    @usableFromInline private(set) var row: Row

    /// The row without the adapter.
    private var liveRow: Row
    private let adapter: (any RowAdapter)?
    @usableFromInline var isBeforeFirstRow = true

    init(statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        _statement = statement
        try statement.prepareExecution(arguments: arguments)
        // The row ends the execution at the end of its life, not the cursor: a row may be read after the last
        // use of its cursor.
        liveRow = Row(executionOf: statement)
        row = try liveRow.adapted(with: adapter, layout: statement)
        self.adapter = adapter
    }

    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Row {
        if isBeforeFirstRow { try beginRows() }
        return row
    }

    /// Follows a change of the schema that SQLite has noticed with the first step: the columns may be others
    /// than they were before.
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
    /// The row seen through an adapter.
    func adapted(with adapter: (any RowAdapter)?, layout: some _RowLayout) throws -> Row {
        guard let adapter else { return self }
        return Row(base: self, layoutedAdapter: try adapter._layoutedAdapter(from: layout))
    }

    /// A row seen through an adapter.
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
    /// A cursor over the rows of a statement.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the arguments do not fit.
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try RowCursor(statement: statement, arguments: arguments, adapter: adapter)
    }

    /// All rows of a statement.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: [Row] = []
        while let row = try cursor.next() { rows.append(row.copy()) }
        return rows
    }

    /// The distinct rows of a statement.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: Set<Row> = []
        while let row = try cursor.next() { rows.insert(row.copy()) }
        return rows
    }

    /// The first row of a statement, or nil if there is none.
    ///
    /// - Parameters:
    ///   - statement: a prepared statement of the same connection.
    ///   - arguments: the values of its parameters; nil keeps those that it has.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        return try cursor.first { $0.copy() }
    }
}

// MARK: - Fetching with SQL

extension Row {
    /// A cursor over the rows of a query.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// All rows of a query.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        try fetchAll(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The distinct rows of a query.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        try fetchSet(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The first row of a query, or nil if there is none.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - sql: the text of one statement.
    ///   - arguments: the values of its parameters.
    ///   - adapter: changes the columns of the rows before they are decoded; nil leaves them as they are.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not fit, or a step
    ///   fails.
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        try fetchOne(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}
