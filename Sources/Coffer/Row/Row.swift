public import SQLCipherBridge

/// A row of a result: values in order, with the names of their columns.
///
/// A row that comes from a cursor changes with each step of the cursor: copy it with ``copy()`` to keep it.
/// Rows of `fetchAll`, `fetchSet` and `fetchOne` are copies.
///
/// The subscripts trap if a column does not exist or its value cannot be converted; `decode(_:atIndex:)`
/// throws instead.
@safe  // The layout is alive as long as the storage, which the row owns.
public final class Row {
    /// The number of columns.
    public let count: Int

    let storage: any RowStorage

    /// The statement whose current row contains the columns, if they are contiguous there, for fast access.
    @usableFromInline let liveHandle: StatementHandle?

    /// The values of a copy that contain the columns, if they are contiguous there, for fast access.
    @usableFromInline let copiedValues: [DatabaseValue]?

    /// The position of the row's first column in the statement or in the copied values.
    @usableFromInline let firstColumn: CInt

    /// The layout of the live row. The storage keeps it alive. A strong reference would be retained and
    /// released at each lookup of a column.
    @usableFromInline let liveLayout: Unmanaged<StatementColumnLayout>?

    /// The scopes of a statement's row that were requested, including missing ones. They are kept with the
    /// row, so that their decoders are created once.
    private var liveScopes: [(name: String, row: Row?)] = []

    /// The decoders of records from this row, by record type: usually one, which is reused for all rows of a
    /// cursor. They are stored as objects because reading an `any Decoder` from the array would cost more
    /// than decoding a column.
    @exclusivity(unchecked) var recordDecoders: [(record: ObjectIdentifier, decoder: AnyObject)] = []

    /// The prefetched rows of this row. They are set before anything is decoded.
    var prefetchedTree: PrefetchedRowsTree?

    init(storage: any RowStorage) {
        self.storage = storage
        self.count = storage.count
        self.liveHandle = nil
        self.copiedValues = storage.copiedValues
        self.firstColumn = 0
        unsafe self.liveLayout = nil
    }

    /// Creates a row seen through an adapter.
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

    /// Creates a row that shows the current row of a statement, and changes with each step of the statement.
    ///
    /// - Parameter execution: the execution to end when the row is deallocated, if it has not ended before.
    private init(liveRowOf statement: Statement, ending execution: Int?) {
        let storage = StatementRowStorage(statement, ending: execution)
        self.storage = storage
        self.count = storage.count
        self.liveHandle = statement.handle
        self.copiedValues = nil
        self.firstColumn = 0
        unsafe self.liveLayout = .passUnretained(storage.layout)
    }

    /// Creates a row that shows the current row of a statement, for short-lived use.
    @usableFromInline
    convenience init(liveRowOf statement: Statement) {
        self.init(liveRowOf: statement, ending: nil)
    }

    /// Creates a row that shows the current row of the execution that was just prepared. The execution ends
    /// when the row is deallocated.
    convenience init(executionOf statement: Statement) {
        self.init(liveRowOf: statement, ending: statement.executionNumber)
    }

    /// Creates a row without columns.
    public convenience init() {
        self.init(storage: EmptyRowStorage())
    }

    /// Returns a row with the same values, which does not change.
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
    /// Creates a row with columns in no particular order.
    public convenience init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(columns: dictionary.map { ($0.key, $0.value?.databaseValue ?? .null) })
    }

    /// Creates a row, or returns nil if a key is not a string or a value cannot be stored in a database.
    public convenience init?(_ dictionary: [AnyHashable: Any]) {
        var columns: [(String, DatabaseValue)] = []
        for (key, element) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: element) else { return nil }
            columns.append((name, value))
        }
        self.init(columns: columns)
    }

    /// Creates a row with columns in the order of the literal. A name may occur twice.
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

    /// The values of the columns, without their names.
    package var values: [DatabaseValue] {
        storage.copiedValues ?? (0..<count).map(storage.databaseValue(at:))
    }

    /// Returns true if there is a column with this name, compared case-insensitively.
    ///
    ///     let isKnown = row.hasColumn("NAME")
    public func hasColumn(_ columnName: String) -> Bool { index(ofColumn: columnName) != nil }

    /// Returns true if the value at a position is NULL, without reading the value.
    public func hasNull(atIndex index: Int) -> Bool {
        checkIndex(index)
        return storage.isNull(at: index)
    }

    /// True if the row or one of its scopes contains a value other than NULL.
    public var containsNonNullValue: Bool {
        if let liveHandle, count > 0, !liveHandle.isNull(at: firstColumn) { return true }
        return (0..<count).contains { !storage.isNull(at: $0) }
            || storage.scopeAdapters.values.contains { storage.scope($0).containsNonNullValue }
    }

    @inlinable
    func checkIndex(_ index: Int) {
        precondition(index >= 0 && index < count, "The row has no column at this index.")
    }

    /// Returns the position of the first column with this name, compared case-insensitively.
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
    /// Returns the scope with a name, at any depth. If several scopes have the name, it is the one nearest to
    /// the row.
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
    /// Returns true if the rows have the same columns in the same order, with equal values, equal scopes, and
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
