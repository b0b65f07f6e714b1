public import SQLCipherBridge

/// A prepared statement.
///
/// A statement belongs to its connection: use it only inside of the database access that made it.
/// It is reset before each execution, so that an error or an unfinished cursor does not leave it unusable.
@safe
public final class Statement {
    /// The prepared statement of the C library.
    public let sqliteStatement: SQLiteStatement

    /// The same pointer, behind the thin calls of the bridge.
    @usableFromInline let handle: StatementHandle

    /// Finalizes the prepared statement, before the buffer ends that its parameters point to: properties end
    /// in their order.
    private let engineStatement: EngineStatement

    /// The connection that made the statement.
    unowned let database: Database

    /// What the compilation reported about the statement. See ``updateFacts()``.
    private(set) var facts: StatementFacts

    /// How often the statement had been prepared again when the facts were reported.
    private(set) var factsPreparation = 0

    /// Whether the statement makes no direct change to the content of a database file.
    public let isReadonly: Bool

    /// The number of result columns, as of the last preparation of the statement.
    public var columnCount: Int { Int(handle.columnCount) }

    /// The SQL text, without white space and semicolons around it, and without a key.
    public let sql: String

    /// Whether the word `REPLACE` is in the SQL text.
    private(set) lazy var mentionsReplace = sql.uppercased().contains("REPLACE")

    /// What the columns are called, and where they are.
    @usableFromInline var columnLayout: StatementColumnLayout?

    /// How often the statement had been prepared again when its layout was made.
    private var columnLayoutPreparation = 0

    /// The parameters of the SQL text: nil for an anonymous one.
    let parameterNames: [String?]

    /// The request that the statement has its arguments from, which may say that only some rows are read.
    private(set) var request: (any RegionNarrowing)?

    /// Whether there is such a request. Each execution asks, and asking the request itself would copy it.
    private(set) var hasRequest = false

    /// The row that a fetch by key asks for, which is all that it reads of its table.
    var fetchedRow: (table: String, rowID: Int64)?

    /// What is bound, as it was given. Shared with the extension for arguments only.
    var boundArguments = StatementArguments()
    /// The bytes of the texts that are bound.
    let boundTexts = BindingBuffer()
    /// Whether each parameter has its value.
    var areArgumentsValid: Bool

    /// Which execution this is, so that a cursor that is given up late does not end the execution of another
    /// one.
    @usableFromInline private(set) var executionNumber = 0

    /// Whether each execution has to be reported to the notifier: writes, transactions, and schema changes.
    let reportsToNotifier: Bool

    /// Whether an execution begins or ends transactions or savepoints, or changes the schema.
    let changesTransactionOrSchema: Bool

    /// Whether an execution begins or ends savepoints.
    let changesSavepoints: Bool

    /// Whether the engine may store other bytes than it should (``StoredColumnCheck``).
    let mayStoreOtherBytes: Bool

    /// For which schema it was found that the statement does not.
    private(set) var checkedSchemaGeneration: Int?

    init(database: Database, _ statement: consuming EngineStatement, facts: StatementFacts) {
        let handle = statement.handle
        engineStatement = statement
        unsafe self.sqliteStatement = handle.pointer
        self.handle = handle
        self.database = database
        self.facts = facts
        self.isReadonly = handle.isReadonly
        self.sql = KeyRedaction.redactingKeys(in: handle.sql.unpaddedStatement)
        let parameterCount = handle.parameterCount
        self.parameterNames =
            parameterCount == 0 ? [] : (1...CInt(parameterCount)).map(handle.parameterName(at:))
        self.areArgumentsValid = parameterCount == 0
        self.changesTransactionOrSchema = facts.transactionStep != nil || facts.outdatesKnownSchema
        self.changesSavepoints = facts.transactionStep?.isOfSavepoint == true
        self.reportsToNotifier = !isReadonly || changesTransactionOrSchema
        self.mayStoreOtherBytes = Statement.mayStoreOtherBytes(facts)
    }

    func setFacts(_ facts: StatementFacts, preparation: Int) {
        self.facts = facts
        factsPreparation = preparation
    }

    func storedColumnsWereChecked(_ schemaGeneration: Int) { checkedSchemaGeneration = schemaGeneration }

    /// The database region that the statement reads.
    public var databaseRegion: DatabaseRegion {
        if let fetchedRow {
            return facts.databaseRegion.tableIntersection(fetchedRow.table, rowIds: [fetchedRow.rowID])
        }
        // Without the schema, the region is all that the statement could read with any arguments.
        guard let request else { return facts.databaseRegion }
        do {
            return try request.narrowedRegion(facts.databaseRegion, database)
        } catch {
            return request.mayReadOtherTables ? .fullDatabase : facts.databaseRegion
        }
    }

    /// The names of the result columns, in order.
    public var columnNames: [String] { currentColumnLayout().names }

    /// The position of the first column with this name, compared without ASCII case.
    public func index(ofColumn name: String) -> Int? { currentColumnLayout().index(ofColumn: name) }

    /// The layout of the result columns, made when it is first needed.
    ///
    /// SQLite prepares a statement again when the schema has changed, in its first step. The columns of a
    /// `SELECT *` may be others then.
    @usableFromInline
    func currentColumnLayout() -> StatementColumnLayout {
        if let columnLayout, isColumnLayoutCurrent {
            return columnLayout
        }
        columnLayoutPreparation = handle.repreparationCount
        let layout = StatementColumnLayout(names: (0..<handle.columnCount).map(handle.columnName(at:)))
        columnLayout = layout
        return layout
    }

    /// Whether the statement has not been prepared again since the layout of its columns was made.
    var isColumnLayoutCurrent: Bool { columnLayoutPreparation == handle.repreparationCount }
}

extension Statement: CustomStringConvertible {
    public var description: String { sql }
}

@available(*, unavailable)
extension Statement: Sendable {}

// MARK: - The request

extension Statement {
    /// Remembers the request that the arguments were made of.
    func setRequest(_ request: some RegionNarrowing) {
        self.request = request
        hasRequest = true
    }

    /// Forgets the request, as the arguments are others now.
    func forgetRequest() {
        guard hasRequest else { return }
        request = nil
        hasRequest = false
    }
}

// MARK: - Execution

extension Statement {
    /// Executes the statement and ignores the rows that it may return.
    ///
    /// - Parameter arguments: new arguments, or nil to use those that were set before.
    /// - Throws: a ``DatabaseError``, or `CancellationError` in a cancelled task.
    public func execute(arguments: StatementArguments? = nil) throws {
        let database = database
        try prepareExecution(database, arguments: arguments)
        try run(in: database)
    }

    /// Goes on to the end of the execution, without a look at its rows.
    ///
    /// - Parameter willFail: called before the error is thrown, which quotes the arguments of the statement.
    func run(in database: Database, willFail: () -> Void = {}) throws {
        while true {
            switch handle.step() {
            case EngineCode.row: continue
            case EngineCode.done: return try endExecution(database)
            case let code:
                willFail()
                try failExecution(code)
            }
        }
    }

    /// Goes on to the next row. There is one step for all cursors.
    ///
    /// - Parameter willEnd: called with the code of the last step, before the execution ends or fails.
    /// - Returns: whether there is a row.
    @inlinable @inline(__always)
    func step(_ willEnd: (CInt) -> Void = { _ in }) throws -> Bool {
        switch handle.step() {
        case EngineCode.row:
            return true
        case EngineCode.done:
            willEnd(EngineCode.done)
            try endExecution()
            return false
        case let code:
            willEnd(code)
            try failExecution(code)
        }
    }

    /// Makes the statement ready for its first step.
    @usableFromInline
    func prepareExecution(arguments: StatementArguments?) throws {
        try prepareExecution(database, arguments: arguments)
    }

    /// Makes the statement of `database` ready for its first step. Who has the connection gives it: a
    /// reference that keeps no object alive is not for free.
    private func prepareExecution(_ database: Database, arguments: StatementArguments?) throws {
        database.checkIsUsedInItsAccess()
        if let arguments {
            try setArguments(arguments)
        } else {
            handle.reset()
            if !areArgumentsValid {
                try setArguments(boundArguments)
            }
        }
        try beginExecution(database)
    }

    func beginExecution(_ database: Database) throws {
        try database.executionWillBegin(self)
        executionNumber &+= 1
    }

    /// Ends an execution whose last step reported that it is done.
    ///
    /// The reset ends the read transaction of a statement in autocommit mode at once, instead of at the next
    /// use.
    @usableFromInline
    func endExecution() throws { try endExecution(database) }

    func endExecution(_ database: Database) throws {
        handle.reset()
        if reportsToNotifier {
            try database.executionDidEnd(self)
        }
    }

    /// Ends an execution whose last step failed, and throws its error.
    @usableFromInline
    func failExecution(_ code: CInt) throws -> Never {
        // With the text as SQLite has it: the error has to know whether there was a key in it.
        let refusal = database.inspector.takeExecutionRefusal()
        let error = DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: refusal?.words ?? database.handle.lastErrorMessage,
            sql: handle.sql.unpaddedStatement, arguments: orderedArguments,
            publicStatementArguments: database.configuration.publicStatementArguments,
            messageIsOurs: refusal != nil, encryptionFailure: refusal?.encryptionFailure)
        handle.reset()
        try database.executionDidFail(self, with: error)
    }

    /// Ends an execution that is given up before its last row. The changes of a statement with `RETURNING`
    /// stay, and may be committed here.
    ///
    /// - Parameter number: the execution; nothing happens if it has ended, or another one has begun.
    @usableFromInline
    func abandonExecution(_ number: Int) {
        guard number == executionNumber, handle.isBusy else { return }
        let code = handle.reset()
        if reportsToNotifier {
            database.observerNotifier.statementWasAbandoned(self, code)
        }
    }
}

extension String {
    /// The text without the white space and semicolons around it.
    var unpaddedStatement: String {
        let isPadding: (Character) -> Bool = { $0 == ";" || $0.isWhitespace }
        guard let first = firstIndex(where: { !isPadding($0) }),
            let last = lastIndex(where: { !isPadding($0) })
        else { return "" }
        return first == startIndex && index(after: last) == endIndex ? self : String(self[first...last])
    }
}
