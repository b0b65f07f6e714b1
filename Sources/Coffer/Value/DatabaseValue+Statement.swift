internal import Foundation
internal import SQLCipherBridge

extension DatabaseValue {
    /// Creates a value from a column of the current row of a statement.
    ///
    /// Text and bytes are copied. Invalid UTF-8 in text is replaced with replacement characters; read the
    /// column as `Data` to get its bytes.
    ///
    /// - Parameters:
    ///   - sqliteStatement: a statement that is positioned on a row.
    ///   - index: the index of the column, which starts at 0.
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        let statement = unsafe StatementHandle(sqliteStatement)
        switch statement.columnType(at: index) {
        case EngineType.integer:
            self.init(storage: .int64(statement.int64(at: index)))
        case EngineType.float:
            self.init(storage: .double(statement.double(at: index)))
        case EngineType.text:
            self.init(storage: .string(statement.string(at: index)))
        case EngineType.blob:
            self.init(
                storage: .blob(unsafe statement.blobNoCopy(at: index).map { unsafe Data($0) } ?? Data()))
        default:
            self.init(storage: .null)
        }
    }

    /// Creates a value from an argument of an SQL function.
    init(_ value: ValueHandle) {
        switch value.type {
        case EngineType.integer: self.init(storage: .int64(value.int64))
        case EngineType.float: self.init(storage: .double(value.double))
        case EngineType.text: self.init(storage: .string(value.string))
        case EngineType.blob: self.init(storage: .blob(unsafe value.withBlob { unsafe Data($0) }))
        default: self.init(storage: .null)
        }
    }
}

extension DatabaseValue: StatementBinding {
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch storage {
        case .null: unsafe StatementHandle(sqliteStatement).bindNull(at: index)
        case .int64(let value): unsafe StatementHandle(sqliteStatement).bind(value, at: index)
        case .double(let value): unsafe StatementHandle(sqliteStatement).bind(value, at: index)
        case .string(let value): unsafe StatementHandle(sqliteStatement).bind(value, at: index)
        case .blob(let value): unsafe value.bind(to: sqliteStatement, at: index)
        }
    }
}

extension DatabaseValue: DatabaseValueConvertible {
    /// The value itself.
    public var databaseValue: DatabaseValue { self }

    /// Returns the value itself, including NULL.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseValue? { dbValue }
}

extension DatabaseValue: SQLSpecificExpressible {
    public var sqlExpression: SQLExpression { .databaseValue(self) }
}
