internal import Foundation

/// A decoder of a type from one database value, which detects if the type requests more than one.
struct SingleValueDecoder: Decoder, SingleValueDecodingContainer {
    enum Outcome<Value> {
        case value(Value)
        /// The value cannot be converted.
        case failure
        /// The type requested a keyed or unkeyed container.
        case notSingle
    }

    /// Shared by all decoders of one decoding: a type may catch the error and try another container.
    private final class Attempt {
        var isSingle = true
    }

    private struct NotSingle: Error {}

    /// The coding path, `userInfo` and strategies that apply to the value.
    struct Context {
        var codingPath: [any CodingKey] = []
        var userInfo: [CodingUserInfoKey: Any] = [:]
        var dateStrategy = DatabaseDateDecodingStrategy.deferredToDate
        var dataStrategy = DatabaseDataDecodingStrategy.deferredToData
    }

    private let dbValue: DatabaseValue
    private let attempt: Attempt
    private let context: Context
    var codingPath: [any CodingKey] { context.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from dbValue: DatabaseValue, context: Context = Context()
    ) -> Outcome<Value> {
        let decoder = SingleValueDecoder(dbValue: dbValue, attempt: Attempt(), context: context)
        let value = try? Value(from: decoder)
        guard decoder.attempt.isSingle else { return .notSingle }
        return value.map { .value($0) } ?? .failure
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        attempt.isSingle = false
        throw NotSingle()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        attempt.isSingle = false
        throw NotSingle()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { dbValue.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let convertible = type as? any DatabaseValueConvertible.Type else {
            return try Value(from: self)
        }
        guard let value = convert(to: convertible) as? Value else {
            throw DecodingError.typeMismatch(
                type, DecodingError.Context(codingPath: codingPath, debugDescription: "No conversion."))
        }
        return value
    }

    private func convert(to type: any DatabaseValueConvertible.Type) -> (any DatabaseValueConvertible)? {
        if type == Date.self { return context.dateStrategy.decode(dbValue) }
        if type == Data.self { return context.dataStrategy.decode(dbValue) }
        return type.fromDatabaseValue(dbValue)
    }
}
