internal import SQLCipherBridge

/// Checks that the paths of a connection's database files and WAL file still lead to the open files.
///
/// SQLite performs this check only when it creates a rollback journal. In WAL mode, it would report success
/// for commits to a file that no longer has a name.
final class FilePlace {
    private let path: String
    private var lastLook = MonotonicTime.distantPast

    /// The attached databases that the transaction has changed.
    private var attached: Set<String> = []

    /// The time for which a check remains valid, in nanoseconds: half a millisecond.
    private static let longestTrust: Int64 = 500_000

    init(path: String) {
        self.path = path
    }

    /// Throws `SQLITE_READONLY_DBMOVED` before a statement that commits, if the database file or its WAL file
    /// was removed, renamed or replaced.
    ///
    /// The check needs system calls, which would slow down small transactions by a few percent if each of
    /// them made them. Transactions in quick succession share one check.
    func check(before statement: Statement, on handle: ConnectionHandle) throws {
        if handle.isAutocommit { attached = [] }
        attached.formUnion(statement.facts.changedAttachedSchemas)
        switch statement.facts.transactionStep {
        case .commit, .releaseSavepoint: guard handle.transactionState == .write else { return }
        case nil: guard !statement.isReadonly, handle.isAutocommit else { return }
        case .begin, .rollback, .beginSavepoint, .rollbackToSavepoint: return
        }
        for schema in attached where handle.isFileMoved(schema: schema) {
            throw DatabaseError.fileMoved(handle.filename(schema: schema) ?? schema)
        }
        let now = MonotonicTime.now
        guard now.since(lastLook) > FilePlace.longestTrust else { return }
        try check(handle)
        lastLook = now
    }

    /// Throws the same before other work on the file or its log. A checkpoint of a replaced file would move
    /// the transactions of the new file into the old one.
    func check(_ handle: ConnectionHandle) throws {
        guard !handle.isFileMoved() else { throw DatabaseError.fileMoved(path) }
        guard !handle.isLogMoved() else { throw DatabaseError.logMoved(path) }
    }
}

extension DatabaseError {
    static func fileMoved(_ path: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: EngineCode.databaseMoved),
            message:
                "The database file was removed, renamed or replaced while it was open: \(path). Writes would "
                + "be lost. Close the database, check the file, and open it again.")
    }

    fileprivate static func logMoved(_ path: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: EngineCode.databaseMoved),
            message:
                "The write-ahead log was removed, renamed or replaced while it was open: \(path)-wal. Writes "
                + "would be lost, and so may be all commits since the last checkpoint. Put the log back "
                + "if it was moved, or make a backup through this connection, and open the database "
                + "again.")
    }
}
