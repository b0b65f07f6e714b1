internal import SQLCipherBridge

/// A result code of SQLite: a primary code in the low byte, and an extended code above it.
///
/// In `switch` and `catch`, a primary code matches all its extended codes, and an extended code matches only
/// itself. All codes are listed on <https://www.sqlite.org/rescode.html>.
///
///     do {
///         try Owner(id: 7, name: "Ada").insert(db)
///     } catch DatabaseError.SQLITE_CONSTRAINT_PRIMARYKEY {
///         print("There is such an owner.")
///     } catch DatabaseError.SQLITE_CONSTRAINT {
///         print("Something else is not as the schema wants it.")
///     }
public struct ResultCode: RawRepresentable, Equatable, Hashable, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The primary code, without its extension.
    public var primaryResultCode: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

    /// True if this is a primary code.
    var isPrimary: Bool { self == primaryResultCode }

    /// Returns true if `code` equals `pattern`, or if `pattern` is the primary code of `code`.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern.isPrimary ? pattern == code.primaryResultCode : pattern == code
    }

    /// Returns true if `error` is a ``DatabaseError`` whose extended result code matches `pattern`, which may
    /// be a primary or an extended code.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return pattern ~= error.extendedResultCode
    }
}

extension ResultCode: CustomStringConvertible {
    /// The number and SQLite's description of it.
    public var description: String { "\(rawValue) (\(ConnectionHandle.describe(rawValue)))" }
}
