internal import SQLCipherBridge
internal import SystemCalls

// MARK: - Replacing the SQLite connection

/// A file that could not be opened again.
struct PendingReopening {
    /// The reason of the last failure.
    var failure: any Error
    let reopen: () throws -> Void
}

extension Database {
    /// Performs a last operation on the SQLite connection, closes it, and continues with the connection that
    /// `open` returns.
    ///
    /// Observers, functions, collations and the trace are moved to the new connection, which is prepared like
    /// any other.
    ///
    /// - Parameters:
    ///   - file: the file to open. Another file in its place, for example of another program, is not opened.
    ///   - open: opens the connection. If it fails, the failure may be temporary, as on a full disk. So it is
    ///     called again at the beginning of each access until it succeeds and the connection is prepared. The
    ///     connection is closed in the meantime.
    /// - Throws: `SQLITE_BUSY`, before any change, if statements of the application are still alive; the
    ///   error of `open` or of the preparation.
    func replaceHandle(
        of file: FileIdentity,
        working work: (ConnectionHandle) -> Void,
        reopening open: @escaping (Reopening) throws -> EngineConnection
    ) throws {
        try endOwnStatements()
        detachHooks()
        sharedState.replace(nil)
        work(handle)
        connection = nil
        isClosed = true
        do {
            try reopen(.first, file, open)
        } catch {
            pendingReopening = PendingReopening(failure: error) { [unowned self] in
                try reopen(.later, file, open)
            }
            throw error
        }
    }

    enum Reopening {
        /// Right after the connection was closed.
        case first
        /// In a later access, which does not wait for other connections.
        case later

        /// The time to wait for other connections that have already opened the new file, in seconds. At
        /// first, this connection has no other file to continue with.
        var patience: Double { self == .first ? 5 : 0 }
    }

    private func reopen(
        _ reopening: Reopening, _ file: FileIdentity, _ open: (Reopening) throws -> EngineConnection
    ) throws {
        guard FileIdentity(path) == file else { throw DatabaseError.fileMoved(path) }
        var next = try open(reopening)
        next.checkpointsAtEnd = true
        try keying.keys.checkFile(at: path, isDecisive: true)
        handle = next.handle
        connection = consume next
        isClosed = false
        sharedState.replace(handle)
        inspector = StatementInspector(handle)
        followRecompilations()
        observerNotifier.move(to: handle, inspector: inspector)
        busyHandler = Database.installBusyMode(on: handle, configuration: configuration, purpose: purpose)
        keying.setReplacing(true)
        defer { keying.setReplacing(false) }
        let added = additions
        do {
            // The observers of earlier preparations are still there.
            try observerNotifier.withoutNewObservers { try setUp(reopening) }
        } catch {
            // A connection that is not prepared must not be used.
            letGoOfConnection()
            additions = added
            throw error
        }
        added.install(on: self)
    }
}

// MARK: - Unfinished work

extension Database {
    /// Tries work again that has failed. If it fails again, it stays for the next access.
    func finishWork() {
        if let pending = pendingReopening {
            do {
                try pending.reopen()
                pendingReopening = nil
            } catch {
                pendingReopening?.failure = error
            }
        }
        finishJournalMode()
    }

    /// True if the connection is closed only until its file can be opened again. Additions to it are kept for
    /// then.
    var isAwaitingFile: Bool { isClosed && pendingReopening != nil }

    /// Throws an error if the connection is closed.
    func checkIsOpen() throws {
        guard isClosed else { return }
        guard let pendingReopening else { throw DatabaseError.connectionIsClosed() }
        throw DatabaseError(
            resultCode: .SQLITE_CANTOPEN,
            message:
                "The file could not be opened again after a rotation of its key. Each access tries it again. "
                + "The last reason: \(DatabaseError.publicError(pendingReopening.failure))")
    }
}

// MARK: - Closing

extension Database {
    /// Closes the connection. Statements of the application that are still alive keep the SQLite connection
    /// open until they are finalized.
    func close() {
        guard !isClosed else {
            if isAwaitingFile { didClose() }
            return
        }
        closeConnection()
    }

    /// Closes the connection, or throws `SQLITE_BUSY` if statements of the application are still alive.
    func closeOrThrow() throws {
        guard !isClosed else { return close() }
        clearStatementCaches()
        let code = sharedState.close {
            withoutTrace { handle.forgetInterruption() }
            return connection?.close() ?? EngineCode.ok
        }
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
        letGoOfConnection()
        didClose()
    }

    private func letGoOfConnection() {
        guard !isClosed else { return }
        clearStatementCaches()
        sharedState.replace(nil)
        detachHooks()
        handle.forgetInterruption()
        connection = nil
        isClosed = true
    }

    /// Removes the hooks. Prepared statements keep the SQLite connection alive, but not the objects that its
    /// hooks point to.
    private func detachHooks() {
        observerNotifier.removeHooks()
        inspector.removeHook()
        traceHook?.remove(from: handle)
        busyHandler?.remove(from: handle)
    }

    /// Finalizes the statements that Coffer itself keeps, or throws `SQLITE_BUSY` if the application has
    /// others.
    func endOwnStatements() throws {
        clearStatementCaches()
        guard !handle.pendingStatements.isEmpty else { return }
        try withoutTrace { try DatabaseError.converting { try handle.forgetSchema() } }
        guard handle.pendingStatements.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message:
                    "The connection has unfinalized statements. Release them and their cursors first: "
                    + "\(namesOfPendingStatements)"
            )
        }
    }

    /// Logs the statements that prevent the connection from being closed.
    private func logPendingStatements(_ code: CInt) {
        guard let log = Database.logError else { return }
        for statement in handle.pendingStatements {
            log(
                ResultCode(rawValue: code),
                "unfinalized statement: \(KeyRedaction.redactingKeys(in: statement.sql))")
        }
    }

    /// The SQL of up to three statements that are still prepared, for error messages.
    private var namesOfPendingStatements: String {
        var statements = Array(handle.pendingStatements.reversed())
        // A statement on a virtual table keeps the table alive, and with it the statements of its module.
        // Only modules write names in this form.
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
        pendingReopening = nil
        traceHook = nil
        busyHandler = nil
        keying.didClose()
        additions = ConnectionAdditions()
        observerNotifier.databaseDidClose()
    }
}
