public import Foundation
public import SQLCipherBridge

extension Double: DatabaseValueConvertible, StatementColumnConvertible {
    public var persistenceValue: PersistenceValue { .double(self) }

    /// The number. SQLite stores NaN as NULL.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .double(self)) }

    /// Creates a value from a number. Integers beyond 2^53 are rounded.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Double? {
        switch dbValue.storage {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> Double?
    {
        unsafe StatementHandle(sqliteStatement).doubleIfPresent(at: index)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        unsafe self = StatementHandle(sqliteStatement).double(at: index)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe StatementHandle(sqliteStatement).bind(self, at: index)
    }
}

/// A floating-point number that is stored as a `Double`.
///
/// The protocol only shares code between the two types. Do not conform to it: use
/// ``DatabaseValueConvertible`` for your own types.
public protocol _ConvertedDouble: BinaryFloatingPoint, Codable, DatabaseValueConvertible,
    StatementColumnConvertible
{}

extension _ConvertedDouble {
    /// The number as a `Double`, which is exact.
    @inlinable
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// Creates a value from a number, rounded to the precision of the type.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Double.fromDatabaseValue(dbValue).map { Self($0) }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> Self?
    {
        unsafe StatementHandle(sqliteStatement).doubleIfPresent(at: index).map { Self($0) }
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        unsafe self.init(StatementHandle(sqliteStatement).double(at: index))
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe StatementHandle(sqliteStatement).bind(Double(self), at: index)
    }
}

extension Float: _ConvertedDouble {}
extension CGFloat: _ConvertedDouble {}
