internal import Foundation
internal import SQLCipherBridge

/// A connection to a database, as a database access lends it.
///
/// A connection is used on one thread at a time, inside of the function that received it: it must not escape from there.
/// Misuse traps with a message.
public final class Database: CustomStringConvertible, CustomDebugStringConvertible {
    /// How the connection was opened.
    public let configuration: Configuration

    /// The label of the configuration and the role of the connection.
    public let description: String

    /// The path of the file; empty or `":memory:"` for databases without a file of their own.
    let path: String

    /// Where the database lives.
    let location: DatabaseLocation

    /// How the connection protects what it writes.
    var protection: Protection

    /// The connection of the C library, until it is closed. It outlives that only as long as statements live.
    var connection: EngineConnection?

    /// What is done with the connection of the C library.
    var handle: ConnectionHandle {
        // The next connection of the C library may well have the address of the last one.
        didSet { fullText = nil }
    }

    var isClosed = false

    var authorizer: StatementAuthorizer
    let observationBroker: DatabaseObservationBroker

    var statementCaches = StatementCaches()

    /// What statements read while the value of an observation is fetched.
    var recording = RegionRecording()

    /// What the schema looks like, as far as it was asked.
    var schemaCache = DatabaseSchemaCache()

    /// How many statements have begun to run, and how many had when the last transaction was begun.
    @exclusivity(unchecked) var executionCount = 0
    var executionCountAtBeginning = -1

    /// Whether the transaction that is open has changed the schema.
    var changesSchema = false

    /// What stands in for the configuration's schema source for a while.
    var temporarySchemaSource: TemporarySchemaSource?

    /// Whether a transaction-wrapping method expects its transaction to be still open.
    var expectsTransaction = false

    /// Whether the connection is that of a snapshot, whose transaction the application may end to begin another one.
    var isSnapshot = false

    /// How many nested read-only accesses there are.
    var readOnlyDepth = 0

    /// Whether the connection goes on to refuse to write after an access that only read.
    var refusesUntilNextWrite = false

    /// How many nested operations must run to their end although their task is cancelled: rollbacks.
    var uncancellableDepth = 0

    /// The date of the current transaction, once it was asked.
    var cachedTransactionDate: Date?

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

    /// The keys of the queue, pool or snapshot that the connection belongs to.
    let keys: ConnectionKeys

    /// The ring that has the connection's key.
    var currentRing: KeyRing?

    /// The file of the `ATTACH` statement that runs.
    var attachedFile = AttachedFile()

    /// The keys of the ring that the connection uses, for files that are attached without a key.
    var attachedKeys: (owner: KeyRing, ring: KeyRing)?

    /// Whether the connection found an empty file, which has no salt yet.
    var isFileEmpty: Bool

    /// Whether the connection takes the place of another one, whose key is known already.
    var isReplacingHandle = false

    /// When the connection has last looked whether its file still has its name; nil for databases without a file of their own.
    var lastLookAtFile: MonotonicTime?

    /// Whether the configuration's preparations have run.
    var isPrepared = false

    init(
        opening location: DatabaseLocation, configuration: Configuration, purpose: Purpose, description: String, keys: ConnectionKeys
    ) throws {
        let opened = try Database.open(location, configuration: configuration, purpose: purpose, keys: keys)
        let handle = opened.connection.handle
        self.configuration = configuration
        self.description = description
        self.path = location.path
        self.location = location
        self.handle = handle
        self.protection = opened.protection
        self.busyHandler = opened.busyHandler
        self.authorizer = StatementAuthorizer(handle)
        self.observationBroker = DatabaseObservationBroker(handle, authorizer: authorizer)
        self.sharedState = SharedState(handle: handle)
        self.keys = keys
        self.purpose = purpose
        self.isFileEmpty = opened.isFileEmpty
        self.connection = .some(opened.connection)
        self.lastLookAtFile = location.isFile && !configuration.readonly ? .distantPast : nil
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
