/// A type that writes to a database: a queue or a pool.
///
/// Writes run one after the other, in the order of their calls. Unless a method says otherwise, it must not
/// be called inside of another write access of the same writer: that traps.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs `updates` outside of any transaction: other connections may see its changes one by one.
    ///
    ///     try queue.writeWithoutTransaction { db in
    ///         try db.execute(sql: "PRAGMA optimize")
    ///     }
    @_disfavoredOverload
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Runs `updates` as ``writeWithoutTransaction(_:)-(_)`` does, without blocking a thread while it waits.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `updates` when no other access runs, and lets none begin before it has ended.
    ///
    /// It waits for the reads that are running, and reads that are asked for meanwhile wait for it: use it
    /// for what no reader may see half done, such as another key of the file.
    ///
    ///     try pool.barrierWriteWithoutTransaction { db in
    ///         try db.execute(sql: "DROP TABLE IF EXISTS oldItem; VACUUM")
    ///     }
    ///
    /// - Parameter updates: writes, and returns what the call returns.
    /// - Throws: the error of `updates`, and a ``DatabaseError`` of code `SQLITE_MISUSE` after
    ///   ``DatabaseReader/close()``.
    @_disfavoredOverload
    func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// Runs `updates` as ``barrierWriteWithoutTransaction(_:)-(_)`` does, without blocking a thread while it
    /// waits.
    ///
    /// - Parameter updates: writes, on the thread of the connection.
    /// - Throws: what ``barrierWriteWithoutTransaction(_:)-(_)`` throws, and `CancellationError` if the task
    ///   is cancelled.
    func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws
        -> T

    /// Runs `updates` later, when no other access runs, and lets none begin before it has ended.
    ///
    /// The argument of `updates` is the connection, or why there is none.
    func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `updates` later, outside of any transaction.
    func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void)

    /// Runs `updates` outside of any transaction, also inside of another write access.
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Runs `value` later on a connection that sees the last committed state of this moment, and returns once
    /// that is certain.
    ///
    /// - Precondition: called inside of a write access, outside of any transaction.
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
    /// The changes are on the disk when the call returns, as far as `PRAGMA synchronous` says so, and readers
    /// see all of them or none. Writes wait for each other.
    ///
    /// - Parameter updates: writes, and returns what `write` returns.
    /// - Throws: the error of `updates`; a ``DatabaseError`` if the transaction cannot begin or commit:
    ///   `SQLITE_BUSY` while another process writes, and `SQLITE_MISUSE` after ``DatabaseReader/close()``.
    @_disfavoredOverload
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction { db in try db.transaction { try updates(db) } }
    }

    /// Runs `updates` in a transaction, without blocking a thread while it waits.
    ///
    /// - Throws: the error of `updates`, of the transaction, or `CancellationError` if the task is cancelled
    ///   before the commit: the transaction is rolled back then.
    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writeWithoutTransaction { db in try db.transaction { try updates(db) } }
    }

    /// Runs `updates` later in a transaction, and then `completion`, outside of it, with the result of the
    /// transaction.
    ///
    ///     queue.asyncWrite { db in
    ///         try Share.deleteAll(db)
    ///     } completion: { _, result in
    ///         print(result)
    ///     }
    ///
    /// - Parameters:
    ///   - updates: writes, on the thread of the connection. An error rolls the transaction back.
    ///   - completion: gets the connection, and the result of `updates` or the error of the transaction.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        asyncWriteWithoutTransaction { db in
            completion(db, Result { try db.transaction { try updates(db) } })
        }
    }
}
