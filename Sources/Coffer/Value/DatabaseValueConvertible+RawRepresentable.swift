extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The raw value's stored form.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// Creates a value from a stored raw value, or returns nil if there is no value with this raw value.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }

    /// The expression of the raw value.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }

    /// Binds the raw value to the parameter at `index`, which starts at 1.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe rawValue.bind(to: sqliteStatement, at: index)
    }
}

extension SQLSelectable where Self: RawRepresentable, RawValue: SQLSelectable {
    /// The selection of the raw value.
    public var sqlSelection: SQLSelection { rawValue.sqlSelection }
}

extension SQLOrderingTerm where Self: RawRepresentable, RawValue: SQLOrderingTerm {
    /// The ordering of the raw value.
    public var sqlOrdering: SQLOrdering { rawValue.sqlOrdering }
}

extension SQLExpressible where Self: RawRepresentable, RawValue: SQLExpressible {
    /// The expression of the raw value.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }
}
