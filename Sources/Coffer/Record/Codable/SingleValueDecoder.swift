internal import Foundation

/// A decoder of a type from one database value, which detects if the type requests more than one.
struct SingleValueDecoder: Decoder, SingleValueDecodingContainer {
    enum Outcome<Value> {
        case value(Value)
        /// The value cannot be converted.
        case failure
        /// The type requested a keyed or unkeyed container. The value is the one that it produced without the
        /// container, or nil.
        case notSingle(Value?, Request)
    }

    /// The first container that a type requested.
    enum Request {
        /// A single value. If it cannot be converted, the type may request another container.
        case value
        /// A keyed or unkeyed container. The type does so for each value.
        case container
    }

    /// Shared by all decoders of one decoding: a type may catch the error and try another container.
    private final class Attempt {
        var isSingle = true
        var first: Request?
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
        guard decoder.attempt.isSingle else { return .notSingle(value, decoder.attempt.first ?? .container) }
        return value.map { .value($0) } ?? .failure
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw refusal()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refusal() }

    private func refusal() -> NotSingle {
        attempt.isSingle = false
        attempt.first = attempt.first ?? .container
        return NotSingle()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        attempt.first = attempt.first ?? .value
        return self
    }

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
