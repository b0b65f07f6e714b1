internal import SQLCipherBridge

/// The encryption parameters of a database. SQLCipher does not store them in the file, so a program that
/// opens the file must know them.
///
/// The defaults are SQLCipher 4's: AES-256-CBC with HMAC-SHA512 on pages of 4096 bytes, and
/// PBKDF2-HMAC-SHA512 with 256,000 iterations for passphrases. Change them only for files that were created
/// with other settings.
///
/// Settings that cannot work are refused with ``EncryptionFailure/invalidCipherSettings(_:)`` when a database
/// is opened with them.
public struct CipherSettings: Sendable, Hashable {
    /// The byte order of a number.
    public enum ByteOrder: Sendable, Hashable, CaseIterable {
        /// The least significant byte, or the most significant byte, comes first.
        case littleEndian, bigEndian
    }

    /// The hash function used by PBKDF2 and HMAC.
    public enum HashAlgorithm: Sendable, Hashable, CaseIterable {
        /// The hash functions that SQLCipher supports. Format 4 uses SHA-512 by default.
        case sha1, sha256, sha512
    }

    /// The size of a page in bytes, a power of two from 1024 to 65536.
    public var pageSize = 4096

    /// The number of PBKDF2 iterations that stretch a passphrase. Raw keys are not stretched.
    public var kdfIterations = 256_000

    /// The hash function of PBKDF2.
    public var kdfAlgorithm = HashAlgorithm.sha512

    /// The number of PBKDF2 iterations that derive the HMAC key from the database key. SQLCipher calls it
    /// `fast_kdf_iter`.
    public var hmacKeyIterations = 2

    /// The hash function of HMAC.
    public var hmacAlgorithm = HashAlgorithm.sha512

    /// The byte order of the page number that HMAC covers. SQLCipher calls it `cipher_hmac_pgno`. All files
    /// of SQLCipher 3 and later use little endian. SQLCipher 2 used the machine's byte order, so files from
    /// big-endian machines have the other one.
    public var hmacPageNumberOrder = ByteOrder.littleEndian

    /// The value that is combined with each byte of the salt, by exclusive or, to derive the HMAC key.
    /// SQLCipher calls it `cipher_hmac_salt_mask`. It is 0x3a in all released versions. Files of the beta of
    /// SQLCipher 2 use 0, and 4,000 for ``hmacKeyIterations``.
    ///
    /// SQLCipher has one mask for the whole process. Coffer leaves it unchanged, and applies this value only
    /// to connections with these settings. SQLCipher 4.7 and later cannot use another mask than 0x3a: such
    /// files are refused with ``EncryptionFailure/CipherSettingsProblem/refused(_:)``.
    public var hmacSaltMask = PageCipher.Layout.engineSaltMask

    /// A Boolean value that indicates whether each page has a message authentication code (MAC). Without
    /// MACs, changes to a file go unnoticed.
    public var usesHMAC = true

    /// The number of bytes at the start of the file that are not encrypted: 0, or a multiple of 16 up to 96.
    ///
    /// With 32, systems recognize the file as a SQLite database. The file then has no room for the salt,
    /// which must be given with the key.
    public var plaintextHeaderSize = 0

    /// The maximum number of bytes that a queue or pool uses to recognize pages that its connections have
    /// already authenticated or written; 0 to disable. 4 MB cover 131,072 pages, which is a file of half a
    /// gigabyte.
    ///
    /// Most of the cost of a page that is not in the page cache is the hash of its bytes. A page whose bytes
    /// and MAC are known to be authentic is not hashed again: it is recognized by a shorter code under a
    /// random key, as <doc:SecurityModel> explains. Small files take less memory. The size is a power of two;
    /// other numbers are rounded down. ``Database/releaseMemory()`` frees the memory. The memo is disabled if
    /// Coffer does not know the engine's version.
    ///
    /// This setting does not affect the file, so it need not match when the file is opened again.
    public var pageMemoSize = 4 << 20

    /// A Boolean value that indicates whether connections keep hash and cipher states together with their
    /// key, and draw random bytes for several pages at once, instead of letting the engine create them for
    /// each page. If false, the page memo (``pageMemoSize``) is disabled too, and pages are processed only by
    /// the engine's own code.
    ///
    /// It has an effect only if Coffer knows the engine's version. This setting does not affect the file
    /// either.
    public var keepsPageStates = true

    /// The number of an unknown format, which is reported when the settings are used.
    private(set) var unknownFormat: Int?

    /// The settings of SQLCipher 4.
    public init() {}

    /// The default settings of a major version of SQLCipher, from 1 to 4.
    public static func sqlcipher(format: Int) -> CipherSettings {
        var settings = CipherSettings()
        switch format {
        case 4: break
        case 1, 2, 3:
            settings.pageSize = 1024
            settings.kdfIterations = format == 3 ? 64_000 : 4_000
            settings.kdfAlgorithm = .sha1
            settings.hmacAlgorithm = .sha1
            settings.usesHMAC = format > 1
        default: settings.unknownFormat = format
        }
        return settings
    }

    /// The formats with distinct default settings.
    static let formats = 1...4

    /// The format with these settings; nil if there is none.
    var format: Int? { CipherSettings.formats.first { .sqlcipher(format: $0) == ofFile } }

    /// The settings with default values for those that do not affect the file.
    var ofFile: CipherSettings {
        var settings = self
        settings.pageMemoSize = CipherSettings().pageMemoSize
        settings.keepsPageStates = CipherSettings().keepsPageStates
        return settings
    }

    /// The settings of SQLCipher 2 on big-endian machines.
    static let ofBigEndianMachines: CipherSettings = {
        var settings = CipherSettings.sqlcipher(format: 2)
        settings.hmacPageNumberOrder = .bigEndian
        return settings
    }()

    /// The settings of the beta of SQLCipher 2.
    static let ofFormat2Beta: CipherSettings = {
        var settings = CipherSettings.sqlcipher(format: 2)
        settings.hmacKeyIterations = 4_000
        settings.hmacSaltMask = 0
        return settings
    }()

    /// Settings that a file of SQLCipher 2 may have instead of the default ones.
    static let unusualFormats: [CipherSettings] = {
        var betaOfBigEndianMachines = ofFormat2Beta
        betaOfBigEndianMachines.hmacPageNumberOrder = .bigEndian
        return [ofBigEndianMachines, ofFormat2Beta, betaOfBigEndianMachines]
    }()
}

extension CipherSettings {
    /// Throws if the settings can never work with a key. A provider's key is checked when the provider is
    /// called.
    func validate(with key: DatabaseKey) throws(KeyError) {
        if let problem { throw .failure(.invalidCipherSettings(problem)) }
        if plaintextHeaderSize > 0 && key.salt == nil && (!key.isProvider || key.isLocated) {
            throw .failure(.invalidCipherSettings(.plaintextHeaderWithoutSalt))
        }
    }

    private var problem: EncryptionFailure.CipherSettingsProblem? {
        let iterations = 1...Int(Int32.max)
        if let unknownFormat { return .unknownFormat(unknownFormat) }
        // SQLite and SQLCipher also accept 512, but files that SQLCipher writes with it cannot be read again.
        if !(1024...65536).contains(pageSize) || pageSize.nonzeroBitCount != 1 { return .pageSize(pageSize) }
        if !iterations.contains(kdfIterations) { return .kdfIterations(kdfIterations) }
        if !iterations.contains(hmacKeyIterations) { return .hmacKeyIterations(hmacKeyIterations) }
        // The database header ends at byte 100. Content follows.
        if !(0...96).contains(plaintextHeaderSize) || !plaintextHeaderSize.isMultiple(of: 16) {
            return .plaintextHeaderSize(plaintextHeaderSize)
        }
        return nil
    }
}
