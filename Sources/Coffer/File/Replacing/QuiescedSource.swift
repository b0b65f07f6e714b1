internal import SQLCipherBridge

/// The locks on a file in whose place another one is about to come: everything is in the file itself, nobody
/// else writes to it, and a second connection reads from it. Let go of at the end of its life, in the journal
/// mode that the file had.
///
/// A process that has the file in WAL mode while another one takes its place destroys the new one, or loses
/// what it writes: that is why the WAL mode is left, which fails when another connection is there. In the
/// modes with a journal file SQLite notices that the file was moved. In the others it does not: see
/// ``PublishedFile`` for what is done about that.
struct QuiescedSource: ~Copyable {
    /// In a transaction that reads. Ends first: properties end in their order.
    private let readingConnection: EngineConnection
    private var lock: QuietWriter

    /// Whether nobody has written to the file between the moment in which it left the WAL mode and that in
    /// which it was locked, when others could. Known only where the job follows the log.
    let isAsInLog: Bool

    var reader: ConnectionHandle { readingConnection.handle }

    /// - Parameters:
    ///   - writer: lives longer than this.
    ///   - note: learns the journal mode before it is left.
    init(_ file: ExaminedFile, writer: ConnectionHandle, _ note: inout RunNote) throws {
        try note.willLeave(journalMode: writer.journalMode())
        let job = file.job
        let lock = QuietWriter(writer, job.before, journalMode: note.journalMode)
        // SQLite waits for a lock here where it asks for one, but not for the last other connection to go.
        let leave = {
            try Deadline(after: job.lockTimeout).retryingWhileBusy {
                try writer.changeJournalMode(to: .delete, job.before)
            }
        }
        let firstPage =
            try job.followsLog ? QuiescedSource.firstPage(writer, job, whileLockedAfter: leave) : nil
        if !job.followsLog { try leave() }
        try FailPoint.journalLeft.pass(job.path)
        // Nobody reads or writes at this moment.
        try writer.execute("BEGIN EXCLUSIVE")
        try writer.execute("COMMIT")
        // And nobody is there who does nothing now, but would later on.
        try FileUsers.waitForNoneElse(of: file.status, job.path, timeout: job.lockTimeout)
        // And from here on nobody writes.
        try writer.execute("BEGIN IMMEDIATE")
        let isUntouched = try firstPage.map { try writer.readFile(at: 0, count: $0.count) == $0 } ?? false
        try QuiescedSource.removeIdleJournal(of: job.path)
        readingConnection = try QuiescedSource.openReader(job)
        self.lock = lock
        isAsInLog = isUntouched
    }

    /// Leaves the WAL mode, and reads the first page before anybody else can write.
    ///
    /// Each transaction of a mode with a journal file writes this page, with a new initialization vector: as
    /// long as it has the same bytes, the file has the content that it got from the log.
    private static func firstPage(
        _ writer: ConnectionHandle, _ job: ReplacementJob, whileLockedAfter leave: () throws -> Void
    ) throws
        -> [UInt8]
    {
        // The lock of the change of the mode is kept, until the connection reads in the normal way again.
        guard try writer.firstText(trusted: "PRAGMA main.locking_mode = EXCLUSIVE") == "exclusive" else {
            throw EngineError(code: EngineCode.misuse, message: "The lock on the file cannot be kept")
        }
        let page = Result<[UInt8], any Error> {
            try leave()
            return try writer.readFile(at: 0, count: job.before.ring?.settings.pageSize ?? 4096)
        }
        guard try writer.firstText(trusted: "PRAGMA main.locking_mode = NORMAL") == "normal" else {
            throw EngineError(code: EngineCode.misuse, message: "The lock on the file cannot be given up")
        }
        try writer.verifyKey()
        return try page.get()
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
    private static func removeIdleJournal(of path: String) throws(DatabaseFileError) {
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
    private var isReplaced = false

    init(_ writer: ConnectionHandle, _ protection: FileProtection, journalMode: JournalMode) {
        self.writer = writer
        self.protection = protection
        self.journalMode = journalMode
    }

    deinit {
        // Without its name, the file is in no mode to come back to: the writer only has to end its
        // transaction, as it does when it is closed.
        guard !isReplaced else { return }
        if !writer.isAutocommit { try? writer.execute("ROLLBACK") }
        try? writer.restore(journalMode, protection)
    }

    /// From here on the copy has the name of the file.
    mutating func didReplace() { isReplaced = true }
}
