/// The statements of an SQL text. They are prepared one at a time, so that each can use tables that the
/// previous ones created.
public class SQLStatementCursor: Cursor {
    private let database: Database
    private let text: [CChar]
    private var offset = 0
    private var arguments: StatementArguments?

    /// The keys in the whole text, which errors of no statement may show. They are found once, because that
    /// reads the whole text.
    private let secrets: Set<[UInt8]>

    /// The number of unnamed arguments for the whole text.
    private let argumentCount: Int
    private let isPersistent: Bool

    /// - Parameters:
    ///   - secrets: the keys in the text.
    ///   - isPersistent: true if the statements may be kept for a long time.
    init(
        database: Database, sql: String, arguments: StatementArguments?, secrets: Set<[UInt8]>,
        isPersistent: Bool = false
    ) {
        self.database = database
        self.text = Array(sql.utf8CString)
        self.arguments = arguments
        self.secrets = secrets
        self.argumentCount = arguments?.values.count ?? 0
        self.isPersistent = isPersistent
    }

    /// Prepares the next statement, and gives it its share of the remaining arguments.
    ///
    /// - Throws: a ``DatabaseError`` if the text does not compile or arguments are missing, and with
    ///   `SQLITE_MISUSE` at the end of the text if arguments remain.
    public func next() throws -> Statement? {
        let statement = try KeyRedaction.redacting(secrets) {
            try database.prepareNext(in: text, offset: &offset, persistent: isPersistent)
        }
        guard let statement else {
            if let arguments, !arguments.values.isEmpty {
                self.arguments = nil
                throw DatabaseError.misuse("wrong number of statement arguments: \(argumentCount)")
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
    /// Sets this statement's arguments, taken from the arguments of a sequence of statements. Named arguments
    /// are shared, the others are consumed.
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
