/// A database with one connection: all accesses run one after the other.
///
/// The connection is opened, and proved to be encrypted, when the queue is created; it is closed at the end
/// of the queue's life.
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

    /// Opens, or creates, the database file at a path.
    ///
    /// A passphrase costs one derivation, about a tenth of a second; a raw key none. A new file is readable
    /// by its owner only.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - configuration: the key, and all else that the connections have in common.
    /// - Throws: a ``DatabaseError``, whose ``DatabaseError/encryptionFailure`` says what is wrong with the
    ///   key.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(location: DatabaseLocation(path: path), configuration: configuration)
    }

    /// Opens a database in memory.
    ///
    ///     let queue = try DatabaseQueue()
    ///     let one = try DatabaseQueue(named: "shared"), same = try DatabaseQueue(named: "shared")
    ///
    /// - Parameters:
    ///   - name: queues of one name share one database, as long as one of them lives; nil is a database of
    ///     its own.
    ///   - configuration: the behaviour of the connection. A database in memory needs no key.
    /// - Throws: what a function of ``Configuration/prepareDatabase(_:)`` throws.
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
    public func close() throws {
        try connection.close()
        factory.keys.removeDerivedKeys()
    }

    public func interrupt() {
        connection.interrupt()
    }

    @_disfavoredOverload
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.sync(readsOnly: true) { db in
            try db.isolated(readOnly: true, untilNextWrite: true) { try value(db) }
        }
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await connection.perform(readsOnly: true) { db in
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
        try await connection.perform(value)
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
        try await connection.perform(updates)
    }

    @_disfavoredOverload
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.sync(updates)
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T)
        async throws -> T
    {
        try await connection.perform(updates)
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

    /// Runs `value` at once: a queue has no other connection that could do it concurrently.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let db = connection.currentDatabase("A concurrent read begins in a write access.")
        precondition(!db.isInsideTransaction, "A concurrent read begins between transactions: commit first.")
        db.isolatedOnce(readOnly: true) { value($0) }
    }
}

// MARK: - Only in queues

extension DatabaseQueue {
    /// Runs `updates` outside of any transaction: the same as `writeWithoutTransaction(_:)`.
    public func inDatabase<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.sync(updates)
    }

    /// Runs `updates` in a transaction, which it may also roll back without an error.
    ///
    ///     try queue.inTransaction { db in
    ///         try Share.deleteAll(db)
    ///         return .rollback
    ///     }
    ///
    /// - Parameters:
    ///   - kind: nil is immediate: see ``Database/beginTransaction(_:)``.
    ///   - updates: writes, and says how the transaction ends.
    /// - Throws: what ``Database/inTransaction(_:_:)`` throws.
    public func inTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try connection.sync { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    /// Frees the memory that the connection does not need: cached pages, prepared statements, the schema.
    public func releaseMemory() {
        connection.sync { $0.releaseMemory() }
    }
}
