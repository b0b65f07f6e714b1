public import Foundation
internal import SQLCipherBridge

/// An error of SQLite, of the database, or of its key.
///
/// ``description`` does not show the arguments of the failed statement, which may be personal data, unless
/// the configuration allows it. No property contains a key: keys in SQL are redacted when the error is
/// created.
public struct DatabaseError: Error {
    /// The extended result code from SQLite.
    public let extendedResultCode: ResultCode

    /// The description of the failure, by SQLite or by Coffer.
    public let message: String?

    /// The SQL of the failed statement, with any key redacted.
    public let sql: String?

    /// The arguments of the failed statement.
    public let arguments: StatementArguments?

    /// True if ``description`` may show ``arguments``.
    let publicStatementArguments: Bool

    /// The reason why a file does not open, if it is related to its key or its encryption.
    public let encryptionFailure: EncryptionFailure?

    /// Creates an error, for code that reports its own failures as database errors.
    ///
    ///     throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "A share ends before it begins.")
    ///
    /// - Parameters:
    ///   - resultCode: the code, for programs.
    ///   - message: the description of the failure, for people.
    ///   - sql: the statement that failed.
    ///   - publicStatementArguments: true if the description shows the arguments, which may be personal data.
    public init(
        resultCode: ResultCode = .SQLITE_ERROR,
        message: String? = nil,
        sql: String? = nil,
        arguments: StatementArguments? = nil,
        publicStatementArguments: Bool = false
    ) {
        self.init(
            resultCode: resultCode, message: message ?? ConnectionHandle.describe(resultCode.rawValue),
            sql: sql, arguments: arguments,
            publicStatementArguments: publicStatementArguments, encryptionFailure: nil)
    }

    init(
        resultCode: ResultCode,
        message: String?,
        sql: String? = nil,
        arguments: StatementArguments? = nil,
        publicStatementArguments: Bool = false,
        messageIsOurs: Bool = false,
        compiles: Bool = true,
        hadKey: Bool = false,
        encryptionFailure: EncryptionFailure? = nil
    ) {
        // SQLite quotes words that it does not understand, and a key can be an argument, even as a part of a
        // URI.
        let carriesKey = hadKey || sql.map { KeyRedaction.containsKey($0, compiles: compiles) } ?? false
        let takesPath = sql.map(KeyRedaction.takesPath) ?? false
        let hidesWords = carriesKey || takesPath && message.map(KeyRedaction.isURIWithKey) ?? false
        self.extendedResultCode = resultCode
        self.message = hidesWords && !messageIsOurs ? ConnectionHandle.describe(resultCode.rawValue) : message
        self.sql = sql.map { KeyRedaction.redactingKeys(in: $0, compiles: compiles) }
        let hidesArguments = hidesWords || takesPath && arguments?.haveURIWithKey ?? false
        self.arguments = hidesArguments ? nil : arguments
        self.publicStatementArguments = publicStatementArguments
        self.encryptionFailure = encryptionFailure
    }

    init(_ error: EngineError, sql: String? = nil) {
        self.init(
            resultCode: ResultCode(rawValue: error.code), message: error.message, sql: sql,
            encryptionFailure: nil)
    }

    /// The primary result code.
    public var resultCode: ResultCode { extendedResultCode.primaryResultCode }

    /// True if the error is the result of an interruption: by `interrupt()`, by the cancellation of a task,
    /// or as a consequence of them.
    public var isInterruptionError: Bool {
        resultCode == .SQLITE_INTERRUPT || resultCode == .SQLITE_ABORT
    }
}

extension DatabaseError: CustomStringConvertible {
    /// The primary code, the message, and the SQL. Arguments are included only if the configuration makes
    /// them public.
    public var description: String {
        describe(showsArguments: publicStatementArguments)
    }

    /// The primary code, the message, the SQL, and its arguments. For development only: arguments may be
    /// personal data.
    public var expandedDescription: String {
        describe(showsArguments: true)
    }

    /// Returns true if a message of a running statement may quote a value: a full-text query, or a path in
    /// JSON. From the sources of SQLite 3.46.
    private static func quotesValue(_ message: String) -> Bool {
        let beginnings = [
            "no such column: ", "fts5: ", "unknown special query: ", "malformed MATCH expression: ",
            "parse error in ", "no such function: ", "expected integer, got ", "bad JSON path: ",
            "JSON path error ", "unknown tokenizer: ", "no such tokenizer: ",
        ]
        return beginnings.contains { message.hasPrefix($0) }
    }

    private func describe(showsArguments: Bool) -> String {
        var result = "SQLite error \(resultCode.rawValue)"
        if let message {
            let isHidden =
                !showsArguments && arguments?.isEmpty == false && DatabaseError.quotesValue(message)
            result += ": \(isHidden ? ConnectionHandle.describe(extendedResultCode.rawValue) : message)"
        }
        if let sql {
            result += " - while executing `\(sql)`"
        }
        if showsArguments, let arguments, !arguments.isEmpty {
            result += " with arguments \(arguments)"
        }
        return result
    }
}

extension DatabaseError: CustomReflectable {
    /// The ``description``, for `dump` and for loggers that reflect values.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension DatabaseError: CustomNSError {
    public static var errorDomain: String { "Coffer.DatabaseError" }

    /// The extended result code.
    public var errorCode: Int { Int(extendedResultCode.rawValue) }

    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension DatabaseError {
    /// Returns the error that every access of a closed connection throws.
    static func connectionIsClosed() -> DatabaseError {
        misuse("Connection is closed")
    }

    /// Returns the error of a program that uses the database in a way that is not possible.
    static func misuse(_ message: String, sql: String? = nil) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: sql)
    }
}

extension EngineError {
    /// Returns the error of code that uses the engine in a way that is not possible.
    static func misuse(_ message: String) -> Self { Self(code: EngineCode.misuse, message: message) }

    /// Returns the error of a file that does not have the content that it must have.
    static func corrupt(_ message: String) -> Self { Self(code: EngineCode.corrupt, message: message) }

    /// Returns the error of an operation that other connections prevent at the moment.
    static func busy(_ message: String) -> Self { Self(code: EngineCode.busy, message: message) }

    /// Creates the error that SQLite receives when an SQL function throws `error`.
    init(functionError error: any Error) {
        if let error = error as? DatabaseError {
            self.init(code: error.extendedResultCode.rawValue, message: error.message)
        } else {
            self.init(code: EngineCode.error, message: "\(error)")
        }
    }
}

extension StatementArguments {
    /// True if one of the values is the beginning of a URI with a key; another value may then be the key.
    fileprivate var haveURIWithKey: Bool {
        (values + namedValues.values).contains { value in
            if case .string(let text) = value.storage { KeyRedaction.isURIWithKey(text) } else { false }
        }
    }
}
