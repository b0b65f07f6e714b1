public import Foundation

/// A type-erased database reader.
///
///     let reader = AnyDatabaseReader(queue)  // a type without parameters, for properties
public final class AnyDatabaseReader: _ForwardingReader {
    public let _base: any DatabaseReader

    /// Creates a reader that forwards to `base`.
    public init(_ base: any DatabaseReader) {
        _base = base
    }
}

/// A reader that forwards to another one.
///
/// It exists so that ``AnyDatabaseReader`` and ``AnyDatabaseWriter`` can share code. Do not conform to it.
public protocol _ForwardingReader: DatabaseReader {
    var _base: any DatabaseReader { get }
}

extension _ForwardingReader {
    public var configuration: Configuration { _base.configuration }
    public var path: String { _base.path }
    public func close() throws { try _base.close() }
    public func interrupt() { _base.interrupt() }

    @_disfavoredOverload
    public func read<T>(_ value: (Database) throws -> T) throws -> T { try _base.read(value) }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await _base.read(value)
    }

    @_disfavoredOverload
    public func read<T>(timeout: TimeInterval?, _ value: (Database) throws -> T) throws -> T {
        try _base.read(timeout: timeout, value)
    }

    public func read<T: Sendable>(
        timeout: TimeInterval?, _ value: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await _base.read(timeout: timeout, value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        _base.asyncRead(value)
    }

    @_disfavoredOverload
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T { try _base.unsafeRead(value) }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await _base.unsafeRead(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        _base.asyncUnsafeRead(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try _base.unsafeReentrantRead(value)
    }

    public func add(function: DatabaseFunction) { _base.add(function: function) }
    public func remove(function: DatabaseFunction) { _base.remove(function: function) }
    public func add(collation: DatabaseCollation) { _base.add(collation: collation) }
    public func remove(collation: DatabaseCollation) { _base.remove(collation: collation) }

    public func _add<Reducer: ValueReducer>(
        observation: ValueObservation<Reducer>, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        _base._add(observation: observation, scheduling: scheduler, onChange: onChange)
    }
}
