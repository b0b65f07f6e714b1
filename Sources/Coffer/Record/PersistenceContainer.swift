/// The values of the columns of a record: what ``EncodableRecord/encode(to:)`` fills.
///
///     container[Columns.weight] = weight
///     container["details"] = details.isEmpty ? nil : details
///
/// Names are compared without regard to the case of ASCII letters. A column that is set to nil is stored as
/// NULL; one that is not set is left out of the statement.
public struct PersistenceContainer {
    /// The names of the columns, in the order in which they were set, and behind them those that are expected
    /// to be set next: a record type sets the same columns each time, so that names are compared once, and
    /// neither searched nor stored.
    private(set) var names: [String]

    /// The values of the columns that were set.
    private(set) var values: [PersistenceValue]

    /// Whether no other columns were set than those that were expected.
    private(set) var isAsExpected = true

    /// The encoder that is kept for the type of the record, if there is one.
    var encoder: RecordEncoder?

    init(expecting names: [String] = [], capacity: Int? = nil, encoder: RecordEncoder? = nil) {
        self.names = names
        self.values = []
        self.encoder = encoder
        values.reserveCapacity(capacity ?? (names.isEmpty ? 8 : names.count))
    }

    /// Creates a container with the values of a record.
    public init(_ record: some EncodableRecord) throws {
        self.init()
        try record.encode(to: &self)
    }

    /// The value of a column. Nil is NULL, and a column that was not set.
    public subscript(column: String) -> (any DatabaseValueConvertible)? {
        get { index(ofColumn: column).flatMap { values[$0].value } }
        set {
            // Consumed, so that the box is not copied to look into it.
            switch consume newValue {
            case .some(let value): set(value.persistenceValue, column)
            case .none: set(.null, column)
            }
        }
    }

    /// The value of a column: see `subscript(_:)` with a name.
    public subscript(column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        @inlinable get { self[column.name] }
        @inlinable set { self[column.name] = newValue }
    }

    mutating func set(_ value: consuming PersistenceValue, _ column: String) {
        let count = values.count
        if count < names.count, names[count] == column {
            values.append(value)
        } else {
            setUnexpected(value, column)
        }
    }

    private mutating func setUnexpected(_ value: PersistenceValue, _ column: String) {
        if let index = index(ofColumn: column) {
            values[index] = value
            return
        }
        isAsExpected = false
        names.removeSubrange(values.count...)
        names.append(column)
        values.append(value)
    }

    @inline(__always)
    mutating func replaceNull(at index: Int, by rowID: Int64) {
        if values[index].isNull { values[index] = .int64(rowID) }
    }

    /// The position of a column that was set.
    func index(ofColumn column: String) -> Int? {
        if let index = names[..<values.count].firstIndex(of: column) { return index }
        let name = CaseInsensitiveName(column)
        return names[..<values.count].firstIndex { CaseInsensitiveName($0) == name }
    }

    /// Whether exactly those columns were set that were expected.
    var hasExpectedColumns: Bool { isAsExpected && values.count == names.count }

    /// The names of the columns that were set.
    var columns: [String] { values.count == names.count ? names : Array(names[..<values.count]) }

    func databaseValue(at index: Int) -> DatabaseValue { values[index].databaseValue }

    var databaseDictionary: [String: DatabaseValue] {
        Dictionary(uniqueKeysWithValues: values.indices.map { (names[$0], databaseValue(at: $0)) })
    }

    /// The columns whose values differ from those of another container, with the values that they have there.
    func changes(from old: PersistenceContainer) -> [String: DatabaseValue] {
        var changes: [String: DatabaseValue] = [:]
        for index in values.indices {
            let oldValue = old.index(ofColumn: names[index]).map(old.databaseValue(at:)) ?? .null
            if oldValue != databaseValue(at: index) { changes[names[index]] = oldValue }
        }
        return changes
    }
}

@available(*, unavailable)
extension PersistenceContainer: Sendable {}

extension PersistenceContainer: RandomAccessCollection {
    public typealias Element = (String, DatabaseValue)

    public var startIndex: Int { 0 }
    public var endIndex: Int { values.count }

    /// A column and its value as it is stored.
    public subscript(position: Int) -> (String, DatabaseValue) {
        (names[position], databaseValue(at: position))
    }
}
