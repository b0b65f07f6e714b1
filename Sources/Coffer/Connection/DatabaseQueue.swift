public import Foundation

/// A database with one connection: all accesses run one after the other.
///
/// The connection is opened, and verified to be encrypted, when the queue is created. It is closed when the
/// queue is deinitialized.
///
///     var configuration = Configuration()
///     configuration.key = .keyFile(keyPath)
///     let queue = try DatabaseQueue(path: path, configuration: configuration)
///     let names = try queue.read { db in
///         try String.fetchAll(db, sql: "SELECT name FROM owner")
///     }
public final class DatabaseQueue {
    /// The configuration of the connection.
    public var configuration: Configuration { connection.configuration }

    /// The path of the database file; `":memory:"` for a database in memory.
    public var path: String { connection.path }

    let connection: SerializedConnection
    let factory: ConnectionFactory
    let cancellingClosings = CancellingClosings()

    /// Opens or creates the database file at a path.
    ///
    /// A passphrase costs one key derivation, about a tenth of a second; a raw key costs none. Only its owner
    /// can read a new file.
    ///
    /// - Throws: a ``DatabaseError``. Its ``DatabaseError/encryptionFailure`` explains problems with the key.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(location: DatabaseLocation(path: path), configuration: configuration)
    }

    /// Opens an in-memory database.
    ///
    ///     let queue = try DatabaseQueue()
    ///     let one = try DatabaseQueue(named: "shared"), same = try DatabaseQueue(named: "shared")
    ///
    /// - Parameters:
    ///   - name: the name of a database that all queues with this name share for as long as one of them
    ///     exists; nil for a private database.
    ///   - configuration: the configuration of the connection. An in-memory database needs no key.
    /// - Throws: an error of a function added with ``Configuration/prepareDatabase(_:)``.
    public convenience init(named name: String? = nil, configuration: Configuration = Configuration()) throws
    {
        try self.init(location: .memory(name: name), configuration: configuration)
    }

    init(location: DatabaseLocation, configuration: Configuration) throws {
        var configuration = configuration
        configuration.maximumReaderCount = 1
        factory = try ConnectionFactory(
            location: location, configuration: configuration, label: "Coffer.DatabaseQueue")
        connection = try factory.makeWriter()
    }
}

// MARK: - DatabaseReader

extension DatabaseQueue: DatabaseReader {
    public func close() throws { try close(within: .none) }

    func close(within bounds: WaitBounds) throws {
        try connection.close(within: bounds)
        factory.keys.removeDerivedKeys()
    }

    public func interrupt() {
        connection.interrupt()
    }

    @_disfavoredOverload
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try read(timeout: nil, value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await read(timeout: nil, value)
    }

    @_disfavoredOverload
    public func read<T>(timeout: TimeInterval?, _ value: (Database) throws -> T) throws -> T {
        try connection.sync(readsOnly: true, within: connection.bounds.with(timeout: timeout)) { db in
            try db.isolated(readOnly: true, untilNextWrite: true) { try value(db) }
        }
    }

    public func read<T: Sendable>(
        timeout: TimeInterval?, _ value: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await connection.perform(
            readsOnly: true, within: connection.bounds.with(timeout: timeout)
        ) { db in
            try db.isolated(readOnly: true, untilNextWrite: true) { try value(db) }
        }
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async { db in
            db.isolatedOnce(readOnly: true) { value($0) }
        }
    }

    @_disfavoredOverload
    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try connection.sync(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await connection.perform(within: connection.bounds, value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async { value($0.ifOpen) }
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try connection.reentrantSync(value)
    }
}

// MARK: - DatabaseWriter

extension DatabaseQueue: DatabaseWriter {
    @_disfavoredOverload
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.sync(updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws
        -> T
    {
        try await connection.perform(within: connection.bounds, updates)
    }

    @_disfavoredOverload
    public func writeWithoutTransaction<T>(
        timeout: TimeInterval?, _ updates: (Database) throws -> T
    ) throws -> T {
        try connection.sync(within: connection.bounds.with(timeout: timeout), updates)
    }

    public func writeWithoutTransaction<T: Sendable>(
        timeout: TimeInterval?, _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await connection.perform(within: connection.bounds.with(timeout: timeout), updates)
    }

    @_disfavoredOverload
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.sync(updates)
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T)
        async throws -> T
    {
        try await connection.perform(within: connection.bounds, updates)
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        connection.async { updates($0.ifOpen) }
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        connection.async(updates)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.reentrantSync(updates)
    }

    /// Runs `value` immediately: a queue has no other connection that could run it concurrently.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let db = connection.currentDatabase("A concurrent read must be started in a write access.")
        precondition(
            !db.isInsideTransaction,
            "A concurrent read must be started outside a transaction: commit first.")
        db.isolatedOnce(readOnly: true) { value($0) }
    }
}

// MARK: - Only in queues

extension DatabaseQueue {
    /// Runs `updates` outside any transaction, like `writeWithoutTransaction(_:)`.
    public func inDatabase<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.sync(updates)
    }

    /// Runs `updates` in a transaction, which `updates` can also roll back without an error.
    ///
    ///     try queue.inTransaction { db in
    ///         try Share.deleteAll(db)
    ///         return .rollback
    ///     }
    ///
    /// - Parameters:
    ///   - kind: the kind of the transaction. Nil means immediate: see ``Database/beginTransaction(_:)``.
    ///   - updates: a function that writes, and returns whether to commit or to roll back.
    /// - Throws: the errors of ``Database/inTransaction(_:_:)``.
    public func inTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try connection.sync(within: connection.bounds) { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    /// Frees memory that the connection does not need: cached pages, prepared statements, and the schema.
    public func releaseMemory() {
        connection.sync { $0.releaseMemory() }
    }
}
