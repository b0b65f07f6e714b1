public import SQLCipherBridge

/// An integer of the standard library, which is stored as an SQLite integer.
///
/// The protocol only shares code between the ten types. Do not conform to it: use
/// ``DatabaseValueConvertible`` for your own types.
public protocol _StandardInteger: FixedWidthInteger, Codable, DatabaseValueConvertible,
    StatementColumnConvertible
{}

extension _StandardInteger {
    /// The integer.
    ///
    /// A `UInt` or `UInt64` above `Int64.max` is a fatal error, because SQLite cannot store it. As a property
    /// of an `Encodable` record, alone or in another value, it is an `EncodingError` instead.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(_storedInteger)) }

    /// Creates a value from a number. Truncates a fraction, and returns nil if the number is out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        switch dbValue.storage {
        case .int64(let value): Self(exactly: value)
        // The bounds are exact: -2^63 is an `Int64`, 2^63 is not. NaN fails both comparisons.
        case .double(let value) where value >= -0x1p63 && value < 0x1p63: Self(exactly: Int64(value))
        default: nil
        }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> Self?
    {
        guard let value = unsafe StatementHandle(sqliteStatement).integerIfPresent(at: index) else {
            return nil
        }
        return Self(exactly: value)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe StatementHandle(sqliteStatement).integer(at: index) else { return nil }
        self.init(exactly: value)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe StatementHandle(sqliteStatement).bind(_storedInteger, at: index)
    }

    @inlinable
    var _storedInteger: Int64 {
        guard let value = Int64(exactly: self) else {
            fatalError(
                "The unsigned integer \(self) cannot be stored: SQLite's largest integer is \(Int64.max).")
        }
        return value
    }
}

extension Int: _StandardInteger {
    public var persistenceValue: PersistenceValue { .int(self) }
}

extension Int64: _StandardInteger {
    public var persistenceValue: PersistenceValue { .int64(self) }
}

extension Int8: _StandardInteger {}
extension Int16: _StandardInteger {}
extension Int32: _StandardInteger {}
extension UInt: _StandardInteger {}
extension UInt8: _StandardInteger {}
extension UInt16: _StandardInteger {}
extension UInt32: _StandardInteger {}
extension UInt64: _StandardInteger {}
