internal import Coffer

extension Failure {
    /// What any error means to the caller of the tool.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as DatabaseError: self.init(error)
        case let error as DatabaseFileError: self.init(error)
        case is CancellationError:
            self.init(.runAgain, "cancelled", "Interrupted. Every file is whole; run the command again.")
        default: self.init(.internalError, "internal", "Unexpected: \(error)")
        }
    }

    init(_ failure: EncryptionFailure) {
        self.init(Failure.status(of: failure), Failure.reason(of: failure), Failure.advice(on: failure))
    }

    init(_ error: DatabaseError) {
        if let failure = error.encryptionFailure {
            self.init(failure)
            return
        }
        var message = Failure.withoutLibraryAdvice(error.message ?? "\(error.extendedResultCode)")
        if message.hasSuffix(".") { message.removeLast() }
        // What stands there may be a key that has lost its place: a text in quotes, or the rest of a
        // statement whose quotes do not fit.
        for start in ["near \"'", "near \"x'", "near \"X'", "unrecognized token: \""]
        where message.hasPrefix(start) {
            message =
                "a text, or a quote that is not closed, is where none may be (it is not shown, as it might "
                + "be a key)"
        }
        // SQLite quotes what it does not understand, however long that is.
        if message.utf8.count > 2000 { message = message.prefix(1000) + "… (the rest is left out)" }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.busy, "busy", "Somebody else uses the database: \(message).")
        case .SQLITE_INTERRUPT: self.init(.runAgain, "interrupted", "Interrupted: \(message).")
        case .SQLITE_FULL: self.init(.inputOutput, "disk_full", "The disk is full: \(message).")
        case .SQLITE_IOERR: self.init(.inputOutput, "io", "Reading or writing failed: \(message).")
        case .SQLITE_CANTOPEN:
            self.init(.inputMissing, "cannot_open", "The file cannot be opened: \(message).")
        case .SQLITE_READONLY:
            self.init(.outputExists, "read_only", "The database cannot be written to: \(message).")
        case .SQLITE_PERM: self.init(.inputOutput, "permission", "Not permitted: \(message).")
        case .SQLITE_AUTH: self.init(.usage, "refused", "The statement is refused: \(message).")
        case .SQLITE_CORRUPT, .SQLITE_FORMAT:
            self.init(.badData, "damaged", "The file is damaged: \(message).")
        case .SQLITE_NOTADB:
            self.init(.keyRejected, "wrong_key", "The key does not open this file: \(message).")
        case .SQLITE_NOLFS: self.init(.inputOutput, "too_big", "Too big: \(message).")
        case .SQLITE_TOOBIG:
            self.init(.usage, "too_big", "The statement makes a value that is too big: \(message).")
        case .SQLITE_MISUSE: self.init(.usage, "sql", "The statement cannot be run as it is: \(message).")
        case .SQLITE_NOMEM:
            self.init(.usage, "memory", "There is not enough memory for the statement: \(message).")
        case .SQLITE_ERROR, .SQLITE_RANGE:
            self.init(.usage, "sql", "SQLite refused the statement: \(message).")
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            self.init(.answerIsNo, "constraint", "The database refused the change: \(message).")
        default:
            self.init(
                .internalError, "engine", "SQLite error \(error.extendedResultCode.rawValue): \(message).")
        }
    }

    /// What an error means where no statement of the user's can be at fault: the content of the file is.
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

    /// Nil for codes that mean the same for a content as for a statement.
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

    /// A message of the library without the sentences that name its API, such as "Set it through
    /// Configuration.key.": users of the tool have no use for them.
    private static func withoutLibraryAdvice(_ message: String) -> String {
        let others = message.split(separator: ". ").filter { sentence in
            !sentence.contains(/\b(Configuration|Database|CipherSettings)\.[a-z]|\b[a-z]\w+\((_|[a-z]\w*):/)
        }
        return others.isEmpty ? message : others.joined(separator: ". ")
    }

    private static func status(of failure: EncryptionFailure) -> ExitStatus {
        switch failure {
        case .noKey, .wrongKey, .keyRotated, .invalidKey: .keyRejected
        case .plaintextFile, .olderFormat, .newerFormat, .otherSettings, .notADatabase, .damaged,
            .foreignSideFile, .sideFileOfAnotherUser:
            .badData
        case .severalNames: .outputExists
        case .keyring(_, let problem): status(of: problem)
        case .engineWithoutCipher: .unavailable
        case .invalidCipherSettings: .usage
        }
    }

    private static func reason(of failure: EncryptionFailure) -> String {
        switch failure {
        case .noKey: "no_key"
        case .wrongKey: "wrong_key"
        case .keyRotated: "key_rotated"
        case .invalidKey: "invalid_key"
        case .plaintextFile: "plaintext"
        case .olderFormat: "older_format"
        case .newerFormat: "newer_format"
        case .otherSettings: "other_cipher_settings"
        case .notADatabase: "not_a_database"
        case .damaged: "damaged"
        case .foreignSideFile: "foreign_side_file"
        case .sideFileOfAnotherUser: "foreign_side_file_owner"
        case .severalNames(_, .hardLinks): "hard_links"
        case .severalNames(_, .mountPoint): "mount_point"
        case .severalNames(_, .openInThisProcess): "open_by_another_name"
        case .keyring(_, let problem): reason(of: problem)
        case .engineWithoutCipher: "engine"
        case .invalidCipherSettings: "cipher_settings"
        }
    }

    /// The library speaks to programmers; these say which option or command helps.
    private static func advice(on failure: EncryptionFailure) -> String {
        switch failure {
        case .noKey: "The file is encrypted, and no key was given."
        case .wrongKey:
            "The key does not open this file. Check the key, its --key-type, and the cipher options if the "
                + "file has special ones."
        case .plaintextFile:
            "The file is a SQLite database without encryption. Use 'coffer encrypt' to make an encrypted "
                + "one of it."
        case .olderFormat(let format):
            "The key is right, but the file has the older format \(format). Use 'coffer upgrade', or add "
                + "--cipher-format \(format)."
        case .newerFormat(let format):
            "The key is right, but the file has format \(format). Use --cipher-format \(format)."
        case .otherSettings(let settings):
            if let options = CipherOptions.spelling(of: settings) {
                "The key is right, but the file has other cipher settings. Use 'coffer upgrade', or add "
                    + "\(options)."
            } else {
                "The key is right, but the file is one of SQLCipher 2 from a big-endian machine, or of its "
                    + "beta. Use 'coffer upgrade'."
            }
        case .invalidCipherSettings(.plaintextHeaderWithoutSalt):
            "The file has a plaintext header, and so no room for its salt. Give the key with its salt: 96 "
                + "hexadecimal digits, with --key-type raw."
        case .invalidKey(.passphraseLooksLikeRawKey):
            "The passphrase has the form x'...', which other tools take for a raw key. Give the digits with "
                + "--key-type raw, or another passphrase."
        case .invalidKey(let problem): problem.description
        case .keyRotated, .notADatabase, .damaged, .foreignSideFile, .sideFileOfAnotherUser,
            .severalNames, .engineWithoutCipher, .keyring,
            .invalidCipherSettings:
            failure.description
        }
    }
}
