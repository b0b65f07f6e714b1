public import SQLCipherBridge

/// A row of a result: values in order, with the names of their columns.
///
/// A row that comes from a cursor changes with each step of the cursor: copy it with ``copy()`` to keep it.
/// Rows of `fetchAll`, `fetchSet` and `fetchOne` are copies.
///
/// The subscripts trap when a column does not exist or its value has no sensible conversion;
/// `decode(_:atIndex:)` throws instead.
@safe  // The layout is alive as long as the storage, which the row owns.
public final class Row {
    /// How many columns there are.
    public let count: Int

    let storage: any RowStorage

    /// The statement's current row, where the columns are columns of it that follow each other: the fast way
    /// to them.
    @usableFromInline let liveHandle: StatementHandle?

    /// The values of a copy, where the columns are some of them that follow each other: the fast way to them.
    @usableFromInline let copiedValues: [DatabaseValue]?

    /// Which column of the statement, or of the copied values, is the first one of the row.
    @usableFromInline let firstColumn: CInt

    /// The layout of the live row. The storage keeps it alive: a reference that did so as well would be
    /// counted at each look-up of a column.
    @usableFromInline let liveLayout: Unmanaged<StatementColumnLayout>?

    /// The scopes of a row of a statement that were asked for, or their absence. They are kept with the row,
    /// so that what decodes them is made once.
    private var liveScopes: [(name: String, row: Row?)] = []

    /// The decoders of records from this row, by their types: mostly one, which serves for all rows of a
    /// cursor. They are objects of the floor of records: an `any Decoder` would cost more to get out of the
    /// array than to make a value of a column.
    @exclusivity(unchecked) var recordDecoders: [(record: ObjectIdentifier, decoder: AnyObject)] = []

    /// The rows that were fetched for this one. They are set before anything is decoded.
    var prefetchedTree: PrefetchedRowsTree?

    init(storage: any RowStorage) {
        self.storage = storage
        self.count = storage.count
        self.liveHandle = nil
        self.copiedValues = storage.copiedValues
        self.firstColumn = 0
        unsafe self.liveLayout = nil
    }

    /// A row seen through an adapter.
    init(base: Row, layoutedAdapter: any _LayoutedRowAdapter) {
        let storage = AdaptedRowStorage(base: base, adapter: layoutedAdapter)
        self.storage = storage
        self.count = storage.count
        let first = storage.firstOfFollowingColumns
        self.liveHandle = first == nil ? nil : base.liveHandle
        self.copiedValues = first == nil ? nil : base.copiedValues
        self.firstColumn = first.map { base.firstColumn + CInt($0) } ?? 0
        if let layout = storage.liveLayout {
            unsafe self.liveLayout = .passUnretained(layout)
        } else {
            unsafe self.liveLayout = nil
        }
    }

    /// The current row of a statement, which changes when the statement goes on.
    ///
    /// - Parameter execution: the execution that ends with the row's life, if it has not ended before.
    private init(liveRowOf statement: Statement, ending execution: Int?) {
        let storage = StatementRowStorage(statement, ending: execution)
        self.storage = storage
        self.count = storage.count
        self.liveHandle = statement.handle
        self.copiedValues = nil
        self.firstColumn = 0
        unsafe self.liveLayout = .passUnretained(storage.layout)
    }

    /// The current row of a statement, for a moment.
    @usableFromInline
    convenience init(liveRowOf statement: Statement) {
        self.init(liveRowOf: statement, ending: nil)
    }

    /// The current row of the execution that was just prepared, which ends with the life of the row.
    convenience init(executionOf statement: Statement) {
        self.init(liveRowOf: statement, ending: statement.executionNumber)
    }

    /// Creates a row without columns.
    public convenience init() {
        self.init(storage: EmptyRowStorage())
    }

    /// A row with the same values, which does not change.
    ///
    ///     let rows = try Row.fetchCursor(db, sql: "SELECT * FROM item ORDER BY id")
    ///     let first = try rows.next()?.copy()
    public func copy() -> Row {
        if liveHandle == nil, storage is CopiedRowStorage || storage is EmptyRowStorage { return self }
        let row = Row(storage: storage.copy())
        row.prefetchedTree = prefetchedTree
        return row
    }

    /// The row without the adapters that were applied when it was fetched.
    public var unadapted: Row { storage.unadapted(self) }

    /// The row without scopes and prefetched rows.
    public var unscoped: Row {
        let row = storage.unscoped(self)
        return row === self && prefetchedTree != nil ? Row(storage: storage) : row
    }
}

@available(*, unavailable)
extension Row: Sendable {}

// MARK: - From dictionaries

extension Row: ExpressibleByDictionaryLiteral {
    /// Creates a row, whose columns are in no particular order.
    public convenience init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(columns: dictionary.map { ($0.key, $0.value?.databaseValue ?? .null) })
    }

    /// Creates a row, or returns nil if a key is no string or a value cannot be stored in a database.
    public convenience init?(_ dictionary: [AnyHashable: Any]) {
        var columns: [(String, DatabaseValue)] = []
        for (key, element) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: element) else { return nil }
            columns.append((name, value))
        }
        self.init(columns: columns)
    }

    /// Creates a row with columns in the order of the literal; a name may come twice.
    ///
    ///     let row: Row = ["id": 7, "name": "Ada", "email": nil]
    public convenience init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(columns: elements.map { ($0, $1?.databaseValue ?? .null) })
    }

    convenience init(columns: [(String, DatabaseValue)]) {
        self.init(
            storage: CopiedRowStorage(
                layout: StatementColumnLayout(names: columns.map(\.0)), values: columns.map(\.1),
                isFetched: false))
    }
}

// MARK: - Columns

extension Row {
    /// The names of the columns, in order.
    public var columnNames: LazyMapCollection<Row, String> { lazy.map { $0.0 } }

    /// The values of the columns, in order.
    public var databaseValues: LazyMapCollection<Row, DatabaseValue> { lazy.map { $0.1 } }

    /// Whether there is a column with this name, compared without case.
    ///
    ///     let isKnown = row.hasColumn("NAME")
    public func hasColumn(_ columnName: String) -> Bool { index(ofColumn: columnName) != nil }

    /// Whether the value at a position is NULL, without reading it.
    public func hasNull(atIndex index: Int) -> Bool {
        checkIndex(index)
        return storage.isNull(at: index)
    }

    /// Whether there is any value other than NULL.
    public var containsNonNullValue: Bool {
        if let liveHandle, count > 0, !liveHandle.isNull(at: firstColumn) { return true }
        return (0..<count).contains { !storage.isNull(at: $0) }
            || storage.scopeAdapters.values.contains { storage.scope($0).containsNonNullValue }
    }

    @inlinable
    func checkIndex(_ index: Int) {
        precondition(index >= 0 && index < count, "The row has no column of this index.")
    }

    /// The position of the first column with this name, compared without case.
    @inlinable
    func index(ofColumn name: String) -> Int? {
        if let liveLayout = unsafe liveLayout {
            return unsafe liveLayout._withUnsafeGuaranteedRef { $0.index(ofColumn: name) }
        }
        return storedIndex(ofColumn: name)
    }

    @usableFromInline
    func storedIndex(ofColumn name: String) -> Int? { storage.index(ofColumn: name) }
}

extension Row {
    /// The scope with a name, at any depth: that nearest to the row.
    func scope(named name: String) -> Row? {
        for known in liveScopes where known.name == name { return known.row }
        guard !storage.scopeAdapters.isEmpty else { return nil }
        let row = scopesTree[name]
        if storage.statement != nil { liveScopes.append((name: name, row: row)) }
        return row
    }
}

extension Row: _RowLayout {
    public var _layoutColumns: [(Int, String)] { (0..<count).map { ($0, storage.columnName(at: $0)) } }
    public func _layoutIndex(ofColumn name: String) -> Int? { index(ofColumn: name) }
}

// MARK: - Collection

extension Row: RandomAccessCollection {
    /// The position of a column.
    public struct Index: Hashable, Comparable, Strideable, Sendable {
        let position: Int

        public func distance(to other: Index) -> Int { other.position - position }
        public func advanced(by distance: Int) -> Index { Index(position: position + distance) }
        public static func < (lhs: Index, rhs: Index) -> Bool { lhs.position < rhs.position }
    }

    public var startIndex: Index { Index(position: 0) }
    public var endIndex: Index { Index(position: count) }

    /// The name and the value of the column at a position.
    public subscript(position: Index) -> (String, DatabaseValue) {
        checkIndex(position.position)
        return (storage.columnName(at: position.position), storage.databaseValue(at: position.position))
    }
}

// MARK: - Equality

extension Row: Hashable {
    /// Rows are equal if they have the same columns in the same order, with equal values, equal scopes, and
    /// equal prefetched rows.
    public static func == (lhs: Row, rhs: Row) -> Bool {
        if lhs === rhs { return true }
        guard lhs.count == rhs.count else { return false }
        for index in 0..<lhs.count
        where lhs.storage.columnName(at: index) != rhs.storage.columnName(at: index)
            || lhs.storage.databaseValue(at: index) != rhs.storage.databaseValue(at: index)
        {
            return false
        }
        let names = lhs.scopes.names
        return names.count == rhs.scopes.names.count && names.allSatisfy { lhs.scopes[$0] == rhs.scopes[$0] }
            && lhs.prefetchedRows == rhs.prefetchedRows
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for index in 0..<count {
            hasher.combine(storage.columnName(at: index))
            hasher.combine(storage.databaseValue(at: index))
        }
    }
}
