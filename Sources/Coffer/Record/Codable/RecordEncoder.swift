internal import Foundation

/// An encoder of a record into a ``PersistenceContainer``.
///
/// It is reused for all records of a type, in succession, and caches its containers. They refer to the
/// ``RecordEncodingState`` and not to the encoder, which would create a reference cycle.
final class RecordEncoder: Encoder {
    let state: RecordEncodingState

    /// The containers, by key type. A record usually has one.
    private var containers: [(key: ObjectIdentifier, holder: AnyObject)] = []

    init(_ state: RecordEncodingState) { self.state = state }

    convenience init(_ record: any EncodableRecord.Type) {
        self.init(RecordEncodingState(record))
    }

    static func encode<Record: EncodableRecord & Encodable>(
        _ record: Record, to container: inout PersistenceContainer
    ) throws {
        let kept = container.encoder
        let encoder =
            if let kept, kept.state.record == type(of: record), !kept.state.isEncoding { kept } else {
                RecordEncoder(type(of: record))
            }
        try encoder.state.fill(&container) { try record.encode(to: encoder) }
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { state.record.databaseEncodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let id = ObjectIdentifier(type)
        for container in containers where container.key == id {
            // The holder was made for this key type.
            return unsafe unsafeDowncast(container.holder, to: ContainerHolder<Key>.self).container
        }
        let holder = ContainerHolder(KeyedEncodingContainer(RecordKeyedContainer<Key>(state: state)))
        containers.append((id, holder))
        return holder.container
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        state.refuse("A record must be encoded with keys, which are its columns, not as an array.")
        return JSONTree(userInfo: userInfo).unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(encoder: self) }

    private final class ContainerHolder<Key: CodingKey> {
        let container: KeyedEncodingContainer<Key>
        init(_ container: KeyedEncodingContainer<Key>) { self.container = container }
    }

    /// The container for types that wrap the record that they encode.
    private struct SingleContainer: SingleValueEncodingContainer {
        let encoder: RecordEncoder
        var codingPath: [any CodingKey] { [] }

        mutating func encodeNil() {
            encoder.state.refuse("A record must be encoded with keys, which are its columns, not as nil.")
        }
        mutating func encode(_ value: some Encodable) throws {
            guard !(value is any DatabaseValueConvertible) else {
                return encoder.state.refuse(
                    "A record must be encoded with keys, which are its columns, not as a single value.")
            }
            if let record = value as? any EncodableRecord {
                try encoder.state.setColumns(of: record)
            } else {
                try value.encode(to: encoder)
            }
        }
    }
}

/// The container being filled, and the conversions of the record type's values.
final class RecordEncodingState {
    /// The type whose strategies apply.
    let record: any EncodableRecord.Type

    @safe @exclusivity(unchecked) private(set) var isEncoding = false
    @exclusivity(unchecked) private var container = PersistenceContainer(capacity: 0)
    private var conversions: [(type: ObjectIdentifier, conversion: Conversion)] = []
    private let column: ((any CodingKey) -> String)?
    private var columns: [String: String] = [:]
    @safe @exclusivity(unchecked) private var nestedContainers: [(column: String, tree: JSONTree)] = []
    @safe @exclusivity(unchecked) private var refusal: EncodingError?

    init(_ record: any EncodableRecord.Type) {
        self.record = record
        self.column = record.databaseColumnEncodingStrategy.column
    }

    func fill(_ container: inout PersistenceContainer, _ body: () throws -> Void) throws {
        isEncoding = true
        unsafe swap(&self.container, &container)
        defer {
            unsafe swap(&self.container, &container)
            isEncoding = false
            nestedContainers.removeAll()
            refusal = nil
        }
        try body()
        if let refusal { throw refusal }
        for nested in nestedContainers {
            unsafe self.container.set(.string(try json(nested.tree, column: nested.column)), nested.column)
        }
    }

    func refuse(_ message: String) {
        refusal = .invalidValue(record, EncodingError.Context(codingPath: [], debugDescription: message))
    }

    func columnName(_ key: some CodingKey) -> String {
        guard let column else { return key.stringValue }
        let name = key.stringValue
        if let known = columns[name] { return known }
        let result = column(key)
        columns[name] = result
        return result
    }

    @inline(__always)
    func set(_ value: PersistenceValue, _ key: some CodingKey) {
        unsafe container.set(value, columnName(key))
    }

    @inline(__always)
    func set(_ value: (any DatabaseValueConvertible)?, _ key: some CodingKey) {
        set(value?.persistenceValue ?? .null, key)
    }

    /// Sets an integer that may exceed the range of SQLite's integers. Binding such an integer would end the
    /// process.
    func set(unsigned value: (some UnsignedInteger & Sendable)?, _ key: some CodingKey) throws {
        guard let value else { return set(.null, key) }
        set(.int64(try Int64(storing: value, codingPath: [key])), key)
    }

    /// Sets the columns that another record sets. Its own `encode(to:)` takes precedence over its coding.
    func setColumns(of other: any EncodableRecord) throws {
        for (column, value) in try PersistenceContainer(other) {
            unsafe container.set(value.persistenceValue, column)
        }
    }

    func nestedTree(_ key: some CodingKey) -> JSONTree {
        let tree = JSONTree(userInfo: record.databaseEncodingUserInfo)
        let name = columnName(key)
        // This reserves the position of the column. Its value is set when the tree is complete.
        unsafe container.set(.null, name)
        nestedContainers.append((name, tree))
        return tree
    }
}

// MARK: - Values

extension RecordEncodingState {
    /// The conversion of values of a type.
    private enum Conversion {
        case date, data, uuid, unsigned
        case value(any DatabaseValueConvertible.Type)
        /// NULL, or the stored form of the wrapped value. Most encoders request only the wrapped value: see
        /// `encodeIfPresent(_:forKey:)`.
        case optional(any EncodableOptional.Type)
        /// A single value if the type encodes itself into one, or else JSON. The choice can differ for each
        /// value.
        case coded

        init(_ type: any Any.Type) {
            if type == Date.self {
                self = .date
            } else if type == Data.self {
                self = .data
            } else if type == UUID.self {
                self = .uuid
            } else if type == UInt.self || type == UInt64.self {
                self = .unsigned
            } else if let type = type as? any EncodableOptional.Type {
                self = .optional(type)
            } else if let type = type as? any DatabaseValueConvertible.Type {
                self = .value(type)
            } else {
                self = .coded
            }
        }
    }

    private func conversion(of type: any Any.Type) -> Conversion {
        let id = ObjectIdentifier(type)
        for known in conversions where known.type == id { return known.conversion }
        let conversion = Conversion(type)
        conversions.append((id, conversion))
        return conversion
    }

    func encode<T: Encodable>(_ value: T, _ key: some CodingKey) throws {
        let column = columnName(key)
        unsafe container.set(try convert(value, column: column, key: key)?.persistenceValue ?? .null, column)
    }

    fileprivate func convert<T: Encodable>(_ value: T, column: String, key: some CodingKey) throws -> (
        any DatabaseValueConvertible
    )? {
        switch conversion(of: T.self) {
        case .date:
            try record.databaseDateEncodingStrategy(for: column).encode(
                unsafe unsafeBitCast(value, to: Date.self))
        case .data:
            try record.databaseDataEncodingStrategy(for: column).encode(
                unsafe unsafeBitCast(value, to: Data.self), column: column)
        case .uuid:
            record.databaseUUIDEncodingStrategy(for: column).encode(
                unsafe unsafeBitCast(value, to: UUID.self))
        case .unsigned:
            // Both types have 64 bits.
            try Int64(storing: unsafe unsafeBitCast(value, to: UInt64.self), codingPath: [key])
        case .value(let type): convertible(value, as: type)
        case .optional(let type): try optional(value, as: type, column: column, key: key)
        case .coded: try coded(value, column: column, key: key)
        }
    }

    /// Returns the value, whose type is `Value`, as its conformance. A dynamic cast would look up the
    /// conformance each time.
    private func convertible<Value: DatabaseValueConvertible>(_ value: some Any, as type: Value.Type)
        -> any DatabaseValueConvertible
    {
        unsafe unsafeBitCast(value, to: type)
    }

    /// Converts the value, whose type is `Value`, through its conformance.
    private func optional<Value: EncodableOptional>(
        _ value: some Any, as type: Value.Type, column: String, key: some CodingKey
    ) throws -> (any DatabaseValueConvertible)? {
        try unsafe unsafeBitCast(value, to: type).convert(by: self, column: column, key: key)
    }

    private func coded(_ value: some Encodable, column: String, key: some CodingKey) throws -> (
        any DatabaseValueConvertible
    )? {
        let context = SingleValueEncoder.Context(
            codingPath: [key], userInfo: record.databaseEncodingUserInfo,
            dateStrategy: record.databaseDateEncodingStrategy(for: column),
            dataStrategy: record.databaseDataEncodingStrategy(for: column),
            uuidStrategy: record.databaseUUIDEncodingStrategy(for: column))
        if let single = try SingleValueEncoder.encode(value, context: context) { return single }
        return try json(value, column: column)
    }

    private func json(_ value: some Encodable, column: String) throws -> String {
        let encoder = record.databaseJSONEncoder(for: column)
        let userInfo = record.databaseEncodingUserInfo
        if encoder.userInfo.isEmpty, !userInfo.isEmpty { encoder.userInfo = userInfo.assumingSendableValues }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// An optional whose wrapped value is encoded as if it were not optional, so that the strategies of the
/// record type apply to it.
private protocol EncodableOptional {
    func convert(by state: RecordEncodingState, column: String, key: some CodingKey) throws -> (
        any DatabaseValueConvertible
    )?
}

extension Optional: EncodableOptional where Wrapped: Encodable {
    fileprivate func convert(by state: RecordEncodingState, column: String, key: some CodingKey) throws -> (
        any DatabaseValueConvertible
    )? {
        try map { try state.convert($0, column: column, key: key) } ?? nil
    }
}

// MARK: - Keys

/// The columns of a record, by coding key.
private struct RecordKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: RecordEncodingState
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { state.set(.null, key) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try state.encode(value, key) }
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { try state.encode(value, key) } else { state.set(.null, key) }
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key)
        -> KeyedEncodingContainer<NestedKey>
    {
        state.nestedTree(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        state.nestedTree(key).unkeyedContainer()
    }

    /// The columns of a superclass are in the same row.
    func superEncoder() -> any Encoder { RecordEncoder(state) }
    func superEncoder(forKey key: Key) -> any Encoder { state.nestedTree(key) }

    // The types that the standard library lists individually. Inlining gives each requirement code of its
    // own.
    @inline(__always)
    func encode<T: Encodable & DatabaseValueConvertible>(_ value: T, forKey key: Key) {
        state.set(value.persistenceValue, key)
    }

    // The default implementations omit columns that are nil.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) {
        state.set(value.map { .string($0) } ?? .null, key)
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) {
        state.set(value.map { .double($0) } ?? .null, key)
    }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { state.set(value.map { .int($0) } ?? .null, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) {
        state.set(value.map { .int64($0) } ?? .null, key)
    }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try state.set(unsigned: value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { state.set(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try state.set(unsigned: value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try state.set(unsigned: value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try state.set(unsigned: value, key) }
}

extension Int64 {
    /// Creates the integer to be stored for another one.
    ///
    /// - Throws: an `EncodingError` if SQLite cannot store it.
    init(storing value: some UnsignedInteger & Sendable, codingPath: [any CodingKey]) throws {
        guard let integer = Int64(exactly: value) else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "\(value) is above SQLite's largest integer, \(Int64.max)."))
        }
        self = integer
    }
}
