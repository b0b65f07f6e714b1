public import Foundation
internal import SQLCipherBridge

extension Database {
    /// The events that a trace function receives.
    public struct TracingOptions: OptionSet, Sendable {
        public let rawValue: CInt

        public init(rawValue: CInt) {
            self.rawValue = rawValue
        }

        /// A statement begins to run.
        public static let statement = TracingOptions(rawValue: 1)

        /// A statement has ended, with its duration.
        public static let profile = TracingOptions(rawValue: 2)
    }

    /// Sets a function that is called for each statement that runs on the connection.
    ///
    /// ```swift
    /// configuration.prepareDatabase { connection in
    ///     connection.trace(options: .profile) { event in
    ///         if case .profile(let statement, let seconds) = event, seconds > 0.1 { log.notice("slow: \(statement.sql)") }
    ///     }
    /// }
    /// ```
    ///
    /// The function is called while statements run, and must not use the connection. Keys in the SQL are
    /// redacted, and values are left out unless ``Configuration/publicStatementArguments`` is true.
    ///
    /// - Parameters:
    ///   - options: the events that the function receives.
    ///   - trace: the function, or nil to end tracing.
    public func trace(options: TracingOptions = .statement, _ trace: ((TraceEvent) -> Void)? = nil) {
        checkIsUsedInItsAccess()
        guard !isClosed || isAwaitingFile else { return }
        if !isClosed { traceHook?.remove(from: handle) }
        traceHook = nil
        additions.trace = trace.map { (options, $0) }
        guard let trace, !options.isEmpty, !isClosed else { return }

        let showsArguments = configuration.publicStatementArguments
        var kinds: TraceHook.Kinds = []
        if options.contains(.statement) { kinds.insert(.statement) }
        if options.contains(.profile) { kinds.insert(.profile) }
        traceHook = TraceHook(handle, kinds: kinds) { event in
            switch event {
            case .statement(let statement, let comment):
                let source = TraceEvent.Source(statement, comment: comment)
                trace(.statement(TraceEvent.Statement(source: source, showsArguments: showsArguments)))
                source.invalidate()
            case .profile(let statement, let nanoseconds):
                let source = TraceEvent.Source(statement, comment: nil)
                let duration = TimeInterval(nanoseconds) / 1e9
                trace(
                    .profile(
                        statement: TraceEvent.Statement(source: source, showsArguments: showsArguments),
                        duration: duration))
                source.invalidate()
            }
        }
    }
}

extension Database {
    /// The argument of a trace function: see ``Database/trace(options:_:)``.
    public enum TraceEvent {
        /// The statement of a trace event.
        public struct Statement {
            fileprivate let source: Source
            fileprivate let showsArguments: Bool

            /// The compiled SQL with its parameters; for a trigger, a comment with its name. Keys are
            /// redacted.
            public var sql: String { source.sql }

            /// The SQL with the values of its parameters, which may be personal data. Keys are redacted.
            ///
            /// It is available only during the call of the trace function. Afterwards, it equals ``sql``.
            public var expandedSQL: String { source.expandedSQL }
        }

        /// A statement begins to run.
        case statement(Statement)

        /// A statement has ended. The duration is in seconds.
        case profile(statement: Statement, duration: TimeInterval)

        /// The SQLite statement of an event, which is valid during the call of the trace function.
        fileprivate final class Source {
            let sql: String
            private var statement: StatementHandle?

            init(_ statement: StatementHandle, comment: String?) {
                self.sql = KeyRedaction.redactingKeys(in: comment ?? statement.sql.unpaddedStatement)
                self.statement = comment == nil ? statement : nil
            }

            var expandedSQL: String {
                statement?.expandedSQL.map { KeyRedaction.redactingKeys(in: $0.unpaddedStatement) } ?? sql
            }

            func invalidate() {
                statement = nil
            }
        }
    }
}

extension Database.TraceEvent.Statement: CustomStringConvertible {
    /// The SQL. It contains values only if the configuration makes them public.
    public var description: String { showsArguments ? expandedSQL : sql }
}

extension Database.TraceEvent: CustomStringConvertible {
    /// The SQL, after the duration if it is known: `"0.003s SELECT ..."`. It contains values only if the
    /// configuration makes them public.
    public var description: String {
        switch self {
        case .statement(let statement): statement.description
        case .profile(let statement, let duration): Self.prefix(duration) + statement.description
        }
    }

    /// The SQL with its values, after the duration if it is known. For development only: values may be
    /// personal data.
    public var expandedDescription: String {
        switch self {
        case .statement(let statement): statement.expandedSQL
        case .profile(let statement, let duration): Self.prefix(duration) + statement.expandedSQL
        }
    }

    private static func prefix(_ duration: TimeInterval) -> String {
        String(format: "%.3fs ", duration)
    }
}
