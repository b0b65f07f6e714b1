/// A type that can be bound to a parameter of a statement.
///
/// Types that conform to ``DatabaseValueConvertible`` bind their `databaseValue` by default. Implement this
/// protocol yourself only for performance.
public protocol StatementBinding {
    /// Binds the value to the parameter at `index`, which starts at 1, and returns the result code of the C
    /// function: 0 for success.
    ///
    /// The statement must not be running. SQLite must make its own copy of text and bytes
    /// (`SQLITE_TRANSIENT`).
    func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt
}

extension StatementBinding where Self: RawRepresentable, RawValue: StatementBinding {
    /// Binds the raw value to the parameter at `index`, which starts at 1.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe rawValue.bind(to: sqliteStatement, at: index)
    }
}
