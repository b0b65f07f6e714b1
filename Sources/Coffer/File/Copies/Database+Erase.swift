internal import SQLCipherBridge

extension Database {
    /// Removes all content in one step: an empty database replaces it, so triggers and other parts of the
    /// schema cannot interfere.
    ///
    /// The key, the cipher settings, the text encoding, the auto-vacuum mode, and the journal mode stay;
    /// `user_version` and `application_id` are zero.
    func eraseContent() throws {
        checkIsUsedInItsAccess()
        try checkIsOpen()
        guard !isReadingOnly else {
            throw DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database")
        }
        guard !isInsideTransaction else {
            throw DatabaseError.misuse("A database cannot be erased inside a transaction.")
        }
        try filePlace?.check(handle)
        releaseMemory()
        do {
            let layout = try PageLayout(of: handle, isEncrypted: isEncrypted)
            let connection = try openScratch(pageSize: layout.pageSize)
            let scratch = connection.handle
            try scratch.execute(trusted: "PRAGMA encoding = '\(try handle.textEncoding().rawValue)'")
            try scratch.execute(trusted: "PRAGMA auto_vacuum = \(try handle.integer(pragma: "auto_vacuum"))")
            // Creates the first page.
            try scratch.execute("PRAGMA user_version = 0")
            let backup = try BackupHandle(from: scratch, to: handle)
            guard case .done = backup.step(pages: -1) else {
                return try backup.finish()
            }
            try backup.finish()
        } catch {
            throw DatabaseError.publicError(error)
        }
        // The erased content is still in the WAL file, and in the database file until the WAL file is
        // checkpointed. Other readers may prevent the checkpoint.
        try withoutInterruption {
            guard try handle.journalMode() == .wal else { return }
            _ = handle.checkpoint(schema: "main", mode: CheckpointMode.truncate.rawValue)
        }
    }
}
