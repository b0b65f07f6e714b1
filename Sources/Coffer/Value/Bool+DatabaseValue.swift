public import SQLCipherBridge

extension Bool: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer 1 or 0.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self ? 1 : 0)) }

    /// Creates a value from a number: zero is false, any other number is true.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Bool? {
        switch dbValue.storage {
        case .int64(let value): value != 0
        case .double(let value): value != 0
        default: nil
        }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> Bool?
    {
        unsafe StatementHandle(sqliteStatement).boolIfPresent(at: index)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        unsafe self = StatementHandle(sqliteStatement).bool(at: index)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe StatementHandle(sqliteStatement).bind(self ? 1 : 0 as Int64, at: index)
    }
}
