public import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

// MARK: - Keys, as users of GRDB set them

extension Database {
    /// Sets the passphrase of the connection. Call it first thing in ``Configuration/prepareDatabase(_:)``.
    ///
    /// ``Configuration/key`` is the better way: it needs no preparation, tries previous keys, and keeps no
    /// passphrase in a `String`. As in SQLCipher, text like `x'...'` with 64 or 96 hexadecimal digits is a
    /// raw key, without or with its salt.
    /// - Throws: a ``DatabaseError``, whose ``DatabaseError/encryptionFailure`` says what is wrong with the
    ///   key; `SQLITE_MISUSE` if the connection has a key already, or has been used without one.
    public func usePassphrase(_ passphrase: String) throws {
        try use(DatabaseKey(sqlCipherText: SecretBytes(utf8: passphrase)))
    }

    /// Sets the passphrase of the connection, given as bytes: see ``usePassphrase(_:)-(String)``.
    public func usePassphrase(_ passphrase: Data) throws {
        try use(DatabaseKey(sqlCipherText: SecretBytes(passphrase)))
    }

    private func use(_ key: DatabaseKey) throws {
        checkIsUsedInItsAccess()
        // The preparation runs again after a change of the key, and may still say the old one.
        guard !keying.isReplacing else { return }
        try setKey(key)
    }

    /// Sets the default key of a connection whose preparation has set none.
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
                try KeyRing.keyMemoryConnection(handle, settings: configuration.cipher)
            default:
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "The connection has been opened already: set the passphrase first thing in "
                        + "Configuration.prepareDatabase."
                )
            }
            try didReceiveKey(of: ring, isFileEmpty: isFileEmpty)
        }
    }

    /// A connection to the same file, to find out why this one does not open.
    private func openProbe() throws(EngineError) -> EngineConnection {
        try configuration.openFile(at: path)
    }
}

// MARK: - What the cipher says of itself

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

    /// The name of the cryptographic library under SQLCipher, as in `"openssl"`; nil on a connection without
    /// a key.
    public var cipherProvider: String? {
        get throws { try cipherPragma("cipher_provider") }
    }

    /// The version of the cryptographic library under SQLCipher; nil on a connection without a key.
    public var cipherProviderVersion: String? {
        get throws { try cipherPragma("cipher_provider_version") }
    }

    /// Whether the cryptographic library runs in FIPS mode, as `"0"` or `"1"`; nil on a connection without a
    /// key.
    public var cipherFipsStatus: String? {
        get throws { try cipherPragma("cipher_fips_status") }
    }

    /// Gives SQLCipher the code of a license.
    ///
    /// The open edition, which Coffer links, needs none and takes no notice. It is there for programs that
    /// are also built with another edition.
    /// - Parameter license: the code. It is in no error and in no trace.
    /// - Throws: a ``DatabaseError`` if SQLCipher refuses the code, or the connection is closed.
    public func applySQLCipherLicense(_ license: String) throws {
        checkIsUsedInItsAccess()
        guard !isClosed else { throw DatabaseError.connectionIsClosed() }
        do {
            _ = try withoutTrace {
                try handle.firstText(trusted: "PRAGMA cipher_license = \(license.quotedDatabaseIdentifier)")
            }
        } catch let error as EngineError {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: error.code), message: "SQLCipher refused the license.",
                messageIsOurs: true)
        }
    }

    private func cipherPragma(_ name: StaticString) throws -> String? {
        checkIsUsedInItsAccess()
        guard !isClosed else { throw DatabaseError.connectionIsClosed() }
        return try DatabaseError.converting { try handle.firstText(trusted: "PRAGMA \(name)") }
    }
}

// MARK: - The log of the cipher

extension Database {
    /// How much SQLCipher logs.
    public struct SQLCipherLogLevel: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing.
        public static let none = SQLCipherLogLevel(rawValue: "NONE")
        /// Failures.
        public static let error = SQLCipherLogLevel(rawValue: "ERROR")
        /// Failures, and what may lead to one.
        public static let warn = SQLCipherLogLevel(rawValue: "WARN")
        /// Also settings and their changes.
        public static let info = SQLCipherLogLevel(rawValue: "INFO")
        /// Also single steps of opening and keying.
        public static let debug = SQLCipherLogLevel(rawValue: "DEBUG")
        /// Everything, page by page.
        public static let trace = SQLCipherLogLevel(rawValue: "TRACE")
    }

    /// Where SQLCipher logs to.
    public struct SQLCipherLogTarget: RawRepresentable, Hashable, Sendable {
        /// What `PRAGMA cipher_log` takes: the path of a file, or one of the words `device`, `stdout` and
        /// `stderr`.
        public var rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The log of the system, where SQLCipher has one to write to: on Linux, the standard error.
        public static let device = SQLCipherLogTarget(rawValue: "device")
        /// The standard output.
        public static let stdout = SQLCipherLogTarget(rawValue: "stdout")
        /// The standard error.
        public static let stderr = SQLCipherLogTarget(rawValue: "stderr")

        /// The file at a path, to whose end the log is appended. A new one is readable by its owner only.
        public static func file(_ path: String) -> SQLCipherLogTarget { SQLCipherLogTarget(rawValue: path) }
    }

    /// Makes SQLCipher log, for the whole process: it has one log only. Coffer turns the log off when it
    /// opens its first connection.
    ///
    /// The log has no keys in it, but says what fails and where.
    ///
    /// - Parameters:
    ///   - logLevel: how much is logged.
    ///   - target: where it goes.
    /// - Throws: a ``DatabaseError`` if the target cannot be written to.
    public func enableCipherLogging(
        logLevel: SQLCipherLogLevel = .debug, target: SQLCipherLogTarget = .device
    ) throws {
        try setCipherLog(target: (target == .device ? .stderr : target).rawValue, level: logLevel.rawValue)
    }

    /// Turns the log of SQLCipher off, for the whole process.
    public func disableCipherLogging() throws {
        checkIsUsedInItsAccess()
        guard !isClosed else { throw DatabaseError.connectionIsClosed() }
        try DatabaseError.converting { try handle.execute("PRAGMA cipher_log_level = NONE") }
    }

    private func setCipherLog(target: String, level: String) throws {
        checkIsUsedInItsAccess()
        guard !isClosed else { throw DatabaseError.connectionIsClosed() }
        do {
            if ![SQLCipherLogTarget.device, .stdout, .stderr].contains(where: { $0.rawValue == target }) {
                try Database.prepareFile(at: target, configuration: configuration, isWritten: true)
            }
            // The pragma answers whether it could open the target.
            let answer = try handle.firstText(
                trusted: "PRAGMA cipher_log = \(target.quotedDatabaseIdentifier)")
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
