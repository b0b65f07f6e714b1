internal import Dispatch
public import Foundation

/// A database in WAL mode with one connection that writes and several that read at the same time.
///
/// Writes run one after the other. Each read sees the state that was last committed when it begins, never a
/// part of a transaction, and does not wait for writes. The key is derived once: opening further connections
/// takes less than a millisecond.
///
/// Reads are allowed inside a write, and see the last committed state. The reverse, a synchronous write
/// inside a read, works but should be avoided: it waits for the writer, which may itself wait for the read to
/// end, as a barrier does.
///
///     let pool = try DatabasePool(path: path, configuration: configuration)
///     let names = try pool.read { db in
///         try String.fetchAll(db, sql: "SELECT name FROM owner")
///     }
public final class DatabasePool: Sendable {
    /// The configuration of the connections.
    public var configuration: Configuration { writer.configuration }

    /// The path of the database file.
    public var path: String { writer.path }

    let writer: SerializedConnection
    let readers: ReaderPool
    let factory: ConnectionFactory
    let snapshotGate = SnapshotGate()
    let cancellingClosings = CancellingClosings()

    /// Opens or creates the database file at a path, and sets it to WAL mode unless the configuration is
    /// read-only.
    ///
    /// A passphrase costs one key derivation for all connections, about a tenth of a second; a raw key costs
    /// none.
    ///
    /// - Throws: a ``DatabaseError``. Its ``DatabaseError/encryptionFailure`` explains problems with the key.
    /// - Precondition: ``Configuration/maximumReaderCount`` is at least 1.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        precondition(
            configuration.maximumReaderCount > 0,
            "A pool needs a reader: set Configuration.maximumReaderCount to 1 or more.")
        var configuration = configuration
        if configuration.journalMode == .default {
            configuration.journalMode = .wal
        }
        configuration.hasReadersBesideWriter = true
        let location = DatabaseLocation(path: path)
        guard location.isFile else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "A pool needs a database file. Use a DatabaseQueue for an in-memory database.")
        }
        let factory = try ConnectionFactory(
            location: location, configuration: configuration, label: "Coffer.DatabasePool")
        self.factory = factory
        self.writer = try factory.makeWriter(label: ".writer")
        self.readers = ReaderPool(maximumReaderCount: configuration.maximumReaderCount, writer: writer) {
            number in
            do {
                return try factory.makeReader(number: number)
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
                // A change of the journal mode has failed, and a reader cannot roll its journal back.
                _ = try factory.makeLockConnection()
                return try factory.makeReader(number: number)
            }
        }
        factory.keys.onKeyChange { [weak readers] in readers?.invalidate() }
    }
}

// MARK: - Reading

extension DatabasePool: DatabaseReader {
    @_disfavoredOverload
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try read(timeout: nil, value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await read(timeout: nil, value)
    }

    @_disfavoredOverload
    public func read<T>(timeout: TimeInterval?, _ value: (Database) throws -> T) throws -> T {
        try readers.withReader(within: writer.bounds.with(timeout: timeout)) { db in
            try db.isolated(readOnly: false, settled: true) { try value(db) }
        }
    }

    public func read<T: Sendable>(
        timeout: TimeInterval?, _ value: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await readers.withReader(within: writer.bounds.with(timeout: timeout)) { db in
            try db.isolated(readOnly: false, settled: true) { try value(db) }
        }
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.withLeaseLater { result in
            switch result {
            case .success(let db): db.isolatedOnce(readOnly: false, settled: true) { value($0) }
            case .failure(let error): value(.failure(error))
            }
        }
    }

    @_disfavoredOverload
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.withReader(within: writer.bounds, value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.withReader(within: writer.bounds, value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.withLeaseLater(value)
    }

    /// Runs `value` without the guarantees of a read, even inside another access.
    ///
    /// Inside a read or a write, `value` receives the connection of that access, and sees its uncommitted
    /// changes. Elsewhere, it receives a reader.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let reader = readers.readerOfCurrentThread {
            return try reader.reentrantSync(value)
        }
        if writer.isAccessedByCurrentThread {
            return try writer.reentrantSync(value)
        }
        return try readers.withReader(value)
    }
}

// MARK: - Writing

extension DatabasePool: DatabaseWriter {
    @_disfavoredOverload
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.sync(updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws
        -> T
    {
        try await writer.perform(within: writer.bounds, updates)
    }

    @_disfavoredOverload
    public func writeWithoutTransaction<T>(
        timeout: TimeInterval?, _ updates: (Database) throws -> T
    ) throws -> T {
        try writer.sync(within: writer.bounds.with(timeout: timeout), updates)
    }

    public func writeWithoutTransaction<T: Sendable>(
        timeout: TimeInterval?, _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.perform(within: writer.bounds.with(timeout: timeout), updates)
    }

    /// Runs `updates` in a transaction, which `updates` can also roll back without an error.
    ///
    ///     try pool.writeInTransaction { db in
    ///         try Share.deleteAll(db)
    ///         return .rollback
    ///     }
    ///
    /// - Parameters:
    ///   - kind: the kind of the transaction. Nil means immediate: see ``Database/beginTransaction(_:)``.
    ///   - updates: a function that writes, and returns whether to commit or to roll back.
    /// - Throws: the errors of ``Database/inTransaction(_:_:)``.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writer.sync(within: writer.bounds) { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    @_disfavoredOverload
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        precondition(
            readers.readerOfCurrentThread == nil, "A barrier inside a read would wait for itself.")
        let start = ContinuousClock.now
        return try writer.sync(within: writer.bounds) { db in
            let bounds = writer.bounds.remaining(after: start.duration(to: .now))
            return try readers.barrier(within: bounds) { try updates(db) }
        }
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T)
        async throws -> T
    {
        let (ticket, start) = (ReaderPool.Ticket(), ContinuousClock.now)
        return try await withTaskCancellationHandler {
            try await writer.perform(within: writer.bounds) { db in
                let bounds = writer.bounds.remaining(after: start.duration(to: .now))
                return try readers.barrier(ticket, within: bounds) { try updates(db) }
            }
        } onCancel: {
            ticket.cancel(in: readers)
        }
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.async { db in
            do {
                try self.readers.barrier { updates(.success(db)) }
            } catch {
                updates(.failure(error))
            }
        }
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.async(updates)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.reentrantSync(updates)
    }
}

// MARK: - Concurrent reads

extension DatabasePool {
    /// Runs `value` later on a reader that sees the current last committed state. Returns once that state is
    /// pinned.
    ///
    /// Inside a barrier, which allows no readers, `value` runs immediately on the writer connection, as in a
    /// queue.
    ///
    /// The call waits for a free reader, even if the task is cancelled, and blocks all writes during this
    /// time. ``Configuration/maximumWait`` and ``Configuration/maximumWaiterCount`` limit the wait: `value`
    /// is called with a ``DatabaseWaitError`` if they do not allow it.
    ///
    /// - Precondition: called inside a write access, outside any transaction.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let db = writer.currentDatabase("A concurrent read must be started in a write access.")
        precondition(
            !db.isInsideTransaction,
            "A concurrent read must be started outside a transaction: commit first.")
        if readers.isBarrierOfCurrentThread {
            return db.isolatedOnce(readOnly: true) { value($0) }
        }
        let lease: ReaderPool.Lease
        do {
            try db.checkIsOpen()
            lease = try readers.acquire(mayHaveAnother: true, within: writer.bounds)
        } catch {
            value(.failure(error))
            return
        }
        let isIsolated = DispatchSemaphore(value: 0)
        lease.connection.async(
            { db in
                db.isolatedOnce(
                    readOnly: false, settled: true, didEnter: { _ = isIsolated.signal() }, { value($0) })
            },
            end: { [readers] in readers.release(lease) })
        isIsolated.wait()
    }

    /// Runs `value` later on a reader, like ``spawnConcurrentRead(_:)``.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        spawnConcurrentRead(value)
    }
}
