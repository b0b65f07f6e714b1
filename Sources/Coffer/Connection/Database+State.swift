internal import SQLCipherBridge

// MARK: - Counters

extension Database {
    /// The row ID of the last inserted row.
    public var lastInsertedRowID: Int64 {
        checkIsUsedInItsAccess()
        return isClosed ? 0 : handle.lastInsertedRowID
    }

    /// The number of rows that the last statement inserted, updated or deleted.
    ///
    /// What transaction observers write after its commit does not count, nor does it for
    /// ``lastInsertedRowID``.
    public var changesCount: Int {
        checkIsUsedInItsAccess()
        return isClosed ? 0 : observerNotifier.keptChangesCount ?? handle.changesCount
    }

    /// The number of rows inserted, updated or deleted since the connection was opened.
    public var totalChangesCount: Int {
        checkIsUsedInItsAccess()
        return isClosed ? 0 : handle.totalChangesCount
    }

    /// How many arguments a statement can have.
    public var maximumStatementArgumentCount: Int {
        isClosed ? 0 : handle.limit(.variableNumber)
    }
}

// MARK: - Errors

extension Database {
    /// The code of the last call of SQLite on the connection that failed; `SQLITE_OK` if the last call
    /// succeeded.
    ///
    /// For programs that call SQLite themselves, with ``sqliteConnection``. Everything else throws a
    /// ``DatabaseError``, which has the code.
    public var lastErrorCode: ResultCode {
        checkIsUsedInItsAccess()
        return ResultCode(rawValue: isClosed ? EngineCode.misuse : handle.lastExtendedErrorCode)
            .primaryResultCode
    }

    /// The words of SQLite for ``lastErrorCode``. Where they could quote a key, it is replaced.
    public var lastErrorMessage: String? {
        checkIsUsedInItsAccess()
        guard !isClosed else { return DatabaseError.connectionIsClosed().message }
        return handle.lastErrorMessage.map {
            KeyRedaction.redactingKeys(
                inErrorMessage: $0, description: ConnectionHandle.describe(handle.lastExtendedErrorCode))
        }
    }
}

// MARK: - WAL

extension Database {
    /// Brings the content of the WAL file into the database file.
    ///
    ///     try pool.writeWithoutTransaction { db in
    ///         _ = try db.checkpoint(.truncate)
    ///     }
    ///
    /// - Parameters:
    ///   - kind: how much, and whom to wait for.
    ///   - dbName: the name of the schema, or nil for all attached databases.
    /// - Returns: the frames in the WAL file, and those of them that are in the database file now; both -1
    ///   outside of WAL mode.
    /// - Throws: `SQLITE_BUSY` if a checkpoint other than a passive one cannot complete, `SQLITE_LOCKED`
    ///   inside of a transaction.
    @discardableResult
    public func checkpoint(
        _ kind: CheckpointMode = .passive, on dbName: String? = "main"
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        checkIsUsedInItsAccess()
        try checkIsUsable()
        let result = handle.checkpoint(schema: dbName, mode: kind.rawValue)
        switch result.code {
        case EngineCode.ok:
            return (walFrameCount: result.walFrames, checkpointedFrameCount: result.checkpointed)
        case EngineCode.misuse:
            throw DatabaseError(resultCode: .SQLITE_MISUSE)
        default:
            throw DatabaseError(
                resultCode: ResultCode(rawValue: result.code), message: handle.lastErrorMessage,
                encryptionFailure: nil)
        }
    }
}

// MARK: - Memory and interruption

extension Database {
    /// Frees the memory that the connection does not need: cached pages, prepared statements, the schema, and
    /// the memo of pages that it shares with the other connections of its queue or pool
    /// (``CipherSettings/pageMemoSize``).
    public func releaseMemory() {
        checkIsUsedInItsAccess()
        guard !isClosed, !isReceivingCopy else { return }
        statementCaches.removeAll()
        clearSchemaCache()
        handle.releaseMemory()
        keying.keys.releasePages()
    }

    /// Aborts the running statement. Can be called from any thread.
    func interrupt() {
        sharedState.interrupt()
    }
}
