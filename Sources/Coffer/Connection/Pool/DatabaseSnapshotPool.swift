public import Foundation
internal import SQLCipherBridge

/// A view of a database at one moment, read by several connections at the same time.
///
/// It does not need the `sqlite3_snapshot_*` functions, which the engines of most distributions lack: all
/// connections are opened together and enter their read transactions while the write lock is held, so that no
/// process can commit in between. If the engine has the functions (``EngineFeature/walSnapshots``), a
/// snapshot can also be created from a transaction that has begun to read.
/// ``Configuration/maximumReaderCount`` is the number of connections.
///
/// While a snapshot exists, the WAL file cannot be reused and grows with each write.
///
///     let snapshot = try pool.makeSnapshotPool()
///     let counts = try [snapshot.read { db in try Item.fetchCount(db) }, snapshot.read { db in try Share.fetchCount(db) }]
public final class DatabaseSnapshotPool: Sendable {
    public let configuration: Configuration
    public let path: String

    let readers: ReaderPool
    private let bounds: WaitBounds

    /// Creates a snapshot of the last committed state of the database at a path, which must be in WAL mode.
    ///
    /// With ``Configuration/readonly``, no lock is taken: if another connection commits while the connections
    /// enter their transactions, they enter them again.
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_BUSY` if another connection holds the write
    ///   lock: set a busy mode.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        var configuration = configuration
        configuration.journalMode = .default
        let factory = try ConnectionFactory(
            location: DatabaseLocation(path: path), configuration: configuration,
            label: "Coffer.DatabaseSnapshotPool")
        // Open the readers first: they are read-only, so that a missing file is not created.
        let readers = try SnapshotReaders(factory)
        if configuration.readonly {
            try readers.enterTogether(watchedBy: factory.makeSnapshotConnection())
        } else {
            try factory.makeLockConnection().sync { try readers.enterTogether(under: $0) }
        }
        self.init(factory: factory, readers: readers)
    }

    /// Creates a snapshot of the last committed state that `db` sees.
    ///
    /// - Parameter configuration: the configuration of the snapshot, or nil for the configuration of `db`.
    /// - Throws: `SQLITE_MISUSE` if `db` has already read or written in its transaction: other connections
    ///   cannot enter the state of a transaction. With ``EngineFeature/walSnapshots``, they can if the
    ///   transaction has only read, unless nothing was written since the WAL file was created. `SQLITE_BUSY`
    ///   if another process holds the write lock, or commits at the same moment: try again.
    public convenience init(_ db: Database, configuration: Configuration? = nil) throws {
        var configuration = configuration ?? db.configuration
        configuration.journalMode = .default
        let factory = try ConnectionFactory(
            location: DatabaseLocation(path: db.path), configuration: configuration,
            label: "Coffer.DatabaseSnapshotPool",
            keys: db.keying.keys)
        try self.init(factory, db)
    }

    fileprivate convenience init(_ factory: ConnectionFactory, _ db: Database) throws {
        db.checkIsUsedInItsAccess()
        try db.checkIsOpen()
        // A read of a pool has pinned a state before any statement has run in it.
        if db.handle.transactionState == .read, db.isTransactionUntouched { try db.restartingTransaction {} }
        if db.handle.transactionState == .read, Engine.hasSnapshots {
            let readers = try SnapshotReaders(factory)
            try readers.enterState(readBy: db)
            self.init(factory: factory, readers: readers)
            return
        }
        guard db.handle.transactionState == .none else {
            throw DatabaseError.misuse(
                "A snapshot pool cannot be made in a transaction that has already read or written. Make "
                    + "it before or after the transaction."
                    + (Engine.hasSnapshots
                        ? ""
                        : " With an engine from Scripts/build-engine, it can be made in a transaction "
                            + "that has only read."))
        }
        let readers = try SnapshotReaders(factory)
        if db.isInsideTransaction || db.isReadingOnly {
            try readers.enter(with: db, watchedBy: factory.makeSnapshotConnection())
        } else {
            try readers.enterTogether(under: db)
        }
        self.init(factory: factory, readers: readers)
    }

    private init(factory: ConnectionFactory, readers: SnapshotReaders) {
        configuration = factory.configuration
        bounds = WaitBounds(factory.configuration)
        path = factory.location.path
        self.readers = ReaderPool(opened: readers.connections)
    }
}

extension DatabaseSnapshotPool: DatabaseSnapshotReader {
    public func close() throws {
        guard !readers.isClosed else { return }
        try readers.barrier {
            try readers.closeReadersInBarrier()
            readers.markClosed()
        }
    }

    public func interrupt() {
        readers.interrupt()
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
        try readers.withReader(within: bounds.with(timeout: timeout), value)
    }

    public func read<T: Sendable>(
        timeout: TimeInterval?, _ value: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await readers.withReader(within: bounds.with(timeout: timeout), value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.withLeaseLater(value)
    }

    @_disfavoredOverload
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try read(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await read(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let reader = readers.readerOfCurrentThread {
            return try reader.reentrantSync(value)
        }
        return try readers.withReader(value)
    }
}

extension DatabasePool {
    /// Creates a snapshot of the last committed state, for several reads at the same time.
    ///
    /// Inside a write access, it is the current state. Elsewhere, others may commit before the snapshot is
    /// taken.
    ///
    /// - Throws: the errors of ``DatabaseSnapshotPool/init(_:configuration:)``.
    /// - Precondition: not called inside a transaction of the writer.
    public func makeSnapshotPool() throws -> DatabaseSnapshotPool {
        checkCanMakeSnapshot()
        return try unsafeReentrantWrite { db in try DatabaseSnapshotPool(factory, db) }
    }
}
