internal import SQLCipherBridge
internal import Synchronization

// MARK: - Preparing

extension Database {
    /// Prepares a statement.
    ///
    ///     let taking = try db.makeStatement(sql: "UPDATE item SET amount = amount - 1 WHERE id = ?")
    ///     for id in [1, 2] {
    ///         try taking.execute(arguments: [id])
    ///     }
    ///
    /// - Throws: a ``DatabaseError`` if the SQL does not compile, is empty, or has more than one statement
    ///   (`SQLITE_MISUSE`).
    public func makeStatement(sql: String) throws -> Statement { try prepare(sql) }

    /// Returns a statement that the connection keeps, so that the same SQL is prepared only once.
    ///
    /// The statement still has the arguments of its last use: set all of them. While a cursor iterates over
    /// the statement, this method returns another one.
    ///
    ///     let statement = try db.cachedStatement(sql: "SELECT name FROM item WHERE worth > ?")
    ///     let names = try String.fetchAll(statement, arguments: [100])
    ///
    /// - Throws: the errors of ``makeStatement(sql:)``.
    public func cachedStatement(sql: String) throws -> Statement { try checkOut(sql, for: .application) }

    /// Returns a statement that is kept for the next use of the same text.
    func checkOut(_ sql: String, for use: StatementCaches.Use) throws -> Statement {
        if let known = statementCaches.find(sql, for: use) {
            guard use == .application, known.columnCount > 0 else { return known }
            checkIsUsedInItsAccess()
            try checkIsUsable()
            if isSchemaKnown { return known }
            // A statement prepared for an older schema would report outdated columns.
            try readSchema {}
            if let known = statementCaches.find(sql, for: use) { return known }
        }
        return try prepare(sql, keptAs: sql, for: use)
    }

    /// Returns the statement that ``prepare(_:keptAs:for:)`` has kept, or nil if there is none, or if it is
    /// in use.
    func keptStatement(_ sql: String, for use: StatementCaches.Use) -> Statement? {
        statementCaches.find(sql, for: use)
    }

    /// Prepares a statement and keeps it for the next use.
    ///
    /// - Parameter sql: the key under which the statement is kept: its text, or an equivalent.
    func prepare(_ text: String, keptAs sql: String, for use: StatementCaches.Use) throws -> Statement {
        var statement = try prepare(text, persistent: true)
        if use == .application, knownSchema.watch == nil, !statement.facts.databaseRegion.isEmpty {
            // From now on, schema changes are detected. Prepare again, so that the statement belongs to the
            // watched schema.
            try readSchema {}
            statement = try prepare(text, persistent: true)
        }
        statementCaches.insert(statement, sql, for: use)
        return statement
    }

    /// Returns a statement that begins or ends a transaction or a savepoint.
    func checkOut(_ text: StatementCaches.FixedText) throws -> Statement {
        if let known = statementCaches[text] { return known }
        let statement = try prepare(text.sql, persistent: true)
        statementCaches[text] = statement
        return statement
    }

    /// Returns a cursor over the statements of an SQL text, which prepares each one as it advances. Arguments
    /// are distributed to the statements in order.
    ///
    ///     let statements = try db.allStatements(sql: "SELECT count(*) FROM item; SELECT count(*) FROM share")
    ///     while let statement = try statements.next() {
    ///         print(try Int.fetchOne(statement) ?? 0)
    ///     }
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never interpolate values into it: use arguments.
    ///   - arguments: the values of the parameters of all statements.
    public func allStatements(sql: String, arguments: StatementArguments? = nil) throws -> SQLStatementCursor
    {
        SQLStatementCursor(
            database: self, sql: sql, arguments: arguments, secrets: KeyRedaction.secrets(ofBatch: sql))
    }

    /// Executes all statements of an SQL text.
    ///
    /// The connection keeps a single statement that changes rows and takes all its values as positional
    /// arguments, because the same SQL is likely to be executed again. It keeps the prepared statement
    /// without its values.
    ///
    /// - Parameters:
    ///   - sql: SQL text. Never interpolate values into it: use arguments.
    ///   - arguments: the values of the parameters of all statements.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails, or if there are too few or too
    ///   many arguments. Statements before the failed one have been executed.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        let mayComeAgain =
            !arguments.values.isEmpty && arguments.namedValues.isEmpty
            && sql.utf8.count <= StatementCaches.longestText
        if mayComeAgain, let statement = statementCaches.find(sql, for: .execution),
            statement.parameterNames.count == arguments.values.count
        {
            return try statement.executeOnce(arguments: arguments)
        }
        let secrets = KeyRedaction.secrets(ofBatch: sql)
        try KeyRedaction.redacting(secrets) {
            let statements = SQLStatementCursor(
                database: self, sql: sql, arguments: arguments, secrets: secrets, isPersistent: mayComeAgain)
            var (single, count): (Statement?, Int) = (nil, 0)
            while let statement = try statements.next() {
                try statement.execute()
                (single, count) = (statement, count + 1)
            }
            if mayComeAgain, count == 1, let single, single.parameterNames.count == arguments.values.count,
                single.changesRowsOnly,
                single.tellsItsColumns
            {
                single.releaseArguments()
                statementCaches.insert(single, sql, for: .execution)
            }
        }
    }

    /// Prepares the only statement of an SQL text.
    ///
    /// - Parameter persistent: true if the statement will be kept for a long time.
    func prepare(_ sql: String, persistent: Bool = false) throws -> Statement {
        try KeyRedaction.redactingKeys(ofBatch: sql) { try prepareOnly(sql: sql, persistent: persistent) }
    }

    private func prepareOnly(sql: String, persistent: Bool) throws -> Statement {
        let text = Array(sql.utf8CString)
        var offset = 0
        guard let statement = try prepareNext(in: text, offset: &offset, persistent: persistent) else {
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "empty statement", sql: sql)
        }
        // White space, comments and semicolons may follow. Preparing the rest is the only reliable way to
        // recognize them.
        while offset < text.count - 1 {
            let start = offset
            let hasAnotherStatement: Bool
            do {
                hasAnotherStatement =
                    try compile(in: text, offset: &offset, persistent: false, sql: sql) != nil
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                // The rest may only compile after the first statement has run.
                hasAnotherStatement = true
            }
            if hasAnotherStatement {
                throw DatabaseError.misuse(
                    "Multiple statements found. To execute multiple statements, use "
                        + "Database.execute(sql:) or Database.allStatements(sql:) instead.",
                    sql: sql.unpaddedStatement)
            }
            if offset <= start { throw DatabaseError.zeroInSQL(sql) }
        }
        return statement
    }

    /// Prepares the next statement of a zero-terminated text. It starts at `offset`, which advances past the
    /// statement. Returns nil at the end.
    func prepareNext(in text: [CChar], offset: inout Int, persistent: Bool) throws -> Statement? {
        checkIsUsedInItsAccess()
        while offset < text.count - 1 {
            let start = offset
            if let statement = try compile(in: text, offset: &offset, persistent: persistent, sql: nil) {
                return statement
            }
            if offset <= start { throw DatabaseError.zeroInSQL(text.text(from: 0)) }
        }
        return nil
    }

    private func compile(in text: [CChar], offset: inout Int, persistent: Bool, sql: String?) throws
        -> Statement?
    {
        try checkIsUsable()
        try checkProtection()
        let start = offset
        let kind = AttachStatement.kind(of: text, from: offset)
        let attach = kind == .attach ? AttachStatement(text, from: offset) : nil
        let pageSize = kind == .pragma ? pageSizeQuery(text, from: offset) : nil
        inspector.begin(mayAttach: attach != nil || kind == .explain)
        do {
            let compiled: EngineStatement?
            if let (text, end) = attach.map({ ($0.text, $0.end) }) ?? pageSize {
                var ignored = 0
                compiled = try handle.prepare(text, offset: &ignored, persistent: persistent)
                offset = end
            } else {
                compiled = try handle.prepare(text, offset: &offset, persistent: persistent)
            }
            var facts = inspector.end()
            if kind == .explain { facts.transactionStep = nil }
            guard let compiled else { return nil }
            let statement = Statement(
                database: self, compiled, facts: facts, isExplanation: kind == .explain)
            // Check now: an interruption during the execution would roll back the transaction.
            if !statement.suspectedFaults.isEmpty { try checkProgramAhead(of: statement) }
            return statement
        } catch let error as EngineFaultError {
            throw error
        } catch let error as EngineError {
            // SQLite calls the authorizer before it finds other errors.
            let refusal = inspector.fail()
            let denial = error.primaryCode == EngineCode.authorization ? refusal : nil
            // Compilation can be interrupted, too, and may wait for a lock to read the schema.
            if [EngineCode.interrupt, EngineCode.busy].contains(error.primaryCode), isTaskCancelled {
                throw CancellationError()
            }
            throw DatabaseError(
                resultCode: ResultCode(rawValue: error.code), message: denial ?? error.message,
                sql: (sql ?? text.text(from: start)).unpaddedStatement, messageIsOurs: denial != nil,
                compiles: false)
        }
    }
}

extension Database {
    /// Returns the query in place of a ``PageSizePragma`` of an encrypted database, and the end of the pragma
    /// in the text. Nil for any other statement, and if the engine reports an error.
    private func pageSizeQuery(_ text: [CChar], from offset: Int) -> (text: [CChar], end: Int)? {
        guard inspector.pragmas.isKeyed, let pragma = PageSizePragma(text, from: offset),
            let answer = try? withoutTrace({ try handle.firstText(trusted: pragma.sql) }),
            let pageSize = Int(answer)
        else { return nil }
        return (pragma.query(returning: pageSize), pragma.end)
    }
}

extension Statement {
    fileprivate var changesRowsOnly: Bool { !changesTransactionOrSchema && !facts.eventKinds.isEmpty }
}

// MARK: - Execution

extension Database {
    /// Throws an error if the statement must not run now.
    func executionWillBegin(_ statement: Statement) throws {
        if isTaskCancelled && !mayRunInCancelledTask(statement) { throw CancellationError() }
        try checkIsUsable()
        if sharedState.isSuspended.load(ordering: .relaxed) {
            try checkSuspension(of: statement)
        }
        if transactions.isExpected && handle.isAutocommit
            && !(transactions.isOfSnapshot && statement.facts.transactionStep == .begin)
        {
            throw statement.error(
                .SQLITE_ABORT, "Transaction was aborted", statement.arguments, messageIsOurs: true)
        }
        if transactions.isSavepointUndone { try checkSavepoint(of: statement) }
        transactions.executionWillBegin()
        if let measurement = unsafe measurement { measurement.statementWillBegin(statement) }
        if recording.isRunning {
            try statement.updateFacts()
            let region = statement.databaseRegion
            recording.executionWillBegin(reading: region, of: statement.facts.databaseRegion)
        }
        if !statement.suspectedFaults.isEmpty { try checkProgramInExecution(of: statement) }
        if statement.reportsToNotifier {
            try filePlace?.check(before: statement, on: handle)
            try observerNotifier.executionWillBegin(statement)
        }
    }

    func executionDidEnd(_ statement: Statement) throws {
        guard statement.changesTransactionOrSchema else {
            return observerNotifier.endIdleStatement() ? () : try observerNotifier.executionDidEnd(statement)
        }
        if statement.facts.outdatesKnownSchema {
            clearSchemaCache()
            transactions.schemaDidChange(isInsideTransaction: isInsideTransaction)
        }
        if let step = statement.facts.transactionStep {
            knownSchema.doubt()
            if ProgramCheck.isNeeded, handle.isAutocommit {
                programCheck.didEndTransaction(dataVersion: handle.dataVersion)
            }
            if transactions.changesSchema, step.isRollback { schemaWasRolledBack() }
            transactions.transactionDidChange(
                begins: step == .begin, isInsideTransaction: isInsideTransaction)
        }
        try observerNotifier.executionDidEnd(statement)
    }

    /// Handles a failed execution: throws a more specific error of the notifier, or `CancellationError` in a
    /// cancelled task.
    func executionDidFail(_ statement: Statement, with error: DatabaseError) throws -> Never {
        statementCaches.remove(statement)
        knownSchema.doubt()
        // Afterwards, when the observers know that the statement has failed.
        defer { rollBackIfHalfDone(statement, after: error) }
        if isAutocommitAfterFailure {
            if ProgramCheck.isNeeded {
                programCheck.didEndTransaction(dataVersion: handle.dataVersion)
            }
            if transactions.changesSchema { schemaWasRolledBack() }
            transactions.transactionWasAborted()
        }
        try observerNotifier.executionDidFail(statement, error)
        // A cancelled wait for the lock of another process ends with `SQLITE_BUSY`: see ``LockWait``.
        // So many attempts without a pause may also make it give up with `SQLITE_PROTOCOL`.
        if [.SQLITE_INTERRUPT, .SQLITE_BUSY, .SQLITE_PROTOCOL].contains(error.resultCode) && isTaskCancelled {
            throw CancellationError()
        }
        throw error
    }

    private func schemaWasRolledBack() {
        programCheck.schemaDidChange()
        statementCaches.removeAll()
    }

    /// True if the task of the access was cancelled, or the connection is being closed, and no operation is
    /// running that must complete regardless.
    var isTaskCancelled: Bool {
        transactions.isCancellable && sharedState.endsStatements
    }

    /// Returns true if a statement only ends a transaction by rolling back, or by releasing its locks if
    /// nothing can have been written.
    private func mayRunInCancelledTask(_ statement: Statement) -> Bool {
        switch statement.facts.transactionStep {
        case .rollback, .rollbackToSavepoint: true
        case .commit, .releaseSavepoint: isReadingOnly
        case .begin, .beginSavepoint, nil: false
        }
    }

    private var isAutocommitAfterFailure: Bool { !isClosed && handle.isAutocommit }
}

extension DatabaseError {
    /// Returns the error for SQL with a NUL character. SQLite stops there and would silently ignore the rest,
    /// such as a condition.
    fileprivate static func zeroInSQL(_ sql: String) -> DatabaseError {
        DatabaseError.misuse(
            "SQL must not contain a NUL character. Give text with NUL characters as an argument.",
            sql: sql.unpaddedStatement)
    }
}

extension [CChar] {
    /// Returns the zero-terminated UTF-8 text from an offset to the end.
    fileprivate func text(from offset: Int) -> String {
        String(decoding: self[offset..<(count - 1)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
