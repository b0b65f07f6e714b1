public import Foundation

/// A type that can be stored in, and read from, one column.
///
/// The standard types conform: `Bool`, all integers, `Double`, `Float`, `String`, `Data`, `Date`, `Decimal`,
/// `URL`, `UUID`, and optionals of them. Arrays, sets and dictionaries do not: wrap them in a `Codable` type.
///
/// To conform, implement ``databaseValue`` and ``fromDatabaseValue(_:)``:
///
/// ```swift
/// /// A weight in grams, which is never below zero.
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
/// `RawRepresentable` types, enums for example, need no code if their raw value conforms. `Codable` types
/// need none either: they are stored as JSON, or as a plain value if they encode themselves into a single
/// value container.
public protocol DatabaseValueConvertible: SQLExpressible, StatementBinding {
    /// The value that is stored.
    var databaseValue: DatabaseValue { get }

    /// Creates a value from what was stored, or returns nil if it cannot be converted.
    ///
    /// Return nil for what you would not have stored, and let the caller report a decoding error with the
    /// column and the statement.
    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self?

    /// The value as a record keeps it until it is stored.
    ///
    /// Do not implement it: it exists for the standard types.
    var persistenceValue: PersistenceValue { get }

    /// The value for a column that the row does not have, or nil if a missing column is a decoding error.
    ///
    /// Do not implement it: it exists for optionals.
    static func fromMissingColumn() -> Self?

    /// The decoder for a `Decodable` type that is stored as JSON.
    ///
    /// By default, dates are numbers of milliseconds since 1970, data is in base 64, and infinity and NaN are
    /// errors.
    static func databaseJSONDecoder() -> JSONDecoder

    /// The encoder for an `Encodable` type that is stored as JSON.
    ///
    /// By default, dates are numbers of milliseconds since 1970, data is in base 64, infinity and NaN are
    /// errors, and keys are sorted. Keep them sorted in your own: equal values must be stored as equal text,
    /// or they are saved and observed as changes.
    static func databaseJSONEncoder() -> JSONEncoder
}

extension DatabaseValueConvertible {
    @inlinable
    public static func fromMissingColumn() -> Self? { nil }

    public var persistenceValue: PersistenceValue { .other(self) }

    public static func databaseJSONDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .base64
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.nonConformingFloatDecodingStrategy = .throw
        return decoder
    }

    public static func databaseJSONEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .base64
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.nonConformingFloatEncodingStrategy = .throw
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    /// The expression of the stored value, which is bound as an argument.
    public var sqlExpression: SQLExpression { .databaseValue(databaseValue) }

    /// Binds the stored value.
    ///
    /// - Parameters:
    ///   - sqliteStatement: a statement that stands on a row.
    ///   - index: the position of the column, from 0.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe databaseValue.bind(to: sqliteStatement, at: index)
    }
}
