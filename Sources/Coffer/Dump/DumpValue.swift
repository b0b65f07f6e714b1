internal import Foundation
internal import SQLCipherBridge

extension DatabaseValue {
    /// Returns the value as readable text.
    ///
    /// - Parameters:
    ///   - null: the text for NULL.
    ///   - blob: returns the text of a blob.
    func dumpText(null: String, blob: (Data) -> String) -> String {
        switch storage {
        case .null: null
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value
        case .blob(let value): blob(value)
        }
    }

    /// The value as an SQL literal in the format of SQLite's `QUOTE` function.
    package var dumpLiteral: String {
        if case .double(let value) = storage, value.isFinite { value.engineLiteral } else { sqlLiteral }
    }
}

extension Data {
    /// The bytes as text, with replacement characters for invalid UTF-8.
    var dumpText: String { String(decoding: self, as: UTF8.self) }

    /// The bytes as text if they are valid UTF-8, as a UUID if there are 16 of them, otherwise as an SQL
    /// literal.
    var debugDumpText: String {
        if let text = String(validating: self, as: UTF8.self) { return text }
        if count == 16, let uuid = UUID.fromDatabaseValue(databaseValue) { return uuid.uuidString }
        return databaseValue.sqlLiteral
    }
}
