internal import SQLCipherBridge

/// The pragmas that a connection allows: those that do not endanger encrypted data.
struct PragmaRules {
    /// True if the connection has its key, after which its settings must not change.
    var isKeyed = false

    /// True if temporary tables must not go to files, which would be plaintext: the connection is encrypted,
    /// or a memory database that may attach encrypted files, and plaintext is not allowed.
    var keepsTemporaryTablesInMemory = false

    /// The cipher settings of the connection.
    var cipher = CipherSettings()

    /// True while the library itself changes `PRAGMA query_only`.
    var setsQueryOnly = false

    /// True if code outside the library has changed `PRAGMA query_only`, or compiled a statement that would
    /// change it.
    private(set) var hasSeenQueryOnly = false

    /// True if the application has compiled a statement that sets the journal mode of the main database.
    var hasSeenJournalMode = false

    enum Verdict {
        case allow
        /// The pragma does nothing and reports no error.
        case ignore
        /// The compilation fails, with these words.
        case deny(String)
    }

    /// Decides about a pragma. SQLCipher executes its pragmas while they are compiled, so a later check would
    /// be too late.
    ///
    /// Once the connection is keyed, a new key breaks it, the engine's own rekeying can lose the file
    /// (invariant "Rekey is not trusted"), other settings create pages that no connection can read, and
    /// temporary files would be plaintext on disk (invariant "No plaintext by accident"). Settings that are
    /// already in effect are ignored, because SQLCipher would apply them again to a connection that is in
    /// use.
    ///
    /// - Parameters:
    ///   - name: the name of the pragma in lower case.
    ///   - schema: the database that the pragma names, if any.
    ///   - isOfApplication: true for a statement of the application; false for one that the library or SQLite
    ///     compiles on its own.
    mutating func verdict(
        on name: String, value: String?, schema: String?, _ connection: ConnectionHandle,
        isOfApplication: Bool
    ) -> Verdict {
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
        case "cipher_log" where value.map(PragmaRules.isFileOfLog) == true && isOfApplication:
            return .deny(
                "PRAGMA cipher_log creates a file that others may read. Use "
                    + "Database.enableCipherLogging(logLevel:target:) instead."
            )
        case "cipher_log_level" where value.map(PragmaRules.isDetailOfLog) == true && isOfApplication:
            return .deny(
                "PRAGMA cipher_log_level = \(value?.uppercased() ?? "") writes lines about every page to "
                    + "standard error, for all connections of the process. Use "
                    + "Database.enableCipherLogging(logLevel:target:) instead."
            )
        case "cipher_integrity_check" where PragmaRules.isTooLargeToCheck(connection, schema):
            return .deny(
                "PRAGMA cipher_integrity_check of this engine reports every page beyond four gigabytes as "
                    + "damaged, even in an intact file. Use DatabaseFile.verify(key:options:progress:) or "
                    + "'coffer verify' instead."
            )
        default: break
        }
        if name == "query_only", value != nil, !setsQueryOnly { hasSeenQueryOnly = true }
        let isOfMain = schema.map { $0.lowercased() == "main" } ?? true
        if name == "journal_mode", value != nil, isOfMain, isOfApplication { hasSeenJournalMode = true }
        if name == "temp_store", keepsTemporaryTablesInMemory, let value, value.lowercased() != "memory",
            value != "2"
        {
            return .deny(
                "Temporary tables must stay in memory: in a file, they would be plaintext.")
        }
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
        case "temp_store_directory" where value != nil, "data_store_directory" where value != nil:
            return .deny("Encrypted databases write no temporary files, so they need no directory for them.")
        case _ where PragmaRules.cipherSettings.contains(name):
            // The settings of an attached database can only be given after its key.
            guard let value, isOfMain else { return .allow }
            if cipher.holds(name, value) || (name == "cipher_salt" && isSaltOfFile(value, connection)) {
                return .ignore
            }
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

    private func isSaltOfFile(_ text: String, _ connection: ConnectionHandle) -> Bool {
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
