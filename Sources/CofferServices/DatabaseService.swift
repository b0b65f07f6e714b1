#if Services
public import Coffer
public import ServiceLifecycle

/// A database, or the databases of a folder, as a service that closes them when the program ends.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [DatabaseService(tenants), server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A group shuts its services down in reverse order, and the next one begins when the previous one has
/// ended. So put databases before the services that use them.
public struct DatabaseService: Service {
    private let close: @Sendable () async throws -> Void

    /// Creates a service that closes a pool.
    ///
    /// - Parameters:
    ///   - pool: an open pool.
    ///   - limit: the time for accesses to end. The remaining ones are cancelled. Nil waits for them as long
    ///     as necessary.
    ///   - grace: the further time for cancelled accesses to end.
    public init(
        _ pool: DatabasePool, closingWithin limit: Duration? = .seconds(5), grace: Duration = .seconds(5)
    ) {
        close = { try await pool.close(within: limit, grace: grace) }
    }

    /// Creates a service that closes all databases of a folder.
    ///
    /// - Parameters:
    ///   - pools: the databases.
    ///   - limit: the time for leases to be released. Nil waits for them as long as necessary.
    ///   - grace: the further time for cancelled accesses to end.
    public init(
        _ pools: DatabasePools, closingWithin limit: Duration? = .seconds(5), grace: Duration = .seconds(5)
    ) {
        close = { try await pools.close(within: limit, grace: grace) }
    }

    /// Waits until the group shuts down, or until the task is cancelled because another service has failed,
    /// and then closes the databases.
    ///
    /// - Throws: the errors of `close(within:grace:)`.
    public func run() async throws {
        // It throws if the task is cancelled. The databases are closed in that case, too.
        try? await gracefulShutdown()
        try await close()
    }
}
#endif
