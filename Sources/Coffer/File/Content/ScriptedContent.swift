internal import SQLCipherBridge

/// An error in a script that keeps it from becoming a database.
package struct ScriptError: Error {
    /// The result code of a statement; nil if the script as a whole is at fault.
    package let code: ResultCode?
    package let message: String

    fileprivate init(_ message: String, code: CInt? = nil) {
        self.message = message
        self.code = code.map { ResultCode(rawValue: $0) }
    }

    /// Returns the error for a script that writes rows of the schema itself and thereby makes an inconsistent
    /// database; nil if the script is not at fault.
    static func ofSchema(_ error: DatabaseFileError) -> ScriptError? {
        let words: String
        switch error.reason {
        case .damaged, .copyRejected, .emptyFile: words = "SQLite finds damage"
        case .inconsistent(let text), .missingDefinition(let text): words = text
        case .engine(let code, let text):
            guard
                [.SQLITE_ERROR, .SQLITE_CORRUPT, .SQLITE_SCHEMA, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH]
                    .contains(code.primaryResultCode)
            else {
                return nil
            }
            words = text
        default: return nil
        }
        let reason = words.hasSuffix(".") ? String(words.dropLast()) : words
        return ScriptError(
            "The script writes rows of sqlite_master itself, and the result is not a valid database: "
                + "\(reason)")
    }
}

/// Executes the statements of a script in an empty database, as one transaction.
///
/// A script may come from anywhere. It has access to this database only: it cannot attach files or set keys,
/// and its choice of journal mode and other connection settings is ignored. Statements whose effects would be
/// lost are refused: temporary tables, and statements with parameters, for which there are no values.
struct ScriptedContent {
    let destination: ConnectionHandle

    /// Returns the next statement, and nil at the end.
    let next: () throws -> [UInt8]?

    /// Called during long statements, when the connection must not be used; throws to interrupt the
    /// statement.
    let watch: () throws -> Void

    private enum Transaction { case none, begun, ended }

    /// Returns true if a statement writes rows of the schema itself, which the engine trusts.
    static func writesSchema(_ statement: [UInt8]) -> Bool {
        // Most statements are rows of tables, and need no scanner.
        guard mayNameSchema(statement) else { return false }
        var scanner = SQLScanner(statement)
        let first = scanner.next()?.word ?? ""
        guard ["insert", "update", "delete", "replace", "with"].contains(first) else { return false }
        // The table name is among the first words, except in a statement with common table expressions.
        var rest = first == "with" ? Int.max : 8
        while rest > 0, let token = scanner.next() {
            if ["sqlite_master", "sqlite_schema"].contains(token.word) { return true }
            rest -= 1
        }
        return false
    }

    /// Returns false if a statement does not contain the start of the names of the schema's table.
    private static func mayNameSchema(_ statement: [UInt8]) -> Bool {
        statement.indices.contains { index in
            statement[index] == UInt8(ascii: "_")
                && statement[..<index].suffix(6).elementsEqual("sqlite".utf8) { $0 | 0x20 == $1 }
        }
    }

    /// - Returns: the fingerprint of the new content.
    func run() throws -> ContentFingerprint {
        try destination.watched(by: watch) {
            try destination.withFunctionsOfNewerShells(makeEverything)
            return try ContentFingerprint(of: destination)
        }
    }

    private func makeEverything() throws {
        try destination.acceptDefinitionsOfAnotherDatabase()
        var (isOurs, refusal) = (false, nil as String?)
        let authorizer = AuthorizerHook { request in
            let decision = isOurs ? .allow : ScriptedContent.decision(on: request)
            if decision == .deny { refusal = ScriptedContent.words(for: request) }
            return decision
        }
        authorizer.install(on: destination)
        defer { authorizer.remove(from: destination) }
        func ours(_ sql: StaticString) throws {
            isOurs = true
            defer { isOurs = false }
            try destination.execute(sql)
        }
        var (transaction, hasContent) = (Transaction.none, false)
        while let bytes = try next() {
            var scanner = SQLScanner(bytes)
            let word = scanner.next()?.word ?? ""
            switch word {
            case "begin":
                transaction = .begun
                hasContent = true
            case "commit", "end": transaction = .ended
            case "rollback":
                throw ScriptError(
                    "The script rolls its changes back, as an incomplete dump does"
                )
            default:
                // Leading pragmas must be set before there is any content.
                if destination.isAutocommit, word != "pragma" {
                    try ours("BEGIN IMMEDIATE")
                    hasContent = true
                }
                do {
                    try execute(bytes)
                } catch let error as EngineError {
                    throw ScriptError(refusal ?? error.words, code: error.code)
                }
            }
        }
        guard hasContent else {
            throw ScriptError(
                "The script has no statement that creates anything: it is empty, or its end is missing")
        }
        guard transaction != .begun else {
            throw ScriptError("The script begins a transaction but does not end it: its end is missing")
        }
        isOurs = true
        if !destination.isAutocommit { try destination.execute("COMMIT") }
    }

    private func execute(_ bytes: [UInt8]) throws {
        guard !bytes.contains(0) else {
            throw EngineError.misuse("it contains a zero byte, where SQLite would end it")
        }
        var text = bytes.map { CChar(bitPattern: $0) }
        text.append(0)
        var offset = 0
        while offset < text.count - 1,
            let statement = try destination.prepare(text, offset: &offset, persistent: false)
        {
            guard statement.handle.parameterCount == 0 else {
                throw EngineError.misuse("it has parameters, but a script has no values for them")
            }
            while try destination.step(statement.handle) {}
        }
    }

    // MARK: Permissions of scripts

    /// The pragmas with an argument that a script may use: they set properties of the content, or query it.
    private static let allowed: Set<String> = [
        "foreign_keys", "ignore_check_constraints", "encoding", "auto_vacuum", "writable_schema",
        "user_version", "application_id",
        "defer_foreign_keys", "legacy_alter_table", "recursive_triggers", "table_info", "table_xinfo",
        "index_list", "index_info",
        "index_xinfo", "foreign_key_list", "foreign_key_check", "case_sensitive_like",
    ]

    /// The pragmas that are ignored: they set properties of the connection or the file, which Coffer chooses.
    private static let ignored: Set<String> = [
        "synchronous", "journal_mode", "cache_size", "page_size", "locking_mode", "busy_timeout",
        "temp_store", "mmap_size",
        "wal_autocheckpoint", "journal_size_limit",
    ]

    private static func decision(on request: AuthorizerHook.Request) -> AuthorizerHook.Decision {
        switch request.action {
        case .attach, .transaction, .savepoint: return .deny
        case .insert where request.schema == "temp": return .deny
        case let action where action.makesTemporary: return .deny
        case .pragma:
            let name = (request.first ?? "").lowercased()
            // Virtual tables query some pragmas.
            guard request.second != nil, !allowed.contains(name) else { return .allow }
            return ignored.contains(name) ? .ignore : .deny
        default: return .allow
        }
    }

    private static func words(for request: AuthorizerHook.Request) -> String {
        switch request.action {
        case .pragma: "A script must not set the pragma \((request.first ?? "").lowercased())"
        case .attach: "A script must not attach files"
        case .insert: "A script must not create temporary objects: they would be lost"
        case let action where action.makesTemporary:
            "A script must not create temporary objects: they would be lost"
        default: "A script is one transaction and must not contain others"
        }
    }
}
