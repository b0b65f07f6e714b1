public import Foundation

/// A view of a database at one moment. Later writes do not change it.
///
/// Each snapshot has its own connection, so that there can be any number of snapshots. While a snapshot
/// exists, the WAL file cannot be reused and grows with each write.
///
/// If a statement of the application ends the snapshot's transaction, each later read throws `SQLITE_ABORT`:
/// a read never sees another state, unless the application asks for one. To move the snapshot to the last
/// committed state, execute `ROLLBACK; BEGIN TRANSACTION` inside a read. The change takes effect with the
/// next statement.
///
///     let snapshot = try pool.makeSnapshot()
///     try pool.write { db in _ = try Share.deleteAll(db) }
///     let before = try snapshot.read { db in try Share.fetchCount(db) }  // the shares of that moment
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

    /// Runs `block` on the snapshot's connection. The reads of a snapshot run one after the other.
    @_disfavoredOverload
    public func read<T>(_ block: (Database) throws -> T) rethrows -> T {
        try connection.sync(block)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await read(timeout: nil, value)
    }

    @_disfavoredOverload
    public func read<T>(timeout: TimeInterval?, _ value: (Database) throws -> T) throws -> T {
        try connection.sync(within: connection.bounds.with(timeout: timeout), value)
    }

    public func read<T: Sendable>(
        timeout: TimeInterval?, _ value: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await connection.perform(within: connection.bounds.with(timeout: timeout), value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async { value($0.ifOpen) }
    }

    @_disfavoredOverload
    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try connection.sync(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await read(timeout: nil, value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.reentrantSync(value)
    }
}

extension Database {
    /// Begins the transaction that makes the connection a snapshot of the last committed state.
    ///
    /// - Parameters:
    ///   - mayBeginAnother: true if the application may end the transaction and begin another one.
    ///   - choose: a function that selects another state, before anything is read.
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
    /// Runs `value` on a connection of the snapshot, even inside another access of the snapshot.
    ///
    /// All accesses of a snapshot see the same state, so this is as safe as a read.
    ///
    /// - Returns: the result of `value`.
    /// - Throws: the error of `value`, and a ``DatabaseError`` if the snapshot is closed.
    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try unsafeReentrantRead(value)
    }
}

extension DatabasePool {
    /// Creates a snapshot of the last committed state.
    ///
    /// Inside a write access, it is the current state. Elsewhere, others may commit before the snapshot is
    /// taken. The call waits while the key of the file is being changed.
    ///
    /// - Throws: an error from opening a connection, or a ``DatabaseError`` with `SQLITE_MISUSE` once the
    ///   pool is closed.
    /// - Precondition: not called inside a transaction of the writer.
    public func makeSnapshot() throws -> DatabaseSnapshot {
        checkCanMakeSnapshot()
        guard !readers.isClosed else { throw DatabaseError.connectionIsClosed() }
        return try snapshotGate.whileOpen { try DatabaseSnapshot(factory: factory) }
    }

    func checkCanMakeSnapshot() {
        guard writer.isAccessedByCurrentThread else { return }
        let db = writer.currentDatabase("A snapshot must be made in an access of its writer.")
        precondition(!db.isInsideTransaction, "A snapshot must be made outside a transaction: commit first.")
    }
}
