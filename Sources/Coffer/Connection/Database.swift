internal import SQLCipherBridge
internal import Synchronization

/// A connection to a database, as a database access lends it.
///
/// A connection is used on one thread at a time, inside of the function that received it: it must not escape
/// from there. Misuse traps with a message.
public final class Database: CustomStringConvertible, CustomDebugStringConvertible {
    /// How the connection was opened.
    public let configuration: Configuration

    /// The label of the configuration and the role of the connection.
    public let description: String

    /// The path of the file; empty or `":memory:"` for databases without a file of their own.
    let path: String

    /// Where the database lives.
    let location: DatabaseLocation

    /// The key of the connection, and how it protects what it writes.
    var keying: Keying

    /// The connection of the C library, until it is closed. It outlives that only as long as statements live.
    var connection: EngineConnection?

    /// What is done with the connection of the C library.
    var handle: ConnectionHandle {
        // The next connection of the C library may well have the address of the last one.
        didSet { fullText = nil }
    }

    var isClosed = false

    /// Whether a backup is in the middle of its pages, and code of the application runs: to the engine, the
    /// content is none then.
    private(set) var isReceivingCopy = false

    var inspector: StatementInspector
    let observerNotifier: ObserverNotifier

    var statementCaches = StatementCaches()

    /// What statements read while the value of an observation is fetched.
    var recording = RegionRecording()

    /// What the schema looks like, as far as it was asked.
    var knownSchema = KnownSchema()

    /// The search for statements that the engine would execute wrongly.
    var storedColumns = StoredColumnCheck()

    /// The accesses and the transaction that the connection is in.
    let transactions = TransactionContext()

    /// What stands in for the configuration's schema source for a while.
    var temporarySchemaSource: TemporarySchemaSource?

    /// Hooks whose closures the connection keeps alive.
    var busyHandler: BusyHandler?
    var traceHook: TraceHook?

    /// The full-text module of the connection of the C library, once it was asked for.
    var fullText: FullTextModule?

    /// What closures that the C library keeps know of the connection.
    let reference = ConnectionReference()

    /// What was added to the connection and must be added again to one that takes its place.
    var additions = ConnectionAdditions()

    /// The role of the connection.
    let purpose: Purpose

    /// What other threads may touch.
    let sharedState: SharedState

    /// The path of the file that the `ATTACH` statement attaches which runs.
    var attachedPath = ""

    /// Whether the file still has its name; nil for databases without a file of their own, and where nothing
    /// is written.
    let filePlace: FilePlace?

    init(
        opening location: DatabaseLocation, configuration: Configuration, purpose: Purpose,
        description: String, keys: ConnectionKeys
    ) throws {
        let opened = try Database.open(location, configuration: configuration, purpose: purpose, keys: keys)
        let handle = opened.connection.handle
        self.configuration = configuration
        self.description = description
        self.path = location.path
        self.location = location
        self.handle = handle
        self.keying = Keying(opened.protection, isFileEmpty: opened.isFileEmpty, keys: keys)
        self.busyHandler = opened.busyHandler
        self.inspector = StatementInspector(handle)
        self.observerNotifier = ObserverNotifier(handle, inspector: inspector)
        self.sharedState = SharedState(handle: handle)
        self.purpose = purpose
        self.connection = .some(opened.connection)
        self.filePlace = location.isFile && !configuration.readonly ? FilePlace(path: location.path) : nil
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

    /// The connection of the C library, or nil once it is closed.
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
        return try body()
    }

    /// Runs `body` in the middle of a backup into this database: whatever uses the connection throws
    /// `SQLITE_LOCKED`.
    func receivingCopy<T>(_ body: () throws -> T) rethrows -> T {
        isReceivingCopy = true
        defer { isReceivingCopy = false }
        return try body()
    }

    /// Throws when the connection is closed, or in the middle of a backup.
    func checkIsUsable() throws {
        guard !isClosed else { throw DatabaseError.connectionIsClosed() }
        guard !isReceivingCopy else {
            throw DatabaseError(
                resultCode: .SQLITE_LOCKED,
                message: "The database is the destination of a backup that has not ended")
        }
    }

    /// Whether the current thread is inside of an access of this connection.
    var isAccessedByCurrentThread: Bool {
        sharedState.accessingThread.load(ordering: .relaxed) == currentThreadID()
    }

    /// Traps when the connection has escaped from its access.
    @usableFromInline
    func checkIsUsedInItsAccess() {
        precondition(
            isAccessedByCurrentThread, "A Database is used in its access alone, on the thread of that access."
        )
    }
}
