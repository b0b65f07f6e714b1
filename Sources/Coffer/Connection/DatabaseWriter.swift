public import Foundation

/// A type that writes to a database: a queue or a pool.
///
/// Writes run one after the other, in the order of their calls. Unless a method says otherwise, it traps if
/// it is called inside another write access of the same writer.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs `updates` outside any transaction: other connections may see its changes one by one.
    ///
    ///     try queue.writeWithoutTransaction { db in
    ///         try db.execute(sql: "PRAGMA optimize")
    ///     }
    @_disfavoredOverload
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Runs `updates` like ``writeWithoutTransaction(_:)-(_)``, without blocking a thread while it waits.
    ///
    /// - Throws: the error of `updates`; `CancellationError` if the task is cancelled, without waiting for
    ///   the writer; ``DatabaseWaitError`` if the configuration limits the wait.
    func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `updates` outside any transaction, and waits only for a limited time.
    ///
    /// - Parameters:
    ///   - timeout: the maximum time to wait for the writer, in seconds: see `write(timeout:)`.
    ///   - updates: a function that writes.
    /// - Throws: the error of `updates`, or ``DatabaseWaitError`` if `updates` was not called.
    @_disfavoredOverload
    func writeWithoutTransaction<T>(
        timeout: TimeInterval?, _ updates: (Database) throws -> T
    ) throws -> T

    /// Runs `updates` like ``writeWithoutTransaction(timeout:_:)-(_,_)``, without blocking a thread while it
    /// waits.
    ///
    /// - Parameter timeout: the maximum time to wait for the writer, in seconds.
    /// - Throws: the errors of ``writeWithoutTransaction(timeout:_:)-(_,_)``, and `CancellationError` if the
    ///   task is cancelled.
    func writeWithoutTransaction<T: Sendable>(
        timeout: TimeInterval?, _ updates: @Sendable (Database) throws -> T
    ) async throws -> T

    /// Runs `updates` while no other access runs.
    ///
    /// The call waits for the running reads, and blocks later ones until `updates` has returned. Use it for
    /// changes that no reader may see half done, such as a new key of the file.
    ///
    ///     try pool.barrierWriteWithoutTransaction { db in
    ///         try db.execute(sql: "DROP TABLE IF EXISTS oldItem; VACUUM")
    ///     }
    ///
    /// - Throws: the error of `updates`, and a ``DatabaseError`` with `SQLITE_MISUSE` after
    ///   ``DatabaseReader/close()``.
    @_disfavoredOverload
    func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// Runs `updates` like ``barrierWriteWithoutTransaction(_:)-(_)``, without blocking a thread while it
    /// waits.
    ///
    /// - Parameter updates: a function that runs on a thread of the connection.
    /// - Throws: the errors of ``barrierWriteWithoutTransaction(_:)-(_)``, and `CancellationError` if the
    ///   task is cancelled.
    func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws
        -> T

    /// Runs `updates` later, while no other access runs.
    ///
    /// - Parameter updates: a function that is called with the connection, or with an error if none is
    ///   available.
    func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `updates` later, outside any transaction.
    func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void)

    /// Runs `updates` outside any transaction, even inside another write access.
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Runs `value` later on a connection that sees the current last committed state. Returns once that state
    /// is pinned.
    ///
    /// - Precondition: called inside a write access, outside any transaction.
    func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)
}

// MARK: - Writing in transactions

extension DatabaseWriter {
    /// Runs `updates` in a transaction. An error rolls it back and is rethrown.
    ///
    ///     let ring = try vault.write { db in
    ///         try Item(ownerId: owner.id, name: "ring").inserted(db)
    ///     }
    ///
    /// When the call returns, the changes are on disk to the extent that `PRAGMA synchronous` guarantees.
    /// Readers see all of them or none. Writes wait for each other.
    ///
    /// - Returns: the result of `updates`.
    /// - Throws: the error of `updates`; a ``DatabaseError`` if the transaction cannot begin or commit:
    ///   `SQLITE_BUSY` while another process writes, and `SQLITE_MISUSE` after ``DatabaseReader/close()``;
    ///   ``DatabaseWaitError`` if the configuration limits the wait.
    @_disfavoredOverload
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try write(timeout: nil, updates)
    }

    /// Runs `updates` in a transaction, without blocking a thread while it waits.
    ///
    /// If the task is cancelled while it waits for its turn, the call returns immediately, and `updates` is
    /// not called.
    ///
    /// - Throws: the error of `updates`, the error of the transaction, or `CancellationError` if the task is
    ///   cancelled before the commit; in each case, the transaction is rolled back. ``DatabaseWaitError`` if
    ///   the configuration limits the wait.
    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await write(timeout: nil, updates)
    }

    /// Runs `updates` in a transaction like `write`, but waits only for a limited time.
    ///
    ///     try vault.write(timeout: 2) { db in try share.insert(db) }
    ///
    /// The limit is for the wait, not for `updates`.
    ///
    /// - Parameters:
    ///   - timeout: the maximum time to wait for the writer, in seconds. Zero or less means that the call
    ///     throws if it would have to wait. Nil means ``Configuration/maximumWait``.
    ///   - updates: a function that writes.
    /// - Returns: the result of `updates`.
    /// - Throws: the errors of `write`, and ``DatabaseWaitError`` if `updates` was not called.
    @_disfavoredOverload
    public func write<T>(timeout: TimeInterval?, _ updates: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction(timeout: timeout) { db in try db.transaction { try updates(db) } }
    }

    /// Runs `updates` in a transaction like `write(timeout:)`, without blocking a thread while it
    /// waits.
    ///
    /// - Parameter timeout: the maximum time to wait for the writer, in seconds.
    /// - Throws: the errors of `write(timeout:)`, and `CancellationError` if the task is cancelled
    ///   before the commit.
    public func write<T: Sendable>(
        timeout: TimeInterval?, _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writeWithoutTransaction(timeout: timeout) { db in
            try db.transaction { try updates(db) }
        }
    }

    /// Runs `updates` later in a transaction, then `completion` outside the transaction.
    ///
    ///     queue.asyncWrite { db in
    ///         try Share.deleteAll(db)
    ///     } completion: { _, result in
    ///         print(result)
    ///     }
    ///
    /// - Parameters:
    ///   - updates: a function that runs on a thread of the connection. An error rolls the transaction back.
    ///   - completion: a function that is called with the connection, and with the result of `updates` or the
    ///     error of the transaction.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        asyncWriteWithoutTransaction { db in
            completion(db, Result { try db.transaction { try updates(db) } })
        }
    }
}
