internal import SQLCipherBridge

/// The journal mode that a failed rotation, or another connection, has left to a later access.
enum UnfinishedJournalMode {
    /// The file may have left the WAL mode.
    case left
    /// The connection was opened again, but could not set the WAL mode of its configuration.
    case notSetUp
}

extension Database {
    /// Sets the WAL mode if the configuration demands it.
    ///
    /// - Parameter reopening: if it is `later`, this does not wait for other connections, and leaves the rest
    ///   to a later access if one of them has the file locked.
    func setUpJournalMode(_ reopening: Reopening?) throws {
        guard purpose == .writer, configuration.journalMode == .wal, !configuration.readonly,
            protection != .memory
        else { return }
        guard reopening == .later else { return try setUpWAL() }
        do {
            try withoutWaiting { try setUpWAL() }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            unfinishedJournalMode = .notSetUp
        }
    }

    private func setUpWAL() throws {
        if let failure = EncryptionFailure(otherNameOf: handle) {
            throw DatabaseError(encryptionFailure: failure)
        }
        // Without WAL mode, `synchronous = NORMAL` would not be safe against power loss.
        do {
            try handle.changeJournalMode(to: .wal, knownProtection())
        } catch let error as EngineError
            where error.code == EngineCode.busy && handle.lastExtendedErrorCode == EngineCode.ok
        {
            throw DatabaseError(message: "could not activate WAL mode at path: \(path)")
        } catch {
            throw DatabaseError.publicError(error)
        }
        try DatabaseError.converting {
            try handle.execute("PRAGMA synchronous = NORMAL")
            // The first read creates the WAL file and its index, which other connections need to open the
            // file for reading only.
            try handle.execute("SELECT 1 FROM main.sqlite_master LIMIT 1")
        }
    }

    /// Completes an unfinished change of the journal mode, unless the application has set a mode since. It
    /// does not wait for other connections, because each access tries it again.
    func finishJournalMode() {
        guard let unfinished = unfinishedJournalMode, !isClosed else { return }
        guard !inspector.pragmas.hasSeenJournalMode else { return unfinishedJournalMode = nil }
        // A transaction may outlive its access: Configuration.allowsUnsafeTransactions.
        guard handle.isAutocommit else { return }
        observerNotifier.removeHooks()
        defer { observerNotifier.move(to: handle, inspector: inspector) }
        do {
            try withoutWaiting {
                try withoutInterruption {
                    // A read rolls back a journal of a change of the mode that failed.
                    try handle.verifyKey()
                    switch unfinished {
                    case .left: try handle.changeJournalMode(to: .wal, knownProtection())
                    case .notSetUp: try setUpWAL()
                    }
                }
            }
            unfinishedJournalMode = nil
        } catch {}
    }
}
