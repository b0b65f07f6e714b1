internal import Foundation
public import SQLCipherBridge

extension String: DatabaseValueConvertible, StatementColumnConvertible {
    public var persistenceValue: PersistenceValue { .string(self) }

    /// The text, which may contain NUL characters.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .string(self)) }

    /// Creates a value from text, or from bytes that are valid UTF-8.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> String? {
        switch dbValue.storage {
        case .string(let value): value
        case .blob(let value): validating(value)
        default: nil
        }
    }

    /// Returns the text, or nil if the bytes are not valid UTF-8. Foundation's initializer would drop a byte
    /// order mark.
    private static func validating(_ data: Data) -> String? {
        let text = String(decoding: data, as: UTF8.self)
        return text.utf8.elementsEqual(data) ? text : nil
    }

    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> String?
    {
        unsafe StatementHandle(sqliteStatement).text(at: index)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = unsafe StatementHandle(sqliteStatement).text(at: index) else { return nil }
        self = value
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe StatementHandle(sqliteStatement).bind(self, at: index)
    }
}
