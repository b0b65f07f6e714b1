public import Foundation

/// A type that reads from a database: a queue, a pool, or a snapshot.
///
/// The guarantees of its methods hold if all accesses go through one reader or writer. If other connections
/// or processes write to the same file, use transactions, and set a busy mode.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration of the connections.
    var configuration: Configuration { get }

    /// The path of the database file; `":memory:"` or empty if the database has no file.
    var path: String { get }

    /// Closes all connections after the accesses that were requested before.
    ///
    /// You need not call this: connections are closed when the reader is deinitialized. After `close()`, each
    /// access throws `SQLITE_MISUSE`. Closing again does nothing.
    ///
    /// - Throws: `SQLITE_BUSY` if statements are still alive. The database remains usable then.
    /// - Precondition: the current thread is not inside an access of the same reader.
    func close() throws

    /// Aborts the running statements, which throw `SQLITE_INTERRUPT`. Can be called from any thread.
    ///
    /// A write that is interrupted inside a transaction rolls back the whole transaction: see
    /// ``Database/inTransaction(_:_:)``.
    func interrupt()

    /// Runs `value` on a read-only connection that sees a single state of the database.
    ///
    ///     let heavy = try vault.read { db in
    ///         try Item.filter { $0.weight > 20_000 }.fetchAll(db)
    ///     }
    ///
    /// `value` does not see transactions that are committed while it runs, including those of other
    /// processes. In a pool, the call may wait until one of the ``Configuration/maximumReaderCount`` readers
    /// is free. Use the connection only inside `value`.
    ///
    /// - Returns: the result of `value`.
    /// - Throws: the error of `value`; a ``DatabaseError`` with `SQLITE_READONLY` if `value` tries to write,
    ///   or with `SQLITE_MISUSE` after ``close()``; any error from opening a connection; and
    ///   ``DatabaseWaitError`` if the configuration limits the wait.
    /// - Precondition: the current thread is not inside another access of the same reader.
    @_disfavoredOverload
    func read<T>(_ value: (Database) throws -> T) throws -> T

    /// Runs `value` like ``read(_:)-(_)``, without blocking a thread while it waits.
    ///
    /// Cancelling the task interrupts the running statement. A task that still waits for a connection returns
    /// immediately, and `value` is not called.
    ///
    /// - Parameter value: a function that may run on the thread of the task, or on another one.
    /// - Returns: the result of `value`.
    /// - Throws: the errors of the synchronous `read`, and `CancellationError` if the task is cancelled.
    func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` like `read`, but waits only for a limited time.
    ///
    ///     let item = try vault.read(timeout: 0.5) { db in try Item.fetchOne(db, key: id) }
    ///
    /// The limit is for the wait, not for `value`.
    ///
    /// - Parameters:
    ///   - timeout: the maximum time to wait for a free connection, in seconds. Zero or less means that the
    ///     call throws if it would have to wait. Nil means ``Configuration/maximumWait``.
    ///   - value: a function that reads.
    /// - Throws: the errors of `read`, and ``DatabaseWaitError`` if `value` was not called.
    /// - Precondition: the current thread is not inside another access of the same reader.
    @_disfavoredOverload
    func read<T>(timeout: TimeInterval?, _ value: (Database) throws -> T) throws -> T

    /// Runs `value` like `read(timeout:)`, without blocking a thread while it waits.
    ///
    /// - Parameter timeout: the maximum time to wait for a free connection, in seconds.
    /// - Throws: the errors of `read(timeout:)`, and `CancellationError` if the task is cancelled.
    func read<T: Sendable>(
        timeout: TimeInterval?, _ value: @Sendable (Database) throws -> T
    ) async throws -> T

    /// Runs `value` later, on a read-only connection that sees a single state of the database.
    ///
    ///     queue.asyncRead { result in
    ///         print(Result { try Item.fetchCount(result.get()) })
    ///     }
    ///
    /// - Parameter value: a function that is called once, on a thread of the reader, with the connection, or
    ///   with an error if none is available.
    func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `value` without the guarantees of a read: other connections may write between two statements, and
    /// the connection may be able to write.
    ///
    /// - Precondition: the current thread is not inside another access of the same reader.
    /// - Throws: the error of `value`; a ``DatabaseError`` with `SQLITE_MISUSE` after ``close()``; and any
    ///   error from opening a connection.
    @_disfavoredOverload
    func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Runs `value` like `unsafeRead(_:)`, without blocking a thread while it waits.
    ///
    /// - Parameter value: a function that runs on a thread of the connection.
    /// - Throws: the errors of `unsafeRead(_:)`, and `CancellationError` if the task is cancelled.
    func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` later, without the guarantees of a read.
    func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `value` without the guarantees of a read, even inside another access.
    ///
    /// Use it in libraries that do not know the context of their callers. Inside an access of the same
    /// reader, `value` receives the connection of that access, in its transaction.
    ///
    /// - Throws: the errors of `unsafeRead(_:)`.
    func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Starts an observation: see ``ValueObservation``.
    ///
    /// Errors are reported to the observation's own event handlers.
    func _add<Reducer: ValueReducer>(
        observation: ValueObservation<Reducer>, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable

    /// Adds an SQL function to all connections. It replaces one with the same name and number of arguments.
    func add(function: DatabaseFunction)

    /// Removes an SQL function from all connections.
    func remove(function: DatabaseFunction)

    /// Adds a collation to all connections. It replaces one with the same name.
    func add(collation: DatabaseCollation)

    /// Removes a collation from all connections.
    func remove(collation: DatabaseCollation)
}
