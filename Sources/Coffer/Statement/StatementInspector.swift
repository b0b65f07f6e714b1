internal import SQLCipherBridge

/// Is notified by SQLite of what statements do while they are compiled: gathers the facts, and refuses what
/// would endanger encrypted data.
///
/// The authorizer stays installed as long as its connection is open, because SQLite may compile statements
/// again at any execution.
final class StatementInspector {
    /// Whether the connection has its key, and its settings must not be undone any more.
    var isKeyed = false

    /// The cipher settings of the connection.
    var cipher = CipherSettings()

    /// Why the last compilation was refused, in words for the user. SQLite itself says just "not authorized".
    private(set) var denialMessage: String?

    /// Why a part of the execution that runs was refused, in words for the user.
    private var executionRefusal: ExecutionRefusal?

    /// Decides about files that a statement attaches while it runs: the reason why not, or nil.
    var refusalOfNestedAttach: ((_ path: String) -> String?)?

    /// Is called with what statements do that SQLite compiles by itself: those that it is about to execute
    /// and whose schema has changed, and those of virtual tables. Returns whether an observer wants to be
    /// notified of each row that changes.
    var recompilation: ((Recompiled) -> Bool)?

    /// What such a statement does.
    enum Recompiled {
        /// The column is empty where no column in particular is read.
        case read(column: String, table: String)
        case change(DatabaseEventKind)
    }

    private let connection: ConnectionHandle
    private var hook: AuthorizerHook?
    private var collector: StatementFacts.Collector?

    /// Whether the statement that is compiled is an `ATTACH` in the form of ``AttachStatement``, or does not
    /// run.
    private var mayAttach = false

    /// Whether code other than the library has changed `PRAGMA query_only`, or compiled a statement that
    /// would.
    private(set) var hasSeenQueryOnly = false

    /// Whether the library is about to change it.
    var setsQueryOnly = false

    /// The tables whose rows must be deleted one by one, so that there is an event for each.
    private var tablesWithoutTruncation: Set<String> = []

    init(_ connection: ConnectionHandle) {
        self.connection = connection
        let hook = AuthorizerHook { [unowned self] request in authorize(request) }
        self.hook = hook
        hook.install(on: connection)
    }

    /// Lets go of the connection, which may live on without the authorizer.
    func removeHook() {
        hook?.remove(from: connection)
    }

    /// Starts to gather the facts of the statement that is compiled next.
    ///
    /// - Parameter mayAttach: whether the statement is an `ATTACH` in the form of ``AttachStatement``, or
    ///   does not run.
    func begin(mayAttach: Bool = false) {
        self.mayAttach = mayAttach
        collector = StatementFacts.Collector()
        denialMessage = nil
    }

    /// The facts of the statement that was compiled.
    func end() -> StatementFacts {
        defer { collector = nil }
        return collector?.finish() ?? StatementFacts()
    }

    /// Notes why the execution that runs is about to fail, as SQLite will say no more than a code.
    ///
    /// - Parameter failure: the typed reason, if it has to do with a key.
    func refuse(_ words: String, because failure: EncryptionFailure? = nil) {
        executionRefusal = ExecutionRefusal(words: words, encryptionFailure: failure)
    }

    /// Why the execution that has failed was refused, if it was; to be asked once.
    func takeExecutionRefusal() -> ExecutionRefusal? {
        defer { executionRefusal = nil }
        return executionRefusal
    }

    /// Has SQLite delete the rows of tables one by one in statements that are executed from now on, even
    /// without a condition, until ``allowTruncation()``:
    /// <https://www.sqlite.org/lang_delete.html#the_truncate_optimization>.
    ///
    /// It costs a new compilation of every statement before its next execution.
    func preventTruncation(of tables: Set<String>) {
        tablesWithoutTruncation = tables
        hook?.install(on: connection)
    }

    func allowTruncation() {
        tablesWithoutTruncation = []
    }
}

/// Why the functions of a connection have refused a part of an execution.
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
                // An ignored deletion in the middle of DROP TABLE would keep the table, but no change of the
                // schema gets here with one.
                if tablesWithoutTruncation.contains(table) { return .ignore }
            }
        case .attach where !allowsAttach(request.first):
            return .deny
        case .function where collector != nil && !mayAttach && AttachStatement.isFunction(request.second):
            denialMessage = "The function is a part of ATTACH."
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
                    "The statement could not be understood. Write ATTACH 'path' AS name, or ATTACH 'path' "
                    + "AS name KEY 'key'."
            }
            return mayAttach
        }
        // SQLite compiles a statement again, or a statement that runs has one of its own.
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

    /// What becomes of a pragma. SQLCipher obeys its pragmas while they are compiled: later would be too
    /// late.
    ///
    /// Once the connection is keyed, a new key breaks it, the engine's own rekeying can lose the file (I6),
    /// other settings make pages that no connection can read, and temporary files would be plaintext on the
    /// disk (I1). Settings that hold already are left out, as SQLCipher would set them anew on a connection
    /// that is in use.
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
                "PRAGMA cipher_log makes a file that others may read. Use "
                    + "Database.enableCipherLogging(logLevel:target:) instead."
            )
        case "cipher_integrity_check" where StatementInspector.isTooLargeToCheck(connection, schema):
            return .deny(
                "PRAGMA cipher_integrity_check of this engine finds each page behind four gigabytes damaged, "
                    + "also in a file that is whole. Use DatabaseFile.verify(key:options:progress:) or "
                    + "'coffer verify' instead."
            )
        default: break
        }
        if name == "query_only", value != nil, !setsQueryOnly { hasSeenQueryOnly = true }
        guard isKeyed else { return .allow }
        switch name {
        case "key", "hexkey", "textkey":
            return .deny(
                "The key of a connection cannot be set once it is open. Set it through Configuration.key.")
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
                "Temporary tables of an encrypted database stay in memory: in a file they would be plaintext."
            )
        case "temp_store_directory" where value != nil, "data_store_directory" where value != nil:
            return .deny("Encrypted databases write no temporary files, so that they have no directory.")
        case _ where StatementInspector.cipherSettings.contains(name):
            // Those of an attached database can only be given after its key.
            guard let value, schema == nil || schema?.lowercased() == "main" else { return .allow }
            if cipher.holds(name, value) || (name == "cipher_salt" && isSaltOfFile(value)) { return .ignore }
            return .deny(
                "Cipher settings cannot change once the key is set: the file would not be readable. Set "
                    + "them in Configuration.cipher."
            )
        default:
            return .allow
        }
    }

    private enum PragmaVerdict {
        case allow
        /// The pragma does nothing, and there is no error.
        case ignore
        case deny(String)
    }

    /// Whether a file is larger than the engine's check of codes can count.
    private static func isTooLargeToCheck(_ connection: ConnectionHandle, _ schema: String?) -> Bool {
        guard let limit = Engine.largestCheckedFile,
            let size = try? connection.fileSize(schema: schema ?? "main")
        else { return false }
        return size > limit
    }

    private static func isFileOfLog(_ target: String) -> Bool {
        !["off", "none", "stdout", "stderr", "device"].contains(target.lowercased())
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
