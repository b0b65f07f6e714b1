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
    private var lock: QuietWriter

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
        let lock = QuietWriter(writer, job.before, journalMode: note.journalMode, isExclusive: job.followsLog)
        readingConnection = try QuiescedSource.quiesce(file, writer)
        self.lock = lock
    }

    /// - Returns: a connection that reads what nobody changes any more.
    private static func quiesce(_ file: ExaminedFile, _ writer: ConnectionHandle) throws -> EngineConnection {
        if file.job.followsLog { return try takeExclusively(file, writer) }
        return try take(file, writer)
    }

    /// Leaves the WAL mode, and keeps others from writing.
    private static func take(_ file: ExaminedFile, _ writer: ConnectionHandle) throws -> EngineConnection {
        let job = file.job
        // SQLite waits for a lock here where it asks for one, but not for the last other connection to go.
        try Deadline(after: job.lockTimeout).retryingWhileBusy {
            try writer.changeJournalMode(to: .delete, job.before)
        }
        try FailPoint.journalLeft.pass(job.path)
        // Nobody reads or writes at this moment.
        try writer.execute("BEGIN EXCLUSIVE")
        try writer.execute("COMMIT")
        // And nobody is there who does nothing now, but would later on.
        try FileUsers.waitForNoneElse(of: file.status, job.path, timeout: job.lockTimeout)
        // And from here on nobody writes.
        try writer.execute("BEGIN IMMEDIATE")
        try removeIdleJournal(of: job.path)
        return try openReader(job)
    }

    /// Leaves the WAL mode, and keeps others from reading and writing.
    private static func takeExclusively(_ file: ExaminedFile, _ writer: ConnectionHandle) throws
        -> EngineConnection
    {
        let job = file.job
        try leaveWALExclusively(writer, job)
        try FailPoint.journalLeft.pass(job.path)
        // Others that have the file open, and have not read it yet, find it spoilt when they do.
        let connection = try job.before.open(viewing: ConnectionBytes(writer))
        try FailPoint.locked.pass(job.path)
        return connection
    }

    /// Leaves the WAL mode, and keeps the exclusive lock with which that is done: what was in the log is all
    /// that there is, and nobody else reads or writes until the end of the lock.
    ///
    /// The journal is cut and not removed: SQLite does not ask for its name when the connection is closed,
    /// which may be that of a journal of the new file by then.
    private static func leaveWALExclusively(_ writer: ConnectionHandle, _ job: ReplacementJob) throws {
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
        guard try writer.isFileReserved(), try writer.isFile(in: .delete, job.before) else {
            throw EngineError(code: EngineCode.ioError, message: "The lock on the file was not kept")
        }
    }

    /// A connection in a transaction that reads.
    private static func openReader(_ job: ReplacementJob) throws -> EngineConnection {
        let connection = try job.before.open(job.path, flags: .readOnly, timeout: job.lockTimeout)
        try connection.handle.execute("BEGIN")
        try connection.handle.verifyKey()
        try FailPoint.locked.pass(job.path)
        return connection
    }

    /// From here on the copy has the name of the file.
    mutating func didReplace() { lock.didReplace() }

    /// A journal that others keep for later use, in the modes PERSIST and TRUNCATE, and an empty log. The
    /// journal is not hot: the file was opened, and nobody writes. The log is nobody's: the file is in
    /// rollback mode, and no other connection has it open.
    ///
    /// That they are gone is made permanent at once, and so is the end of the journal with which the WAL mode
    /// was left: a loss of power must not keep the new file under its name and one of these beside it, which
    /// would be played back into it.
    static func removeIdleJournal(of path: String) throws(DatabaseFileError) {
        try SystemFile.remove("\(path)-journal")
        // A connection that cannot write leaves an empty log behind. SQLite takes it for none, and so nobody
        // removes it.
        if let log = try SystemFile.status("\(path)-wal") {
            guard log.size == 0 else { throw DatabaseFileError(.busy([]), path: path) }
            try SystemFile.remove("\(path)-wal")
            try SystemFile.remove("\(path)-shm")
        }
        try SystemFile.synchronize(directoryOf: path)
    }

}

/// A connection that brings everything into the file, and is then in a transaction that writes nothing, and
/// keeps others from writing. At the end of this value the transaction ends, and the file gets its journal
/// mode back.
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
