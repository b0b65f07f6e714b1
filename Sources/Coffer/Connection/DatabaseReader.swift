/// A type that reads from a database: a queue, a pool, or a snapshot.
///
/// The guarantees of its methods hold as long as all accesses go through one reader or writer. Where other
/// connections or processes write to the same file, use transactions, and set a busy mode.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration of the connections.
    var configuration: Configuration { get }

    /// The path of the database file; `":memory:"` or empty for databases without one.
    var path: String { get }

    /// Closes all connections, once the accesses before it have ended.
    ///
    /// There is no need to call this: connections are closed at the end of the reader's life. After it, each
    /// access throws `SQLITE_MISUSE`. Closing once more does nothing.
    /// - Throws: `SQLITE_BUSY` if statements are still alive. The database can be used as before then.
    /// - Precondition: the current thread is not inside of an access of the same reader.
    func close() throws

    /// Aborts the statements that are running, which throw `SQLITE_INTERRUPT`. Can be called from any thread.
    ///
    /// A write that is interrupted inside of a transaction rolls the whole transaction back: see
    /// ``Database/inTransaction(_:_:)``.
    func interrupt()

    /// Runs `value` on a connection that refuses to write, and that sees one state of the database.
    ///
    ///     let heavy = try vault.read { db in
    ///         try Item.filter { $0.weight > 20_000 }.fetchAll(db)
    ///     }
    ///
    /// Transactions that are committed meanwhile, also by other processes, are not seen. The call returns
    /// when `value` has returned. In a pool it may wait for one of the readers, whose number is
    /// ``Configuration/maximumReaderCount``. The connection is of use inside of `value` only.
    ///
    /// - Parameter value: reads, and returns what `read` returns.
    /// - Returns: what `value` returns.
    /// - Throws: the error of `value`; a ``DatabaseError`` of code `SQLITE_READONLY` where `value` tries to
    ///   write, of code `SQLITE_MISUSE` after ``close()``, and what opening a connection throws.
    /// - Precondition: the current thread is not inside of another access of the same reader.
    @_disfavoredOverload
    func read<T>(_ value: (Database) throws -> T) throws -> T

    /// Runs `value` as ``read(_:)-(_)`` does, without blocking a thread while it waits.
    ///
    /// The task is suspended meanwhile. A task that is cancelled interrupts the statement that is running.
    ///
    /// - Parameter value: reads, on a thread of the connection and not on that of the task.
    /// - Returns: what `value` returns.
    /// - Throws: what the other `read` throws, and `CancellationError` if the task is cancelled.
    func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` later, on a connection that refuses to write, and that sees one state of the database.
    ///
    /// The argument of `value` is the connection, or why there is none.
    ///
    ///     queue.asyncRead { result in
    ///         print(Result { try Item.fetchCount(result.get()) })
    ///     }
    ///
    /// - Parameter value: called once, on a thread of the reader; with an error if there is no connection.
    func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `value` without the guarantees of a read: other connections may write between two statements, and
    /// writing may be possible.
    ///
    /// - Precondition: the current thread is not inside of another access of the same reader.
    /// - Parameter value: reads, and returns what the call returns.
    /// - Throws: the error of `value`; a ``DatabaseError`` of code `SQLITE_MISUSE` after ``close()``, and
    ///   what opening a connection throws.
    @_disfavoredOverload
    func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Runs `value` as `unsafeRead(_:)` does, without blocking a thread while it waits.
    ///
    /// - Parameter value: reads, on a thread of the connection.
    /// - Throws: what `unsafeRead(_:)` throws, and `CancellationError` if the task is cancelled.
    func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` later, without the guarantees of a read.
    func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `value` without the guarantees of a read, also inside of another access.
    ///
    /// For libraries that do not know where they are called. Inside of an access of the same reader, `value`
    /// gets the connection of that access, in its transaction.
    ///
    /// - Parameter value: reads, and returns what the call returns.
    /// - Throws: what `unsafeRead(_:)` throws.
    func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Starts an observation: see ``ValueObservation``.
    ///
    /// Errors go to the observation's own events.
    func _add<Reducer: ValueReducer>(
        observation: ValueObservation<Reducer>, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable

    /// Adds an SQL function to all connections, in place of one with the same name and number of arguments.
    func add(function: DatabaseFunction)

    /// Removes an SQL function from all connections.
    func remove(function: DatabaseFunction)

    /// Adds a collation to all connections, in place of one with the same name.
    func add(collation: DatabaseCollation)

    /// Removes a collation from all connections.
    func remove(collation: DatabaseCollation)
}
