internal import SQLCipherBridge

/// The source of a row's columns.
///
/// Positions are positions in the row, which has already checked them.
protocol RowStorage: AnyObject {
    var count: Int { get }
    func columnName(at index: Int) -> String

    /// Returns the position of the first column with this name, compared case-insensitively.
    func index(ofColumn name: String) -> Int?
    func databaseValue(at index: Int) -> DatabaseValue
    func isNull(at index: Int) -> Bool

    /// Returns the column of a statement's current row that contains the value, if there is one.
    func liveColumn(at index: Int) -> (handle: StatementHandle, index: CInt)?

    /// All values, if they are copies.
    var copiedValues: [DatabaseValue]? { get }

    /// True if the values come from a statement, even if they have been copied.
    var isFetched: Bool { get }

    /// The statement whose current row this is, for messages.
    var statement: Statement? { get }

    /// Returns the row without its adapter.
    func unadapted(_ row: Row) -> Row

    /// Returns the row without the scopes of its adapter.
    func unscoped(_ row: Row) -> Row
    var scopeAdapters: [String: any _LayoutedRowAdapter] { get }
    func scope(_ adapter: any _LayoutedRowAdapter) -> Row

    /// Returns the layout of the columns that an adapter shows, if they are contiguous here, for a row of a
    /// statement.
    func liveLayout(of mapping: _LayoutedColumnMapping, from first: Int) -> StatementColumnLayout

    /// Returns a storage with the same content that does not change with the next step of the statement.
    func copy() -> any RowStorage
}

extension RowStorage {
    func liveColumn(at index: Int) -> (handle: StatementHandle, index: CInt)? { nil }
    var copiedValues: [DatabaseValue]? { nil }
    var isFetched: Bool { false }
    var statement: Statement? { nil }
    func unadapted(_ row: Row) -> Row { row }
    func unscoped(_ row: Row) -> Row { row }
    var scopeAdapters: [String: any _LayoutedRowAdapter] { [:] }
    func scope(_ adapter: any _LayoutedRowAdapter) -> Row { Row() }
    func liveLayout(of mapping: _LayoutedColumnMapping, from first: Int) -> StatementColumnLayout {
        StatementColumnLayout(names: mapping._layoutColumns.map(\.1))
    }
}

/// The storage of a row without columns.
final class EmptyRowStorage: RowStorage {
    var count: Int { 0 }
    func columnName(at index: Int) -> String { preconditionFailure("The row has no column at this index.") }
    func index(ofColumn name: String) -> Int? { nil }
    func databaseValue(at index: Int) -> DatabaseValue {
        preconditionFailure("The row has no column at this index.")
    }
    func isNull(at index: Int) -> Bool { preconditionFailure("The row has no column at this index.") }
    func copy() -> any RowStorage { self }
}

/// The current row of a statement.
final class StatementRowStorage: RowStorage {
    private let source: Statement
    let layout: StatementColumnLayout

    /// The execution to end when the storage is deallocated, if it has not ended before.
    private var execution: Int?

    init(_ statement: Statement, ending execution: Int?) {
        self.source = statement
        self.layout = statement.currentColumnLayout()
        self.execution = execution
    }

    deinit {
        if let execution { source.abandonExecution(execution) }
    }

    /// Leaves it to another row to end the execution.
    func disownExecution() { execution = nil }

    var isFetched: Bool { true }
    var statement: Statement? { source }
    var count: Int { layout.names.count }
    func columnName(at index: Int) -> String { layout.names[index] }
    func index(ofColumn name: String) -> Int? { layout.index(ofColumn: name) }
    func databaseValue(at index: Int) -> DatabaseValue {
        unsafe DatabaseValue(sqliteStatement: source.sqliteStatement, index: CInt(index))
    }
    func isNull(at index: Int) -> Bool { source.handle.isNull(at: CInt(index)) }
    func liveColumn(at index: Int) -> (handle: StatementHandle, index: CInt)? { (source.handle, CInt(index)) }

    /// Returns a layout that the statement caches for all cursors over its rows.
    func liveLayout(of mapping: _LayoutedColumnMapping, from first: Int) -> StatementColumnLayout {
        layout.partialLayout(named: mapping._layoutColumns.map(\.1), from: first)
    }

    func copy() -> any RowStorage {
        CopiedRowStorage(layout: layout, values: (0..<count).map(databaseValue(at:)), isFetched: true)
    }
}

/// The storage of a row with copied values, which do not change.
final class CopiedRowStorage: RowStorage {
    private let layout: StatementColumnLayout
    private let values: [DatabaseValue]
    let isFetched: Bool

    init(layout: StatementColumnLayout, values: [DatabaseValue], isFetched: Bool) {
        self.layout = layout
        self.values = values
        self.isFetched = isFetched
    }

    var copiedValues: [DatabaseValue]? { values }

    /// Returns true if the other copy is a copy of a row of the same statement.
    func hasColumns(of other: CopiedRowStorage) -> Bool { layout === other.layout }

    var count: Int { values.count }
    func columnName(at index: Int) -> String { layout.names[index] }
    func index(ofColumn name: String) -> Int? { layout.searchIndexWithoutHint(ofColumn: name) }
    func databaseValue(at index: Int) -> DatabaseValue { values[index] }
    func isNull(at index: Int) -> Bool { values[index].isNull }
    func copy() -> any RowStorage { self }
}

/// Another row seen through an adapter.
final class AdaptedRowStorage: RowStorage {
    private let base: Row
    private let adapter: any _LayoutedRowAdapter
    private let mapping: _LayoutedColumnMapping

    /// The layout of the columns, if they are contiguous in the current row of a statement.
    let liveLayout: StatementColumnLayout?

    init(base: Row, adapter: any _LayoutedRowAdapter) {
        self.base = base
        self.adapter = adapter
        mapping = adapter._mapping
        let first = base.liveHandle == nil ? nil : mapping.firstOfFollowingColumns
        liveLayout = first.map { base.storage.liveLayout(of: adapter._mapping, from: $0) }
    }

    /// The position of the first column in the base row, if all columns are contiguous there.
    var firstOfFollowingColumns: Int? { mapping.firstOfFollowingColumns }

    var isFetched: Bool { base.storage.isFetched }
    var statement: Statement? { base.storage.statement }
    var count: Int { mapping._layoutColumns.count }
    func columnName(at index: Int) -> String { mapping._layoutColumns[index].1 }
    func index(ofColumn name: String) -> Int? { mapping._layoutIndex(ofColumn: name) }
    func databaseValue(at index: Int) -> DatabaseValue { base.storage.databaseValue(at: baseIndex(index)) }
    func isNull(at index: Int) -> Bool { base.storage.isNull(at: baseIndex(index)) }
    func liveColumn(at index: Int) -> (handle: StatementHandle, index: CInt)? {
        base.storage.liveColumn(at: baseIndex(index))
    }

    func unadapted(_ row: Row) -> Row { base.unadapted }
    func unscoped(_ row: Row) -> Row {
        guard !adapter._scopes.isEmpty else { return row }
        return Row(base: base, layoutedAdapter: mapping)
    }
    var scopeAdapters: [String: any _LayoutedRowAdapter] { adapter._scopes }
    func scope(_ adapter: any _LayoutedRowAdapter) -> Row { Row(base: base, layoutedAdapter: adapter) }
    func copy() -> any RowStorage { AdaptedRowStorage(base: base.copy(), adapter: adapter) }

    private func baseIndex(_ index: Int) -> Int { mapping._layoutColumns[index].0 }
}
