public import Foundation

extension URL: DatabaseValueConvertible, StatementColumnConvertible {
    /// The absolute string. A relative URL is resolved against its base, which is not stored separately.
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    /// Creates a URL from text, or from bytes that are valid UTF-8.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> URL? {
        String.fromDatabaseValue(dbValue).flatMap { URL(string: $0) }
    }

    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let text = unsafe String(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(string: text)
    }
}
