public import SQLCipherBridge

extension Optional: SQLExpressible where Wrapped: SQLExpressible {
    /// The expression of the wrapped value, or NULL.
    public var sqlExpression: SQLExpression {
        self?.sqlExpression ?? .databaseValue(.null)
    }
}

extension Optional: SQLSelectable where Wrapped: SQLSelectable {
    /// The selection of the wrapped value, or NULL.
    public var sqlSelection: SQLSelection {
        self?.sqlSelection ?? SQLExpression.databaseValue(.null).sqlSelection
    }
}

extension Optional: SQLOrderingTerm where Wrapped: SQLOrderingTerm {
    /// The ordering of the wrapped value, or an ordering by NULL, which has no effect.
    public var sqlOrdering: SQLOrdering {
        self?.sqlOrdering ?? SQLExpression.databaseValue(.null).sqlOrdering
    }
}

extension Optional: SQLSpecificExpressible where Wrapped: SQLSpecificExpressible {}

extension Optional: StatementBinding where Wrapped: StatementBinding {
    /// Binds the wrapped value, or NULL, to the parameter at `index`, which starts at 1.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch self {
        case .some(let value): unsafe value.bind(to: sqliteStatement, at: index)
        case .none: unsafe DatabaseValue.null.bind(to: sqliteStatement, at: index)
        }
    }
}

extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
    public var persistenceValue: PersistenceValue { self?.persistenceValue ?? .null }

    /// The stored value of the wrapped value, or NULL.
    @inlinable
    public var databaseValue: DatabaseValue {
        self?.databaseValue ?? .null
    }

    /// Converts to the wrapped type. NULL becomes nil if the wrapped type does not accept it. Any other
    /// failed conversion returns nil.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Wrapped?? {
        // The wrapped type comes first, because `DatabaseValue` accepts NULL.
        if let value = Wrapped.fromDatabaseValue(dbValue) { return .some(.some(value)) }
        return dbValue.isNull ? .some(.none) : .none
    }

    /// Returns a nil value: a missing column is nil.
    @inlinable
    public static func fromMissingColumn() -> Wrapped?? { .some(.none) }
}

extension Optional: StatementColumnConvertible where Wrapped: StatementColumnConvertible {
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> Wrapped??
    {
        if let value = unsafe Wrapped.fromStatement(sqliteStatement, atUncheckedIndex: index) {
            return .some(.some(value))
        }
        return unsafe StatementHandle(sqliteStatement).isNull(at: index) ? .some(.none) : .none
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe Wrapped(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self = .some(value)
    }
}
