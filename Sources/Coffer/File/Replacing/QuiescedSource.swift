internal import SQLCipherBridge

/// The locks on a file that is about to be replaced: all content is in the file itself, no other connection
/// writes to it, and a second connection reads from it. At the end of its life the locks are released, and
/// the file returns to its journal mode.
///
/// While accesses of a pool wait, no other connection reads either, and the second connection reads through
/// the first one: the lock is the one with which the WAL mode is left.
///
/// A process that has the file open in WAL mode while it is replaced destroys the new file, or loses its
/// writes. That is why the WAL mode is left, which fails while another connection is open. In the modes with
/// a journal file SQLite notices that the file was moved; in the others it does not. See ``PublishedFile``
/// for how these are handled.
struct QuiescedSource: ~Copyable {
    /// The connection with a read transaction. It ends first: properties end in their order.
    private let readingConnection: EngineConnection
    private let lock: SourceLock
    private var writer: QuietWriter

    var reader: ConnectionHandle { readingConnection.handle }

    /// - Parameters:
    ///   - writer: must outlive this value.
    ///   - note: records the journal mode before it is left.
    init(_ file: ExaminedFile, writer: ConnectionHandle, _ note: inout RunNote) throws {
        let job = file.job
        if job.followsLog {
            guard try writer.journalMode() == .wal else { throw DatabaseFileError(.busy([]), path: job.path) }
            note.willLeaveWAL()
        } else {
            try note.willLeave(journalMode: writer.journalMode())
        }
        let quiet = QuietWriter(
            writer, job.before, journalMode: note.journalMode, isExclusive: job.followsLog)
        let lock =
            try job.followsLog
            ? QuiescedSource.takeExclusively(job, writer) : QuiescedSource.take(file, writer)
        readingConnection = try QuiescedSource.openReader(job, writer)
        self.lock = lock
        self.writer = quiet
    }

    /// Leaves the WAL mode, and keeps other connections from writing.
    private static func take(_ file: ExaminedFile, _ writer: ConnectionHandle) throws -> SourceLock {
        let job = file.job
        // SQLite's busy handler waits for locks here, but not for the last other connection to close.
        try Deadline(after: job.lockTimeout).retryingWhileBusy {
            try writer.changeJournalMode(to: .delete, job.before)
        }
        try FailPoint.journalLeft.pass(job.path)
        // No other process has an idle connection that could write later.
        try FileUsers.waitForNoneElse(of: file.status, job.path, timeout: job.lockTimeout)
        try FailPoint.alone.pass(job.path)
        let exclusive = try SourceLock.begin(.exclusive, writer, job)
        try exclusive.removeSideFiles()
        try exclusive.end()
        try FailPoint.cleared.pass(job.path)
        // Another process may have opened the file since then; this lock detects it.
        let lock = try SourceLock.begin(.reserved, writer, job)
        try lock.checkHasNoSideFiles()
        return lock
    }

    /// Leaves the WAL mode, and keeps the exclusive lock with which that is done: the log is checkpointed
    /// into the file, and no other connection reads or writes until the lock is released.
    ///
    /// The journal is truncated and not deleted. So SQLite does not unlink it by name when the connection is
    /// closed, when a journal of that name could belong to the new file.
    private static func takeExclusively(_ job: ReplacementJob, _ writer: ConnectionHandle) throws
        -> SourceLock
    {
        // If the checkpoint failed under that lock, for example because the disk is full, SQLite would keep
        // the lock until the connection is closed. A passive one does not restart the log, which has been
        // read up to its end.
        let checkpoint = writer.checkpoint(
            schema: "main", mode: Database.CheckpointMode.passive.rawValue)
        guard checkpoint.code == EngineCode.ok || checkpoint.code & 0xff == EngineCode.busy else {
            throw writer.error(checkpoint.code)
        }
        guard try writer.firstText(trusted: "PRAGMA main.locking_mode = EXCLUSIVE") == "exclusive" else {
            throw EngineError.misuse("The lock on the file cannot be kept")
        }
        // A reader that the pool has discarded is no longer in use, but may still be open for a moment.
        try Deadline(after: max(0.5, job.lockTimeout)).retryingWhileBusy {
            guard try writer.firstText(trusted: "PRAGMA main.journal_mode = TRUNCATE") == "truncate" else {
                throw EngineError.busy("Another connection has the database open in WAL mode")
            }
        }
        let lock = try SourceLock.kept(by: writer, job)
        try FailPoint.journalLeft.pass(job.path)
        return lock
    }

    /// Opens a connection in a read transaction, or one that reads through the connection with the exclusive
    /// lock.
    private static func openReader(_ job: ReplacementJob, _ writer: ConnectionHandle) throws
        -> EngineConnection
    {
        let connection: EngineConnection
        if job.followsLog {
            // Other processes that have the file open and have not read it yet find it spoiled when they do.
            connection = try job.before.open(viewing: ConnectionBytes(writer))
        } else {
            connection = try job.before.open(job.path, flags: .readOnly, timeout: job.lockTimeout)
            try connection.handle.execute("BEGIN")
            try connection.handle.verifyKey()
        }
        try FailPoint.locked.pass(job.path)
        return connection
    }

    /// Verifies, right before the file is replaced, that the lock is held, that the file is in rollback mode,
    /// and that no journal or log next to it would be replayed into the new file.
    func checkCanBeReplaced(removingSideFiles: Bool) throws {
        if removingSideFiles { try lock.removeSideFiles() }
        try lock.checkHasNoSideFiles()
    }

    /// Notes that the copy now has the name of the file.
    mutating func didReplace() { writer.didReplace() }
}

/// A connection with which the log is checkpointed into the file. At the end of this value its transaction
/// ends, and the file returns to its journal mode.
private struct QuietWriter: ~Copyable {
    private let writer: ConnectionHandle
    private let protection: FileProtection
    private let journalMode: JournalMode
    /// True if the writer keeps an exclusive lock without a transaction.
    private let isExclusive: Bool
    private var isReplaced = false

    init(
        _ writer: ConnectionHandle, _ protection: FileProtection, journalMode: JournalMode, isExclusive: Bool
    ) {
        self.isExclusive = isExclusive
        self.writer = writer
        self.protection = protection
        self.journalMode = journalMode
    }

    deinit {
        // Once the file has lost its name, there is no journal mode to restore: the writer only has to end
        // its transaction, and does so when it is closed.
        guard !isReplaced else { return }
        if !writer.isAutocommit { try? writer.execute("ROLLBACK") }
        if isExclusive {
            // The lock is kept until the end of the transaction that sets the WAL mode, so that no other
            // connection can interfere. The mode in between closes the journal, which may have lost its name.
            _ = try? writer.firstText(trusted: "PRAGMA main.locking_mode = NORMAL")
            if (try? writer.journalMode()) != .wal {
                _ = try? writer.firstText(trusted: "PRAGMA main.journal_mode = DELETE")
            }
        }
        // Other connections may be reading now.
        try? Deadline(after: 5).retryingWhileBusy { try writer.restore(journalMode, protection) }
        // Releases a lock that is still held if the mode was not changed.
        if isExclusive { try? writer.verifyKey() }
    }

    /// Notes that the copy now has the name of the file.
    mutating func didReplace() { isReplaced = true }
}
