public import Foundation
internal import SQLCipherBridge

extension Data: DatabaseValueConvertible, StatementColumnConvertible {
    /// The bytes. Empty data is stored as an empty blob, not as NULL.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .blob(self)) }

    /// Creates data from a blob, or from the UTF-8 bytes of text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Data? {
        switch dbValue.storage {
        case .blob(let value): value
        case .string(let value): Data(value.utf8)
        default: nil
        }
    }

    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let statement = unsafe StatementHandle(sqliteStatement)
        switch statement.columnType(at: index) {
        case EngineType.blob:
            guard let bytes = unsafe statement.blobNoCopy(at: index) else { return nil }
            unsafe self.init(bytes)
        case EngineType.text:
            guard let bytes = unsafe statement.textNoCopy(at: index) else { return nil }
            unsafe self.init(bytes)
        default:
            guard let text = statement.text(at: index) else { return nil }
            self.init(text.utf8)
        }
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe withUnsafeBytes { unsafe StatementHandle(sqliteStatement).bind(blob: $0, at: index) }
    }
}
