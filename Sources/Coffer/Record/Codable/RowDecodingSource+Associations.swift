// Keys without a column: scopes, prefetched rows, and the row itself, in this order.

extension RowDecodingSource {
    func hasAssociation(_ name: String) -> Bool { scope(name) != nil || prefetchedRows[name] != nil }

    /// Returns true if a name has no associated value other than NULL.
    func isAssociationNull(_ name: String) -> Bool {
        if let scope = scope(name) { return !scope.containsNonNullValue }
        return prefetchedRows[name] == nil
    }

    func decodeAssociation<T: Decodable>(_ type: T.Type, key: any CodingKey) throws -> T {
        if let value = try decodeKnownAssociation(type, key: key) { return value }
        if let optional = type as? any DecodableOptional.Type {
            return try decodeOptionalAssociation(optional, as: type, key: key)
        }
        let name = key.stringValue
        if let row = scope(name) {
            guard row.containsNonNullValue else {
                throw DecodingError.valueNotFound(
                    type, context("The scope \(String(reflecting: name)) only contains NULL.", key))
            }
            return try decode(type, from: row, key: key)
        }
        if let rows = prefetchedRows[name] { return try T(from: PrefetchedRowsDecoder(rows, self, key)) }
        if let convertible = type as? any DatabaseValueConvertible.Type {
            guard let value = convertible.fromMissingColumn() as? T else { throw missing(key) }
            return value
        }
        if type is any CollectionOfRows.Type {
            let keys = prefetchedRows.keys.sorted()
            throw DecodingError.keyNotFound(
                key,
                context(
                    "There are no prefetched rows for the key \(String(reflecting: name)). Available keys: "
                        + "\(keys).",
                    key))
        }
        guard let row = row(forUnknownKey: name) else {
            throw DecodingError.keyNotFound(
                key,
                context(
                    "There is no column, scope or association with the name \(String(reflecting: name)), "
                        + "and the row itself is already "
                        + "decoded as \(String(reflecting: nameOfRow ?? "")).", key))
        }
        return try decode(type, from: row, key: key)
    }

    /// Decodes an association in the same way as for another row of the cursor; nil if it was not decoded
    /// before, or must be examined again.
    private func decodeKnownAssociation<T: Decodable>(_ type: T.Type, key: any CodingKey) throws -> T? {
        let name = key.stringValue
        if let row = scope(name) {
            guard let conversion = knownConversion(of: row, to: type), row.containsNonNullValue else {
                return nil
            }
            return try decode(type, from: row, conversion)
        }
        guard prefetchedRows[name] == nil, let known = knownRow(forUnknownKey: name, as: type) else {
            return nil
        }
        return try decode(type, from: known.row, known.conversion)
    }

    func decodeAssociationIfPresent<T: Decodable>(_ type: T.Type, key: any CodingKey) throws -> T? {
        let name = key.stringValue
        if let row = scope(name) {
            return row.containsNonNullValue ? try decode(type, from: row, key: key) : nil
        }
        return try prefetchedRows[name].map { try T(from: PrefetchedRowsDecoder($0, self, key)) }
    }

    private func decodeOptionalAssociation<Value: DecodableOptional, T>(
        _ optional: Value.Type, as type: T.Type, key: any CodingKey
    ) throws -> T {
        let value = try Value.decodeAssociation(from: self, key: key)
        return unsafe unsafeBitCast(value, to: T.self)  // Value and T are the same type
    }

    /// Decodes a row: records by their own initializer, and other types as parts of this record.
    private func decode<T: Decodable>(_ type: T.Type, from row: Row, key: any CodingKey) throws -> T {
        if let conversion = knownConversion(of: row, to: type) {
            return try decode(type, from: row, conversion)
        }
        let conversion =
            (type as? any FetchableRecord.Type).map { RowConversion.record($0) }
            ?? .part(decoder(of: row, key))
        remember(conversion, of: row, to: type)
        return try decode(type, from: row, conversion)
    }

    private func decode<T: Decodable>(_ type: T.Type, from row: Row, _ conversion: RowConversion) throws -> T
    {
        switch conversion {
        case .record(let record): try decode(record, as: type, from: row)
        case .part(let decoder): try T(from: decoder)
        }
    }

    private func decode<Record: FetchableRecord, T>(_ record: Record.Type, as type: T.Type, from row: Row)
        throws -> T
    {
        let value = try Record(row: row)
        return unsafe unsafeBitCast(value, to: T.self)  // Record and T are the same type
    }

    /// Returns a decoder of the association with a key, for containers that are implemented by hand.
    func associationDecoder(_ key: any CodingKey) throws -> any Decoder {
        if let row = scope(key.stringValue) { return decoder(of: row, key) }
        guard let rows = prefetchedRows[key.stringValue] else { throw missing(key) }
        return PrefetchedRowsDecoder(rows, self, key)
    }

    private func decoder(of row: Row, _ key: any CodingKey) -> RecordDecoder {
        RecordDecoder(
            RowDecodingSource(row, record: record, keys: .useDefaultKeys, codingPath: codingPath + [key]))
    }

    private func context(_ text: String, _ key: any CodingKey) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath + [key], debugDescription: text)
    }
}

/// A collection that can be decoded from prefetched rows. If there are none, it cannot be decoded from the
/// row itself either.
private protocol CollectionOfRows {}
extension Array: CollectionOfRows {}
extension Set: CollectionOfRows {}

// MARK: - Arrays

/// A decoder of a collection from prefetched rows.
private struct PrefetchedRowsDecoder: Decoder {
    let rows: [Row]

    /// The row that the prefetched rows belong to. The strategies of its type apply.
    let owner: RowDecodingSource
    let codingPath: [any CodingKey]

    init(_ rows: [Row], _ owner: RowDecodingSource, _ key: any CodingKey) {
        self.rows = rows
        self.owner = owner
        codingPath = owner.codingPath + [key]
    }

    var userInfo: [CodingUserInfoKey: Any] { owner.userInfo }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { PrefetchedRowsContainer(decoder: self) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw mismatch([String: Any].self)
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw mismatch(Any.self) }

    private func mismatch(_ type: any Any.Type) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription:
                    "There are \(rows.count) prefetched rows, which must be decoded as a collection.")
        )
    }
}

private struct PrefetchedRowsContainer: UnkeyedDecodingContainer {
    let decoder: PrefetchedRowsDecoder
    private(set) var currentIndex = 0

    /// The decoder of the previous row, which is reused for rows with the same columns.
    private var last: (type: ObjectIdentifier, decoder: RowElementDecoder, row: SuccessiveRow)?

    init(decoder: PrefetchedRowsDecoder) { self.decoder = decoder }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.rows.count }
    var isAtEnd: Bool { currentIndex >= decoder.rows.count }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let decoder = try nextDecoder(type)
        let value =
            type is any DatabaseValueConvertible.Type
            ? try RowSingleValueContainer(source: decoder.source, isElement: true).decode(type)
            : try T(from: decoder)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) throws
        -> KeyedDecodingContainer<NestedKey>
    {
        let container = try nextDecoder(type).container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nextDecoder([any Decodable].self).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try nextDecoder(Any.self)
        currentIndex += 1
        return decoder
    }

    /// Returns the decoder of the next row. The element type determines its columns; the owner determines how
    /// values are read.
    private mutating func nextDecoder(_ type: any Any.Type) throws -> RowElementDecoder {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: codingPath + [IndexKey(currentIndex)],
                    debugDescription: "There are no more rows."))
        }
        let row = decoder.rows[currentIndex]
        if let last, last.type == ObjectIdentifier(type), last.row.move(to: row) {
            last.decoder.source.element = currentIndex
            return last.decoder
        }
        let keys = (type as? any FetchableRecord.Type)?.databaseColumnDecodingStrategy ?? .useDefaultKeys
        let successive = SuccessiveRow(row)
        let source = RowDecodingSource(
            successive.map { Row(storage: $0) } ?? row, record: decoder.owner.record, keys: keys,
            codingPath: codingPath)
        source.element = currentIndex
        let element = RowElementDecoder(source)
        last = successive.map { (ObjectIdentifier(type), element, $0) }
        return element
    }
}

/// A row that successively shows copied rows of one statement.
private final class SuccessiveRow: RowStorage {
    private var current: CopiedRowStorage

    /// - Returns: nil for a row that has scopes or prefetched rows.
    init?(_ row: Row) {
        guard let storage = row.storage as? CopiedRowStorage, row.prefetchedTree == nil else { return nil }
        current = storage
    }

    /// Moves to another row, unless that row has other columns, scopes, or prefetched rows.
    func move(to row: Row) -> Bool {
        guard let storage = row.storage as? CopiedRowStorage, storage.hasColumns(of: current),
            row.prefetchedTree == nil
        else { return false }
        current = storage
        return true
    }

    var count: Int { current.count }
    var isFetched: Bool { current.isFetched }
    func columnName(at index: Int) -> String { current.columnName(at: index) }
    func index(ofColumn name: String) -> Int? { current.index(ofColumn: name) }
    func databaseValue(at index: Int) -> DatabaseValue { current.databaseValue(at: index) }
    func isNull(at index: Int) -> Bool { current.isNull(at: index) }
    func copy() -> any RowStorage { current }
}

/// A decoder of a row, or of its first column if a single value is requested.
struct RowElementDecoder: Decoder {
    let source: RowDecodingSource
    private let decoder: RecordDecoder

    init(_ source: RowDecodingSource) {
        self.source = source
        decoder = RecordDecoder(source)
    }

    var codingPath: [any CodingKey] { source.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { source.userInfo }
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        decoder.container(keyedBy: type)
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueDecodingContainer {
        RowSingleValueContainer(source: source, isElement: true)
    }
}

/// The position of an element in a coding path.
struct IndexKey: CodingKey {
    let index: Int
    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }

    init(_ index: Int) { self.index = index }
    init?(intValue: Int) { index = intValue }
    init?(stringValue: String) { return nil }
}
