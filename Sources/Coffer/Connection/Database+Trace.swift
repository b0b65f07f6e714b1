public import Foundation
internal import SQLCipherBridge

extension Database {
    /// What a trace function is called with.
    public struct TracingOptions: OptionSet, Sendable {
        public let rawValue: CInt

        public init(rawValue: CInt) {
            self.rawValue = rawValue
        }

        /// Statements, as they start to run.
        public static let statement = TracingOptions(rawValue: 1)

        /// Statements, as they have run, and how long that took.
        public static let profile = TracingOptions(rawValue: 2)
    }

    /// Has a function called for each statement that runs on the connection.
    ///
    /// ```swift
    /// configuration.prepareDatabase { connection in
    ///     connection.trace(options: .profile) { event in
    ///         if case .profile(let statement, let seconds) = event, seconds > 0.1 { log.notice("slow: \(statement.sql)") }
    ///     }
    /// }
    /// ```
    ///
    /// The function runs in the middle of statements, and must not use the connection. Keys in the SQL are
    /// replaced, and values are left out, unless ``Configuration/publicStatementArguments`` is true.
    ///
    /// - Parameters:
    ///   - options: what the function is called with.
    ///   - trace: the function, or nil to end the trace.
    public func trace(options: TracingOptions = .statement, _ trace: ((TraceEvent) -> Void)? = nil) {
        checkIsUsedInItsAccess()
        guard !isClosed else { return }
        traceHook?.remove(from: handle)
        traceHook = nil
        additions.trace = trace.map { (options, $0) }
        guard let trace, !options.isEmpty else { return }

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
        /// A statement, as far as a trace function may know it.
        public struct Statement {
            fileprivate let source: Source
            fileprivate let showsArguments: Bool

            /// The SQL as it was compiled, with its parameters; for a trigger, a comment with its name. Keys
            /// are replaced.
            public var sql: String { source.sql }

            /// The SQL with the values of its parameters, which may be personal data. Keys are replaced.
            ///
            /// It is known during the call of the trace function only; afterwards it is the same as ``sql``.
            public var expandedSQL: String { source.expandedSQL }
        }

        /// A statement starts to run.
        case statement(Statement)

        /// A statement has run for so many seconds.
        case profile(statement: Statement, duration: TimeInterval)

        /// The statement behind an event, as long as it can be asked.
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
    /// The SQL, with values only where the configuration made them public.
    public var description: String { showsArguments ? expandedSQL : sql }
}

extension Database.TraceEvent: CustomStringConvertible {
    /// The SQL, behind the duration if it is known, and with values only where the configuration made them
    /// public: `"0.003s SELECT ..."`.
    public var description: String {
        switch self {
        case .statement(let statement): statement.description
        case .profile(let statement, let duration): Self.prefix(duration) + statement.description
        }
    }

    /// The SQL with its values, behind the duration if it is known: for a developer's eyes only.
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
