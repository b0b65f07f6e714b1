internal import CSQLCipher
internal import Glibc
package import SystemCalls

/// A borrowed `sqlite3 *`. It cannot be closed, and is only valid during the lifetime of the
/// ``EngineConnection`` that owns it.
@safe
@usableFromInline
package struct ConnectionHandle: Equatable {
    @usableFromInline package let pointer: OpaquePointer

    @usableFromInline
    package init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    @usableFromInline
    package static func == (lhs: ConnectionHandle, rhs: ConnectionHandle) -> Bool {
        unsafe lhs.pointer == rhs.pointer
    }
}

extension ConnectionHandle {
    /// The statements that are still prepared on this connection, for messages about obstacles to closing it.
    package var pendingStatements: [StatementHandle] {
        var result: [StatementHandle] = []
        var next = unsafe sqlite3_next_stmt(pointer, nil)
        while let statement = unsafe next {
            unsafe result.append(StatementHandle(statement))
            unsafe next = sqlite3_next_stmt(pointer, statement)
        }
        return result
    }
}

extension ConnectionHandle {
    /// Makes SQLite forget the schema, and with it the unused virtual tables, whose modules keep their own
    /// statements.
    package func forgetSchema() throws(EngineError) {
        let isWritable = try firstText(trusted: "PRAGMA writable_schema") == "1"
        try execute("PRAGMA writable_schema = RESET")
        if isWritable { try execute("PRAGMA writable_schema = ON") }
    }
}

// MARK: - Errors

extension ConnectionHandle {
    package var lastErrorMessage: String? {
        let code = lastExtendedErrorCode
        switch code {
        case EngineCode.refusedSideFile: return SideFiles.refusal
        case EngineCode.changedElsewhere: return SideFiles.change
        case EngineCode.readOnlyDirectory: return SideFiles.lackOfFolder
        case EngineCode.databaseMoved: return EngineError.fileMoved.message
        default: break
        }
        if code == EngineCode.cantOpen, let otherName { return otherName.words }
        let words = unsafe sqlite3_errmsg(pointer).map { unsafe String(cString: $0) }
        return words.map { $0 + ConnectionHandle.systemReason(code, lastSystemError) }
    }

    /// Returns the system's message to append to "unable to open database file" if the process or the system
    /// is out of descriptors. Empty for other errors, whose `errno` may come from an earlier call.
    private static func systemReason(_ code: CInt, _ number: CInt) -> String {
        guard code & 0xff == EngineCode.cantOpen, number == EMFILE || number == ENFILE else { return "" }
        return ": \(Errno(number).words)"
    }
    package var lastExtendedErrorCode: CInt { unsafe sqlite3_extended_errcode(pointer) }

    /// The `errno` of the last system call that failed.
    package var lastSystemError: CInt { unsafe sqlite3_system_errno(pointer) }

    /// Returns SQLite's description of a result code.
    package static func describe(_ code: CInt) -> String {
        unsafe sqlite3_errstr(code).map { unsafe String(cString: $0) } ?? "unknown error"
    }

    /// True if the file system of the main database has no room for another file. SQLite tries to read a
    /// journal that it cannot create, and has the error of that call.
    private var isWithoutRoomForFiles: Bool {
        guard lastSystemError == ENOENT, let path = unsafe sqlite3_db_filename(pointer, "main") else {
            return false
        }
        var status = statvfs()
        return unsafe statvfs(path, &status) == 0 && status.f_files > 0 && status.f_favail == 0
    }

    /// Throws an error for a failed result code. It reads the message while it is still valid.
    package func check(_ code: CInt) throws(EngineError) {
        guard code != SQLITE_OK else { return }
        throw error(code)
    }

    /// Returns the error of a call that has just failed.
    ///
    /// If SQLite is interrupted while a virtual table declares its columns, for example at the first use of a
    /// pragma as a table, it reports `SQLITE_ERROR` with the words of an interruption. Source: SQLite's
    /// `sqlite3_declare_vtab`, seen with SQLite 3.46.
    ///
    /// A file that cannot be read is not called damaged: see ``ReadFailure``.
    package func error(_ code: CInt) -> EngineError {
        let primaryCode = code & 0xff
        if [SQLITE_CORRUPT, SQLITE_NOTADB].contains(primaryCode) || code == EngineCode.refusedSideFile {
            if let failure = ReadFailure.take() { return EngineError(unreadable: failure) }
            // The operation that has replaced the file makes the old one unusable.
            if isFileMoved() { return .fileMoved }
        } else if primaryCode == SQLITE_IOERR {
            // Damage that is found later has nothing to do with this failure.
            _ = ReadFailure.take()
        }
        let systemError = code == SQLITE_CANTOPEN && isWithoutRoomForFiles ? ENOSPC : lastSystemError
        if let error = EngineError.full(code, systemError: systemError) { return error }
        let message = lastErrorMessage
        let isInterruption =
            code == SQLITE_ERROR && isInterrupted && message == ConnectionHandle.describe(SQLITE_INTERRUPT)
        return EngineError(code: isInterruption ? SQLITE_INTERRUPT : code, message: message)
    }
}

// MARK: - State of the connection

extension ConnectionHandle {
    @usableFromInline
    package var isAutocommit: Bool { unsafe sqlite3_get_autocommit(pointer) != 0 }

    /// The state of the connection's transaction, in any schema.
    package enum TransactionState {
        case none, read, write
    }

    /// True if a transaction reads or writes.
    package var isReading: Bool { unsafe sqlite3_txn_state(pointer, nil) != SQLITE_TXN_NONE }

    package var transactionState: TransactionState {
        switch unsafe sqlite3_txn_state(pointer, nil) {
        case SQLITE_TXN_WRITE: .write
        case SQLITE_TXN_READ: .read
        default: .none
        }
    }

    package var lastInsertedRowID: Int64 {
        get { unsafe sqlite3_last_insert_rowid(pointer) }
        nonmutating set { unsafe sqlite3_set_last_insert_rowid(pointer, newValue) }
    }

    package var changesCount: Int { unsafe Int(sqlite3_changes64(pointer)) }
    package var totalChangesCount: Int { unsafe Int(sqlite3_total_changes64(pointer)) }

    /// Can be called from any thread, as long as the connection is not closed at the same time.
    package func interrupt() { unsafe sqlite3_interrupt(pointer) }
    package var isInterrupted: Bool { unsafe sqlite3_is_interrupted(pointer) != 0 }

    /// Ends the effect of an interruption that came when no statement was running. SQLite would keep it until
    /// the next statement begins, and would not checkpoint the WAL file when the connection is closed.
    package func forgetInterruption() {
        if isInterrupted { try? execute("SELECT 1") }
    }

    package func releaseMemory() { unsafe sqlite3_db_release_memory(pointer) }

    package func isReadOnly(schema: String) -> Bool { unsafe sqlite3_db_readonly(pointer, schema) == 1 }

    package func filename(schema: String) -> String? {
        unsafe sqlite3_db_filename(pointer, schema).map { unsafe String(cString: $0) }
    }

    /// Returns the identity of a database's file. A name that is not valid UTF-8 would lead to another file
    /// once it is converted to a `String`.
    package func fileIdentity(schema: String) -> FileIdentity? {
        unsafe sqlite3_db_filename(pointer, schema).flatMap { unsafe FileIdentity(named: $0) }
    }

    package func busyTimeout(seconds: Double) {
        unsafe sqlite3_busy_timeout(pointer, CInt(min(max(0, seconds) * 1000, Double(CInt.max)).rounded(.up)))
    }

    /// Does nothing for a file that was replaced, whose log may belong to the new file by now.
    package func checkpoint(schema: String?, mode: CInt) -> (code: CInt, walFrames: Int, checkpointed: Int) {
        guard !isFileMoved() else { return (EngineCode.databaseMoved, -1, -1) }
        var walFrames: CInt = -1
        var checkpointed: CInt = -1
        let code = unsafe sqlite3_wal_checkpoint_v2(pointer, schema, mode, &walFrames, &checkpointed)
        return (code, Int(walFrames), Int(checkpointed))
    }

    /// Sets one of SQLite's limits, or only reads it if `newValue` is negative. Returns the previous value.
    @discardableResult
    package func limit(_ limit: Limit, newValue: CInt = -1) -> Int {
        unsafe Int(sqlite3_limit(pointer, limit.code, newValue))
    }

    package struct Limit {
        fileprivate let code: CInt
        package static let variableNumber = Limit(code: SQLITE_LIMIT_VARIABLE_NUMBER)
        /// The maximum number of columns of a table or a result.
        package static let columns = Limit(code: SQLITE_LIMIT_COLUMN)
        /// The maximum number of bytes of a value or a row.
        package static let length = Limit(code: SQLITE_LIMIT_LENGTH)
    }

    package struct Flag {
        fileprivate let code: CInt
        package static let doubleQuotedStringsInDML = Flag(code: SQLITE_DBCONFIG_DQS_DML)
        package static let doubleQuotedStringsInDDL = Flag(code: SQLITE_DBCONFIG_DQS_DDL)
        package static let defensive = Flag(code: SQLITE_DBCONFIG_DEFENSIVE)
        package static let trustedSchema = Flag(code: SQLITE_DBCONFIG_TRUSTED_SCHEMA)
        package static let foreignKeys = Flag(code: SQLITE_DBCONFIG_ENABLE_FKEY)
        static let writableSchema = Flag(code: SQLITE_DBCONFIG_WRITABLE_SCHEMA)
        static let triggers = Flag(code: SQLITE_DBCONFIG_ENABLE_TRIGGER)
        static let legacyFileFormat = Flag(code: SQLITE_DBCONFIG_LEGACY_FILE_FORMAT)
    }

    /// Prevents the connection from checkpointing the WAL file when it is closed, even if it is the last
    /// connection.
    package func leaveLogAtEnd() {
        _ = unsafe coffer_db_config_flag(pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil)
    }

    package func set(_ flag: Flag, _ isOn: Bool) throws(EngineError) {
        let code = unsafe coffer_db_config_flag(pointer, flag.code, isOn ? 1 : 0, nil)
        try check(code)
    }
}
