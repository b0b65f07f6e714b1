/// A type that can be bound to a parameter of a statement.
///
/// ``DatabaseValueConvertible`` binds its `databaseValue`, so that only types in a hurry implement this
/// protocol themselves.
public protocol StatementBinding {
    /// Binds the value to the parameter at `index`, which starts at 1, and returns the result code of the C
    /// function: 0 for success.
    ///
    /// The statement must not be running. SQLite must get its own copy of text and bytes
    /// (`SQLITE_TRANSIENT`).
    ///
    /// - Parameters:
    ///   - sqliteStatement: a statement that stands on a row.
    ///   - index: the position of the column, from 0.
    func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt
}

extension StatementBinding where Self: RawRepresentable, RawValue: StatementBinding {
    /// Binds the raw value.
    ///
    /// - Parameters:
    ///   - sqliteStatement: a statement that stands on a row.
    ///   - index: the position of the column, from 0.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe rawValue.bind(to: sqliteStatement, at: index)
    }
}
