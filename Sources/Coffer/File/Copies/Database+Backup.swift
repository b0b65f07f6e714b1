internal import SQLCipherBridge
internal import Synchronization

/// How far a backup has come.
public struct DatabaseBackupProgress: Sendable {
    /// How many pages are not copied yet.
    public let remainingPageCount: Int

    /// How many pages the source has.
    public let totalPageCount: Int

    /// How many pages are copied.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }

    /// Whether the backup is complete.
    public let isCompleted: Bool
}

extension Database {
    /// Copies the content of this database into another one, which keeps its own key, and proves the copy.
    ///
    /// Between databases with the same page layout, pages are copied. Where the layouts differ, or one of the
    /// two is not encrypted, the content is copied row by row into a database beside the destination first,
    /// in memory or in an encrypted temporary file, and then into the destination: that takes longer, and
    /// nothing of the destination changes if it fails.
    ///
    /// - Parameters:
    ///   - destDb: what it contained is lost. The copy has what this database contains at the end of the
    ///     backup.
    ///   - pagesPerStep: how many pages are copied between two calls of `progress`; all of them if negative.
    ///     A write by another connection between two steps makes the backup start again.
    ///   - progress: throws to end the backup. That leaves the destination as it was, unless it was the last
    ///   step, whose error is ignored. It must not use the destination before the last step: that throws
    ///   `SQLITE_LOCKED`.
    /// - Throws: before anything is written, `SQLITE_MISUSE` when this database is encrypted, and the
    ///   destination is a file that is not and was opened without ``Configuration/allowsPlaintext``;
    ///   `SQLITE_ERROR` when the destination is in use; `SQLITE_BUSY` inside of a transaction that has
    ///   written to this database.
    public func backup(
        to destDb: Database, pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        checkIsUsedInItsAccess()
        destDb.checkIsUsedInItsAccess()
        guard !isClosed, !destDb.isClosed else { throw DatabaseError.connectionIsClosed() }
        guard pagesPerStep != 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "A backup in steps of no page would never end.")
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
            let backup = try BackupHandle(from: source, to: destination.handle)
            // One step could not be cancelled. In a transaction, many are one: nobody's write can come
            // between.
            let pages = try step(backup, pages: isOneStep ? 1000 : pagesPerStep) { report in
                if !isOneStep { try destination.receivingCopy { try progress?(report) } }
            }
            try backup.finish()
            return pages
        }
        let pages = try isOneStep ? source.withReadTransaction(copy) : copy()
        // The copy is made: an error of the last report cannot undo it.
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
                        " - the transaction of the source has written: make the backup after it, or from "
                        + "another connection"
                }
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
            }
        }
    }
}

// MARK: - The destination

extension Database {
    /// Refuses copies that would have less protection than their source, unless this database was opened so
    /// on purpose (I1).
    private func checkMayReceiveCopy(of source: Database) throws {
        guard source.isEncrypted, !isEncrypted else { return }
        // A database of SQLite in a temporary file is a file, too.
        guard configuration.allowsPlaintext || protection == .memory && !path.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    An encrypted database cannot be backed up into a file without a key. Give the \
                    destination a key, or set Configuration.allowsPlaintext if the copy is meant to be \
                    readable by everybody.
                    """)
        }
    }

    private func canChangePageSize() throws -> Bool {
        guard protection == .plaintext else { return false }
        return try handle.journalMode() != .wal
    }

    /// A database for the moment, whose pages can go to this one: encrypted with a key that nobody knows if
    /// this one is encrypted.
    func openScratch(pageSize: Int64) throws -> EngineConnection {
        let scratch = try EngineConnection(path: isEncrypted ? "" : ":memory:", flags: [.readWrite, .create])
        if isEncrypted {
            try KeyRing.keyMemoryConnection(scratch.handle, settings: configuration.cipher)
            try scratch.handle.execute("PRAGMA temp_store = MEMORY")
        } else {
            try scratch.handle.execute(trusted: "PRAGMA page_size = \(pageSize)")
        }
        return scratch
    }

    /// Opens the file of an encrypted database on a fresh connection, looks at the code of each page, and
    /// reads the structure.
    func proveFile() throws {
        guard isEncrypted, let ring = keying.ring, !path.isEmpty,
            handle.filename(schema: "main")?.isEmpty == false
        else { return }
        guard let fresh = try openBeside(ring) else {
            // No other connection can look while this one keeps the file to itself: its own view must do.
            handle.releaseMemory()
            return try StructureCheck.prove(handle, readsCodes: true)
        }
        // From this size on SQLite brings a transaction into the file after the commit; zero is never.
        let checkpointedCount = try handle.integer(pragma: "wal_autocheckpoint")
        guard try checkpointedCount > 0 && handle.integer(pragma: "page_count") >= checkpointedCount else {
            return try proveFile(fresh.handle, ring)
        }
        // Handed to the other thread, which is the only one to use it until both threads have done their
        // work.
        nonisolated(unsafe) let own = handle
        _ = try SideWork<Void>.run(
            side: { _ in
                // Brings what the copy left in a write-ahead log into the file, as commits of this size do
                // and backups do not: otherwise the database would do it when it is closed. The copy is as
                // good without, so that an error does not matter here.
                _ = unsafe own.checkpoint(schema: "main", mode: CheckpointMode.passive.rawValue)
            },
            main: { _ in try proveFile(fresh.handle, ring) })
    }

    /// - Parameter fresh: a connection to the file.
    private func proveFile(_ fresh: ConnectionHandle, _ ring: KeyRing) throws {
        func check(_ content: ContentReader) throws {
            try addCustomizations(to: content.handle)
            try content.proveStructure(readsCodes: true) { try checkIsNotInterrupted() }
        }
        let progress = ProgressReport(nil, isCancellable: false)
        // Pages are read with the first key.
        guard ring.usedKeyIndex ?? 0 == 0 else { return try check(ContentReader(fresh)) }
        let protection = FileProtection.encrypted(ring)
        guard try fresh.journalMode() != .wal else {
            // What cannot be pinned, because it is damaged or others write too fast, the engine looks at.
            guard let state = try? StoredState(pinning: path, protection, timeout: 0.5) else {
                return try check(ContentReader(fresh))
            }
            return try PageProof.reading(state, protection, progress, check)
        }
        try fresh.withReadTransaction {
            guard let state = try StoredState(in: fresh, protection) else {
                return try check(ContentReader(fresh))
            }
            try PageProof.reading(state, protection, progress, check)
        }
    }

    /// A fresh connection to the file, or nil if it is locked.
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

    /// Gives another connection the functions and collations of this one.
    func addCustomizations(to connection: ConnectionHandle) throws {
        try connection.install(additions.functions, additions.collations)
    }

    /// Ends long work that consists of other things than statements of this connection.
    func checkIsNotInterrupted() throws {
        guard handle.isInterrupted || sharedState.isCancelled.load(ordering: .relaxed) else { return }
        throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
    }
}

extension DatabaseReader {
    /// Copies the content of the database into another one, which keeps its own key.
    ///
    /// The destination cannot be used by others meanwhile. What other connections commit to the source during
    /// the backup may or may not be in the copy, which is always one state of the source.
    ///
    ///     try queue.backup(to: other)
    ///
    /// - Parameters:
    ///   - writer: what it contained is lost.
    ///   - pagesPerStep: how many pages are copied between two calls of `progress`; all of them if negative.
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
