import Coffer
import Foundation

/// The reply to a step.
struct Reply: Encodable {
    /// The result of one statement, or of a step that is a single call.
    struct Answer: Encodable {
        var rows: [[String]]?
        var error: Failure?
        /// True if a transaction is open after the statement.
        var isInTransaction = false
    }

    struct Failure: Encodable {
        /// The primary result code, or nil for errors that are not SQLite's.
        var code: Int32?
        /// True if Coffer rejected the statement so that a fault of the engine cannot do harm.
        var isRefusal: Bool
        /// True if the error has rolled back the innermost savepoint, and nothing runs before its end.
        var undoesSavepoint: Bool
        var words: String
    }

    struct Table: Encodable {
        var name: String
        /// True for the shadow tables of a virtual table.
        var isShadow: Bool
        var answer: Answer
    }

    /// The results in the order of the statements, without those that did not run.
    var answers: [Answer] = []
    /// The error that the step ended with.
    var error: Failure?
    var content: [Table]?
}

extension Reply.Failure {
    /// - Parameters:
    ///   - hasEndedTransaction: true if the transaction is over since the error.
    ///   - hasEndedStatements: true if a transaction is open, but nothing runs in it since the error.
    init(_ error: any Error, hasEndedTransaction: Bool = false, hasEndedStatements: Bool = false) {
        code = (error as? DatabaseError)?.resultCode.rawValue
        // EngineFault.typeErrors
        let isTypeError = (error as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE
        undoesSavepoint = isTypeError && hasEndedStatements
        isRefusal = error is EngineFaultError || undoesSavepoint || isTypeError && hasEndedTransaction
        words = "\(error)"
    }
}

extension Reply.Answer {
    init(_ rows: [Row]) {
        self.rows = rows.map { $0.databaseValues.map(Reply.text) }
    }
}

extension Reply {
    /// Returns a value as text, prefixed with a letter for its type. Numbers are exact: floating-point values
    /// appear as their bits.
    static func text(of value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "n"
        case .int64(let value): "i\(value)"
        case .double(let value): "r" + String(value.bitPattern, radix: 16)
        case .string(let value): "t" + value
        case .blob(let value): "b" + value.base64EncodedString()
        }
    }
}
