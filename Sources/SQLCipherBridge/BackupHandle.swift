internal import CSQLCipher

/// An online backup between two connections: <https://www.sqlite.org/c3ref/backup_finish.html>.
///
/// SQLite can only copy pages between databases with the same page size and reserve. Otherwise, it reports
/// success for a copy that cannot be opened: compare both before you start a backup.
@safe
package struct BackupHandle: ~Copyable {
    private let pointer: OpaquePointer
    private let destination: ConnectionHandle

    /// Starts a backup of the main database of `source` into the main database of `destination`.
    package init(from source: ConnectionHandle, to destination: ConnectionHandle) throws(EngineError) {
        guard let pointer = unsafe sqlite3_backup_init(destination.pointer, "main", source.pointer, "main")
        else {
            throw destination.error(destination.lastExtendedErrorCode)
        }
        unsafe self.pointer = pointer
        self.destination = destination
    }

    package enum StepResult {
        case more
        case done
        case failed(CInt)
    }

    /// Copies up to `pages` pages, or all of them if the number is negative.
    package func step(pages: CInt) -> StepResult {
        switch unsafe sqlite3_backup_step(pointer, pages) {
        case SQLITE_OK: .more
        case SQLITE_DONE: .done
        case let code: .failed(code)
        }
    }

    package var remainingPageCount: Int { unsafe Int(sqlite3_backup_remaining(pointer)) }
    package var totalPageCount: Int { unsafe Int(sqlite3_backup_pagecount(pointer)) }

    /// Ends the backup. Throws the error of a failed step, if any.
    package consuming func finish() throws(EngineError) {
        let code = unsafe sqlite3_backup_finish(pointer)
        let destination = self.destination
        discard self
        try destination.check(code)
    }

    deinit {
        unsafe sqlite3_backup_finish(pointer)
    }
}
