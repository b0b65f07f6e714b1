internal import Foundation
internal import SQLCipherBridge

/// A decoder of a record from the columns of a row.
///
/// It is reused for all rows of a cursor, and caches its containers. They refer to the ``RowDecodingSource``
/// and not to the decoder, which would create a reference cycle.
final class RecordDecoder: Decoder {
    let source: RowDecodingSource

    /// The containers, by key type. A record usually has one.
    private var containers: [(key: ObjectIdentifier, holder: AnyObject)] = []

    init(_ source: RowDecodingSource) { self.source = source }

    convenience init(_ row: Row, record: any FetchableRecord.Type) {
        self.init(
            RowDecodingSource(
                row, record: record, keys: record.databaseColumnDecodingStrategy, codingPath: []))
    }

    var codingPath: [any CodingKey] { source.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { source.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        source.forgetKeyOfRow()
        let id = ObjectIdentifier(type)
        for container in containers where container.key == id {
            // The holder was made for this key type.
            return unsafe unsafeDowncast(container.holder, to: ContainerHolder<Key>.self).container
        }
        let holder = ContainerHolder(KeyedDecodingContainer(RowKeyedContainer<Key>(source)))
        containers.append((id, holder))
        return holder.container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.typeMismatch(
            [any Decodable].self,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription:
                    "A row has named columns and cannot be decoded as an array."))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        RowSingleValueContainer(source: source)
    }

    private final class ContainerHolder<Key: CodingKey> {
        let container: KeyedDecodingContainer<Key>
        init(_ container: KeyedDecodingContainer<Key>) { self.container = container }
    }
}

/// The row to decode, with the columns of its keys and the conversions of its values.
final class RowDecodingSource {
    /// The type whose strategies apply.
    let record: any FetchableRecord.Type
    let storage: any RowStorage

    /// The statement whose current row contains the columns of the row, if they are contiguous there.
    let handle: StatementHandle?

    /// The position of the row's first column in the statement.
    let firstLiveColumn: CInt

    /// The position of the row among rows that are decoded in succession.
    var element: Int?

    /// The coding path of the row, or of all rows that are decoded in succession.
    private let path: [any CodingKey]

    /// For each column, the conversion of its value to the type that was last requested.
    private var conversions: [(type: ObjectIdentifier, conversion: ColumnConversion)?] = []

    private var jsonDecoders: [Int: JSONDecoder] = [:]
    private var indexesOfConvertedColumns: [String: Int]?
    private let key: ((String) -> String)?
    private let prefetchedTree: PrefetchedRowsTree?

    /// The conversions of rows, scopes or the row itself, to the types that were requested.
    private var rowConversions: [(row: Row, type: ObjectIdentifier, conversion: RowConversion)] = []

    /// The key without a column or a scope that stands for the row itself. Each container has at most one.
    private var keyOfRow: String?

    /// The row itself, for records that are decoded from the whole row.
    private lazy var wholeRow = row

    /// - Parameters:
    ///   - record: the type whose strategies apply to values.
    ///   - keys: the strategy for the names of columns.
    ///   - codingPath: the coding path of the row.
    init(
        _ row: Row, record: any FetchableRecord.Type, keys: DatabaseColumnDecodingStrategy,
        codingPath: [any CodingKey]
    ) {
        self.record = record
        self.storage = row.storage
        self.handle = row.liveHandle
        self.firstLiveColumn = row.firstColumn
        self.path = codingPath
        self.key = keys.key
        self.prefetchedTree = row.prefetchedTree
    }

    var codingPath: [any CodingKey] { element.map { path + [IndexKey($0)] } ?? path }
    var userInfo: [CodingUserInfoKey: Any] { record.databaseDecodingUserInfo }

    /// A new object for the row. The original row owns this object, and storing it would create a cycle.
    var row: Row {
        let row = Row(storage: storage)
        row.prefetchedTree = prefetchedTree
        return row
    }

    /// The prefetched rows of the row.
    var prefetchedRows: Row.PrefetchedRowsView { Row.PrefetchedRowsView(tree: prefetchedTree) }
}

extension Row {
    /// Returns the decoder of records of a type from this row.
    @usableFromInline
    func decoder(for record: any FetchableRecord.Type) -> any Decoder {
        let id = ObjectIdentifier(record)
        // `recordDecoders` contains only record decoders.
        for known in unsafe recordDecoders where known.record == id {
            return unsafe unsafeDowncast(known.decoder, to: RecordDecoder.self)
        }
        let decoder = RecordDecoder(self, record: record)
        unsafe recordDecoders.append((id, decoder))
        return decoder
    }
}

// MARK: - Columns

extension RowDecodingSource {
    /// Returns the column of a coding key.
    func column(forKey name: String) -> Int? {
        guard let key else { return storage.index(ofColumn: name) }
        if let indexesOfConvertedColumns { return indexesOfConvertedColumns[name] }
        let names = (0..<storage.count).map { (key(storage.columnName(at: $0)), $0) }
        let indexes = Dictionary(names, uniquingKeysWith: { first, _ in first })
        indexesOfConvertedColumns = indexes
        return indexes[name]
    }

    /// The coding keys of all columns.
    var columnKeys: [String] {
        let names = (0..<storage.count).map(storage.columnName(at:))
        return key.map(names.map) ?? names
    }

    /// Returns the scope of a coding key, at any depth. It is the same object for all rows, so its decoders
    /// are reused.
    func scope(_ name: String) -> Row? { wholeRow.scope(named: name) }

    /// Returns the row itself, unless another key stands for it.
    func row(forUnknownKey name: String) -> Row? {
        guard keyOfRow == nil || keyOfRow == name else { return nil }
        keyOfRow = name
        return wholeRow
    }

    /// Lets another key stand for the row itself, in the next container.
    func forgetKeyOfRow() { if keyOfRow != nil { keyOfRow = nil } }

    /// The key that stands for the row itself.
    var nameOfRow: String? { keyOfRow }

    /// Returns the conversion of a row to a type, if it is already known.
    func knownConversion(of row: Row, to type: any Any.Type) -> RowConversion? {
        let id = ObjectIdentifier(type)
        for known in rowConversions where known.row === row && known.type == id { return known.conversion }
        return nil
    }

    /// Returns the row itself with its conversion to a type, if the conversion is already known, and no other
    /// key stands for the row.
    func knownRow(forUnknownKey name: String, as type: any Any.Type) -> (row: Row, conversion: RowConversion)?
    {
        guard let conversion = knownConversion(of: wholeRow, to: type), let row = row(forUnknownKey: name)
        else { return nil }
        return (row, conversion)
    }

    func remember(_ conversion: RowConversion, of row: Row, to type: any Any.Type) {
        rowConversions.append((row, ObjectIdentifier(type), conversion))
    }

    func mismatch(_ type: any Any.Type, at column: Int) -> RowDecodingError {
        RowDecodingError.valueMismatch(type, row: row, index: column)
    }

    func missing(_ key: any CodingKey) -> RowDecodingError {
        RowDecodingError.columnNotFound(key.stringValue, row: row)
    }

    /// Decodes a value of a row that is not part of a statement's current row, or whose columns an adapter
    /// reorders.
    func decodeShown<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type, at column: Int
    ) throws -> Value {
        guard let live = storage.liveColumn(at: column) else { return try decodeStored(type, at: column) }
        guard let value = unsafe Value.fromStatement(live.handle.pointer, atUncheckedIndex: live.index) else {
            throw mismatch(type, at: column)
        }
        return value
    }

    func decodeStored<Value: DatabaseValueConvertible>(_ type: Value.Type, at column: Int) throws -> Value {
        guard let value = Value.fromDatabaseValue(storage.databaseValue(at: column)) else {
            throw mismatch(type, at: column)
        }
        return value
    }
}

/// The conversion of a row to a type.
enum RowConversion {
    /// Created by its own initializer.
    case record(any FetchableRecord.Type)
    /// Decoded as a part of the record that the decoder belongs to.
    case part(RecordDecoder)
}

// MARK: - Values

/// The conversion of a column's value to a type.
enum ColumnConversion {
    case date
    case data
    case fast(any (DatabaseValueConvertible & StatementColumnConvertible).Type)
    case value(any DatabaseValueConvertible.Type)
    case optional(any DecodableOptional.Type)
    /// The type may decode itself from a single value.
    case single
    /// The type has requested a container first.
    case json

    init(_ type: any Any.Type) {
        if type == Date.self {
            self = .date
        } else if type == Data.self {
            self = .data
        } else if let type = type as? any DecodableOptional.Type {
            self = .optional(type)
        } else if let type = type as? any (DatabaseValueConvertible & StatementColumnConvertible).Type {
            self = .fast(type)
        } else if let type = type as? any DatabaseValueConvertible.Type {
            self = .value(type)
        } else {
            self = .single
        }
    }
}

extension RowDecodingSource {
    private func conversion(to type: any Any.Type, at column: Int) -> ColumnConversion {
        let id = ObjectIdentifier(type)
        if column < conversions.count, let known = conversions[column], known.type == id {
            return known.conversion
        }
        let conversion = ColumnConversion(type)
        setConversion(conversion, to: id, at: column)
        return conversion
    }

    private func setConversion(_ conversion: ColumnConversion, to id: ObjectIdentifier, at column: Int) {
        while conversions.count <= column { conversions.append(nil) }
        conversions[column] = (id, conversion)
    }

    /// Decodes a column.
    func decode<T: Decodable>(_ type: T.Type, at column: Int, key: any CodingKey) throws -> T {
        switch conversion(to: type, at: column) {
        case .date:
            let value = try decodeDate(at: column)
            return unsafe unsafeBitCast(value, to: T.self)  // T is Date
        case .data:
            let value = try decodeData(at: column)
            return unsafe unsafeBitCast(value, to: T.self)  // T is Data
        case .fast(let convertible):
            return try decodeFast(convertible, as: type, at: column)
        case .value(let convertible):
            return try decodeValue(convertible, as: type, at: column)
        case .optional(let optional):
            return try decodeOptional(optional, as: type, at: column, key: key)
        case .single:
            switch decodeSingle(type, at: column, key: key) {
            case .value(let value): return value
            case .failure: throw mismatch(type, at: column)
            case .notSingle(let value, let request):
                if value == nil, request == .container {
                    setConversion(.json, to: ObjectIdentifier(type), at: column)
                }
                do {
                    return try decodeJSON(type, at: column)
                } catch {
                    guard let value else { throw error }
                    return value
                }
            }
        case .json:
            do {
                return try decodeJSON(type, at: column)
            } catch {
                // The type may decode this value without a container.
                switch decodeSingle(type, at: column, key: key) {
                case .value(let value), .notSingle(let value?, _): return value
                case .failure, .notSingle(nil, _): throw error
                }
            }
        }
    }

    /// Returns the value that a type has for NULL, or nil if it has none.
    func decodeNull<T: Decodable>(_ type: T.Type, at column: Int) -> T? {
        switch conversion(to: type, at: column) {
        case .fast(let convertible): convertible.fromDatabaseValue(.null) as? T
        case .value(let convertible): convertible.fromDatabaseValue(.null) as? T
        case .date, .data, .optional, .single, .json: nil
        }
    }

    private func decodeFast<Value: DatabaseValueConvertible & StatementColumnConvertible, T>(
        _ convertible: Value.Type, as type: T.Type, at column: Int
    ) throws -> T {
        let value: Value
        if let handle {
            let liveColumn = firstLiveColumn &+ CInt(truncatingIfNeeded: column)
            guard let decoded = unsafe Value.fromStatement(handle.pointer, atUncheckedIndex: liveColumn)
            else {
                throw mismatch(type, at: column)
            }
            value = decoded
        } else {
            value = try decodeShown(Value.self, at: column)
        }
        return unsafe unsafeBitCast(value, to: T.self)  // Value and T are the same type
    }

    private func decodeValue<Value: DatabaseValueConvertible, T>(
        _ convertible: Value.Type, as type: T.Type, at column: Int
    ) throws -> T {
        let value = try decodeStored(Value.self, at: column)
        return unsafe unsafeBitCast(value, to: T.self)  // Value and T are the same type
    }

    private func decodeDate(at column: Int) throws -> Date {
        let strategy = record.databaseDateDecodingStrategy(for: storage.columnName(at: column))
        let date: Date?
        if case .deferredToDate = strategy, let handle {
            date = unsafe Date.fromStatement(
                handle.pointer, atUncheckedIndex: firstLiveColumn &+ CInt(truncatingIfNeeded: column))
        } else if case .deferredToDate = strategy, let live = storage.liveColumn(at: column) {
            date = unsafe Date.fromStatement(live.handle.pointer, atUncheckedIndex: live.index)
        } else {
            date = strategy.decode(storage.databaseValue(at: column))
        }
        guard let date else { throw mismatch(Date.self, at: column) }
        return date
    }

    private func decodeData(at column: Int) throws -> Data {
        let strategy = record.databaseDataDecodingStrategy(for: storage.columnName(at: column))
        guard let data = strategy.decode(storage.databaseValue(at: column)) else {
            throw mismatch(Data.self, at: column)
        }
        return data
    }

    private func decodeSingle<T: Decodable>(_ type: T.Type, at column: Int, key: any CodingKey)
        -> SingleValueDecoder.Outcome<T>
    {
        SingleValueDecoder.decode(
            type, from: storage.databaseValue(at: column), context: singleValueContext(at: column, key: key))
    }

    func singleValueContext(at column: Int, key: any CodingKey) -> SingleValueDecoder.Context {
        let name = storage.columnName(at: column)
        return SingleValueDecoder.Context(
            codingPath: codingPath + [key], userInfo: userInfo,
            dateStrategy: record.databaseDateDecodingStrategy(for: name),
            dataStrategy: record.databaseDataDecodingStrategy(for: name))
    }

    func decodeJSON<T: Decodable>(_ type: T.Type, at column: Int) throws -> T {
        guard let data = Data.fromDatabaseValue(storage.databaseValue(at: column)) else {
            throw mismatch(type, at: column)
        }
        return try jsonDecoder(at: column).decode(type, from: data)
    }

    private func jsonDecoder(at column: Int) -> JSONDecoder {
        if let decoder = jsonDecoders[column] { return decoder }
        let decoder = record.databaseJSONDecoder(for: storage.columnName(at: column))
        if decoder.userInfo.isEmpty, !userInfo.isEmpty { decoder.userInfo = userInfo.assumingSendableValues }
        jsonDecoders[column] = decoder
        return decoder
    }
}

extension [CodingUserInfoKey: Any] {
    /// The same dictionary for Foundation's coders, which require sendable values. These coders are not sent
    /// elsewhere.
    var assumingSendableValues: [CodingUserInfoKey: any Sendable] {
        // A marker protocol does not exist at run time: there, the two dictionaries have one type. Converting
        // each value would allocate another dictionary for each value that is encoded as JSON.
        unsafe unsafeBitCast(self, to: [CodingUserInfoKey: any Sendable].self)
    }
}
