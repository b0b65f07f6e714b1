internal import SQLCipherBridge

/// The columns of a row, by coding key.
///
/// Most keys are synthesized enumerations of one byte. For such keys, each column is looked up by name only
/// once in the life of the decoder, and by the byte afterwards.
///
/// This is a class because the standard library copies the container for each column. Copying a structure
/// would retain and release each of its references.
final class RowKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let source: RowDecodingSource
    private let handle: StatementHandle?
    private let firstLiveColumn: CInt

    /// True if the keys are values of one byte, so that equal bytes are equal keys.
    private let areKeysBytes = MemoryLayout<Key>.size == 1 && _isPOD(Key.self)

    /// The columns of one-byte keys; -1 marks a key without a column.
    @exclusivity(unchecked) private var columns: [Int32] = []

    init(_ source: RowDecodingSource) {
        self.source = source
        self.handle = source.handle
        self.firstLiveColumn = source.firstLiveColumn
    }

    var codingPath: [any CodingKey] { source.codingPath }

    var allKeys: [Key] {
        (source.columnKeys + source.row.scopesTree.names + source.prefetchedRows.keys).compactMap(
            Key.init(stringValue:))
    }

    func contains(_ key: Key) -> Bool { column(key) >= 0 || source.hasAssociation(key.stringValue) }

    func decodeNil(forKey key: Key) -> Bool {
        let column = column(key)
        if column >= 0 { return source.storage.isNull(at: column) }
        return source.isAssociationNull(key.stringValue)
    }

    // MARK: Columns

    /// Returns the column of a key, or a negative number if there is none.
    @inline(__always)
    private func column(_ key: Key) -> Int {
        guard areKeysBytes else { return source.column(forKey: key.stringValue) ?? -1 }
        let byte = unsafe Int(unsafeBitCast(key, to: UInt8.self))
        if unsafe byte < columns.count {
            let column = unsafe columns[byte]
            if column != unknownColumn { return Int(column) }
        }
        return findColumn(key, byte)
    }

    private func findColumn(_ key: Key, _ byte: Int) -> Int {
        let column = source.column(forKey: key.stringValue) ?? -1
        while unsafe columns.count <= byte { unsafe columns.append(unknownColumn) }
        unsafe columns[byte] = Int32(truncatingIfNeeded: column)
        return column
    }

    // Implements the requirement of each standard type. Inlining gives each requirement code of its own.
    @inline(__always)
    func decode<Value: Decodable & DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type, forKey key: Key
    ) throws -> Value {
        let column = column(key)
        guard column >= 0 else { throw source.missing(key) }
        if let handle {
            let liveColumn = firstLiveColumn &+ CInt(truncatingIfNeeded: column)
            if let value = unsafe Value.fromStatement(handle.pointer, atUncheckedIndex: liveColumn) {
                return value
            }
            throw source.mismatch(type, at: column)
        }
        return try source.decodeShown(type, at: column)
    }

    @inline(__always)
    private func valueIfPresent<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type, _ key: Key
    ) throws -> Value? {
        let column = column(key)
        guard column >= 0 else { return nil }
        if let handle {
            let liveColumn = firstLiveColumn &+ CInt(truncatingIfNeeded: column)
            if let value = unsafe Value.fromStatement(handle.pointer, atUncheckedIndex: liveColumn) {
                return value
            }
            if handle.isNull(at: liveColumn) { return nil }
            throw source.mismatch(type, at: column)
        }
        return source.storage.isNull(at: column) ? nil : try source.decodeShown(type, at: column)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let column = column(key)
        if column >= 0 { return try source.decode(type, at: column, key: key) }
        return try source.decodeAssociation(type, key: key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let column = column(key)
        if column >= 0 {
            return source.storage.isNull(at: column)
                ? source.decodeNull(type, at: column) : try source.decode(type, at: column, key: key)
        }
        return try source.decodeAssociationIfPresent(type, key: key)
    }

    // MARK: Nested containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nestedDecoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nestedDecoder(key).unkeyedContainer()
    }

    /// The columns of a superclass are in the same row.
    func superDecoder() -> any Decoder { RecordDecoder(source) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nestedDecoder(key) }

    private func nestedDecoder(_ key: Key) throws -> any Decoder {
        let column = column(key)
        if column >= 0 { return try source.decodeJSON(CapturedDecoder.self, at: column).decoder }
        return try source.associationDecoder(key)
    }

    // MARK: Optional standard types

    // The default implementations look a column up twice. They would precede a generic function.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try valueIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try valueIfPresent(type, key)
    }
}

/// The number that marks a key whose column has not been looked up yet.
private let unknownColumn: Int32 = -2

/// A value that provides the decoder from which it is decoded.
private struct CapturedDecoder: Decodable {
    let decoder: any Decoder
    init(from decoder: any Decoder) { self.decoder = decoder }
}

/// A row as a single value: the value of its only column, or a type that decodes itself from the same row.
struct RowSingleValueContainer: SingleValueDecodingContainer {
    let source: RowDecodingSource

    /// True if the row is an element of an array, and stands for its first column.
    var isElement = false

    var codingPath: [any CodingKey] { source.codingPath }

    func decodeNil() -> Bool { !source.row.containsNonNullValue }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let record = type as? any FetchableRecord.Type, let value = try record.init(row: source.row) as? T
        {
            return value
        }
        guard let convertible = type as? any DatabaseValueConvertible.Type else {
            return isElement ? try T(from: RowElementDecoder(source)) : try T(from: RecordDecoder(source))
        }
        guard source.storage.count == 1 || (isElement && source.storage.count > 1) else {
            throw DecodingError.typeMismatch(
                type,
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription:
                        "A row with several columns cannot be decoded as a single value."))
        }
        if isElement { return try source.decode(type, at: 0, key: codingPath.last ?? IndexKey(0)) }
        guard let value = convertible.fromDatabaseValue(source.storage.databaseValue(at: 0)) as? T else {
            throw source.mismatch(type, at: 0)
        }
        return value
    }
}
