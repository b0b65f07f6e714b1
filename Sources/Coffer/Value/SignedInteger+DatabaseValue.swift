public import SQLCipherBridge

// Written out for each type: a constrained protocol extension would also reach the types of users.

extension Int64: DatabaseValueConvertible, StatementColumnConvertible {
    public var persistenceValue: PersistenceValue { .int64(self) }

    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self)) }

    /// Creates a value from a number. The fraction is cut off; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int64? {
        switch dbValue.storage {
        case .int64(let value): value
        // The bounds are exact: -2^63 is an `Int64`, 2^63 is not. NaN fails both comparisons.
        case .double(let value) where value >= -0x1p63 && value < 0x1p63: Int64(value)
        default: nil
        }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int64? {
        unsafe StatementHandle(sqliteStatement).integerIfPresent(at: index)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe StatementHandle(sqliteStatement).integer(at: index) else { return nil }
        self = value
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe StatementHandle(sqliteStatement).bind(self, at: index)
    }
}

extension Int: DatabaseValueConvertible, StatementColumnConvertible {
    public var persistenceValue: PersistenceValue { .int(self) }

    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int? {
        Int64.fromDatabaseValue(dbValue).flatMap { Int(exactly: $0) }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int? {
        unsafe StatementHandle(sqliteStatement).integerIfPresent(at: index).flatMap { Int(exactly: $0) }
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe Int64(self).bind(to: sqliteStatement, at: index)
    }
}

extension Int8: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int8? {
        Int64.fromDatabaseValue(dbValue).flatMap { Int8(exactly: $0) }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int8? {
        unsafe StatementHandle(sqliteStatement).integerIfPresent(at: index).flatMap { Int8(exactly: $0) }
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe Int64(self).bind(to: sqliteStatement, at: index)
    }
}

extension Int16: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int16? {
        Int64.fromDatabaseValue(dbValue).flatMap { Int16(exactly: $0) }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int16? {
        unsafe StatementHandle(sqliteStatement).integerIfPresent(at: index).flatMap { Int16(exactly: $0) }
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe Int64(self).bind(to: sqliteStatement, at: index)
    }
}

extension Int32: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int32? {
        Int64.fromDatabaseValue(dbValue).flatMap { Int32(exactly: $0) }
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int32? {
        unsafe StatementHandle(sqliteStatement).integerIfPresent(at: index).flatMap { Int32(exactly: $0) }
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe Int64(self).bind(to: sqliteStatement, at: index)
    }
}
