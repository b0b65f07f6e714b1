internal import SQLCipherBridge

/// SQLite's lock on a database file in rollback mode, as a value: it exists only while a connection holds the
/// lock, and only if the header said so when it was read under this lock.
///
/// Nothing that was true before the lock counts. Another process may open the file and set the WAL mode at
/// any moment in which no lock of ours is there, even right after all processes were looked at.
///
/// ``Level/reserved`` keeps the file in rollback mode: a connection that sets the WAL mode first takes the
/// reserved and then the exclusive lock, and ours is in the way of both. Other connections may read.
///
/// ``Level/exclusive`` also proves that no other connection has a journal, a log or an index of a log open,
/// and that none can open or create one:
/// - A connection opens the log after it has taken the shared lock, for the header or the log that it has
///   read under it, and keeps the shared lock until it closes the log. The index is opened after the log and
///   closed before it. The exclusive lock is granted only while there is no shared one.
/// - On Unix a connection keeps no journal open longer than the shared lock. With the reserved lock alone, a
///   reader could still have one open from its last transaction (`journal_mode` PERSIST or TRUNCATE), write
///   the next transaction into it after it has lost its name, and leave no journal to a crash.
/// - A process that was about to open one of these files before our lock has no shared lock yet. When it gets
///   it, it reads the header anew.
///
/// So only the exclusive lock has ``removeSideFiles()``. Connections that ask for no locks (`nolock`,
/// `immutable`) are beyond any proof.
struct SourceLock: ~Copyable {
    enum Level {
        case reserved
        case exclusive

        fileprivate var engineLevel: FileLockLevel { self == .reserved ? .reserved : .exclusive }
    }

    private let writer: ConnectionHandle
    private let protection: FileProtection
    private let path: String
    private let level: Level
    /// Whether the lock ends with a transaction of its own.
    private let hasTransaction: Bool

    /// Takes the lock with a transaction that writes nothing.
    ///
    /// - Parameter writer: outside of a transaction; lives longer than this.
    /// - Throws: `busy` when others have a lock, or the file is not in rollback mode by now.
    static func begin(_ level: Level, _ writer: ConnectionHandle, _ job: ReplacementJob) throws -> SourceLock
    {
        try writer.execute(level == .reserved ? "BEGIN IMMEDIATE" : "BEGIN EXCLUSIVE")
        let lock = SourceLock(level, writer, job, hasTransaction: true)
        try lock.check()
        return lock
    }

    /// Verifies that a connection keeps the exclusive lock without a transaction
    /// (`PRAGMA locking_mode = EXCLUSIVE`).
    static func kept(by writer: ConnectionHandle, _ job: ReplacementJob) throws -> SourceLock {
        let lock = SourceLock(.exclusive, writer, job, hasTransaction: false)
        try lock.check()
        return lock
    }

    private init(_ level: Level, _ writer: ConnectionHandle, _ job: ReplacementJob, hasTransaction: Bool) {
        self.level = level
        self.writer = writer
        self.hasTransaction = hasTransaction
        protection = job.before
        path = job.path
    }

    deinit {
        if hasTransaction, !writer.isAutocommit { try? writer.execute("ROLLBACK") }
    }

    /// Fails if the lock is not held, or the header of the file does not say that it is in rollback mode.
    func check() throws {
        guard try writer.fileLockLevel() >= level.engineLevel, try writer.isFile(in: .delete, protection)
        else {
            throw EngineError(
                code: EngineCode.busy, message: "Another connection has set the WAL mode of the database")
        }
    }

    /// Removes a journal that others keep for later use, in the modes PERSIST and TRUNCATE, and an empty log
    /// with its index, which a connection that cannot write leaves behind, and SQLite regards as none.
    ///
    /// The journal is not hot: the lock was taken by a connection that would have played it back.
    ///
    /// That they are gone is made permanent at once, and so is the end of the journal with which the WAL mode
    /// was left: a loss of power must not keep the new file under its name and one of these next to it, which
    /// would be played back into it.
    func removeSideFiles() throws {
        guard level == .exclusive else {
            throw EngineError(
                code: EngineCode.misuse, message: "Files are removed under the exclusive lock only")
        }
        try check()
        try SystemFile.remove("\(path)-journal")
        if let log = try SystemFile.status("\(path)-wal") {
            guard log.size == 0 else { throw DatabaseFileError(.busy([]), path: path) }
            try SystemFile.remove("\(path)-wal")
            try SystemFile.remove("\(path)-shm")
        }
        try SystemFile.synchronize(directoryOf: path)
    }

    /// Fails if there is a journal or a log that would be played back into another file of this name.
    func checkHasNoSideFiles() throws {
        try check()
        for name in ["\(path)-wal", "\(path)-journal"] where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.busy([]), path: path)
        }
    }

    /// Gives the lock up.
    consuming func end() throws {
        if hasTransaction { try writer.execute("COMMIT") }
    }
}
