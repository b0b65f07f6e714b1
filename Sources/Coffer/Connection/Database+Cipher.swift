public import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

// MARK: - Keys in the API of GRDB

extension Database {
    /// Sets the passphrase of the connection. Call it before anything else in
    /// ``Configuration/prepareDatabase(_:)``.
    ///
    /// Prefer ``Configuration/key``: it needs no preparation, tries previous keys, and does not hold the
    /// passphrase in a `String`. As in SQLCipher, a text like `x'...'` with 64 or 96 hexadecimal digits is a
    /// raw key, without or with its salt.
    ///
    /// - Throws: a ``DatabaseError``. Its ``DatabaseError/encryptionFailure`` explains problems with the key.
    ///   `SQLITE_MISUSE` if the connection already has a key, or has been used without one.
    public func usePassphrase(_ passphrase: String) throws {
        try use(DatabaseKey(sqlCipherText: SecretBytes(utf8: passphrase)))
    }

    /// Sets the passphrase of the connection from bytes: see ``usePassphrase(_:)-(String)``.
    public func usePassphrase(_ passphrase: Data) throws {
        try use(DatabaseKey(sqlCipherText: SecretBytes(passphrase)))
    }

    private func use(_ key: DatabaseKey) throws {
        checkIsUsedInItsAccess()
        // After a key change, the preparations run again and may still set the old key.
        guard !keying.isReplacing else { return }
        try setKey(key)
    }

    /// Sets the default key of a connection whose preparations have set none.
    func setDefaultKey(_ key: DatabaseKey) throws {
        try setKey(key)
        if let ring = keying.ring { keying.keys.didSetDefaultKey(of: ring) }
    }

    private func setKey(_ key: DatabaseKey) throws {
        try DatabaseError.converting {
            let ring = try keying.keys.ring(for: key)
            var isFileEmpty: Bool?
            switch protection {
            case .awaitingKey:
                var opening = KeyedOpening(ring, work: keying.keys.pageWork) { () throws(EngineError) in
                    try self.openProbe()
                }
                isFileEmpty = try opening.setKey(of: handle)
            case .memory where !keying.isPrepared:
                try handle.setRandomKey(configuration.cipher)
            default:
                throw DatabaseError.misuse(
                    "The connection is already open. Set the passphrase before anything else in "
                        + "Configuration.prepareDatabase.")
            }
            try didReceiveKey(of: ring, isFileEmpty: isFileEmpty)
        }
    }

    /// Opens another connection to the same file, to find out why this one does not open.
    private func openProbe() throws(EngineError) -> EngineConnection {
        try configuration.openFile(at: path)
    }
}

// MARK: - Properties of the cipher

extension Database {
    /// The version of SQLCipher, as in `"4.6.1 community"`.
    public var cipherVersion: String {
        get throws {
            guard let version = try cipherPragma("cipher_version") else {
                throw DatabaseError(encryptionFailure: .engineWithoutCipher)
            }
            return version
        }
    }

    /// The name of the cryptographic library that SQLCipher uses, as in `"openssl"`; nil on a connection
    /// without a key.
    public var cipherProvider: String? {
        get throws { try cipherPragma("cipher_provider") }
    }

    /// The version of the cryptographic library that SQLCipher uses; nil on a connection without a key.
    public var cipherProviderVersion: String? {
        get throws { try cipherPragma("cipher_provider_version") }
    }

    /// The FIPS mode of the cryptographic library: `"0"` or `"1"`; nil on a connection without a key.
    public var cipherFipsStatus: String? {
        get throws { try cipherPragma("cipher_fips_status") }
    }

    /// Passes a license code to SQLCipher.
    ///
    /// The community edition, which Coffer links, needs no license and ignores the code. Use this method in
    /// programs that are also built with another edition.
    ///
    /// - Parameter license: the code. It appears in no error and no trace.
    /// - Throws: a ``DatabaseError`` if SQLCipher rejects the code, or if the connection is closed.
    public func applySQLCipherLicense(_ license: String) throws {
        checkIsUsedInItsAccess()
        try checkIsOpen()
        do {
            _ = try withoutTrace {
                let license = String(identifier: license.utf8).quotedDatabaseIdentifier
                return try handle.firstText(trusted: "PRAGMA cipher_license = \(license)")
            }
        } catch let error as EngineError {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: error.code), message: "SQLCipher refused the license.",
                messageIsOurs: true)
        }
    }

    private func cipherPragma(_ name: StaticString) throws -> String? {
        checkIsUsedInItsAccess()
        try checkIsOpen()
        return try DatabaseError.converting { try handle.firstText(trusted: "PRAGMA \(name)") }
    }
}

// MARK: - Log of the cipher

extension Database {
    /// The amount of information that SQLCipher logs.
    public struct SQLCipherLogLevel: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing.
        public static let none = SQLCipherLogLevel(rawValue: "NONE")
        /// Failures.
        public static let error = SQLCipherLogLevel(rawValue: "ERROR")
        /// Failures, and their possible causes.
        public static let warn = SQLCipherLogLevel(rawValue: "WARN")
        /// Also settings and their changes.
        public static let info = SQLCipherLogLevel(rawValue: "INFO")
        /// Also individual steps of opening and keying.
        public static let debug = SQLCipherLogLevel(rawValue: "DEBUG")
        /// Everything, page by page.
        public static let trace = SQLCipherLogLevel(rawValue: "TRACE")
    }

    /// The destination of SQLCipher's log.
    public struct SQLCipherLogTarget: RawRepresentable, Hashable, Sendable {
        /// The argument of `PRAGMA cipher_log`: the path of a file, or one of the words `device`, `stdout`
        /// and `stderr`.
        public var rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The system log, if SQLCipher supports it. On Linux, standard error.
        public static let device = SQLCipherLogTarget(rawValue: "device")
        /// Standard output.
        public static let stdout = SQLCipherLogTarget(rawValue: "stdout")
        /// Standard error.
        public static let stderr = SQLCipherLogTarget(rawValue: "stderr")

        /// Returns the file at a path. The log is appended to it. Only its owner can read a new file.
        public static func file(_ path: String) -> SQLCipherLogTarget { SQLCipherLogTarget(rawValue: path) }
    }

    /// Turns SQLCipher's log on for the whole process, which has a single log. Coffer turns the log off when
    /// it opens its first connection.
    ///
    /// The log contains no keys, but it describes failures and their locations.
    ///
    /// - Throws: a ``DatabaseError`` if the target cannot be written to.
    public func enableCipherLogging(
        logLevel: SQLCipherLogLevel = .debug, target: SQLCipherLogTarget = .device
    ) throws {
        try setCipherLog(target: (target == .device ? .stderr : target).rawValue, level: logLevel.rawValue)
    }

    /// Turns SQLCipher's log off for the whole process.
    public func disableCipherLogging() throws {
        checkIsUsedInItsAccess()
        try checkIsOpen()
        try DatabaseError.converting { try handle.execute("PRAGMA cipher_log_level = NONE") }
    }

    private func setCipherLog(target: String, level: String) throws {
        checkIsUsedInItsAccess()
        try checkIsOpen()
        do {
            if ![SQLCipherLogTarget.device, .stdout, .stderr].contains(where: { $0.rawValue == target }) {
                try Database.prepareFile(at: target, configuration: configuration, isWritten: true)
            }
            // The pragma returns whether it could open the target.
            let file = String(identifier: target.utf8).quotedDatabaseIdentifier
            let answer = try handle.firstText(trusted: "PRAGMA cipher_log = \(file)")
            guard answer == nil || answer == "0" else {
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN, message: "SQLCipher cannot write its log to \(target)")
            }
            try handle.execute(trusted: "PRAGMA cipher_log_level = \(level.quotedDatabaseIdentifier)")
        } catch let error as EngineError {
            throw DatabaseError(error)
        }
    }
}
