public import SQLCipherBridge

/// A type that can be read directly from a column of a statement, without an intermediate ``DatabaseValue``.
///
/// This is an optimization of ``DatabaseValueConvertible`` for types that are fetched in large numbers. To
/// conform, read the column with the C functions of the product `CSQLCipher`, or with another conforming
/// type:
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
/// SQLite's own conversions apply, not the conversions of `fromDatabaseValue(_:)`: the text `'12 grams'` is
/// read as the integer 12.
public protocol StatementColumnConvertible {
    /// Creates a value from a column that may contain NULL, or returns nil if the column cannot be converted.
    ///
    /// The default implementation returns nil for NULL. Only types that represent NULL need their own.
    ///
    /// - Parameters:
    ///   - sqliteStatement: a statement that is positioned on a row.
    ///   - index: the index of the column, which starts at 0. It is not checked.
    static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self?

    /// Creates a value from a column that does not contain NULL, or returns nil if the column cannot be
    /// converted.
    ///
    /// - Parameters:
    ///   - sqliteStatement: a statement that is positioned on a row.
    ///   - index: the index of the column, which starts at 0. It is not checked.
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
    /// Creates a value from the raw value in the column at `index`, which starts at 0.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let rawValue = unsafe RawValue(sqliteStatement: sqliteStatement, index: index) else {
            return nil
        }
        self.init(rawValue: rawValue)
    }
}
