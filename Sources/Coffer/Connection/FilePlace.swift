internal import SQLCipherBridge

/// Looks whether the file of a connection, and its write-ahead log, still have their names.
///
/// SQLite does so by itself, but only where it makes a rollback journal. In WAL mode it would go on, and say
/// OK, in a file that nobody finds any more.
final class FilePlace {
    private let path: String
    private var lastLook = MonotonicTime.distantPast

    /// In nanoseconds: half a millisecond.
    private static let longestTrust: Int64 = 500_000

    init(path: String) {
        self.path = path
    }

    /// Throws `SQLITE_READONLY_DBMOVED` before a statement that commits, if the file or its log was removed,
    /// renamed or replaced.
    ///
    /// These are calls of the system, which would make small transactions some percent slower if they were
    /// in each: those that follow one another closely share them.
    func check(before statement: Statement, on handle: ConnectionHandle) throws {
        switch statement.facts.transactionStep {
        case .commit, .releaseSavepoint: guard handle.transactionState == .write else { return }
        case nil: guard !statement.isReadonly, handle.isAutocommit else { return }
        case .begin, .rollback, .beginSavepoint, .rollbackToSavepoint: return
        }
        let now = MonotonicTime.now
        guard now.since(lastLook) > FilePlace.longestTrust else { return }
        guard !handle.isFileMoved() else { throw DatabaseError.fileMoved(path) }
        guard !handle.isLogMoved() else { throw DatabaseError.logMoved(path) }
        lastLook = now
    }
}

extension DatabaseError {
    static func fileMoved(_ path: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: EngineCode.databaseMoved),
            message:
                "The database file was removed, renamed or replaced while it was open: \(path). What is "
                + "written would be lost. Close the database, see what became of the file, and open it "
                + "again.")
    }

    fileprivate static func logMoved(_ path: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: EngineCode.databaseMoved),
            message:
                "The write-ahead log was removed, renamed or replaced while it was open: \(path)-wal. What "
                + "is written would be lost, and so may be what was written since the last checkpoint. Put "
                + "the log back if it was moved, or make a backup through this connection, and open the "
                + "database again.")
    }
}
