internal import SQLCipherBridge

extension CipherSettings.HashAlgorithm {
    var bridged: KeyDerivation.Hash {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }

    /// The name in SQLCipher's pragmas, after `HMAC_` or `PBKDF2_HMAC_`.
    fileprivate var pragmaName: String { bridged.rawValue }
}

extension CipherSettings.ByteOrder {
    fileprivate var pragmaName: String {
        switch self {
        case .littleEndian: "le"
        case .bigEndian: "be"
        }
    }
}

// MARK: - Applying

extension CipherSettings {
    /// Applies all settings to a connection that has its key but has not used it yet, and verifies that
    /// SQLCipher accepted them (invariants "Verified engine" and "Key first").
    ///
    /// Default values are applied too, because the process-wide defaults may differ from SQLCipher's own.
    func apply(to handle: ConnectionHandle) throws(EngineError) {
        let settings = pragmas
        try handle.execute(trusted: settings.joined(separator: "\n"))
        if hmacKeyIterations != 2 {
            // Deprecated by SQLCipher, not listed among its settings, and without a process-wide default.
            try handle.execute(trusted: "PRAGMA fast_kdf_iter = \(hmacKeyIterations);")
            guard try handle.firstText(trusted: "PRAGMA fast_kdf_iter") == String(hmacKeyIterations) else {
                throw EngineError.misuse("SQLCipher did not accept: fast_kdf_iter = \(hmacKeyIterations)")
            }
        }
        if hmacPageNumberOrder != .littleEndian {
            // Also deprecated and not listed. It belongs to the connection.
            try handle.execute(trusted: "PRAGMA cipher_hmac_pgno = \(hmacPageNumberOrder.pragmaName);")
            guard try handle.firstText(trusted: "PRAGMA cipher_hmac_pgno") == hmacPageNumberOrder.pragmaName
            else {
                throw EngineError.misuse(
                    "SQLCipher did not accept: cipher_hmac_pgno = \(hmacPageNumberOrder.pragmaName)")
            }
        }
        try handle.proveCodec(settings: settings)
    }

    /// The settings as pragmas, in the wording in which `PRAGMA cipher_settings` reports them.
    private var pragmas: [String] {
        [
            "PRAGMA cipher_page_size = \(pageSize);",
            "PRAGMA cipher_use_hmac = \(usesHMAC ? 1 : 0);",
            "PRAGMA cipher_hmac_algorithm = HMAC_\(hmacAlgorithm.pragmaName);",
            "PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_\(kdfAlgorithm.pragmaName);",
            "PRAGMA kdf_iter = \(kdfIterations);",
            "PRAGMA cipher_plaintext_header_size = \(plaintextHeaderSize);",
        ]
    }
}

// MARK: - The user's pragmas

extension CipherSettings {
    /// Returns true if a pragma would not change anything.
    ///
    /// - Parameter pragma: the lowercase name of one of SQLCipher's settings.
    func holds(_ pragma: String, _ value: String) -> Bool {
        let value = value.lowercased()
        return switch pragma {
        case "cipher_page_size", "page_size": Int(value) == pageSize
        case "kdf_iter": Int(value) == kdfIterations
        case "fast_kdf_iter": Int(value) == hmacKeyIterations
        case "cipher_plaintext_header_size": Int(value) == plaintextHeaderSize
        case "cipher_use_hmac": CipherSettings.boolean(value) == usesHMAC
        case "cipher_hmac_algorithm": value == "hmac_\(hmacAlgorithm.pragmaName.lowercased())"
        case "cipher_kdf_algorithm": value == "pbkdf2_hmac_\(kdfAlgorithm.pragmaName.lowercased())"
        case "cipher_compatibility": Int(value).map(isFormat) ?? false
        case "cipher_hmac_pgno": value == hmacPageNumberOrder.pragmaName
        case "cipher_hmac_salt_mask": value == "x'\([hmacSaltMask].hexadecimal)'"
        // Coffer never sets these, so SQLCipher's own values apply.
        case "cipher": value == "aes-256-cbc"
        case "cipher_store_pass": CipherSettings.boolean(value) == false
        default: false
        }
    }

    /// Returns true if these are the settings of a format. A format does not determine the plaintext header
    /// or the derivation of the HMAC key.
    private func isFormat(_ format: Int) -> Bool {
        guard CipherSettings.formats.contains(format) else { return false }
        var settings = CipherSettings.sqlcipher(format: format)
        settings.plaintextHeaderSize = plaintextHeaderSize
        settings.hmacKeyIterations = hmacKeyIterations
        settings.hmacPageNumberOrder = hmacPageNumberOrder
        settings.hmacSaltMask = hmacSaltMask
        return settings == ofFile
    }

    /// Returns a Boolean value in the notation of SQLite's pragmas.
    private static func boolean(_ value: String) -> Bool? {
        switch value {
        case "1", "on", "yes", "true": true
        case "0", "off", "no", "false": false
        default: nil
        }
    }
}

// MARK: - Pages

extension PageCipher.Layout {
    /// Creates the page layout for these settings.
    init(_ settings: CipherSettings) {
        self.init(
            pageSize: settings.pageSize, hmac: settings.usesHMAC ? settings.hmacAlgorithm.bridged : nil,
            kdf: settings.kdfAlgorithm.bridged, hmacKeyIterations: settings.hmacKeyIterations,
            plaintextHeaderSize: settings.plaintextHeaderSize,
            hasBigEndianNumbers: settings.hmacPageNumberOrder == .bigEndian,
            hmacSaltMask: settings.hmacSaltMask)
    }

    /// Returns the first pages, the last, and some in between: enough to find an intact page unless nearly
    /// all are damaged.
    static func sample(of pageCount: Int) -> [Int] {
        guard pageCount > 16 else { return Array(1..<max(0, pageCount) + 1) }
        return Array(1...8) + (1...8).map { 8 + (pageCount - 8) * $0 / 8 }
    }
}
