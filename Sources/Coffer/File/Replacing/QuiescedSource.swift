internal import SQLCipherBridge

/// The locks on a file in whose place another one is about to come: everything is in the file itself, nobody
/// else writes to it, and a second connection reads from it. Let go of at the end of its life, in the journal
/// mode that the file had.
///
/// While accesses of a pool wait, nobody else reads either, and the second connection reads through the first
/// one: the lock is the one with which the WAL mode is left.
///
/// A process that has the file in WAL mode while another one takes its place destroys the new one, or loses
/// what it writes: that is why the WAL mode is left, which fails when another connection is there. In the
/// modes with a journal file SQLite notices that the file was moved. In the others it does not: see
/// ``PublishedFile`` for what is done about that.
struct QuiescedSource: ~Copyable {
    /// In a transaction that reads. Ends first: properties end in their order.
    private let readingConnection: EngineConnection
    private let lock: SourceLock
    private var writer: QuietWriter

    var reader: ConnectionHandle { readingConnection.handle }

    /// - Parameters:
    ///   - writer: lives longer than this.
    ///   - note: learns the journal mode before it is left.
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

    /// Leaves the WAL mode, and keeps others from writing.
    private static func take(_ file: ExaminedFile, _ writer: ConnectionHandle) throws -> SourceLock {
        let job = file.job
        // SQLite waits for a lock here where it asks for one, but not for the last other connection to go.
        try Deadline(after: job.lockTimeout).retryingWhileBusy {
            try writer.changeJournalMode(to: .delete, job.before)
        }
        try FailPoint.journalLeft.pass(job.path)
        // No process has the file open that does nothing now, and would write later.
        try FileUsers.waitForNoneElse(of: file.status, job.path, timeout: job.lockTimeout)
        try FailPoint.alone.pass(job.path)
        let exclusive = try SourceLock.begin(.exclusive, writer, job)
        try exclusive.removeSideFiles()
        try exclusive.end()
        try FailPoint.cleared.pass(job.path)
        // Another process may have come since then: it is seen under this lock.
        let lock = try SourceLock.begin(.reserved, writer, job)
        try lock.checkHasNoSideFiles()
        return lock
    }

    /// Leaves the WAL mode, and keeps the exclusive lock with which that is done: all that was in the log is
    /// in the file, and no other connection reads or writes until the end of the lock.
    ///
    /// The journal is cut and not removed: SQLite does not ask for its name when the connection is closed,
    /// which may be that of a journal of the new file by then.
    private static func takeExclusively(_ job: ReplacementJob, _ writer: ConnectionHandle) throws
        -> SourceLock
    {
        guard try writer.firstText(trusted: "PRAGMA main.locking_mode = EXCLUSIVE") == "exclusive" else {
            throw EngineError(code: EngineCode.misuse, message: "The lock on the file cannot be kept")
        }
        // A reader that the pool gives up is no longer in use, and may be open for a moment.
        try Deadline(after: max(0.5, job.lockTimeout)).retryingWhileBusy {
            guard try writer.firstText(trusted: "PRAGMA main.journal_mode = TRUNCATE") == "truncate" else {
                throw EngineError(
                    code: EngineCode.busy, message: "Another connection has the database open in WAL mode")
            }
        }
        let lock = try SourceLock.kept(by: writer, job)
        try FailPoint.journalLeft.pass(job.path)
        return lock
    }

    /// A connection in a transaction that reads, or that reads through the one which has the exclusive lock.
    private static func openReader(_ job: ReplacementJob, _ writer: ConnectionHandle) throws
        -> EngineConnection
    {
        let connection: EngineConnection
        if job.followsLog {
            // Others that have the file open, and have not read it yet, find it spoilt when they do.
            connection = try job.before.open(viewing: ConnectionBytes(writer))
        } else {
            connection = try job.before.open(job.path, flags: .readOnly, timeout: job.lockTimeout)
            try connection.handle.execute("BEGIN")
            try connection.handle.verifyKey()
        }
        try FailPoint.locked.pass(job.path)
        return connection
    }

    /// Verifies, right before another file takes the place of this one, that the lock is held, that the file
    /// is in rollback mode, and that nothing is next to it which would be played back into the new file.
    func checkCanBeReplaced(removingSideFiles: Bool) throws {
        if removingSideFiles { try lock.removeSideFiles() }
        try lock.checkHasNoSideFiles()
    }

    /// Notes that the copy has the name of the file from here on.
    mutating func didReplace() { writer.didReplace() }
}

/// A connection that brings everything into the file. At the end of this value its transaction ends, and the
/// file gets its journal mode back.
private struct QuietWriter: ~Copyable {
    private let writer: ConnectionHandle
    private let protection: FileProtection
    private let journalMode: JournalMode
    /// Whether the writer keeps an exclusive lock without a transaction.
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
        // Without its name, the file is in no mode to come back to: the writer only has to end its
        // transaction, as it does when it is closed.
        guard !isReplaced else { return }
        if !writer.isAutocommit { try? writer.execute("ROLLBACK") }
        if isExclusive {
            // The lock is kept until the end of the transaction that sets the WAL mode, so that no other
            // connection can be in its way. The mode in between ends the journal, which may have lost its
            // name.
            _ = try? writer.firstText(trusted: "PRAGMA main.locking_mode = NORMAL")
            if (try? writer.journalMode()) != .wal {
                _ = try? writer.firstText(trusted: "PRAGMA main.journal_mode = DELETE")
            }
        }
        // Others may read at this moment.
        try? Deadline(after: 5).retryingWhileBusy { try writer.restore(journalMode, protection) }
        // Gives a lock up that was kept, if the mode was not changed.
        if isExclusive { try? writer.verifyKey() }
    }

    /// From here on the copy has the name of the file.
    mutating func didReplace() { isReplaced = true }
}
