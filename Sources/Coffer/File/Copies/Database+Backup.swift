internal import SQLCipherBridge

/// The progress of a backup.
public struct DatabaseBackupProgress: Sendable {
    /// The number of pages that are not copied yet.
    public let remainingPageCount: Int

    /// The number of pages of the source.
    public let totalPageCount: Int

    /// The number of copied pages.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }

    /// True if the backup is complete.
    public let isCompleted: Bool
}

extension Database {
    /// Copies the content of this database into another one, which keeps its own key, and proves the copy.
    ///
    /// Between databases with the same page layout, pages are copied. If the layouts differ, or only one of
    /// the two is encrypted, the content is first copied row by row into a temporary database, in memory or
    /// in an encrypted temporary file, and then into the destination. That takes longer, and the destination
    /// does not change if it fails.
    ///
    /// - Parameters:
    ///   - destDb: its content is lost. The copy has the content of this database at the end of the backup.
    ///   - pagesPerStep: the number of pages that are copied between two calls of `progress`; all of them if
    ///     negative. A write by another connection between two steps restarts the backup.
    ///   - progress: throws to end the backup. The destination then stays unchanged, unless it was the last
    ///     step, whose error is ignored. It must not use the destination before the last step: that throws
    ///     `SQLITE_LOCKED`.
    /// - Throws: before anything is written, `SQLITE_MISUSE` if this database is encrypted, and the
    ///   destination is an unencrypted file that was opened without ``Configuration/allowsPlaintext``;
    ///   `SQLITE_ERROR` if the destination is in use; `SQLITE_BUSY` inside a transaction that has written to
    ///   this database.
    public func backup(
        to destDb: Database, pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        checkIsUsedInItsAccess()
        destDb.checkIsUsedInItsAccess()
        try checkIsOpen()
        try destDb.checkIsOpen()
        guard pagesPerStep != 0 else {
            throw DatabaseError.misuse("A backup with zero pages per step would never finish.")
        }
        try destDb.checkMayReceiveCopy(of: self)
        defer { destDb.clearSchemaCache() }
        try DatabaseError.converting {
            let layout = try PageLayout(of: handle, isEncrypted: isEncrypted)
            let destinationLayout = try PageLayout(of: destDb.handle, isEncrypted: destDb.isEncrypted)
            if try layout.canGo(to: destinationLayout, canChangePageSize: destDb.canChangePageSize()) {
                try copyPages(of: handle, to: destDb, pagesPerStep: pagesPerStep, progress: progress)
            } else {
                try copyContent(
                    to: destDb, layout: destinationLayout, pagesPerStep: pagesPerStep, progress: progress)
            }
            try destDb.proveFile()
        }
    }

    private func copyContent(
        to destination: Database, layout: PageLayout, pagesPerStep: CInt,
        progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        let total = Int(try handle.integer(pragma: "page_count"))
        let report = DatabaseBackupProgress(
            remainingPageCount: total, totalPageCount: total, isCompleted: false)
        let connection = try destination.openScratch(pageSize: layout.pageSize)
        let scratch = connection.handle
        try addCustomizations(to: scratch)
        let copy = ContentCopy(source: handle, destination: scratch) {
            try self.checkIsNotInterrupted()
            try progress?(report)
        }
        _ = try copy.run { try self.checkIsNotInterrupted() }
        try copyPages(of: scratch, to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }

    private func copyPages(
        of source: ConnectionHandle, to destination: Database, pagesPerStep: CInt,
        progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        let isOneStep = pagesPerStep < 0
        let copy = { [self] () throws -> (remaining: Int, total: Int) in
            try destination.filePlace?.check(destination.handle)
            let backup = try BackupHandle(from: source, to: destination.handle)
            // A single step could not be canceled, so there are many. In a transaction they act as one: no
            // write can come between them.
            let pages = try step(backup, pages: isOneStep ? 1000 : pagesPerStep) { report in
                if !isOneStep { try destination.receivingCopy { try progress?(report) } }
            }
            try backup.finish()
            return pages
        }
        let pages = try isOneStep ? source.withReadTransaction(copy) : copy()
        // The copy is complete: an error from the last report cannot undo it.
        try? progress?(
            DatabaseBackupProgress(
                remainingPageCount: pages.remaining, totalPageCount: pages.total, isCompleted: true))
    }

    private func step(
        _ backup: borrowing BackupHandle, pages: CInt, progress: (DatabaseBackupProgress) throws -> Void
    ) throws -> (remaining: Int, total: Int) {
        while true {
            let result = backup.step(pages: pages)
            let remaining = backup.remainingPageCount
            let total = backup.totalPageCount
            switch result {
            case .more:
                try checkIsNotInterrupted()
                try progress(
                    DatabaseBackupProgress(
                        remainingPageCount: remaining, totalPageCount: total, isCompleted: false))
            case .done:
                return (remaining, total)
            case .failed(let code):
                var message = ConnectionHandle.describe(code)
                if EngineError(code: code, message: nil).primaryCode == EngineCode.busy, isInsideTransaction,
                    handle.transactionState == .write
                {
                    message +=
                        " - the source is in a transaction that has written: make the backup after the "
                        + "transaction, or from another connection"
                }
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
            }
        }
    }
}

// MARK: - The destination

extension Database {
    /// Refuses a copy with less protection than its source, unless this database was opened to allow that
    /// (invariant "No plaintext by accident").
    private func checkMayReceiveCopy(of source: Database) throws {
        guard source.isEncrypted, !isEncrypted else { return }
        // A temporary database of SQLite may be stored in a file, too.
        guard configuration.allowsPlaintext || protection == .memory && !path.isEmpty else {
            throw DatabaseError.misuse(
                """
                An encrypted database cannot be backed up into a file without a key. Give the \
                destination a key, or set Configuration.allowsPlaintext if the copy is meant to be \
                readable by everyone.
                """)
        }
    }

    private func canChangePageSize() throws -> Bool {
        guard protection == .plaintext else { return false }
        return try handle.journalMode() != .wal
    }

    /// Opens a temporary database whose pages can be copied to this one. If this one is encrypted, so is the
    /// temporary one, with a random key.
    func openScratch(pageSize: Int64) throws -> EngineConnection {
        let scratch = try EngineConnection(path: isEncrypted ? "" : ":memory:", flags: [.readWrite, .create])
        if isEncrypted {
            try scratch.handle.setRandomKey(configuration.cipher)
            try scratch.handle.execute("PRAGMA temp_store = MEMORY")
        } else {
            try scratch.handle.execute(trusted: "PRAGMA page_size = \(pageSize)")
        }
        return scratch
    }

    /// Opens the file of an encrypted database with a fresh connection, verifies the authentication code of
    /// each page, and checks the structure.
    func proveFile() throws {
        guard isEncrypted, let ring = keying.ring, !path.isEmpty,
            handle.filename(schema: "main")?.isEmpty == false
        else { return }
        guard let fresh = try openBeside(ring) else {
            // This connection has the file locked, so no other one can read it: check its own view instead.
            handle.releaseMemory()
            return try StructureCheck.prove(handle, readsCodes: true)
        }
        // From this size on, SQLite checkpoints a transaction after the commit; zero means never.
        let checkpointedCount = try handle.integer(pragma: "wal_autocheckpoint")
        guard try checkpointedCount > 0 && handle.integer(pragma: "page_count") >= checkpointedCount else {
            return try proveFile(fresh.handle, ring)
        }
        // Passed to the other thread, which is the only one to use it until both threads have finished.
        nonisolated(unsafe) let own = handle
        _ = try SideWork<Void>.run(
            side: { _ in
                // Checkpoints the write-ahead log that the copy has left. SQLite does this after commits of
                // this size, but not after backups, and would otherwise do it on closing. The copy is valid
                // without it, so an error is ignored.
                _ = unsafe own.checkpoint(schema: "main", mode: CheckpointMode.passive.rawValue)
            },
            main: { _ in try proveFile(fresh.handle, ring) })
    }

    /// - Parameter fresh: another connection to the file.
    private func proveFile(_ fresh: ConnectionHandle, _ ring: KeyRing) throws {
        func check(_ content: ContentReader) throws {
            try addCustomizations(to: content.handle)
            try content.proveStructure(readsCodes: true) { try checkIsNotInterrupted() }
        }
        let progress = ProgressReport(nil, isCancellable: false)
        // The page reader uses the first key only.
        guard ring.usedKeyIndex ?? 0 == 0 else { return try check(ContentReader(fresh)) }
        let protection = FileProtection.encrypted(ring)
        guard try fresh.journalMode() != .wal else {
            // The engine checks a state that cannot be pinned, because it is damaged or other connections
            // write too fast.
            guard let state = try? StoredState(pinning: path, protection, timeout: 0.5) else {
                return try check(ContentReader(fresh))
            }
            return try PageProof.readState(state, protection, progress, check)
        }
        try fresh.withReadTransaction {
            guard let state = try StoredState(in: fresh, protection) else {
                return try check(ContentReader(fresh))
            }
            try PageProof.readState(state, protection, progress, check)
        }
    }

    /// Opens a fresh connection to the file, or returns nil if the file is locked.
    private func openBeside(_ ring: KeyRing) throws -> EngineConnection? {
        do {
            let keyed = try ring.openKeyed(open: openForReading)
            return keyed.connection
        } catch {
            if case .engine(let reason) = error, reason.primaryCode == EngineCode.busy { return nil }
            throw error
        }
    }

    private func openForReading() throws(EngineError) -> EngineConnection {
        let connection = try EngineConnection(path: path, flags: .readOnly)
        connection.handle.busyTimeout(seconds: 0.5)
        return connection
    }

    /// Adds the functions and collations of this connection to another one.
    func addCustomizations(to connection: ConnectionHandle) throws {
        try connection.install(additions.functions, additions.collations)
    }

    /// Throws `SQLITE_INTERRUPT` if the connection was interrupted. Long work that runs no statements of this
    /// connection calls it.
    func checkIsNotInterrupted() throws {
        guard handle.isInterrupted || sharedState.isCancelled else { return }
        throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
    }
}

extension DatabaseReader {
    /// Copies the content of the database into another one, which keeps its own key.
    ///
    /// Other accesses cannot use the destination during the backup. Commits of other connections to the
    /// source during the backup may or may not be in the copy, which is always one state of the source.
    ///
    ///     try queue.backup(to: other)
    ///
    /// - Parameters:
    ///   - writer: its content is lost.
    ///   - pagesPerStep: the number of pages that are copied between two calls of `progress`; all of them if
    ///     negative.
    ///   - progress: throws to end the backup.
    /// - Throws: as ``Database/backup(to:pagesPerStep:progress:)``.
    public func backup(
        to writer: any DatabaseWriter, pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try writer.barrierWriteWithoutTransaction { destination in
            try unsafeRead { source in
                try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
            }
        }
    }
}
