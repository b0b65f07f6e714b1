internal import Coffer
internal import SystemCalls

extension Failure {
    /// Creates the failure that reports any error to the user of the tool.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as DatabaseError: self.init(error)
        case let error as DatabaseFileError: self.init(error)
        case is CancellationError:
            self.init(
                .runAgain, "cancelled", "Interrupted. No file is left half-changed; run the command again.")
        default: self.init(.internalError, "internal", "Unexpected error: \(error)")
        }
    }

    init(_ failure: EncryptionFailure) {
        let (status, reason) = Failure.meaning(of: failure)
        self.init(status, reason, Failure.advice(on: failure))
        if case .keyring(let path, _) = failure {
            self.path = path.without(ending: ".keys") ?? path
        }
    }

    init(_ error: DatabaseError) {
        if let failure = error.encryptionFailure {
            self.init(failure)
            return
        }
        var message = Failure.withoutLibraryAdvice(error.message ?? "\(error.extendedResultCode)")
        if message.hasSuffix(".") { message.removeLast() }
        // The quoted text may be a misplaced key: a string, or the rest of a statement with unbalanced
        // quotes.
        for start in ["near \"'", "near \"x'", "near \"X'", "unrecognized token: \""]
        where message.hasPrefix(start) {
            message =
                "a string is misplaced, or a quote is not closed (the text is not shown, because it might "
                + "be a key)"
        }
        // SQLite quotes text that it does not understand, regardless of its length.
        if message.utf8.count > 2000 { message = message.prefix(1000) + "… (truncated)" }
        let (status, reason, start) = Failure.meaning(of: error)
        self.init(status, reason, "\(start): \(message).")
    }

    private static func meaning(of error: DatabaseError) -> (ExitStatus, reason: String, start: String) {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: (.busy, "busy", "The database is in use")
        case .SQLITE_INTERRUPT: (.runAgain, "interrupted", "Interrupted")
        case .SQLITE_FULL:
            (.inputOutput, "disk_full", "The disk is full, or the database or a table has reached a limit")
        case .SQLITE_IOERR: (.inputOutput, "io", "Reading or writing failed")
        case .SQLITE_CANTOPEN: (.inputMissing, "cannot_open", "The file cannot be opened")
        case .SQLITE_READONLY_DBMOVED: (.busy, "replaced", "Another process has replaced the file")
        case .SQLITE_READONLY: (.outputExists, "read_only", "The database cannot be written to")
        case .SQLITE_PERM: (.inputOutput, "permission", "Not permitted")
        case .SQLITE_AUTH: (.usage, "refused", "The statement is refused")
        case .SQLITE_CORRUPT, .SQLITE_FORMAT: (.badData, "damaged", "The file is damaged")
        case .SQLITE_NOTADB: (.keyRejected, "wrong_key", "The key does not open this file")
        case .SQLITE_NOLFS: (.inputOutput, "too_big", "Too big")
        case .SQLITE_TOOBIG: (.usage, "too_big", "The statement produces a value that is too big")
        case .SQLITE_MISUSE: (.usage, "sql", "The statement cannot be run")
        case .SQLITE_NOMEM: (.usage, "memory", "There is not enough memory for the statement")
        case .SQLITE_ERROR, .SQLITE_RANGE: (.usage, "sql", "SQLite refused the statement")
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            (.answerIsNo, "constraint", "The database refused the change")
        default: (.internalError, "engine", "SQLite error \(error.extendedResultCode.rawValue)")
        }
    }

    /// Creates the failure for an error that no statement of the user can have caused: the content of the
    /// file is at fault.
    init(ofContent error: any Error) {
        if let error = error as? DatabaseError, error.encryptionFailure == nil,
            let content = Failure.content(error.resultCode)
        {
            let message = error.message ?? "\(error.resultCode)"
            self.init(content.status, content.reason, "\(content.start): \(message).")
        } else {
            self.init(error)
        }
    }

    /// Returns nil for codes that have the same meaning for content as for a statement.
    static func content(_ code: ResultCode) -> (status: ExitStatus, reason: String, start: String)? {
        switch code.primaryResultCode {
        case .SQLITE_TOOBIG: (.badData, "too_big", "The content has a value or a row that is too big")
        case .SQLITE_NOMEM: (.inputOutput, "memory", "There is not enough memory for the content")
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            (.badData, "inconsistent", "The rows contradict the schema of the database")
        case .SQLITE_ERROR, .SQLITE_RANGE, .SQLITE_MISUSE, .SQLITE_AUTH, .SQLITE_SCHEMA:
            (.badData, "content", "The content cannot be read")
        default: nil
        }
    }

    /// Returns a message of the library without the sentences that name its API, such as "Set it through
    /// Configuration.key.", which do not help users of the tool.
    private static func withoutLibraryAdvice(_ message: String) -> String {
        let others = message.split(separator: ". ").filter { sentence in
            !sentence.contains(/\b(Configuration|Database|CipherSettings)\.[a-z]|\b[a-z]\w+\((_|[a-z]\w*):/)
        }
        return others.isEmpty ? message : others.joined(separator: ". ")
    }

    private static func meaning(of failure: EncryptionFailure) -> (ExitStatus, String) {
        switch failure {
        case .noKey: (.keyRejected, "no_key")
        case .wrongKey: (.keyRejected, "wrong_key")
        case .keyRotated: (.keyRejected, "key_rotated")
        case .invalidKey: (.keyRejected, "invalid_key")
        case .plaintextFile: (.badData, "plaintext")
        case .olderFormat: (.badData, "older_format")
        case .newerFormat: (.badData, "newer_format")
        case .otherSettings: (.badData, "other_cipher_settings")
        case .notADatabase: (.badData, "not_a_database")
        case .damaged: (.badData, "damaged")
        case .foreignSideFile: (.badData, "foreign_side_file")
        case .sideFileOfAnotherUser: (.badData, "foreign_side_file_owner")
        case .severalNames(_, .hardLinks): (.outputExists, "hard_links")
        case .severalNames(_, .mountPoint): (.outputExists, "mount_point")
        case .severalNames(_, .openInThisProcess): (.outputExists, "open_by_another_name")
        case .keyring(_, let problem): meaning(of: problem)
        case .engineWithoutCipher: (.unavailable, "engine")
        case .invalidCipherSettings: (.usage, "cipher_settings")
        }
    }

    /// The advice on a damaged file of which there is no backup.
    static let salvage = "Without one, 'coffer recover' copies its readable content."

    static let plaintextAdvice =
        "The file is a SQLite database without encryption. Use 'coffer encrypt' to make an encrypted copy."

    /// Returns advice that names options and commands. The library's messages address programmers.
    private static func advice(on failure: EncryptionFailure) -> String {
        switch failure {
        case .noKey: "The file is encrypted, and no key was given."
        case .wrongKey:
            "The key does not open this file. Check the key, its type, and the cipher options if the file "
                + "needs any."
        case .plaintextFile: plaintextAdvice
        case .olderFormat(let format):
            "The key is right, but the file has the older format \(format). Use 'coffer upgrade', or add "
                + "--cipher-format \(format)."
        case .newerFormat(let format):
            "The key is right, but the file has format \(format). Use --cipher-format \(format)."
        case .otherSettings(let settings):
            if let options = settings.options {
                "The key is right, but the file has other cipher settings. Use 'coffer upgrade', or add "
                    + "\(options)."
            } else {
                "The key is right, but the file was written by SQLCipher 2 on a big-endian machine or by its "
                    + "beta. Use 'coffer upgrade'."
            }
        case .invalidCipherSettings(.plaintextHeaderWithoutSalt):
            "The file has a plaintext header instead of its salt. Give the key with its salt, as in "
                + "--key raw+salt:file:PATH: 96 hexadecimal digits."
        case .invalidKey(.passphraseLooksLikeRawKey):
            "The passphrase has the form x'...', which other tools treat as a raw key. Give the digits with "
                + "'raw:' before their source (or with --key-type raw), or another passphrase."
        case .invalidKey(let problem): problem.description
        case .damaged: "\(failure.description) \(salvage)"
        case .keyring(let path, .missing):
            "The keyring is missing (\(FileNames.name(of: path))). If there was one, restore it from a "
                + "backup or an exported header: without it, only the exported raw key opens the database. "
                + "If not, --key opens the database, and 'coffer key init' gives it a keyring."
        case .keyRotated, .notADatabase, .foreignSideFile, .sideFileOfAnotherUser,
            .severalNames, .engineWithoutCipher, .keyring,
            .invalidCipherSettings:
            failure.description
        }
    }
}
