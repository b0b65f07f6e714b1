public import Foundation

/// A type that can be stored in one column, and read from it.
///
/// Standard types conform: `Bool`, all integers, `Double`, `Float`, `String`, `Data`, `Date`, `Decimal`,
/// `URL`, `UUID`, and their optionals. Arrays, sets, and dictionaries do not: wrap them in a `Codable` type.
///
/// To conform, implement ``databaseValue`` and ``fromDatabaseValue(_:)``:
///
/// ```swift
/// /// A weight in grams, which is never negative.
/// extension Weight: DatabaseValueConvertible {
///     var databaseValue: DatabaseValue { grams.databaseValue }
///
///     static func fromDatabaseValue(_ value: DatabaseValue) -> Weight? {
///         guard let grams = Int.fromDatabaseValue(value), grams >= 0 else { return nil }
///         return Weight(grams: grams)
///     }
/// }
/// ```
///
/// `RawRepresentable` types such as enums need no code if their raw value conforms. `Codable` types need none
/// either: they are stored as JSON, or as a plain value if they encode themselves into a single value
/// container.
public protocol DatabaseValueConvertible: SQLExpressible, StatementBinding {
    /// The value to store.
    var databaseValue: DatabaseValue { get }

    /// Creates a value from a stored value, or returns nil if it cannot be converted.
    ///
    /// Return nil for invalid values: the caller then reports a decoding error with the column and the
    /// statement.
    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self?

    /// The representation of the value in a record until the record is stored.
    ///
    /// Do not implement it: only the standard types do.
    var persistenceValue: PersistenceValue { get }

    /// Returns the value for a column that the row does not have, or nil if a missing column is a decoding
    /// error.
    ///
    /// Do not implement it: only optionals do.
    static func fromMissingColumn() -> Self?

    /// Returns the decoder for a `Decodable` type that is stored as JSON.
    ///
    /// By default, dates are milliseconds since 1970, data is base64, and infinity and NaN are errors.
    static func databaseJSONDecoder() -> JSONDecoder

    /// Returns the encoder for an `Encodable` type that is stored as JSON.
    ///
    /// By default, dates are milliseconds since 1970, data is base64, infinity and NaN are errors, and keys
    /// are sorted. Sort keys in your own encoder too: equal values must be stored as equal text, or they are
    /// saved and observed as changes.
    static func databaseJSONEncoder() -> JSONEncoder
}

extension DatabaseValueConvertible {
    @inlinable
    public static func fromMissingColumn() -> Self? { nil }

    public var persistenceValue: PersistenceValue { .other(self) }

    public static func databaseJSONDecoder() -> JSONDecoder { .forStoredValues }

    public static func databaseJSONEncoder() -> JSONEncoder { .forStoredValues }

    /// The stored value as an expression, which is bound as an argument.
    public var sqlExpression: SQLExpression { .databaseValue(databaseValue) }

    /// Binds the stored value to the parameter at `index`, which starts at 1.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe databaseValue.bind(to: sqliteStatement, at: index)
    }
}

extension JSONDecoder {
    /// A new decoder for values that are stored as JSON.
    static var forStoredValues: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .base64
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.nonConformingFloatDecodingStrategy = .throw
        return decoder
    }
}

extension JSONEncoder {
    /// A new encoder for values that are stored as JSON, which stores equal values as equal text.
    static var forStoredValues: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .base64
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.nonConformingFloatEncodingStrategy = .throw
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
