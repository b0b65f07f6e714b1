/// Decodes a type from one database value, and notices when the type asks for more than one.
struct SingleValueDecoder: Decoder, SingleValueDecodingContainer {
    enum Outcome<Value> {
        case value(Value)
        /// The value cannot be converted.
        case failure
        /// The type asked for a keyed or unkeyed container.
        case notSingle
    }

    /// Shared by all decoders of one decoding: a type may catch the error and try another container.
    private final class Request {
        var isSingle = true
    }

    private struct NotSingle: Error {}

    private let dbValue: DatabaseValue
    private let request: Request
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Value: Decodable>(_ type: Value.Type, from dbValue: DatabaseValue) -> Outcome<Value> {
        let decoder = SingleValueDecoder(dbValue: dbValue, request: Request())
        let value = try? Value(from: decoder)
        guard decoder.request.isSingle else { return .notSingle }
        return value.map { .value($0) } ?? .failure
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        request.isSingle = false
        throw NotSingle()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        request.isSingle = false
        throw NotSingle()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { dbValue.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return try Value(from: self) }
        guard let value = convertible.fromDatabaseValue(dbValue) as? Value else {
            throw DecodingError.typeMismatch(type, DecodingError.Context(codingPath: [], debugDescription: "No conversion."))
        }
        return value
    }
}
