public import SQLCipherBridge

/// A prepared statement.
///
/// A statement belongs to its connection: use it only inside the database access that made it. It is reset
/// before each execution, so an error or an unfinished cursor does not leave it unusable.
@safe
public final class Statement {
    /// The prepared statement of the C library.
    public let sqliteStatement: SQLiteStatement

    /// The same pointer, wrapped for the bridge.
    @usableFromInline let handle: StatementHandle

    /// Owns the prepared statement. It is declared before the buffer that the parameters point to, because
    /// properties are destroyed in their order: the statement must be finalized first.
    private let engineStatement: EngineStatement

    /// The connection that made the statement.
    unowned let database: Database

    /// The facts that the compilation reported about the statement. See ``updateFacts()``.
    private(set) var facts: StatementFacts

    /// The number of repreparations when the facts were reported.
    private(set) var factsPreparation = 0

    /// A Boolean value that indicates whether the statement makes no direct change to the content of a
    /// database file.
    public let isReadonly: Bool

    /// The number of result columns, as of the statement's last preparation.
    public var columnCount: Int { Int(handle.columnCount) }

    /// The SQL text, without surrounding white space and semicolons, and without a key.
    public let sql: String

    /// True if a key was removed from ``sql``. The names and values of the parameters may then be keys too.
    private let hadKey: Bool

    /// True if the SQL text contains the keyword `REPLACE`.
    private(set) lazy var mentionsReplace = SQLScanner.mentionsReplace(sql)

    /// The names of the columns and their positions.
    @usableFromInline var columnLayout: StatementColumnLayout?

    /// The number of repreparations when the column layout was created.
    private var columnLayoutPreparation = 0

    /// The names of the parameters; nil for an anonymous parameter.
    let parameterNames: [String?]

    /// The request that the arguments come from, which may show that only some rows are read.
    private(set) var request: (any RegionNarrowing)?

    /// True if there is a request. Each execution checks this flag, because checking the request itself would
    /// copy it.
    private(set) var hasRequest = false

    /// The row that a fetch by key selects. The statement reads no other row of the table.
    var fetchedRow: (table: String, rowID: Int64)?

    /// The bound arguments, in their original form. Used only here and in the extension for arguments.
    var boundArguments = StatementArguments()
    /// The bytes of the bound texts.
    let boundTexts = BindingBuffer()
    /// True if each parameter has a value.
    var areArgumentsValid: Bool

    /// The number of the current execution. A cursor that is released late compares it, so that it does not
    /// end a later execution.
    @usableFromInline private(set) var executionNumber = 0

    /// The executions of the connection.
    @usableFromInline let executions: ConnectionExecutions

    /// The ``ConnectionExecutions/endCount`` when the current execution began.
    @exclusivity(unchecked) @usableFromInline private(set) var interruptionsAtStart = 0

    /// True while SQLite runs the statement. A function or an observer that it calls must not reset it:
    /// SQLite would continue with memory that it has freed.
    @exclusivity(unchecked) @usableFromInline var isStepping = false

    /// True if each execution must be reported to the notifier: writes, transactions, and schema changes.
    let reportsToNotifier: Bool

    /// True if an execution begins or ends transactions or savepoints, or changes the schema.
    let changesTransactionOrSchema: Bool

    /// True if an execution begins or ends savepoints.
    let changesSavepoints: Bool

    /// The faults of the engine that the statement may meet (``ProgramCheck``).
    let suspectedFaults: ProgramFaults

    /// The schema generation for which the program of the statement was found to be right.
    private(set) var checkedSchemaGeneration: Int?

    init(
        database: Database, _ statement: consuming EngineStatement, facts: StatementFacts, isExplanation: Bool
    ) {
        let handle = statement.handle
        engineStatement = statement
        unsafe self.sqliteStatement = handle.pointer
        self.handle = handle
        self.database = database
        self.executions = database.executions
        self.facts = facts
        self.isReadonly = handle.isReadonly
        let text = handle.sql.unpaddedStatement
        self.sql = KeyRedaction.redactingKeys(in: text)
        // The texts also differ if Coffer has rewritten the statement.
        self.hadKey = sql != text && KeyRedaction.containsKey(text)
        let parameterCount = handle.parameterCount
        self.parameterNames =
            parameterCount == 0 ? [] : (1...CInt(parameterCount)).map(handle.parameterName(at:))
        self.areArgumentsValid = parameterCount == 0
        self.changesTransactionOrSchema = facts.transactionStep != nil || facts.outdatesKnownSchema
        self.changesSavepoints = facts.transactionStep?.isOfSavepoint == true
        self.reportsToNotifier = !isReadonly || changesTransactionOrSchema
        self.suspectedFaults = isExplanation ? [] : ProgramFaults(of: facts, sql: text)
    }

    func setFacts(_ facts: StatementFacts, preparation: Int) {
        self.facts = facts
        factsPreparation = preparation
    }

    func programWasChecked(_ schemaGeneration: Int) { checkedSchemaGeneration = schemaGeneration }

    /// The database region that the statement reads.
    public var databaseRegion: DatabaseRegion {
        if let fetchedRow {
            return facts.databaseRegion.tableIntersection(fetchedRow.table, rowIds: [fetchedRow.rowID])
        }
        // If the schema cannot be read, return everything that the statement could read with any arguments.
        guard let request else { return facts.databaseRegion }
        do {
            return try request.narrowedRegion(facts.databaseRegion, database)
        } catch {
            return request.mayReadOtherTables ? .fullDatabase : facts.databaseRegion
        }
    }

    /// The names of the result columns, in order.
    public var columnNames: [String] { currentColumnLayout().names }

    /// Returns the position of the first column with this name, compared without ASCII case.
    public func index(ofColumn name: String) -> Int? { currentColumnLayout().index(ofColumn: name) }

    /// Returns the layout of the result columns, which is created on demand.
    ///
    /// If the schema has changed, SQLite prepares the statement again in its first step, and the columns of a
    /// `SELECT *` may differ.
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

    /// True if the statement has not been prepared again since its column layout was created.
    var isColumnLayoutCurrent: Bool { columnLayoutPreparation == handle.repreparationCount }
}

extension Statement: CustomStringConvertible {
    public var description: String { sql }
}

@available(*, unavailable)
extension Statement: Sendable {}

// MARK: - The request

extension Statement {
    /// Stores the request that the arguments come from.
    func setRequest(_ request: some RegionNarrowing) {
        self.request = request
        hasRequest = true
    }

    /// Forgets the request, because the arguments no longer come from it.
    func forgetRequest() {
        guard hasRequest else { return }
        request = nil
        hasRequest = false
    }
}

// MARK: - Execution

extension Statement {
    /// Executes the statement and ignores any rows that it returns.
    ///
    /// - Parameter arguments: new arguments, or nil to use the current ones.
    /// - Throws: a ``DatabaseError``, or `CancellationError` in a cancelled task.
    public func execute(arguments: StatementArguments? = nil) throws {
        let database = database
        try prepareExecution(database, arguments: arguments)
        defer { if arguments != nil { unbindArguments() } }
        try run(in: database)
    }

    /// Executes the statement like ``execute(arguments:)``, and forgets the arguments afterwards.
    func executeOnce(arguments: StatementArguments) throws {
        try checkIsNotStepping()
        defer { releaseArguments() }
        let database = database
        try prepareExecution(database, arguments: arguments)
        try run(in: database)
    }

    /// Steps to the end of the execution, ignoring the rows.
    ///
    /// - Parameter willFail: called before an error is thrown that quotes the arguments of the statement.
    func run(in database: Database, willFail: () -> Void = {}) throws {
        while true {
            switch step() {
            case EngineCode.row: continue
            case EngineCode.done: return try endExecution(database)
            case let code:
                willFail()
                try failExecution(code)
            }
        }
    }

    /// Prepares the statement for its first step.
    @usableFromInline
    func prepareExecution(arguments: StatementArguments?) throws {
        try prepareExecution(database, arguments: arguments)
    }

    /// Prepares the statement of `database` for its first step. Callers that already have the connection pass
    /// it, because an unowned reference is not free.
    private func prepareExecution(_ database: Database, arguments: StatementArguments?) throws {
        database.checkIsUsedInItsAccess()
        if let arguments {
            try setArguments(arguments)
        } else {
            try resetForExecution()
            if !areArgumentsValid {
                try setArguments(boundArguments)
            }
        }
        try beginExecution(database)
    }

    /// Runs the statement up to its next row or its end.
    @inlinable @inline(__always)
    func step() -> CInt {
        unsafe isStepping = true
        unsafe executions.steppingCount &+= 1
        let code = handle.step()
        unsafe executions.steppingCount &-= 1
        unsafe isStepping = false
        return code
    }

    /// Makes the statement ready for new arguments and another execution.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if the caller is a function or an observer that the
    ///   statement has called.
    func resetForExecution() throws {
        try checkIsNotStepping()
        handle.reset()
    }

    @usableFromInline
    func checkIsNotStepping() throws {
        guard unsafe isStepping else { return }
        throw error(
            .SQLITE_MISUSE, "A function or an observer uses the statement that has called it.",
            messageIsOurs: true)
    }

    func beginExecution(_ database: Database) throws {
        try database.executionWillBegin(self)
        executionNumber &+= 1
        unsafe interruptionsAtStart = executions.endCount
    }

    /// Throws `SQLITE_INTERRUPT` if an interruption has ended the current execution between two of its rows.
    @usableFromInline
    func checkIsNotInterrupted() throws {
        if executions.contain(handle, startedAt: unsafe interruptionsAtStart) {
            let code = EngineCode.interrupt
            throw error(ResultCode(rawValue: code), ConnectionHandle.describe(code), orderedArguments)
        }
        unsafe interruptionsAtStart = executions.endCount
    }

    /// Ends an execution whose last step returned no row.
    ///
    /// - Parameter code: the result code of the step.
    func endExecution(withResult code: CInt) throws {
        if code != EngineCode.done { try failExecution(code) }
        try endExecution(database)
    }

    /// Ends an execution whose last step reported that it is done.
    ///
    /// In autocommit mode, the reset ends the statement's read transaction immediately instead of at the next
    /// use.
    func endExecution(_ database: Database) throws {
        handle.reset()
        if let measurement = unsafe database.measurement { measurement.statementDidEnd() }
        if reportsToNotifier {
            try database.executionDidEnd(self)
        }
    }

    /// Ends an execution whose last step failed, and throws its error.
    private func failExecution(_ code: CInt) throws -> Never {
        let refusal = database.inspector.takeExecutionRefusal()
        let failure = database.handle.error(code)
        let error = error(
            ResultCode(rawValue: failure.code), refusal?.words ?? failure.message, orderedArguments,
            messageIsOurs: refusal != nil, encryptionFailure: refusal?.encryptionFailure)
        handle.reset()
        try database.executionDidFail(self, with: error)
    }

    /// Returns an error of this statement. If the statement contains a key, the error shows neither its
    /// arguments nor a message that may quote parts of it, such as the names of its parameters.
    func error(
        _ code: ResultCode, _ message: String?, _ arguments: StatementArguments? = nil,
        messageIsOurs: Bool = false, encryptionFailure: EncryptionFailure? = nil
    ) -> DatabaseError {
        DatabaseError(
            resultCode: code, message: message, sql: sql, arguments: arguments,
            publicStatementArguments: database.configuration.publicStatementArguments,
            messageIsOurs: messageIsOurs, hadKey: hadKey, encryptionFailure: encryptionFailure)
    }

    /// Ends an execution that is abandoned before its last row. The changes of a statement with `RETURNING`
    /// are kept, and may be committed here.
    ///
    /// - Parameter number: the number of the execution. Nothing happens if it has ended, or another one has
    ///   begun.
    @usableFromInline
    func abandonExecution(_ number: Int) {
        guard number == executionNumber, unsafe !isStepping else { return }
        let isBegun = handle.isBusy
        let code = isBegun ? handle.reset() : EngineCode.ok
        // A cursor may outlive the connection.
        guard reportsToNotifier, !executions.isClosed else { return }
        if isBegun {
            database.observerNotifier.statementWasAbandoned(self, code)
        } else {
            database.observerNotifier.executionWasDropped(self)
        }
    }
}

extension String {
    /// The text without surrounding white space and semicolons.
    var unpaddedStatement: String {
        let isPadding: (Character) -> Bool = { $0 == ";" || $0.isWhitespace }
        guard let first = firstIndex(where: { !isPadding($0) }),
            let last = lastIndex(where: { !isPadding($0) })
        else { return "" }
        return first == startIndex && index(after: last) == endIndex ? self : String(self[first...last])
    }
}
