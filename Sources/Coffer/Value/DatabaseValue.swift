public import Foundation

/// A value as SQLite stores it: NULL, an integer, a floating-point number, text, or bytes.
///
/// Fetch a `DatabaseValue` to inspect the content of a column, or to convert it without a fatal error:
///
/// ```swift
/// let value: DatabaseValue = row["date"]
/// let date = Date.fromDatabaseValue(value)  // nil if it is not a date
/// ```
///
/// Equality matches SQLite's: an integer and a floating-point number are equal if they are the same number,
/// text is compared byte by byte (`"é"` as one Unicode scalar differs from `"é"` as two), and NULL equals
/// NULL.
public struct DatabaseValue: Sendable {
    /// The stored value, by SQLite's storage class.
    ///
    /// Equality is stricter than for ``DatabaseValue``: the integer 1 and the floating-point number 1.0
    /// differ.
    @frozen public enum Storage: Sendable {
        /// NULL.
        case null
        /// A 64-bit signed integer.
        case int64(Int64)
        /// A floating-point number.
        case double(Double)
        /// Text.
        case string(String)
        /// Bytes.
        case blob(Data)

        /// The stored `Int64`, `Double`, `String` or `Data`, or nil for NULL.
        public var value: (any DatabaseValueConvertible)? {
            switch self {
            case .null: nil
            case .int64(let value): value
            case .double(let value): value
            case .string(let value): value
            case .blob(let value): value
            }
        }
    }

    /// The stored value, by its storage class.
    public let storage: Storage

    /// The NULL value.
    public static let null = DatabaseValue(storage: .null)

    @inlinable
    init(storage: Storage) {
        self.storage = storage
    }

    /// Creates a value from any value that SQLite can store, or returns nil for other types.
    ///
    /// A nil optional becomes NULL.
    public init?(value: Any) {
        guard let value = value as? any DatabaseValueConvertible else { return nil }
        self = value.databaseValue
    }

    /// A Boolean value that indicates whether the value is NULL.
    @inlinable
    public var isNull: Bool {
        if case .null = storage { true } else { false }
    }
}

extension DatabaseValue: CustomStringConvertible {
    /// A readable form of the value: `NULL`, a number, text in quotes, or the number of bytes of a blob.
    public var description: String {
        switch storage {
        case .null: "NULL"
        case .int64(let value): value.description
        case .double(let value): value.description
        case .string(let value): value.debugDescription
        case .blob(let value): "Data(\(value.count) bytes)"
        }
    }
}
