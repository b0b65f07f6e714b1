internal import SQLCipherBridge

/// Receives SQLite's authorizer callbacks while statements are compiled. It collects facts, and refuses
/// operations that would endanger encrypted data.
///
/// The authorizer stays installed while its connection is open, because SQLite may compile statements again
/// at any execution.
final class StatementInspector {
    /// Decides about pragmas.
    var pragmas = PragmaRules()

    /// Decides about files that a statement attaches while it runs. Returns the reason for a refusal, or nil.
    var refusalOfNestedAttach: ((_ path: String) -> String?)?

    /// Called with the operations of statements that SQLite compiles on its own: statements that it is about
    /// to execute after a schema change, and statements of virtual tables. Returns true if an observer must
    /// be notified of each row that changes.
    var recompilation: ((Recompiled) -> Bool)?

    /// An operation of such a statement.
    enum Recompiled {
        /// A read. The column is empty if no particular column is read.
        case read(column: String, table: String)
        case change(DatabaseEventKind)
    }

    private let connection: ConnectionHandle
    private var hook: AuthorizerHook?

    /// The statement that the library compiles at the moment.
    private var compilation: Compilation?

    private struct Compilation {
        var facts = StatementFacts.Collector()

        /// True if the statement is an `ATTACH` in the form of ``AttachStatement``, or is compiled without
        /// being run.
        let mayAttach: Bool

        /// The reason for the refusal, as a message for the user. SQLite itself says just "not authorized".
        var denial: String?
    }

    /// The reason why part of the current execution was refused, as a message for the user.
    private var executionRefusal: ExecutionRefusal?

    /// The tables whose rows must be deleted one by one, so that each deletion causes an event.
    private var tablesWithoutTruncation: Set<String> = []

    init(_ connection: ConnectionHandle) {
        self.connection = connection
        let hook = AuthorizerHook { [unowned self] request in authorize(request) }
        self.hook = hook
        hook.install(on: connection)
    }

    /// Detaches the authorizer from the connection, which may outlive it.
    func removeHook() {
        hook?.remove(from: connection)
    }

    /// Starts to collect the facts of the statement that is compiled next.
    ///
    /// - Parameter mayAttach: true if the statement is an `ATTACH` in the form of ``AttachStatement``, or is
    ///   compiled without being run.
    func begin(mayAttach: Bool = false) {
        compilation = Compilation(mayAttach: mayAttach)
    }

    /// Returns the facts of the statement that was compiled.
    func end() -> StatementFacts {
        defer { compilation = nil }
        return compilation?.facts.finish() ?? StatementFacts()
    }

    /// Ends a failed compilation, and returns the reason if it was refused.
    func fail() -> String? {
        defer { compilation = nil }
        return compilation?.denial
    }

    /// Records why the current execution is about to fail, because SQLite will report only a code.
    ///
    /// - Parameter failure: the typed reason, if it is related to a key.
    func refuse(_ words: String, because failure: EncryptionFailure? = nil) {
        executionRefusal = ExecutionRefusal(words: words, encryptionFailure: failure)
    }

    /// Returns the reason why the failed execution was refused, if it was, and clears it.
    func takeExecutionRefusal() -> ExecutionRefusal? {
        defer { executionRefusal = nil }
        return executionRefusal
    }

    /// Makes SQLite delete the rows of tables one by one, even without a condition, in statements that are
    /// executed until ``allowTruncation()``:
    /// <https://www.sqlite.org/lang_delete.html#the_truncate_optimization>.
    ///
    /// Every statement is compiled again before its next execution.
    func preventTruncation(of tables: Set<String>) {
        tablesWithoutTruncation = tables
        hook?.install(on: connection)
    }

    func allowTruncation() {
        tablesWithoutTruncation = []
    }
}

/// The reason why a function of the connection has refused part of an execution.
struct ExecutionRefusal {
    let words: String
    let encryptionFailure: EncryptionFailure?
}

// MARK: - Decisions

extension StatementInspector {
    private func authorize(_ request: AuthorizerHook.Request) -> AuthorizerHook.Decision {
        switch request.action {
        case .pragma:
            return decision(onPragma: request)
        case .attach where !allowsAttach(request.first):
            return .deny
        case .function where compilation?.mayAttach == false && AttachStatement.isFunction(request.second):
            compilation?.denial = "The function can only be called by ATTACH."
            return .deny
        case .delete:
            return mustVisitRows(request) ? .ignore : .allow
        default:
            if compilation != nil {
                compilation?.facts.collect(request)
            } else {
                _ = report(request)
            }
            return .allow
        }
    }

    private func decision(onPragma request: AuthorizerHook.Request) -> AuthorizerHook.Decision {
        guard let name = request.first else { return .allow }
        switch pragmas.verdict(
            on: name.lowercased(), value: request.second, schema: request.schema, connection,
            isOfApplication: compilation != nil)
        {
        case .allow: return .allow
        case .ignore: return .ignore
        case .deny(let words):
            compilation?.denial = words
            return .deny
        }
    }

    private func allowsAttach(_ path: String?) -> Bool {
        guard let mayAttach = compilation?.mayAttach else {
            // Either SQLite is compiling a statement again, or a running statement executes one of its own.
            guard let path, !path.isEmpty, let refusal = refusalOfNestedAttach?(path) else { return true }
            refuse(refusal)
            return false
        }
        if !mayAttach {
            compilation?.denial =
                "The ATTACH statement could not be parsed. Write ATTACH 'path' AS name, or ATTACH 'path' AS "
                + "name KEY 'key'."
        }
        return mayAttach
    }

    /// Returns true if the rows of a `DELETE` must be deleted one by one.
    private func mustVisitRows(_ request: AuthorizerHook.Request) -> Bool {
        if compilation != nil {
            compilation?.facts.collect(request)
        } else if report(request) {
            return true
        }
        // Visiting rows in the middle of DROP TABLE would keep the table, but schema changes never reach this
        // point with such a table.
        return request.first.map(tablesWithoutTruncation.contains) ?? false
    }

    /// Reports an operation that SQLite compiles on its own, and returns the answer of ``recompilation``.
    private func report(_ request: AuthorizerHook.Request) -> Bool {
        guard let recompilation, let recompiled = Recompiled(request) else { return false }
        return recompilation(recompiled)
    }
}

extension StatementInspector.Recompiled {
    fileprivate init?(_ request: AuthorizerHook.Request) {
        guard let table = request.first else { return nil }
        switch request.action {
        case .read: self = .read(column: request.second ?? "", table: table)
        case .insert: self = .change(.insert(tableName: table))
        case .delete: self = .change(.delete(tableName: table))
        case .update:
            self = .change(.update(tableName: table, columnNames: request.second.map { [$0] } ?? []))
        default: return nil
        }
    }
}
