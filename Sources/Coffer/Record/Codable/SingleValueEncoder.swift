internal import Foundation

/// An encoder of a value into one database value, which detects if the value needs more than one.
final class SingleValueEncoder: Encoder {
    private struct NotSingle: Error {}

    /// The coding path, `userInfo` and strategies that apply to the value.
    struct Context {
        var codingPath: [any CodingKey] = []
        var userInfo: [CodingUserInfoKey: Any] = [:]
        var dateStrategy = DatabaseDateEncodingStrategy.deferredToDate
        var dataStrategy = DatabaseDataEncodingStrategy.deferredToData
        var uuidStrategy = DatabaseUUIDEncodingStrategy.deferredToUUID

        fileprivate func databaseValue(_ value: any DatabaseValueConvertible) throws -> DatabaseValue {
            switch value {
            case let date as Date: try dateStrategy.encode(date)?.databaseValue ?? .null
            case let data as Data: try dataStrategy.encode(data)?.databaseValue ?? .null
            case let uuid as UUID: uuidStrategy.encode(uuid).databaseValue
            case let integer as UInt: try Int64(storing: integer, codingPath: codingPath).databaseValue
            case let integer as UInt64: try Int64(storing: integer, codingPath: codingPath).databaseValue
            default: value.databaseValue
            }
        }
    }

    private var result: DatabaseValue?
    private var isSingle = true
    private let context: Context
    var codingPath: [any CodingKey] { context.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

    private init(_ context: Context) { self.context = context }

    /// Returns the value that `value` encodes into its single value container, or nil if it requests another
    /// container or encodes nothing.
    static func encode(_ value: some Encodable, context: Context = Context()) throws -> DatabaseValue? {
        let encoder = SingleValueEncoder(context)
        do {
            try value.encode(to: encoder)
        } catch {
            // The error of a refusing container may have been wrapped in another error.
            if encoder.isSingle { throw error }
        }
        return encoder.isSingle ? encoder.result : nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        isSingle = false
        return KeyedEncodingContainer(RefusingKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isSingle = false
        return RefusingUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(encoder: self) }

    private struct SingleContainer: SingleValueEncodingContainer {
        let encoder: SingleValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        mutating func encodeNil() { encoder.result = .null }

        mutating func encode(_ value: some Encodable) throws {
            if let value = value as? any DatabaseValueConvertible {
                encoder.result = try encoder.context.databaseValue(value)
            } else {
                try value.encode(to: encoder)
            }
        }
    }

    /// A container that stops the encoding at the first value. The value is then encoded again as JSON.
    private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: SingleValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        mutating func encodeNil(forKey key: Key) throws { throw NotSingle() }
        mutating func encode(_ value: some Encodable, forKey key: Key) throws { throw NotSingle() }
        mutating func nestedContainer<NestedKey: CodingKey>(
            keyedBy keyType: NestedKey.Type, forKey key: Key
        ) -> KeyedEncodingContainer<NestedKey> { encoder.container(keyedBy: keyType) }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            encoder.unkeyedContainer()
        }
        mutating func superEncoder() -> any Encoder { encoder }
        mutating func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }

    private struct RefusingUnkeyedContainer: UnkeyedEncodingContainer {
        let encoder: SingleValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { 0 }

        mutating func encodeNil() throws { throw NotSingle() }
        mutating func encode(_ value: some Encodable) throws { throw NotSingle() }
        mutating func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type)
            -> KeyedEncodingContainer<NestedKey>
        {
            encoder.container(keyedBy: keyType)
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
        mutating func superEncoder() -> any Encoder { encoder }
    }
}
