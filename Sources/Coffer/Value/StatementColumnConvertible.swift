public import SQLCipherBridge

/// A type that can be read directly from a column of a statement, without an intermediate ``DatabaseValue``.
///
/// This is an optimisation of ``DatabaseValueConvertible`` for types that are fetched in large numbers. To
/// conform, read the column with the C functions of the product `CSQLCipher`, or with another type that
/// conforms:
///
/// ```swift
/// extension Weight: StatementColumnConvertible {
///     init?(sqliteStatement statement: SQLiteStatement, index column: CInt) {
///         guard let stored = unsafe UInt32(sqliteStatement: statement, index: column) else { return nil }
///         grams = Int(stored)
///     }
/// }
/// ```
///
/// SQLite's own conversions apply, as opposed to those of `fromDatabaseValue(_:)`: the text `'12 grams'` is
/// read as the integer 12.
public protocol StatementColumnConvertible {
    /// Creates a value from a column that may hold NULL, or returns nil if the column cannot be converted.
    ///
    /// The default implementation returns nil for NULL. Only types that have a representation of NULL need
    /// their own.
    ///
    /// - Parameters:
    ///   - sqliteStatement: A statement that stands on a row.
    ///   - index: The index of the column, which starts at 0. It is not checked.
    static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self?

    /// Creates a value from a column that does not hold NULL, or returns nil if the column cannot be
    /// converted.
    ///
    /// - Parameters:
    ///   - sqliteStatement: A statement that stands on a row.
    ///   - index: The index of the column, which starts at 0. It is not checked.
    init?(sqliteStatement: SQLiteStatement, index: CInt)
}

extension StatementColumnConvertible {
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> Self?
    {
        if unsafe StatementHandle(sqliteStatement).isNull(at: index) { return nil }
        return unsafe Self(sqliteStatement: sqliteStatement, index: index)
    }
}

extension StatementColumnConvertible where Self: RawRepresentable, RawValue: StatementColumnConvertible {
    /// Creates a value from the raw value that the column holds.
    ///
    /// - Parameters:
    ///   - sqliteStatement: a statement that stands on a row.
    ///   - index: the position of the column, from 0.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let rawValue = unsafe RawValue(sqliteStatement: sqliteStatement, index: index) else {
            return nil
        }
        self.init(rawValue: rawValue)
    }
}
