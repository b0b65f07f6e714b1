public import Dispatch
public import Foundation
internal import SQLCipherBridge

/// The settings of database connections: their key, their behavior, and the queues that they run on.
///
/// A configuration is copied when a ``DatabaseQueue`` or a ``DatabasePool`` is created; later changes of it
/// have no effect on them.
///
///     var configuration = Configuration()
///     configuration.key = .passphrase("correct horse battery staple")
///     configuration.busyMode = .timeout(5)
///     configuration.label = "vault"
public struct Configuration: Sendable {
    /// Creates a configuration that enforces foreign keys and rejects files without a key.
    public init() {}

    // MARK: Encryption

    /// The key of the database file.
    ///
    /// A file without a key is rejected unless ``allowsPlaintext`` is true. In-memory databases need no key.
    public var key: DatabaseKey?

    /// Keys that are tried in order when ``key`` does not open the file, so that a fleet of programs keeps
    /// working while a key is replaced.
    ///
    /// Each passphrase costs a key derivation (about a tenth of a second), but only if all keys before it
    /// have failed.
    public var previousKeys: [DatabaseKey] = []

    /// The format of the file. The default is SQLCipher 4's format.
    ///
    /// The file stores only its salt, not its settings: they must be known to open it.
    public var cipher = CipherSettings()

    /// A Boolean value that indicates whether a file may be opened and created without encryption. False by
    /// default.
    public var allowsPlaintext = false

    /// The number of bytes of decrypted pages that each connection may keep in memory. 16 MiB by default.
    ///
    /// A page outside this cache takes about 8 microseconds to read, authenticate and decrypt, many times the
    /// cost in a plaintext file. The default is therefore eight times SQLite's. A cache only grows to the
    /// size of the pages that its connection has read. A pool has one cache for the writer and one for each
    /// reader, 110 MB in total if they are full. A reader discards its cache if the database has changed
    /// since its last read, so more than 1 MiB does not help programs that write constantly. Zero or less
    /// leaves SQLite's default. <doc:Performance> has measurements of other sizes.
    public var pageCacheSize = 16 * 1024 * 1024

    // MARK: Behavior of connections

    /// A Boolean value that indicates whether foreign keys are enforced. True by default.
    public var foreignKeysEnabled = true

    /// A Boolean value that indicates whether the database is opened for reading only. False by default.
    ///
    /// A read-only connection can open a WAL database even if no file can be created in its directory, for
    /// example on a read-only file system or in another user's directory. It then reads the WAL file if there
    /// is one, and keeps the WAL index in memory. If another process changes such a database while it is
    /// open, later reads throw `SQLITE_CANTOPEN`: close the database, and open it again.
    public var readonly = false

    /// A name for the connections. It appears in the labels of their dispatch queues and in
    /// ``Database/description``.
    public var label: String?

    /// A Boolean value that indicates whether SQLite treats a double-quoted string that matches no column
    /// name as a string literal. False by default.
    public var acceptsDoubleQuotedStringLiterals = false

    /// A Boolean value that indicates whether errors and traces may show the arguments of statements, which
    /// may be personal data. False by default.
    public var publicStatementArguments = false

    /// A Boolean value that indicates whether a transaction may outlive the database access that began it. If
    /// false, the default, such a transaction traps.
    public var allowsUnsafeTransactions = false

    /// The processes that may have the database file open at the same time. All processes by default.
    public var fileLocking = FileLocking.shared

    /// The behavior of a statement that needs a lock held by another connection. By default, it fails
    /// immediately with `SQLITE_BUSY`.
    ///
    /// In any mode, opening retries for at least half a second, because connections that are opened at the
    /// same time lock the file briefly. The writer of a pool reports a lock after 50 milliseconds instead of
    /// immediately, because a reader of the pool takes the lock briefly when it runs into a commit.
    public var busyMode: Database.BusyMode = .immediateError

    /// The busy mode of the readers of pools and snapshots. If nil, the default, they wait up to ten seconds,
    /// regardless of ``busyMode``.
    ///
    /// Readers do not wait for writers. They only wait for short operations: another process recovers the WAL
    /// file after a crash, or is the last one to close the database.
    public var readonlyBusyMode: Database.BusyMode?

    var readerBusyMode: Database.BusyMode { readonlyBusyMode ?? .timeout(10) }

    /// The journal mode that is set when the database is opened. By default, a queue keeps the mode of the
    /// file.
    ///
    /// A commit that finds 1,000 pages or more in the WAL file checkpoints them, which is SQLite's default. A
    /// higher limit makes writes hardly faster, and the checkpointing commit proportionally slower. Change it
    /// with `PRAGMA wal_autocheckpoint` in ``prepareDatabase(_:)``.
    ///
    /// In each mode, committed transactions survive the end of the process. After a power loss, the file is
    /// intact in each mode, but the last transactions may be missing: in WAL mode that is set here
    /// (`synchronous = NORMAL`), those since the last checkpoint; with a rollback journal (`FULL`), only the
    /// very last one, unless ``prepareDatabase(_:)`` runs `PRAGMA synchronous = EXTRA`.
    public var journalMode = JournalModeConfiguration.default

    /// A Boolean value that indicates whether opening a queue or a pool cleans up after interrupted rotations
    /// and other operations: it removes the files that they left next to the database, and restores WAL mode
    /// if they left the database in another mode. False by default.
    ///
    /// The files are removed as if by ``DatabaseFile/removeLeftovers(key:cipher:)``. If that fails, the
    /// database is opened anyway. The next run of the same operation removes the files in any case.
    public var removesInterruptedRuns = false

    /// The source of the time for ``Database/transactionDate``.
    public var transactionClock: any TransactionClock = .default

    /// A source of schema information that the database lacks: the primary keys of views. Nil by default.
    public var schemaSource: (any DatabaseSchemaSource)?

    /// A Boolean value that indicates whether connections react to ``Database/suspendNotification`` and
    /// ``Database/resumeNotification``. False by default.
    public var observesSuspensionNotifications = false

    // MARK: Waiting

    /// The maximum time that an access waits for its turn, in seconds. Nil by default: there is no limit.
    ///
    /// An access that has waited for this time throws ``DatabaseWaitError/timedOut(_:waited:)`` and does
    /// nothing. An access that has begun can take any time. Zero or less means that an access throws if it
    /// cannot begin immediately.
    ///
    ///     configuration.maximumWait = 2
    ///     configuration.maximumWaiterCount = 100
    ///
    /// The limit applies to every access with `await`, and to the synchronous functions that throw errors of
    /// their own, such as `read` and `write`. It does not apply to functions that only rethrow the errors of
    /// their closure (synchronous `writeWithoutTransaction`, `inDatabase`), to functions for nested accesses
    /// (`unsafeReentrantRead`), to functions with callbacks (`asyncRead`), to observations, and to
    /// ``DatabaseReader/close()``: they wait for as long as necessary. It does apply to the concurrent reads
    /// of a pool (`concurrentRead`, `asyncConcurrentRead`), because their write waits for the reader.
    /// `read(timeout:)` and `write(timeout:)` set the limit of one access.
    ///
    /// The time to open a reader, to wait for a busy target queue, or to wait for a lock of the file (see
    /// ``busyMode``) does not count.
    public var maximumWait: TimeInterval?

    /// The maximum number of accesses that wait at the same time. Nil by default: there is no limit.
    ///
    /// If this number of accesses is already waiting, another one throws
    /// ``DatabaseWaitError/overloaded(_:waiterCount:)`` immediately and does nothing. In a pool, accesses
    /// that wait for the writer and accesses that wait for a reader are counted separately. The limit applies
    /// to the same accesses as ``maximumWait``. The others are counted, but never rejected.
    public var maximumWaiterCount: Int?

    // MARK: Measuring

    /// A Boolean value that indicates whether a pool measures how long its accesses wait and run, for
    /// ``DatabasePool/Statistics``. False by default, because an access then takes a fraction of a
    /// microsecond longer.
    public var measuresAccesses = false

    /// A function that is called at the end of each access with a summary, for metrics, traces and logs. Nil
    /// by default. It implies ``measuresAccesses``.
    ///
    /// ```swift
    /// configuration.accessObserver = { access in
    ///     if access.ran > .milliseconds(100), let slow = access.slowestStatement {
    ///         log.notice("\(access.kind) of \(access.ran), most of it for \(slow.sql)")
    ///     }
    /// }
    /// ```
    ///
    /// The function is called on the thread of the access, before another access gets its connection. It must
    /// return quickly, and must not use the database. It runs on several threads at the same time, so count
    /// with atomics instead of a lock. An access that could not begin is not reported: its caller gets the
    /// error.
    public var accessObserver: (@Sendable (DatabaseAccessReport) -> Void)?

    // MARK: Pools

    /// The maximum number of reader connections in a pool. 5 by default.
    ///
    /// In the ``DatabaseReader/configuration`` of a database, it is the number of reads that can run at the
    /// same time: 1 for a queue and for a snapshot.
    public var maximumReaderCount = 5

    /// A Boolean value that indicates whether a pool keeps its reader connections open when it releases
    /// memory. False by default.
    public var persistentReadOnlyConnections = false

    // MARK: Dispatch queues

    /// The quality of service of the connections' dispatch queues.
    public var qos: DispatchQoS = .userInitiated

    /// The quality of service of reader connections of a pool. By default, it comes from ``targetQueue`` if
    /// it is set, or else from ``qos``.
    public var readQoS: DispatchQoS {
        get { customReadQoS ?? targetQueue?.qos ?? qos }
        set { customReadQoS = newValue }
    }

    /// The quality of service of the writer connection. By default, it comes from ``writeTargetQueue`` or
    /// ``targetQueue`` if one is set, or else from ``qos``.
    public var writeQoS: DispatchQoS {
        get { customWriteQoS ?? writeTargetQueue?.qos ?? targetQueue?.qos ?? qos }
        set { customWriteQoS = newValue }
    }

    private var customReadQoS: DispatchQoS?
    private var customWriteQoS: DispatchQoS?

    /// The target queue of the connections' dispatch queues. All accesses run on it, except those of the
    /// writer if there is a ``writeTargetQueue``.
    public var targetQueue: DispatchQueue?

    /// The target queue of the writer connection's dispatch queue, if it differs from ``targetQueue``.
    /// Read-only databases do not use it.
    public var writeTargetQueue: DispatchQueue?

    /// True if the writer waits briefly for readers of its own pool even in the busy mode `immediateError`: a
    /// reader in SQLite takes the write lock when it finds the WAL index in the middle of a change.
    var hasReadersBesideWriter = false

    // MARK: Preparation

    /// Shared by all copies of this configuration.
    let preparedPassphrases = PreparedPassphrases()

    private(set) var preparations: [@Sendable (Database) throws -> Void] = []

    /// Adds a function that prepares each new connection, after all functions that were added before.
    ///
    /// It runs once the key is set, before any other use of the connection. If the configuration has no
    /// ``key``, it can call `usePassphrase(_:)` before anything else.
    ///
    ///     configuration.prepareDatabase { db in
    ///         try db.execute(sql: "PRAGMA synchronous = EXTRA")
    ///     }
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        preparations.append(setup)
    }
}

extension Configuration {
    /// The change of a database's journal mode when it is opened.
    public enum JournalModeConfiguration: Sendable, Hashable {
        /// A pool sets WAL mode, and a queue keeps the mode of the file.
        case `default`

        /// Queues and pools set WAL mode.
        case wal
    }
}

extension Configuration {
    /// The processes that may have a database file open while a connection has it open.
    public enum FileLocking: Sendable, Hashable {
        /// All processes. Each access locks the file and checks for changes by others.
        case shared

        /// Only this process, with any number of queues, pools and readers, which may read and write
        /// concurrently.
        ///
        /// The file stays locked from its first opening until the last connection to it is closed, so that
        /// accesses need no system calls for their locks: see <doc:Performance>. Other processes get
        /// `SQLITE_BUSY`, and so does a connection that is opened while another process uses the file. The
        /// system releases the lock when the process ends, even by a crash, and the next process recovers the
        /// WAL file or journal.
        ///
        /// All connections of a process use the locking mode of the first connection to the file, including
        /// ``Configuration/readonly`` connections and attached files. If the first connection shares the
        /// file, opening it with `thisProcessOnly` throws `SQLITE_BUSY`. So does opening a file that this
        /// process cannot write to while other connections of the process keep it open. In this mode, a WAL
        /// file has no `-shm` file.
        case thisProcessOnly
    }

    var engineLocking: SQLCipherBridge.FileLocking { fileLocking == .shared ? .shared : .thisProcessOnly }

    /// Opens another connection to a database file, without setting a key.
    func openFile(at path: String) throws(EngineError) -> EngineConnection {
        try EngineConnection(path: path, flags: readonly ? .readOnly : .readWrite, locking: engineLocking)
    }

    func targetQueue(for purpose: Database.Purpose) -> DispatchQueue? {
        switch purpose {
        case .writer where !readonly: writeTargetQueue ?? targetQueue
        case .writer, .reader: targetQueue
        }
    }

    func makeDispatchQueue(label: String, purpose: Database.Purpose) -> DispatchQueue {
        let qos =
            switch purpose {
            case .writer where !readonly: writeQoS
            case .writer, .reader: readQoS
            }
        // A queue with its own quality of service would run on the global queue of that quality instead of
        // `target`.
        return if let target = targetQueue(for: purpose) { DispatchQueue(label: label, target: target) } else
        {
            DispatchQueue(label: label, qos: qos)
        }
    }
}
