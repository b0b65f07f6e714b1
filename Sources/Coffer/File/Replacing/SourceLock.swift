internal import SQLCipherBridge
internal import SystemCalls

/// SQLite's lock on a database file in rollback mode, as a value. It exists only while a connection holds the
/// lock, and only if the header, read under this lock, says that the file is in rollback mode.
///
/// Nothing that was checked before the lock was taken can be relied on. While this process holds no lock,
/// another process may open the file and set the WAL mode, even right after all processes were checked.
///
/// ``Level/reserved`` keeps the file in rollback mode: a connection that sets the WAL mode first takes the
/// reserved and then the exclusive lock, and this lock blocks both. Other connections may read.
///
/// ``Level/exclusive`` also guarantees that no other connection has a journal, a log, or a log index open,
/// and that none can open or create one:
/// - A connection opens the log after it has taken the shared lock, because of the header or the log that it
///   reads under it, and keeps the shared lock until it closes the log. The index is opened after the log and
///   closed before it. The exclusive lock is granted only while there is no shared lock.
/// - On Unix a connection keeps no journal open longer than the shared lock. With the reserved lock alone, a
///   reader could still have one open from its last transaction (`journal_mode` PERSIST or TRUNCATE), write
///   the next transaction into it after it was unlinked, and have no journal to recover from after a crash.
/// - A process that was about to open one of these files before this lock was taken has no shared lock yet.
///   When it gets one, it reads the header again.
///
/// So ``removeSideFiles()`` requires the exclusive lock. Connections that request no locks (`nolock`,
/// `immutable`) cannot be detected.
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
    /// True if the lock ends with a transaction of its own.
    private let hasTransaction: Bool

    /// Takes the lock with a transaction that writes nothing.
    ///
    /// - Parameter writer: outside a transaction; must outlive the lock.
    /// - Throws: `busy` if other connections hold a lock, or the file is no longer in rollback mode.
    static func begin(_ level: Level, _ writer: ConnectionHandle, _ job: ReplacementJob) throws -> SourceLock
    {
        let begin = level == .reserved ? "BEGIN IMMEDIATE" : "BEGIN EXCLUSIVE"
        try writer.execute(trusted: begin)
        // If the header has another page count than the file, as after a program before SQLite 3.7, every
        // transaction corrects page 1. This one must end before anything relies on it: otherwise its journal
        // would be removed as the journal of another connection.
        if writer.hasOpenJournal {
            try writer.execute("COMMIT")
            try writer.execute(trusted: begin)
        }
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

    /// Throws if the lock is not held, or the file's header does not say that it is in rollback mode.
    func check() throws {
        guard try writer.fileLockLevel() >= level.engineLevel, try writer.isFile(in: .delete, protection)
        else {
            throw EngineError.busy("Another connection has switched the database to WAL mode")
        }
    }

    /// Removes a journal that other connections keep for reuse (modes PERSIST and TRUNCATE), and an empty log
    /// with its index. A connection that cannot write leaves such a log, and SQLite treats it as absent.
    ///
    /// The journal is not hot: the connection that took the lock would have rolled it back.
    ///
    /// The directory is synced at once, which also makes the removal of the journal permanent that was used
    /// to leave the WAL mode. Otherwise a power loss could keep the new file under its name with one of these
    /// files next to it, which would be replayed into it.
    func removeSideFiles() throws {
        guard level == .exclusive else {
            throw EngineError.misuse("Files must only be removed under the exclusive lock")
        }
        guard !hasTransaction || !writer.hasOpenJournal else {
            throw DatabaseFileError(.busy([]), path: path)
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

    /// Throws if there is a journal or a log that would be replayed into another file of this name.
    func checkHasNoSideFiles() throws {
        try check()
        for name in ["\(path)-wal", "\(path)-journal"] where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.busy([]), path: path)
        }
    }

    /// Releases the lock.
    consuming func end() throws {
        if hasTransaction { try writer.execute("COMMIT") }
    }
}
