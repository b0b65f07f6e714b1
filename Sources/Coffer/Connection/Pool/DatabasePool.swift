internal import Dispatch

/// A database with one connection that writes and several that read at the same time, in WAL mode.
///
/// Writes run one after the other. Reads see one committed state each, the last one when they begin, never a
/// part of a transaction, and wait for no write. The key is derived once: further connections cost less than
/// a millisecond.
///
/// Inside of a write, reads are allowed, and see the last committed state. The reverse, a synchronous write
/// inside of a read, works but should be avoided: it waits for a writer that may itself wait for the read to
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

    /// Opens, or creates, the database file at a path, and sets it to WAL mode unless the configuration is
    /// read-only.
    ///
    /// A passphrase costs one derivation, about a tenth of a second, for all connections; a raw key none.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - configuration: the key, and all else that the connections have in common.
    /// - Throws: a ``DatabaseError``, whose ``DatabaseError/encryptionFailure`` says what is wrong with the
    ///   key.
    /// - Precondition: ``Configuration/maximumReaderCount`` is at least 1.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        precondition(
            configuration.maximumReaderCount > 0,
            "A pool needs a reader: Configuration.maximumReaderCount is 1 or more.")
        var configuration = configuration
        if configuration.journalMode == .default {
            configuration.journalMode = .wal
        }
        configuration.hasReadersBesideWriter = true
        let location = DatabaseLocation(path: path)
        guard location.isFile else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "A pool needs a database file. Use a DatabaseQueue for a database in memory.")
        }
        let factory = try ConnectionFactory(
            location: location, configuration: configuration, label: "Coffer.DatabasePool")
        self.factory = factory
        self.writer = try factory.makeWriter(label: ".writer")
        self.readers = ReaderPool(maximumReaderCount: configuration.maximumReaderCount, writer: writer) {
            number in
            try factory.makeReader(number: number)
        }
        factory.keys.onKeyChange { [weak readers] in readers?.invalidate() }
    }
}

// MARK: - Reading

extension DatabasePool: DatabaseReader {
    @_disfavoredOverload
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.withReader { db in
            try db.isolated(readOnly: false, settled: true) { try value(db) }
        }
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.withReader { db in
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
        try readers.withReader(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.withReader(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.withLeaseLater(value)
    }

    /// Runs `value` without the guarantees of a read, also inside of another access.
    ///
    /// Inside of a read or a write it has the connection of that access, and sees what it has written.
    /// Elsewhere it has a reader.
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
        try await writer.perform(updates)
    }

    /// Runs `updates` in a transaction, which it may also roll back without an error.
    ///
    ///     try pool.writeInTransaction { db in
    ///         try Share.deleteAll(db)
    ///         return .rollback
    ///     }
    ///
    /// - Parameters:
    ///   - kind: nil is immediate: see ``Database/beginTransaction(_:)``.
    ///   - updates: writes, and says how the transaction ends.
    /// - Throws: what ``Database/inTransaction(_:_:)`` throws.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writer.sync { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    @_disfavoredOverload
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        precondition(
            readers.readerOfCurrentThread == nil, "A barrier inside of a read would wait for itself.")
        return try writer.sync { db in
            try readers.barrier { try updates(db) }
        }
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T)
        async throws -> T
    {
        let ticket = PoolTicket()
        return try await withTaskCancellationHandler {
            try await writer.perform { db in
                try readers.barrier(ticket) { try updates(db) }
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

// MARK: - Reading what was just written

extension DatabasePool {
    /// Runs `value` later on a reader that sees the last committed state of this moment, and returns once
    /// that is certain.
    ///
    /// Inside of a barrier, which allows no reader, `value` runs at once on the connection of the writer, as
    /// it does in a queue.
    /// - Precondition: called inside of a write access, outside of any transaction.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let db = writer.currentDatabase("A concurrent read begins in a write access.")
        precondition(!db.isInsideTransaction, "A concurrent read begins between transactions: commit first.")
        if readers.isBarrierOfCurrentThread {
            return db.isolatedOnce(readOnly: true) { value($0) }
        }
        let lease: ReaderPool.Lease
        do {
            guard !db.isClosed else { throw DatabaseError.connectionIsClosed() }
            lease = try readers.acquire(mayHaveAnother: true)
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

    /// Runs `value` later on a reader: the same as ``spawnConcurrentRead(_:)``.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        spawnConcurrentRead(value)
    }
}
