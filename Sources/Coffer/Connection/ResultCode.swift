internal import SQLCipherBridge

/// A result code of SQLite: a primary code in the low byte, and an extended code above it.
///
/// `~=` matches as `switch` and `catch` need it: a primary code matches all its extended codes, an extended
/// code only itself. The list is that of <https://www.sqlite.org/rescode.html>.
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

    /// Whether this is a primary code.
    var isPrimary: Bool { self == primaryResultCode }

    /// Whether `code` is `pattern`, or one of its extended codes where `pattern` is a primary code.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern.isPrimary ? pattern == code.primaryResultCode : pattern == code
    }

    /// Whether `error` is a ``DatabaseError`` whose extended result code matches.
    ///
    /// - Parameters:
    ///   - pattern: a result code, primary or extended.
    ///   - error: any error.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return pattern ~= error.extendedResultCode
    }
}

extension ResultCode: CustomStringConvertible {
    /// The number and SQLite's own words for it.
    public var description: String { "\(rawValue) (\(ConnectionHandle.describe(rawValue)))" }
}
