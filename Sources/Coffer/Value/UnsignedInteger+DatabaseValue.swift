// Written out for each type: a constrained protocol extension would also reach the types of users.

extension UInt: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer. A value above `Int64.max` is a fatal error: SQLite has no such integers.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(storedInteger)) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UInt? {
        Int64.fromDatabaseValue(dbValue).flatMap { UInt(exactly: $0) }
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe storedInteger.bind(to: sqliteStatement, at: index)
    }
}

extension UInt8: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UInt8? {
        Int64.fromDatabaseValue(dbValue).flatMap { UInt8(exactly: $0) }
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

extension UInt16: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UInt16? {
        Int64.fromDatabaseValue(dbValue).flatMap { UInt16(exactly: $0) }
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

extension UInt32: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UInt32? {
        Int64.fromDatabaseValue(dbValue).flatMap { UInt32(exactly: $0) }
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

extension UInt64: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer. A value above `Int64.max` is a fatal error: SQLite has no such integers.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(storedInteger)) }

    /// Creates a value from a number, as `Int64` does; nil for a number out of range.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UInt64? {
        Int64.fromDatabaseValue(dbValue).flatMap { UInt64(exactly: $0) }
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe storedInteger.bind(to: sqliteStatement, at: index)
    }
}

extension UnsignedInteger where Self: FixedWidthInteger {
    @inlinable
    var storedInteger: Int64 {
        guard let value = Int64(exactly: self) else {
            fatalError("The unsigned integer \(self) cannot be stored: SQLite's integers end at \(Int64.max).")
        }
        return value
    }
}
