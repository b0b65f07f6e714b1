internal import SQLCipherBridge

/// Receives SQLite's authorizer callbacks while statements are compiled. It collects facts, and refuses
/// operations that would endanger encrypted data.
///
/// The authorizer stays installed while its connection is open, because SQLite may compile statements again
/// at any execution.
final class StatementInspector {
    /// True if the connection has its key, after which its settings must not change.
    var isKeyed = false

    /// The cipher settings of the connection.
    var cipher = CipherSettings()

    /// The reason why the last compilation was refused, as a message for the user. SQLite itself says just
    /// "not authorized".
    private(set) var denialMessage: String?

    /// The reason why part of the current execution was refused, as a message for the user.
    private var executionRefusal: ExecutionRefusal?

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
    private var collector: StatementFacts.Collector?

    /// True if the statement being compiled is an `ATTACH` in the form of ``AttachStatement``, or is compiled
    /// without being run.
    private var mayAttach = false

    /// True if code outside the library has changed `PRAGMA query_only`, or compiled a statement that would
    /// change it.
    private(set) var hasSeenQueryOnly = false

    /// True while the library itself changes `PRAGMA query_only`.
    var setsQueryOnly = false

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
        self.mayAttach = mayAttach
        collector = StatementFacts.Collector()
        denialMessage = nil
    }

    /// Returns the facts of the statement that was compiled.
    func end() -> StatementFacts {
        defer { collector = nil }
        return collector?.finish() ?? StatementFacts()
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
            denialMessage = nil
            switch request.first.map({
                verdict(onPragma: $0.lowercased(), value: request.second, schema: request.schema)
            }) {
            case .deny(let words):
                denialMessage = words
                return .deny
            case .ignore: return .ignore
            case .allow, nil: break
            }
        case .delete:
            if let table = request.first {
                if collector != nil {
                    collector?.deletes(from: table, isIndirect: request.isIndirect)
                } else if let recompilation, recompilation(.change(.delete(tableName: table))) {
                    return .ignore
                }
                // Ignoring a deletion in the middle of DROP TABLE would keep the table, but schema changes
                // never reach this point with such a table.
                if tablesWithoutTruncation.contains(table) { return .ignore }
            }
        case .attach where !allowsAttach(request.first):
            return .deny
        case .function where collector != nil && !mayAttach && AttachStatement.isFunction(request.second):
            denialMessage = "The function can only be called by ATTACH."
            return .deny
        default:
            if collector != nil {
                collect(request)
            } else if let recompilation, let recompiled = Recompiled(request) {
                _ = recompilation(recompiled)
            }
        }
        return .allow
    }

    private func allowsAttach(_ path: String?) -> Bool {
        guard collector == nil else {
            if !mayAttach {
                denialMessage =
                    "The ATTACH statement could not be parsed. Write ATTACH 'path' AS name, or ATTACH 'path' "
                    + "AS name KEY 'key'."
            }
            return mayAttach
        }
        // Either SQLite is compiling a statement again, or a running statement executes one of its own.
        guard let path, !path.isEmpty, let refusal = refusalOfNestedAttach?(path) else { return true }
        refuse(refusal)
        return false
    }

    private func collect(_ request: AuthorizerHook.Request) {
        switch request.action {
        case .read:
            if let table = request.first {
                collector?.reads(column: request.second ?? "", of: table)
            }
        case .insert:
            if let table = request.first {
                collector?.inserts(into: table)
            }
        case .update:
            if let table = request.first, let column = request.second {
                collector?.updates(column: column, of: table)
            }
        case .transaction:
            switch request.first {
            case "BEGIN": collector?.takes(.begin)
            case "COMMIT": collector?.takes(.commit)
            case "ROLLBACK": collector?.takes(.rollback)
            default: break
            }
        case .savepoint:
            guard let name = request.second else { return }
            switch request.first {
            case "BEGIN": collector?.takes(.beginSavepoint(name))
            case "RELEASE": collector?.takes(.releaseSavepoint(name))
            case "ROLLBACK": collector?.takes(.rollbackToSavepoint(name))
            default: break
            }
        case let action where action.changesSchema:
            collector?.changesTheSchema()
            if action.dropsTable, let table = request.first {
                collector?.drops(table: table)
            }
        default:
            break
        }
    }

    /// Decides about a pragma. SQLCipher executes its pragmas while they are compiled, so a later check would
    /// be too late.
    ///
    /// Once the connection is keyed, a new key breaks it, the engine's own rekeying can lose the file
    /// (invariant "Rekey is not trusted"), other settings create pages that no connection can read, and
    /// temporary files would be plaintext on disk (invariant "No plaintext by accident"). Settings that are
    /// already in effect are ignored, because SQLCipher would apply them again to a connection that is in
    /// use.
    private func verdict(onPragma name: String, value: String?, schema: String?) -> PragmaVerdict {
        if name == "cipher_hmac_salt_mask", let value, cipher.holds(name, value) { return .ignore }
        if value != nil, name.hasPrefix("cipher_default_") || name == "cipher_hmac_salt_mask" {
            return .deny(
                "PRAGMA \(name) would change the encryption of every connection in this process. Use "
                    + "Configuration.cipher instead."
            )
        }
        switch name {
        case "cipher_profile" where value != nil:
            return .deny(
                "PRAGMA cipher_profile writes SQL with its values to a file that others may read. Use "
                    + "Database.trace(options:_:) instead."
            )
        case "cipher_log" where value.map(StatementInspector.isFileOfLog) == true && collector != nil:
            return .deny(
                "PRAGMA cipher_log creates a file that others may read. Use "
                    + "Database.enableCipherLogging(logLevel:target:) instead."
            )
        case "cipher_log_level" where value.map(StatementInspector.isDetailOfLog) == true && collector != nil:
            return .deny(
                "PRAGMA cipher_log_level = \(value?.uppercased() ?? "") writes lines about every page to "
                    + "standard error, for all connections of the process. Use "
                    + "Database.enableCipherLogging(logLevel:target:) instead."
            )
        case "cipher_integrity_check" where StatementInspector.isTooLargeToCheck(connection, schema):
            return .deny(
                "PRAGMA cipher_integrity_check of this engine reports every page beyond four gigabytes as "
                    + "damaged, even in an intact file. Use DatabaseFile.verify(key:options:progress:) or "
                    + "'coffer verify' instead."
            )
        default: break
        }
        if name == "query_only", value != nil, !setsQueryOnly { hasSeenQueryOnly = true }
        guard isKeyed else { return .allow }
        switch name {
        case "key", "hexkey", "textkey":
            return .deny(
                "The key of an open connection cannot be set. Set it through Configuration.key.")
        case "rekey", "hexrekey", "textrekey":
            return .deny(
                "PRAGMA \(name) can leave a file that no key opens. Use changePassphrase(_:) instead.")
        case "cipher_migrate":
            return .deny(
                "PRAGMA cipher_migrate can lose data. Copy the database into a new file with other settings "
                    + "instead."
            )
        case "temp_store":
            guard let value, value.lowercased() != "memory", value != "2" else { return .allow }
            return .deny(
                "Temporary tables of an encrypted database must stay in memory: in a file, they would be "
                    + "plaintext."
            )
        case "temp_store_directory" where value != nil, "data_store_directory" where value != nil:
            return .deny("Encrypted databases write no temporary files, so they need no directory for them.")
        case _ where StatementInspector.cipherSettings.contains(name):
            // The settings of an attached database can only be given after its key.
            guard let value, schema == nil || schema?.lowercased() == "main" else { return .allow }
            if cipher.holds(name, value) || (name == "cipher_salt" && isSaltOfFile(value)) { return .ignore }
            guard name != "page_size", name != "cipher_page_size" else {
                return .deny(
                    "The page size of an encrypted database is \(cipher.pageSize), and cannot change once "
                        + "the key is set: the file would not be readable. Set Configuration.cipher.pageSize."
                )
            }
            return .deny(
                "Cipher settings cannot be changed once the key is set, because the file would not be "
                    + "readable. Set them in Configuration.cipher."
            )
        default:
            return .allow
        }
    }

    private enum PragmaVerdict {
        case allow
        /// The pragma does nothing and reports no error.
        case ignore
        case deny(String)
    }

    /// Returns true if a file is larger than the engine's integrity check can handle.
    private static func isTooLargeToCheck(_ connection: ConnectionHandle, _ schema: String?) -> Bool {
        guard let limit = Engine.largestCheckedFile,
            let size = try? connection.fileSize(schema: schema ?? "main")
        else { return false }
        return size > limit
    }

    private static func isFileOfLog(_ target: String) -> Bool {
        !["off", "none", "stdout", "stderr", "device"].contains(target.lowercased())
    }

    /// Returns true if the level includes individual steps or pages.
    private static func isDetailOfLog(_ level: String) -> Bool {
        [Database.SQLCipherLogLevel.debug, .trace].contains { $0.rawValue == level.uppercased() }
    }

    private func isSaltOfFile(_ text: String) -> Bool {
        guard cipher.plaintextHeaderSize == 0, let salt = try? connection.readFile(at: 0, count: 16),
            salt.count == 16
        else { return false }
        return text.lowercased() == "x'\(salt.hexadecimal)'"
    }

    private static let cipherSettings: Set<String> = [
        "cipher", "cipher_compatibility", "cipher_hmac_algorithm", "cipher_hmac_pgno", "cipher_kdf_algorithm",
        "cipher_page_size",
        "cipher_plaintext_header_size", "cipher_salt", "cipher_store_pass", "cipher_use_hmac",
        "fast_kdf_iter", "kdf_iter", "page_size",
        "rekey_cipher", "rekey_kdf_iter",
    ]
}

extension StatementInspector.Recompiled {
    fileprivate init?(_ request: AuthorizerHook.Request) {
        guard let table = request.first else { return nil }
        switch request.action {
        case .read: self = .read(column: request.second ?? "", table: table)
        case .insert: self = .change(.insert(tableName: table))
        case .update:
            self = .change(.update(tableName: table, columnNames: request.second.map { [$0] } ?? []))
        default: return nil
        }
    }
}
