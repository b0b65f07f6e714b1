internal import SQLCipherBridge

/// The statements of an SQL text, prepared one after the other, so that each can use what the previous ones
/// created.
public class SQLStatementCursor: Cursor {
    private let database: Database
    private let sql: String
    private let text: [CChar]
    private var offset = 0
    private var arguments: StatementArguments?

    /// How many arguments without a name were given for all of the text.
    private let argumentCount: Int
    private let isPersistent: Bool

    /// - Parameter isPersistent: whether the statements may be kept for long.
    init(database: Database, sql: String, arguments: StatementArguments?, isPersistent: Bool = false) {
        self.database = database
        self.sql = sql
        self.text = Array(sql.utf8CString)
        self.arguments = arguments
        self.argumentCount = arguments?.values.count ?? 0
        self.isPersistent = isPersistent
    }

    /// Prepares the next statement, and gives it the arguments that it needs of those that are left.
    ///
    /// - Throws: a ``DatabaseError`` if the text does not compile or arguments are missing, and
    ///   `SQLITE_MISUSE` at the end of the text if arguments are left.
    public func next() throws -> Statement? {
        let statement = try KeyRedaction.redactingKeys(ofBatch: sql) {
            try database.prepareNext(in: text, offset: &offset, persistent: isPersistent)
        }
        guard let statement else {
            if let arguments, !arguments.values.isEmpty {
                self.arguments = nil
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "wrong number of statement arguments: \(argumentCount)")
            }
            return nil
        }
        if arguments != nil {
            try statement.takeArguments(from: &arguments)
        }
        return statement
    }
}

@available(*, unavailable)
extension SQLStatementCursor: Sendable {}

extension Statement {
    /// Sets the arguments of this statement, out of those for a sequence of statements: named ones are
    /// shared, the others consumed.
    fileprivate func takeArguments(from arguments: inout StatementArguments?) throws {
        guard var remaining = arguments else { return }
        let anonymousCount = parameterNames.reduce(into: 0) { count, name in
            if let name, remaining.namedValues[String(name.dropFirst())] != nil { return }
            count += 1
        }
        let taken = StatementArguments(
            values: Array(remaining.values.prefix(anonymousCount)), namedValues: remaining.namedValues)
        remaining.values.removeFirst(min(anonymousCount, remaining.values.count))
        arguments = remaining
        try setArguments(taken)
    }
}
