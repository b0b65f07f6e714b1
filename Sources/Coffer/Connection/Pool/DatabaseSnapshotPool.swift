internal import SQLCipherBridge

/// A database as it was at one moment, read by several connections at the same time.
///
/// The engine of most distributions has no `sqlite3_snapshot_*` functions. They are not needed: all
/// connections are opened at once and enter their read transactions while the write lock is held, so that
/// nobody can commit between two of them, in any process. Where the engine has them
/// (``EngineFeature/walSnapshots``), a snapshot can also be made of a transaction that has begun to read.
/// ``Configuration/maximumReaderCount`` says how many there are.
///
/// As long as a snapshot lives, the WAL file cannot be reused and grows with each write.
///
///     let snapshot = try pool.makeSnapshotPool()
///     let counts = try [snapshot.read { db in try Item.fetchCount(db) }, snapshot.read { db in try Share.fetchCount(db) }]
public final class DatabaseSnapshotPool: Sendable {
    public let configuration: Configuration
    public let path: String

    let readers: ReaderPool

    /// A snapshot of the last committed state of the database at a path, which must be in WAL mode.
    ///
    /// With ``Configuration/readonly``, no lock is taken: the connections are made to enter their
    /// transactions again if another connection has committed meanwhile.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - configuration: the key, and all else that the connections have in common.
    /// - Throws: a ``DatabaseError``, among others `SQLITE_BUSY` if another connection holds the write lock:
    ///   set a busy mode.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        var configuration = configuration
        configuration.journalMode = .default
        let factory = try ConnectionFactory(
            location: DatabaseLocation(path: path), configuration: configuration,
            label: "Coffer.DatabaseSnapshotPool")
        // The readers come first: they are read-only, so that no file is made where there is none.
        let readers = try SnapshotReaders(factory)
        if configuration.readonly {
            try readers.enterTogether(watchedBy: factory.makeSnapshotConnection())
        } else {
            try factory.makeLockConnection().sync { try readers.enterTogether(under: $0) }
        }
        self.init(factory: factory, readers: readers)
    }

    /// A snapshot of the last committed state that `db` sees.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - configuration: nil is that of `db`.
    /// - Throws: `SQLITE_MISUSE` if `db` has read or written in its transaction already: the state of a
    ///   transaction cannot be handed to other connections. With ``EngineFeature/walSnapshots``, one that has
    ///   only read can, unless nothing was written since the log was made. `SQLITE_BUSY` if another process
    ///   holds the write lock, or commits at the very moment: try again.
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
        guard !db.isClosed else { throw DatabaseError.connectionIsClosed() }
        // A read of a pool is settled on a state before anything has run in it.
        if db.handle.transactionState == .read, db.isTransactionUntouched { try db.restartingTransaction {} }
        if db.handle.transactionState == .read, Engine.hasSnapshots {
            let readers = try SnapshotReaders(factory)
            try readers.enterState(readBy: db)
            self.init(factory: factory, readers: readers)
            return
        }
        guard db.handle.transactionState == .none else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "A snapshot pool cannot be made of a transaction that has begun to read or to write. "
                    + "Make it before or after that."
                    + (Engine.hasSnapshots
                        ? "" : " Of one that only reads, it can with an engine of Scripts/build-engine.")
            )
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
        try readers.withReader(value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.withReader(value)
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
        return try read(value)
    }
}

extension DatabasePool {
    /// A snapshot of the last committed state, for several reads at the same time.
    ///
    /// Inside of a write access it is the state of this moment; elsewhere others may commit before the
    /// snapshot is taken.
    /// - Throws: what ``DatabaseSnapshotPool/init(_:configuration:)`` throws.
    /// - Precondition: not called inside of a transaction of the writer.
    public func makeSnapshotPool() throws -> DatabaseSnapshotPool {
        checkCanMakeSnapshot()
        return try unsafeReentrantWrite { db in try DatabaseSnapshotPool(factory, db) }
    }
}
