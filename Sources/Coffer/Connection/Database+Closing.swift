internal import SQLCipherBridge

// MARK: - Replacing the connection of the C library

extension Database {
    /// Does one more thing with the connection of the C library, closes it, and goes on with the one that
    /// `open` returns.
    ///
    /// Observers, functions, collations and the trace are moved to the new one, which is prepared like any
    /// other.
    /// - Throws: `SQLITE_BUSY` before anything happens if statements of the application are alive; the error
    ///   of `open`, after which this connection is closed for good.
    func replaceHandle(
        working work: (ConnectionHandle) -> Void, reopening open: () throws -> EngineConnection
    ) throws {
        try endOwnStatements()
        detachHooks()
        sharedState.replace(nil)
        work(handle)
        connection = nil
        do {
            var next = try open()
            next.checkpointsAtEnd = true
            handle = next.handle
            connection = consume next
            try keying.keys.checkFile(at: path, isDecisive: true)
        } catch {
            didClose()
            throw error
        }
        sharedState.replace(handle)
        inspector = StatementInspector(handle)
        followRecompilations()
        observerNotifier.move(to: handle, inspector: inspector)
        busyHandler = Database.installBusyMode(on: handle, configuration: configuration, purpose: purpose)
        keying.setReplacing(true)
        defer { keying.setReplacing(false) }
        let added = additions
        // The connection goes on with them, whatever a preparation of the application throws.
        defer { added.install(on: self) }
        try setUp()
    }
}

// MARK: - Closing

extension Database {
    /// Closes the connection. Statements of the application that are still alive keep that of the C library
    /// until their end.
    func close() {
        guard !isClosed else { return }
        closeConnection()
    }

    /// Closes the connection, or throws `SQLITE_BUSY` if statements of the application are still alive.
    func closeOrThrow() throws {
        guard !isClosed else { return }
        clearStatementCaches()
        let code = sharedState.close { connection?.close() ?? EngineCode.ok }
        guard code == EngineCode.ok else {
            logPendingStatements(code)
            let hint =
                handle.pendingStatements.isEmpty ? "" : ": unfinalized statements \(namesOfPendingStatements)"
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: (handle.lastErrorMessage ?? "busy") + hint)
        }
        didClose()
    }

    func closeConnection() {
        clearStatementCaches()
        sharedState.replace(nil)
        detachHooks()
        didClose()
    }

    /// Statements that are still prepared keep the connection of the C library alive, but not the objects
    /// behind its hooks.
    private func detachHooks() {
        observerNotifier.removeHooks()
        inspector.removeHook()
        traceHook?.remove(from: handle)
        busyHandler?.remove(from: handle)
    }

    /// Ends the statements that the connection itself keeps, or throws `SQLITE_BUSY` if the application has
    /// others.
    func endOwnStatements() throws {
        clearStatementCaches()
        guard !handle.pendingStatements.isEmpty else { return }
        try withoutTrace { try DatabaseError.converting { try handle.forgetSchema() } }
        guard handle.pendingStatements.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message:
                    "Statements are still alive on the connection: end them and their cursors first: "
                    + "\(namesOfPendingStatements)"
            )
        }
    }

    /// Reports to the log function of the application which statements keep the connection from being closed.
    private func logPendingStatements(_ code: CInt) {
        guard let log = Database.logError else { return }
        for statement in handle.pendingStatements {
            log(
                ResultCode(rawValue: code),
                "unfinalized statement: \(KeyRedaction.redactingKeys(in: statement.sql))")
        }
    }

    /// The first of the statements that are still prepared, for messages.
    private var namesOfPendingStatements: String {
        var statements = Array(handle.pendingStatements.reversed())
        // A statement of a virtual table keeps the table, and with it the statements of its module, which no
        // other code writes like this.
        let own = statements.filter { !$0.sql.contains("'.'") }
        if !own.isEmpty { statements = own }
        let names = statements.prefix(3).map { "`\(KeyRedaction.redactingKeys(in: $0.sql))`" }.joined(
            separator: ", ")
        return statements.count > 3 ? "\(names) and \(statements.count - 3) others" : names
    }

    private func clearStatementCaches() {
        statementCaches.removeAll()
        knownSchema = KnownSchema()
    }

    private func didClose() {
        sharedState.replace(nil)
        connection = nil
        isClosed = true
        traceHook = nil
        busyHandler = nil
        keying.didClose()
        additions = ConnectionAdditions()
        observerNotifier.databaseDidClose()
    }
}
