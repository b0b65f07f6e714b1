#if Services
public import Coffer
public import Foundation
internal import Tracing

extension DatabaseReader {
    /// Reads in a span of the current trace.
    ///
    ///     let notes = try await pool.read(span: "list notes") { db in try Note.fetchAll(db) }
    ///
    /// The span has the attributes `db.system.name` and `db.operation.name`, and the time that the access
    /// waited as `coffer.wait_seconds`. If the access fails, it has `error.type`: the result code, or the
    /// type of the error. It never has SQL or values. Spans that the closure begins are its children.
    ///
    /// - Parameters:
    ///   - name: the name of the span.
    ///   - timeout: the maximum wait in seconds: see `read(timeout:)`.
    ///   - value: the access.
    /// - Returns: the result of `value`.
    /// - Throws: the errors of `value` and of `read(timeout:)`.
    public func read<T: Sendable>(
        span name: String, timeout: TimeInterval? = nil, _ value: @Sendable (Database) throws -> T
    ) async throws -> T {
        let span = AccessSpan(name, .read)
        return try await span.end {
            try await read(timeout: timeout) { db in try span.begin { try value(db) } }
        }
    }
}

extension DatabaseWriter {
    /// Writes in a transaction, in a span like that of `read(span:timeout:_:)`.
    ///
    ///     try await pool.write(span: "add note") { db in try note.insert(db) }
    ///
    /// - Parameters:
    ///   - name: the name of the span.
    ///   - timeout: the maximum wait in seconds: see `write(timeout:)`.
    ///   - updates: the transaction.
    /// - Returns: the result of `updates`.
    /// - Throws: the errors of `updates` and of `write(timeout:)`.
    public func write<T: Sendable>(
        span name: String, timeout: TimeInterval? = nil, _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        let span = AccessSpan(name, .write)
        return try await span.end {
            try await write(timeout: timeout) { db in try span.begin { try updates(db) } }
        }
    }
}

/// The span of one access.
private struct AccessSpan: Sendable {
    private let span: any Span
    private let request = ContinuousClock.now

    init(_ name: String, _ kind: DatabaseAccessReport.Kind) {
        span = startSpan(name, ofKind: .client)
        span.attributes["db.system.name"] = "sqlite"
        span.attributes["db.operation.name"] = kind.rawValue
    }

    /// Runs the closure of the access, on its thread.
    func begin<T>(_ body: () throws -> T) throws -> T {
        span.attributes["coffer.wait_seconds"] = (ContinuousClock.now - request) / .seconds(1)
        return try ServiceContext.withValue(span.context, operation: body)
    }

    /// Runs the access, and ends the span. The tracer does not get the error, whose message may have values.
    func end<T>(_ access: () async throws -> T) async throws -> T {
        defer { span.end() }
        do {
            return try await access()
        } catch {
            if let failure = AccessFailure(error) {
                span.attributes["error.type"] = failure.name
                span.setStatus(SpanStatus(code: .error))
            }
            throw error
        }
    }
}
#endif
