internal import SQLCipherBridge
internal import Synchronization

/// A database connection, available during a database access.
///
/// A connection is used on one thread at a time, inside the closure that receives it. It must not escape from
/// that closure: misuse traps with a message.
public final class Database: CustomStringConvertible, CustomDebugStringConvertible {
    /// The configuration that the connection was opened with.
    public let configuration: Configuration

    /// The label of the configuration and the role of the connection.
    public let description: String

    /// The path of the file; empty or `":memory:"` for databases without a file of their own.
    let path: String

    /// The location of the database.
    let location: DatabaseLocation

    /// The key of the connection, and the protection of the data that it writes.
    var keying: Keying

    /// The SQLite connection, or nil once it is closed. SQLite frees it when its last statement is finalized.
    var connection: EngineConnection?

    /// The handle for calls to the SQLite connection.
    var handle: ConnectionHandle {
        // A new SQLite connection may have the same address as the previous one.
        didSet { (fullText, programCheck) = (nil, ProgramCheck()) }
    }

    var isClosed = false { didSet { executions.isClosed = isClosed } }

    /// Opens the file again, if that has failed. It is tried at the beginning of each access.
    var pendingReopening: PendingReopening?

    /// A change of the journal mode to complete. It is tried at the beginning of each access.
    var unfinishedJournalMode: UnfinishedJournalMode? {
        didSet { inspector.pragmas.hasSeenJournalMode = false }
    }

    /// True while application code runs in the middle of a backup into this database. The content is
    /// incomplete then.
    private(set) var isReceivingCopy = false

    var inspector: StatementInspector
    let observerNotifier: ObserverNotifier

    var statementCaches = StatementCaches()

    /// The region that statements read while the value of an observation is fetched.
    var recording = RegionRecording()

    /// The parts of the schema that were read so far.
    var knownSchema = KnownSchema()

    /// The check for statements that SQLite would execute incorrectly.
    var programCheck = ProgramCheck()

    /// The executions of the statements of the connection.
    let executions = ConnectionExecutions()

    /// The current accesses and transaction of the connection.
    let transactions = TransactionContext()

    /// A temporary replacement for the configuration's schema source.
    var temporarySchemaSource: TemporarySchemaSource?

    /// Hooks whose closures the connection keeps alive.
    var busyHandler: BusyHandler?
    var traceHook: TraceHook?

    /// The full-text module of the SQLite connection, created on first use.
    var fullText: FullTextModule?

    /// A reference to this connection for closures that SQLite retains.
    let reference = ConnectionReference()

    /// Functions, collations and other additions, which must be added again to a replacement connection.
    var additions = ConnectionAdditions()

    /// The role of the connection.
    let purpose: Purpose

    /// The state that other threads may access.
    let sharedState: SharedState

    /// The measurement of the current access, if its statements are measured.
    @exclusivity(unchecked) var measurement: AccessMeasurement?

    /// The path in the `ATTACH` statement that is running.
    var attachedPath = ""

    /// Checks that the paths still lead to the open files. Nil for read-only connections.
    let filePlace: FilePlace?

    init(
        opening location: DatabaseLocation, configuration: Configuration, purpose: Purpose,
        description: String, keys: ConnectionKeys
    ) throws {
        let opened = try Database.open(location, configuration: configuration, purpose: purpose, keys: keys)
        let handle = opened.connection.handle
        self.configuration = configuration
        self.description = description
        self.path = location.place
        self.location = location
        self.handle = handle
        self.keying = Keying(opened.protection, isFileEmpty: opened.isFileEmpty, keys: keys)
        self.busyHandler = opened.busyHandler
        self.inspector = StatementInspector(handle)
        self.observerNotifier = ObserverNotifier(handle, inspector: inspector)
        self.sharedState = SharedState(handle: handle)
        self.purpose = purpose
        self.connection = .some(opened.connection)
        self.filePlace = configuration.readonly ? nil : FilePlace(path: location.place)
        reference.database = self
        followRecompilations()
        do {
            try setUp()
        } catch {
            close()
            throw error
        }
    }

    deinit {
        reference.database = nil
        if !isClosed { closeConnection() }
    }

    public var debugDescription: String { "<Database: \(description)>" }

    /// The `sqlite3` pointer, or nil once the connection is closed.
    public var sqliteConnection: SQLiteConnection? { unsafe isClosed ? nil : handle.pointer }

    /// The version of the linked SQLite: 3046001 for 3.46.1.
    public static var sqliteLibVersionNumber: CInt { Engine.sqliteVersionNumber }
}

@available(*, unavailable)
extension Database: Sendable {}

// MARK: - Accesses

extension Database {
    /// Runs `body` as the access of the current thread.
    func withAccess<T>(_ body: () throws -> T) rethrows -> T {
        let previous = sharedState.accessingThread.exchange(currentThreadID(), ordering: .relaxed)
        defer { sharedState.accessingThread.store(previous, ordering: .relaxed) }
        return try LockWait.during(sharedState, body)
    }

    /// Runs `body` in the middle of a backup into this database. Any use of the connection inside `body`
    /// throws `SQLITE_LOCKED`.
    func receivingCopy<T>(_ body: () throws -> T) rethrows -> T {
        isReceivingCopy = true
        defer { isReceivingCopy = false }
        return try body()
    }

    /// Throws an error if the connection is closed or in the middle of a backup.
    func checkIsUsable() throws {
        try checkIsOpen()
        guard !isReceivingCopy else {
            throw DatabaseError(
                resultCode: .SQLITE_LOCKED,
                message: "The database is the destination of a backup that has not finished")
        }
    }

    /// True if the current thread is inside an access of this connection.
    var isAccessedByCurrentThread: Bool {
        sharedState.accessingThread.load(ordering: .relaxed) == currentThreadID()
    }

    /// Traps if the connection has escaped from its access.
    @usableFromInline
    func checkIsUsedInItsAccess() {
        precondition(
            isAccessedByCurrentThread,
            "A Database must only be used inside its access, on the thread of that access."
        )
    }
}
