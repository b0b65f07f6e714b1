internal import SQLCipherBridge
internal import Foundation
internal import Synchronization

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

    /// How the connection protects what it writes.
    private(set) var protection: Protection

    /// The connection of the C library. It outlives its closing by `sqlite3_close_v2` only as long as statements live.
    private(set) var handle: ConnectionHandle

    private(set) var isClosed = false

    private(set) var authorizer: StatementAuthorizer
    let observationBroker: DatabaseObservationBroker

    var publicStatements = StatementCache(capacity: 500)
    var internalStatements = StatementCache(capacity: 500)

    /// What the schema looks like, as far as it was asked.
    var schemaCache = DatabaseSchemaCache()

    /// Whether a transaction-wrapping method expects its transaction to be still open.
    var expectsTransaction = false

    /// How many nested read-only accesses there are.
    var readOnlyDepth = 0

    /// How many nested operations must run to their end although their task is cancelled: rollbacks.
    var uncancellableDepth = 0

    /// The date of the current transaction, once it was asked.
    var cachedTransactionDate: Date?

    /// Hooks whose closures the connection keeps alive.
    var busyHandler: BusyHandler?
    var traceHook: TraceHook?

    /// What was added to the connection and must be added again to one that takes its place.
    var additions = ConnectionAdditions()

    /// The role of the connection.
    private let purpose: Purpose

    /// What other threads may touch.
    private let shared: SharedState

    /// The keys of the queue, pool or snapshot that the connection belongs to.
    let keys: ConnectionKeys

    /// The ring that has the connection's key.
    var currentRing: KeyRing?

    /// Whether the connection found an empty file, which has no salt yet.
    var isFileEmpty: Bool

    /// Whether the connection takes the place of another one, whose key is known already.
    private(set) var isReplacingHandle = false

    /// Whether the configuration's preparations have run.
    private(set) var isPrepared = false

    init(
        opening location: DatabaseLocation, configuration: Configuration, purpose: Purpose, description: String, keys: ConnectionKeys
    ) throws {
        let opened = try Database.open(location, configuration: configuration, purpose: purpose, keys: keys)
        self.configuration = configuration
        self.description = description
        self.path = location.path
        self.handle = opened.handle
        self.protection = opened.protection
        self.busyHandler = opened.busyHandler
        self.authorizer = StatementAuthorizer(opened.handle)
        self.observationBroker = DatabaseObservationBroker(opened.handle, authorizer: authorizer)
        self.shared = SharedState(handle: opened.handle)
        self.keys = keys
        self.purpose = purpose
        self.isFileEmpty = opened.isFileEmpty
        do {
            try setUp()
        } catch {
            close()
            throw error
        }
    }

    deinit {
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

extension Database {
    /// How a connection protects what it writes.
    enum Protection {
        /// The file, or the memory database, is encrypted.
        case encrypted

        /// The file is not encrypted, because the configuration allows it.
        case plaintext

        /// A database in memory or in a temporary file of SQLite, without a key.
        case memory

        /// A passphrase is expected from the configuration's preparation, before anything else.
        case awaitingKey
    }

    func didReceiveKey() {
        protection = .encrypted
        authorizer.isKeyed = true
    }

    /// Sets everything that does not depend on the file, and what must not be said before the key.
    private func setUp() throws {
        authorizer.isKeyed = false
        try handle.set(.foreignKeys, configuration.foreignKeysEnabled)
        try handle.set(.doubleQuotedStringsInDML, configuration.acceptsDoubleQuotedStringLiterals)
        try handle.set(.doubleQuotedStringsInDDL, configuration.acceptsDoubleQuotedStringLiterals)
        try addStandardFunctionsAndCollations()

        if protection == .awaitingKey {
            try runPreparations()
            try checkProtection()
            try setUpPageStorage()
        } else {
            try setUpPageStorage()
            authorizer.isKeyed = protection == .encrypted
            try runPreparations()
        }
        try claimFile()
        try setUpJournalMode()
    }

    private func runPreparations() throws {
        try withAccess {
            for preparation in configuration.preparations {
                try preparation(self)
            }
        }
        isPrepared = true
    }

    /// Decides what a file is that got no key before its first use: refused, or plaintext where that is allowed.
    func checkProtection() throws {
        guard protection == .awaitingKey else { return }
        guard configuration.allowsPlaintext else { throw DatabaseError(encryptionFailure: .noKey) }
        do {
            try KeyRing.verifyPlaintext(handle)
        } catch {
            throw DatabaseError(error)
        }
        protection = .plaintext
    }

    /// The page cache, and temporary tables in memory: they would be plaintext on the disk.
    private func setUpPageStorage() throws {
        if protection == .encrypted {
            try handle.execute("PRAGMA temp_store = MEMORY")
        }
        if configuration.pageCacheSize > 0 {
            let kibibytes = max(1, configuration.pageCacheSize / 1024)
            try handle.execute(trusted: "PRAGMA cache_size = -\(kibibytes)")
        }
        authorizer.isKeyed = protection == .encrypted
    }

    /// Gives a new encrypted file its salt, before others find it empty and make one of their own.
    ///
    /// It comes after the preparations, so that these can say `PRAGMA auto_vacuum`, which a file with content takes no more.
    private func claimFile() throws {
        guard isFileEmpty, protection == .encrypted, purpose == .writer, !configuration.readonly else { return }
        try handle.claimEmptyFile()
        isFileEmpty = false
    }

    private func setUpJournalMode() throws {
        guard purpose == .writer, configuration.journalMode == .wal, !configuration.readonly, protection != .memory else { return }
        let mode = try handle.firstText(trusted: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw DatabaseError(message: "could not activate WAL mode at path: \(path)")
        }
        try handle.execute("PRAGMA synchronous = NORMAL")
    }
}

// MARK: - Replacing the connection of the C library

extension Database {
    /// Does a last work on the connection of the C library, closes it, and goes on with the one that `open` returns.
    ///
    /// Observers, functions, collations and the trace are moved to the new one, which is prepared like any other.
    /// - Throws: `SQLITE_BUSY` before anything happens if statements of the application are alive; the error of `open`, after which
    ///   this connection is closed for good.
    func replaceHandle(working work: (ConnectionHandle) -> Void, reopening open: () throws -> ConnectionHandle) throws {
        try endOwnStatements()
        detachHooks()
        shared.replace(nil)
        work(handle)
        handle.closeEventually()
        do {
            handle = try open()
        } catch {
            didClose()
            throw error
        }
        shared.replace(handle)
        authorizer = StatementAuthorizer(handle)
        observationBroker.move(to: handle, authorizer: authorizer)
        busyHandler = Database.installBusyMode(on: handle, configuration: configuration, purpose: purpose)
        isReplacingHandle = true
        defer { isReplacingHandle = false }
        let added = additions
        try setUp()
        added.install(on: self)
    }
}

// MARK: - Closing

extension Database {
    /// Closes the connection, or throws `SQLITE_BUSY` if statements of the application still live.
    func close() {
        guard !isClosed else { return }
        closeConnection()
    }

    func closeOrThrow() throws {
        guard !isClosed else { return }
        clearStatementCaches()
        let code = shared.close { handle.close() }
        guard code == EngineCode.ok else {
            let pending = handle.pendingStatements.map { "`\(KeyRedaction.redactingKeys(in: $0.sql))`" }.joined(separator: ", ")
            let hint = pending.isEmpty ? "" : ": unfinalized statements \(pending)"
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: (handle.lastErrorMessage ?? "busy") + hint)
        }
        didClose()
    }

    private func closeConnection() {
        clearStatementCaches()
        shared.replace(nil)
        detachHooks()
        handle.closeEventually()
        didClose()
    }

    /// Statements that are still prepared keep the connection of the C library alive, but not the objects behind its hooks.
    private func detachHooks() {
        observationBroker.removeHooks()
        authorizer.removeHook()
        traceHook?.remove(from: handle)
        busyHandler?.remove(from: handle)
    }

    /// Ends the statements that the connection itself keeps, or throws `SQLITE_BUSY` if the application has others.
    func endOwnStatements() throws {
        clearStatementCaches()
        guard handle.pendingStatements.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY, message: "Statements are still alive on the connection: end them and their cursors first.")
        }
    }

    private func clearStatementCaches() {
        publicStatements.removeAll()
        internalStatements.removeAll()
        schemaCache = DatabaseSchemaCache()
    }

    private func didClose() {
        shared.replace(nil)
        isClosed = true
        traceHook = nil
        busyHandler = nil
        additions = ConnectionAdditions()
        observationBroker.databaseDidClose()
    }
}

// MARK: - Access

extension Database {
    /// The state of a connection that other threads may touch.
    final class SharedState: Sendable {
        private let handle: Mutex<InterruptHandle?>

        /// The thread that uses the connection now, or zero.
        let accessingThread = Atomic<UInt>(0)

        /// Whether the task that uses the connection was cancelled.
        let isCancelled = Atomic<Bool>(false)

        /// Whether the connection must not take locks: see ``Database/suspendNotification``.
        let isSuspended = Atomic<Bool>(false)

        init(handle: ConnectionHandle) {
            self.handle = Mutex(InterruptHandle(handle))
        }

        /// What is interrupted from now on; nothing, for nil.
        func replace(_ newHandle: ConnectionHandle?) {
            let newHandle = newHandle.map(InterruptHandle.init)
            handle.withLock { $0 = newHandle }
        }

        /// Closes the connection, which nobody can interrupt meanwhile, nor afterwards if it succeeds.
        func close(_ body: () -> CInt) -> CInt {
            handle.withLock { handle in
                let code = body()
                if code == EngineCode.ok { handle = nil }
                return code
            }
        }

        /// The lock keeps the connection from being closed during the call.
        func interrupt() { handle.withLock { $0?.interrupt() } }
    }

    var sharedState: SharedState { shared }

    /// Runs `body` as the access of the current thread.
    func withAccess<T>(_ body: () throws -> T) rethrows -> T {
        let previous = shared.accessingThread.exchange(currentThreadID(), ordering: .relaxed)
        defer { shared.accessingThread.store(previous, ordering: .relaxed) }
        return try body()
    }

    /// Whether the current thread is inside of an access of this connection.
    var isAccessedByCurrentThread: Bool { shared.accessingThread.load(ordering: .relaxed) == currentThreadID() }

    /// Traps when the connection has escaped from its access.
    @usableFromInline
    func checkIsUsedInItsAccess() {
        precondition(isAccessedByCurrentThread, "Database was not used on the correct thread.")
    }
}
