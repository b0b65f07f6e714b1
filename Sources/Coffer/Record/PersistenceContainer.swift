/// The values of the columns of a record, which ``EncodableRecord/encode(to:)`` sets.
///
///     container[Columns.weight] = weight
///     container["details"] = details.isEmpty ? nil : details
///
/// Names are compared regardless of the case of ASCII letters. A column that is set to nil is stored as NULL.
/// A column that is not set is omitted from the statement.
public struct PersistenceContainer {
    /// The names of the columns in the order in which they were set, followed by the names that are expected
    /// to be set next. A record type sets the same columns each time, so each name is compared once, and
    /// neither searched for nor stored.
    private(set) var names: [String]

    /// The values of the columns that were set.
    private(set) var values: [PersistenceValue]

    /// True if no unexpected column was set.
    private(set) var isAsExpected = true

    /// The encoder that is cached for the type of the record, if there is one.
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

    /// The value of a column; nil for NULL and for a column that was not set.
    public subscript(column: String) -> (any DatabaseValueConvertible)? {
        get { index(ofColumn: column).flatMap { values[$0].value } }
        set {
            // Consumed, so that inspecting the value does not copy its existential box.
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

    /// Returns the position of a column that was set.
    func index(ofColumn column: String) -> Int? {
        if let index = names[..<values.count].firstIndex(of: column) { return index }
        let name = CaseInsensitiveName(column)
        return names[..<values.count].firstIndex { CaseInsensitiveName($0) == name }
    }

    /// True if exactly the expected columns were set.
    var hasExpectedColumns: Bool { isAsExpected && values.count == names.count }

    /// The names of the columns that were set.
    var columns: [String] { values.count == names.count ? names : Array(names[..<values.count]) }

    func databaseValue(at index: Int) -> DatabaseValue { values[index].databaseValue }

    var databaseDictionary: [String: DatabaseValue] {
        Dictionary(uniqueKeysWithValues: values.indices.map { (names[$0], databaseValue(at: $0)) })
    }

    /// Returns the columns whose values differ from the values of another container, with the values of that
    /// container.
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

    /// A column and its stored value.
    public subscript(position: Int) -> (String, DatabaseValue) {
        (names[position], databaseValue(at: position))
    }
}
