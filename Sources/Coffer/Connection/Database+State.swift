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
    /// This property and ``lastInsertedRowID`` ignore changes that transaction observers make after the
    /// statement's commit.
    public var changesCount: Int {
        checkIsUsedInItsAccess()
        return isClosed ? 0 : observerNotifier.keptChangesCount ?? handle.changesCount
    }

    /// The number of rows inserted, updated or deleted since the connection was opened.
    public var totalChangesCount: Int {
        checkIsUsedInItsAccess()
        return isClosed ? 0 : handle.totalChangesCount
    }

    /// The maximum number of arguments of a statement.
    public var maximumStatementArgumentCount: Int {
        isClosed ? 0 : handle.limit(.variableNumber)
    }
}

// MARK: - Errors

extension Database {
    /// The result code of the last call to SQLite on the connection if it failed; `SQLITE_OK` if it
    /// succeeded.
    ///
    /// Use it in programs that call SQLite directly with ``sqliteConnection``. All other failures throw a
    /// ``DatabaseError``, which has the code.
    public var lastErrorCode: ResultCode {
        checkIsUsedInItsAccess()
        return ResultCode(rawValue: isClosed ? EngineCode.misuse : handle.lastExtendedErrorCode)
            .primaryResultCode
    }

    /// SQLite's message for ``lastErrorCode``. It is replaced if it could contain a key.
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
    /// The mode of a checkpoint of the WAL file: see
    /// <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>.
    public enum CheckpointMode: CInt, Sendable {
        /// Copies as many frames as possible, without waiting for readers or writers.
        case passive = 0

        /// Copies all frames, and waits for writers and for readers of older states.
        case full = 1

        /// Like `full`, and makes the next writer start at the beginning of the WAL file.
        case restart = 2

        /// Like `restart`, and truncates the WAL file to zero bytes.
        case truncate = 3
    }

    /// Checkpoints the WAL file: copies its content into the database file.
    ///
    ///     try pool.writeWithoutTransaction { db in
    ///         _ = try db.checkpoint(.truncate)
    ///     }
    ///
    /// - Parameters:
    ///   - kind: the extent of the checkpoint, and the connections to wait for.
    ///   - dbName: the name of the schema, or nil for all attached databases.
    /// - Returns: the number of frames in the WAL file, and the number of them that have been copied into the
    ///   database file; both -1 if the database is not in WAL mode.
    /// - Throws: `SQLITE_BUSY` if a checkpoint other than a passive one cannot complete; `SQLITE_LOCKED`
    ///   inside a transaction.
    @discardableResult
    public func checkpoint(
        _ kind: CheckpointMode = .passive, on dbName: String? = "main"
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        checkIsUsedInItsAccess()
        try checkIsUsable()
        if isTaskCancelled { throw CancellationError() }
        // Unlike a statement, a checkpoint begins with the effect of an earlier interruption.
        withoutTrace { handle.forgetInterruption() }
        if dbName?.lowercased() ?? "main" == "main" { try filePlace?.check(handle) }
        let result = handle.checkpoint(schema: dbName, mode: kind.rawValue)
        switch result.code {
        case EngineCode.ok:
            return (walFrameCount: result.walFrames, checkpointedFrameCount: result.checkpointed)
        case EngineCode.misuse:
            throw DatabaseError(resultCode: .SQLITE_MISUSE)
        default:
            let error = handle.error(result.code)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: error.code), message: error.message, encryptionFailure: nil)
        }
    }
}

// MARK: - Memory and interruption

extension Database {
    /// Frees memory that the connection does not need: cached pages, prepared statements, the schema, and the
    /// page memo that it shares with the other connections of its queue or pool
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
