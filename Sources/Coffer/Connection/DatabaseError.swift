public import Foundation
internal import SQLCipherBridge

/// An error of SQLite, of the database, or of its key.
///
/// Arguments of the failed statement are kept out of ``description`` unless the configuration says otherwise:
/// they may be personal data. A key never appears in any property: the text of statements that carry keys is
/// redacted before it gets here.
public struct DatabaseError: Error {
    /// The extended result code, as SQLite gave it.
    public let extendedResultCode: ResultCode

    /// What went wrong, in SQLite's words or ours.
    public let message: String?

    /// The SQL of the statement that failed, without the key that it may have carried.
    public let sql: String?

    /// The arguments of the statement that failed.
    public let arguments: StatementArguments?

    /// Whether ``description`` may show ``arguments``.
    let publicStatementArguments: Bool

    /// Why a file does not open, where the reason has to do with its key or its encryption.
    public let encryptionFailure: EncryptionFailure?

    /// Creates an error, for those who report their own failures as database errors.
    ///
    ///     throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "A share ends before it begins.")
    ///
    /// - Parameters:
    ///   - resultCode: the code, which programs compare.
    ///   - message: what happened, for people.
    ///   - sql: the statement that failed.
    ///   - arguments: its arguments.
    ///   - publicStatementArguments: whether the description shows the arguments, which may be personal data.
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
        encryptionFailure: EncryptionFailure? = nil
    ) {
        // SQLite quotes the words it does not understand, and a key can be an argument, also as a part of a
        // URI.
        let carriesKey = sql.map { KeyRedaction.containsKey($0, compiles: compiles) } ?? false
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

    /// Whether the error is that of an interruption: by `interrupt()`, by the cancellation of a task, or in
    /// their aftermath.
    public var isInterruptionError: Bool {
        resultCode == .SQLITE_INTERRUPT || resultCode == .SQLITE_ABORT
    }
}

extension DatabaseError: CustomStringConvertible {
    /// The primary code, the message, and the SQL, with its arguments only where the configuration made them
    /// public.
    public var description: String {
        describe(showsArguments: publicStatementArguments)
    }

    /// The primary code, the message, the SQL, and its arguments: for a developer's eyes only.
    public var expandedDescription: String {
        describe(showsArguments: true)
    }

    private func describe(showsArguments: Bool) -> String {
        var result = "SQLite error \(resultCode.rawValue)"
        if let message {
            result += ": \(message)"
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

extension DatabaseError: CustomNSError {
    public static var errorDomain: String { "Coffer.DatabaseError" }

    /// The extended result code.
    public var errorCode: Int { Int(extendedResultCode.rawValue) }

    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension DatabaseError {
    /// The error that every access of a closed connection throws.
    static func connectionIsClosed() -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed")
    }
}

extension EngineError {
    /// What SQLite is given for an error that an SQL function throws.
    init(functionError error: any Error) {
        if let error = error as? DatabaseError {
            self.init(code: error.extendedResultCode.rawValue, message: error.message)
        } else {
            self.init(code: EngineCode.error, message: "\(error)")
        }
    }
}

extension StatementArguments {
    /// Whether one of the values is the beginning of a URI with a key; another one may then be the key.
    fileprivate var haveURIWithKey: Bool {
        (values + namedValues.values).contains { value in
            if case .string(let text) = value.storage { KeyRedaction.isURIWithKey(text) } else { false }
        }
    }
}
