public import Dispatch
internal import SQLCipherBridge

/// How connections are opened: their key, their behaviour, and where their work runs.
///
/// A configuration is copied when a ``DatabaseQueue`` or a ``DatabasePool`` is created; later changes of it
/// have no effect on them.
///
///     var configuration = Configuration()
///     configuration.key = .passphrase("correct horse battery staple")
///     configuration.busyMode = .timeout(5)
///     configuration.label = "vault"
public struct Configuration: Sendable {
    /// Creates the configuration of a connection that enforces foreign keys and refuses files without a key.
    public init() {}

    // MARK: Encryption

    /// The key of the database file.
    ///
    /// A file without a key is refused unless ``allowsPlaintext`` is true. In-memory databases need no key.
    public var key: DatabaseKey?

    /// Keys that are tried in order when ``key`` does not open the file, so that a fleet of programs can go
    /// on while a key is replaced.
    ///
    /// Each passphrase among them costs a derivation (about a tenth of a second), but only when the keys
    /// before it have failed.
    public var previousKeys: [DatabaseKey] = []

    /// The format of the file: the defaults of SQLCipher 4, unless said otherwise.
    ///
    /// Nothing but the salt is stored in a file: whoever opens it must know its settings.
    public var cipher = CipherSettings()

    /// Whether a file may be opened, and created, without encryption. False by default.
    public var allowsPlaintext = false

    /// How many bytes of decrypted pages each connection may keep in memory. 16 MiB by default.
    ///
    /// A page that is not in this cache costs about 8 microseconds to read, authenticate and decrypt, many
    /// times what a plain file needs: that is why the default is eight times that of SQLite. A cache only
    /// grows to what its connection has read. A pool has one for the writer and one for each reader, 110 MB
    /// in all if they are full. A reader empties its cache when it finds that anybody has written since its
    /// last read, so that a program that writes all the time gains nothing by more than 1 MiB. Zero or less
    /// leaves SQLite's default. What other sizes gain and cost is measured in <doc:Performance>.
    public var pageCacheSize = 16 * 1024 * 1024

    // MARK: Behaviour of connections

    /// Whether foreign keys are enforced. True by default.
    public var foreignKeysEnabled = true

    /// A Boolean value that indicates whether the database is open for reading only. False by default.
    ///
    /// Such a connection opens a database in WAL mode also in a folder in which no file can be made: on a
    /// file system that is mounted for reading, or in a folder of another user. It reads the log if there is
    /// one, and keeps the index of the log in its memory. If another process changes the database meanwhile,
    /// later reads throw `SQLITE_CANTOPEN`: close the database, and open it again.
    public var readonly = false

    /// A name for the connections, for the names of their dispatch queues and for ``Database/description``.
    public var label: String?

    /// Whether SQLite takes a string in double quotes that is no column name for a string literal. False by
    /// default.
    public var acceptsDoubleQuotedStringLiterals = false

    /// Whether errors and traces may show the arguments of statements, which may be personal data. False by
    /// default.
    public var publicStatementArguments = false

    /// Whether a transaction may outlive the database access that began it. False by default: it traps.
    public var allowsUnsafeTransactions = false

    /// Who may have the database file open at the same time: by default every process.
    public var fileLocking = FileLocking.shared

    /// What happens when another connection holds the lock that a statement needs. By default an immediate
    /// `SQLITE_BUSY` error.
    ///
    /// Opening tries for half a second in any mode: connections that are opened at the same time lock the
    /// file for moments. The writer of a pool reports a lock after 50 milliseconds instead of at once: a
    /// reader of the pool takes it for a moment when it meets a commit.
    public var busyMode: Database.BusyMode = .immediateError

    /// The busy mode of the readers of pools and of snapshots. Nil, the default, waits up to ten seconds,
    /// whatever ``busyMode`` says of the writer.
    ///
    /// Readers wait for no writer. What they wait for is short: another process that recovers the log after a
    /// crash, or that is the last one to close the database.
    public var readonlyBusyMode: Database.BusyMode?

    var readerBusyMode: Database.BusyMode { readonlyBusyMode ?? .timeout(10) }

    /// The journal mode that is set when the database is opened. By default a queue leaves the mode of the
    /// file as it is.
    ///
    /// The commit that finds 1,000 pages or more in a write-ahead log brings them into the file, as SQLite
    /// does by default: a later one makes writes hardly faster, but that commit slower in proportion. `PRAGMA
    /// wal_autocheckpoint` in ``prepareDatabase(_:)`` changes it.
    ///
    /// What is committed survives the end of the process in each mode. After a loss of power the file is
    /// whole in each, but the last transactions may be missing: those since the last checkpoint with a
    /// write-ahead log that is set here (`synchronous = NORMAL`), and the very last one with a rollback
    /// journal (`FULL`), unless ``prepareDatabase(_:)`` says `PRAGMA synchronous = EXTRA`.
    public var journalMode = JournalModeConfiguration.default

    /// Whether opening a queue or a pool removes the files that interrupted rotations and other operations
    /// have left next to the database, and brings it into WAL mode again if they have left this mode.
    ///
    /// They are removed as by ``DatabaseFile/removeLeftovers(key:cipher:)``, and stay if that fails: the
    /// database is opened all the same. The next run of the same operation removes them in any case.
    public var removesInterruptedRuns = false

    /// Where ``Database/transactionDate`` takes the time from.
    public var transactionClock: any TransactionClock = .default

    /// Where connections look for what the schema does not say: the primary keys of views. By default
    /// nowhere.
    public var schemaSource: (any DatabaseSchemaSource)?

    /// Whether connections react to ``Database/suspendNotification`` and ``Database/resumeNotification``.
    /// False by default.
    public var observesSuspensionNotifications = false

    // MARK: Pools

    /// How many reader connections a pool opens at most. 5 by default.
    ///
    /// The configuration that a database returns has the number of reads that can run at the same time: 1 for
    /// a queue and for a snapshot.
    public var maximumReaderCount = 5

    /// Whether a pool keeps its reader connections open when it is asked to release memory. False by default.
    public var persistentReadOnlyConnections = false

    // MARK: Dispatch queues

    /// How urgent the threads of connections are to the system.
    public var qos: DispatchQoS = .userInitiated

    /// The quality of service of the reader connections of a pool: that of ``targetQueue``, or else ``qos``,
    /// unless it was set.
    public var readQoS: DispatchQoS {
        get { customReadQoS ?? targetQueue?.qos ?? qos }
        set { customReadQoS = newValue }
    }

    /// The quality of service of the writer connection: that of ``writeTargetQueue`` or ``targetQueue``, or
    /// else ``qos``, unless it was set.
    public var writeQoS: DispatchQoS {
        get { customWriteQoS ?? writeTargetQueue?.qos ?? targetQueue?.qos ?? qos }
        set { customWriteQoS = newValue }
    }

    private var customReadQoS: DispatchQoS?
    private var customWriteQoS: DispatchQoS?

    /// The queue that all database accesses run on, as the target of queues of their own.
    public var targetQueue: DispatchQueue?

    /// The queue that accesses of the writer connection run on, where it differs from ``targetQueue``.
    public var writeTargetQueue: DispatchQueue?

    /// Whether the writer waits a moment for readers of its own pool where the busy mode reports locks at
    /// once: SQLite's reader takes the lock of the writer when it finds the index of the log in the middle of
    /// a change.
    var hasReadersBesideWriter = false

    // MARK: Preparation

    /// Shared by all copies of this configuration.
    let preparedPassphrases = PreparedPassphrases()

    private(set) var preparations: [@Sendable (Database) throws -> Void] = []

    /// Adds a function that prepares each new connection, after those that were added before.
    ///
    /// It runs once the key is set, before any other use of the connection. A configuration without a ``key``
    /// can call `usePassphrase(_:)` here, as the first thing.
    ///
    ///     configuration.prepareDatabase { db in
    ///         try db.execute(sql: "PRAGMA synchronous = EXTRA")
    ///     }
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        preparations.append(setup)
    }
}

extension Configuration {
    /// What is done to the journal mode of a database when it is opened.
    public enum JournalModeConfiguration: Sendable, Hashable {
        /// A pool sets the WAL mode, and a queue leaves the mode of the file as it is.
        case `default`

        /// The WAL mode is set.
        case wal
    }
}

extension Configuration {
    /// Who may have a database file open while a connection has it.
    public enum FileLocking: Sendable, Hashable {
        /// Every process. Each access locks the file, and asks what others have done to it.
        case shared

        /// The connections of this process: any number of queues, pools and readers, which may read and write
        /// side by side.
        ///
        /// The file is locked from the moment in which it is opened until the last connection to it is
        /// closed, so that an access needs no call of the system for its locks: see <doc:Performance>. Other
        /// processes get `SQLITE_BUSY`, and so does a connection that is opened while another process uses
        /// the file. A process that ends, however it ends, lets go of the file, and the next one recovers
        /// what it has left.
        ///
        /// All connections of a process lock a file in the way of the first one: later ones join it,
        /// ``Configuration/readonly`` ones and those to a file that is attached as well. Where the first one
        /// shares, opening a file for this process only throws `SQLITE_BUSY`; so does a file that this
        /// process cannot write to while others of its connections keep it. A write-ahead log has no `-shm`
        /// file beside it.
        case thisProcessOnly
    }

    var engineLocking: SQLCipherBridge.FileLocking { fileLocking == .shared ? .shared : .thisProcessOnly }

    /// Opens another connection to a database file, with no key yet.
    func openFile(at path: String) throws(EngineError) -> EngineConnection {
        try EngineConnection(path: path, flags: readonly ? .readOnly : .readWrite, locking: engineLocking)
    }

    func makeDispatchQueue(label: String, purpose: Database.Purpose) -> DispatchQueue {
        let (qos, target) =
            switch purpose {
            case .writer: (writeQoS, writeTargetQueue ?? targetQueue)
            case .reader: (readQoS, targetQueue)
            }
        // With a quality of service of its own, a queue would run on the global queue of that quality, and
        // not on the one that was given.
        return if let target { DispatchQueue(label: label, target: target) } else {
            DispatchQueue(label: label, qos: qos)
        }
    }
}
