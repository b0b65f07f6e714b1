/// A database as it was at one moment. It does not change, whatever is written meanwhile.
///
/// A snapshot has a connection of its own, so that there can be any number of them. As long as one lives, the
/// WAL file cannot be reused and grows with each write.
///
/// Should its transaction end, by a statement of the application, each later read throws `SQLITE_ABORT`: it
/// never sees another state, unless the application asks for one. `ROLLBACK; BEGIN TRANSACTION`, executed
/// inside of a read, has the snapshot see the last committed state from its next statement on.
///
///     let snapshot = try pool.makeSnapshot()
///     try pool.write { db in _ = try Share.deleteAll(db) }
///     let before = try snapshot.read { db in try Share.fetchCount(db) }  // those that were there
public final class DatabaseSnapshot: Sendable {
    public var configuration: Configuration {
        var configuration = connection.configuration
        configuration.maximumReaderCount = 1
        return configuration
    }

    public var path: String { connection.path }

    let connection: SerializedConnection

    init(factory: ConnectionFactory) throws {
        connection = try factory.makeSnapshotConnection()
        try connection.sync { db in
            try db.beginSnapshot(mayBeginAnother: true)
        }
    }
}

extension DatabaseSnapshot: DatabaseSnapshotReader {
    public func close() throws {
        try connection.close()
    }

    public func interrupt() {
        connection.interrupt()
    }

    /// Runs `block` on the snapshot's connection. Reads of one snapshot run one after the other.
    @_disfavoredOverload
    public func read<T>(_ block: (Database) throws -> T) rethrows -> T {
        try connection.sync(block)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await connection.perform(value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async { value($0.ifOpen) }
    }

    @_disfavoredOverload
    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try connection.sync(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await connection.perform(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.reentrantSync(value)
    }
}

extension Database {
    /// Enters the transaction that makes the connection a snapshot of the last committed state.
    ///
    /// - Parameters:
    ///   - mayBeginAnother: whether the application may end the transaction and begin another one.
    ///   - choose: chooses another state, before anything is read.
    func beginSnapshot(mayBeginAnother: Bool, choosing choose: () throws -> Void = {}) throws {
        try beginTransaction(.deferred)
        try choose()
        try enterReadTransaction()
        transactions.becomeSnapshot(mayBeginAnother: mayBeginAnother)
    }
}

/// A reader whose reads all see the same state of the database.
public protocol DatabaseSnapshotReader: DatabaseReader {}

extension DatabaseSnapshotReader {
    /// Runs `value` on a connection of the snapshot, also from inside of another access of it.
    ///
    /// All accesses of a snapshot see the same state, so that this is as safe as a read.
    /// - Parameter value: gets the connection, which must not be used after it has returned.
    /// - Returns: what `value` returns.
    /// - Throws: what `value` throws, and a ``DatabaseError`` if the snapshot is closed.
    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try unsafeReentrantRead(value)
    }
}

extension DatabasePool {
    /// A snapshot of the last committed state.
    ///
    /// Inside of a write access it is the state of this moment; elsewhere others may commit before the
    /// snapshot is taken. While the file gets another key, it waits for that.
    /// - Throws: a ``DatabaseError``: what opening a connection throws, and `SQLITE_MISUSE` once the pool is
    ///   closed.
    /// - Precondition: not called inside of a transaction of the writer.
    public func makeSnapshot() throws -> DatabaseSnapshot {
        checkCanMakeSnapshot()
        guard !readers.isClosed else { throw DatabaseError.connectionIsClosed() }
        return try snapshotGate.whileOpen { try DatabaseSnapshot(factory: factory) }
    }

    func checkCanMakeSnapshot() {
        guard writer.isAccessedByCurrentThread else { return }
        let db = writer.currentDatabase("A snapshot is made outside of its writer.")
        precondition(!db.isInsideTransaction, "A snapshot is made between transactions: commit first.")
    }
}
