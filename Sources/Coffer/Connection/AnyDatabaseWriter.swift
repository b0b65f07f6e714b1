public import Foundation

/// A type-erased database writer.
///
///     let writer = AnyDatabaseWriter(queue)  // a type without parameters, for properties
public final class AnyDatabaseWriter: DatabaseWriter, _ForwardingReader {
    let base: any DatabaseWriter

    /// Creates a writer that forwards to `base`.
    public init(_ base: any DatabaseWriter) {
        self.base = base
    }

    public var _base: any DatabaseReader { base }

    @_disfavoredOverload
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try base.writeWithoutTransaction(updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws
        -> T
    {
        try await base.writeWithoutTransaction(updates)
    }

    @_disfavoredOverload
    public func writeWithoutTransaction<T>(
        timeout: TimeInterval?, _ updates: (Database) throws -> T
    ) throws -> T {
        try base.writeWithoutTransaction(timeout: timeout, updates)
    }

    public func writeWithoutTransaction<T: Sendable>(
        timeout: TimeInterval?, _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await base.writeWithoutTransaction(timeout: timeout, updates)
    }

    @_disfavoredOverload
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try base.barrierWriteWithoutTransaction(updates)
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T)
        async throws -> T
    {
        try await base.barrierWriteWithoutTransaction(updates)
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        base.asyncBarrierWriteWithoutTransaction(updates)
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        base.asyncWriteWithoutTransaction(updates)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try base.unsafeReentrantWrite(updates)
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        base.spawnConcurrentRead(value)
    }
}
