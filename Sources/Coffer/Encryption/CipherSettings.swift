internal import SQLCipherBridge

/// How a database is encrypted: the parameters that SQLCipher does not store in the file, so that whoever
/// opens it must know them.
///
/// The defaults are those of SQLCipher 4: AES-256-CBC with HMAC-SHA512 on pages of 4096 bytes, and
/// PBKDF2-HMAC-SHA512 with 256,000 iterations for passphrases. Change them only for files that were made with
/// other ones.
///
/// Values that cannot work are refused with ``EncryptionFailure/invalidCipherSettings(_:)`` when a database
/// is opened with them.
public struct CipherSettings: Sendable, Hashable {
    /// The order of the bytes of a number.
    public enum ByteOrder: Sendable, Hashable, CaseIterable {
        /// The least significant byte, or the most significant byte, comes first.
        case littleEndian, bigEndian
    }

    /// The hash function under PBKDF2 and HMAC.
    public enum HashAlgorithm: Sendable, Hashable, CaseIterable {
        /// The hash functions that SQLCipher can use. All files of format 4 have SHA-512.
        case sha1, sha256, sha512
    }

    /// The size of a page in bytes, a power of two from 1024 to 65536.
    public var pageSize = 4096

    /// The iterations of PBKDF2 that stretch a passphrase. Raw keys are not stretched.
    public var kdfIterations = 256_000

    /// The hash function of PBKDF2.
    public var kdfAlgorithm = HashAlgorithm.sha512

    /// The iterations of PBKDF2 that make the key for HMAC from the key of the database, called
    /// `fast_kdf_iter` by SQLCipher.
    public var hmacKeyIterations = 2

    /// The hash function of HMAC.
    public var hmacAlgorithm = HashAlgorithm.sha512

    /// How the number of a page is written where HMAC covers it, called `cipher_hmac_pgno` by SQLCipher:
    /// little endian in all files of SQLCipher 3 and later. SQLCipher 2 wrote it as the machine does, so that
    /// files of big-endian machines have the other order.
    public var hmacPageNumberOrder = ByteOrder.littleEndian

    /// What each byte of the salt is combined with, by exclusive or, where the key for HMAC is derived,
    /// called `cipher_hmac_salt_mask` by SQLCipher: 0x3a in all released versions. Files of the beta of
    /// SQLCipher 2 have 0, and 4,000 for ``hmacKeyIterations``.
    ///
    /// SQLCipher has one mask for the whole process. Coffer leaves it alone, and uses another one for the
    /// connections of these settings only.
    public var hmacSaltMask = PageCipher.Layout.engineSaltMask

    /// Whether each page carries an authentication code. Without one, nobody notices that a file was changed.
    public var usesHMAC = true

    /// The bytes at the start of the file that are stored in the clear: 0, or a multiple of 16 up to 96.
    ///
    /// 32 let systems recognise the file as a SQLite database. The salt that stands there otherwise must come
    /// with the key.
    public var plaintextHeaderSize = 0

    /// How many bytes a queue or pool takes at most to know pages again that its connections have
    /// authenticated or written; 0 for none. 4 MB know 131,072 pages: a file of half a gigabyte.
    ///
    /// Most of what a page costs that is not in the page cache is the hash of its bytes. A page whose bytes,
    /// with their code, are known to be authentic is not hashed again: it is recognised by a shorter code
    /// under a random key, as <doc:SecurityModel> explains. Small files take less memory. It is a power of
    /// two; other numbers are rounded down. ``Database/releaseMemory()`` gives the memory back. Nothing is
    /// known again with an engine whose version Coffer does not know.
    ///
    /// This says nothing about files: whoever opens a file need not know it.
    public var pageMemoSize = 4 << 20

    /// Whether connections keep the states of hashes and ciphers with their key, and draw random bytes for
    /// several pages at once, in place of having the engine make them anew for each page. Without this there
    /// is no memo (``pageMemoSize``) either, and nothing but the engine's own code works on pages.
    ///
    /// It takes an engine whose version Coffer knows. Others do their own work in any case. This says nothing
    /// about files either.
    public var keepsPageStates = true

    /// The number of a format that does not exist, until the settings are used.
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

    /// The formats that have settings of their own.
    static let formats = 1...4

    /// The format whose settings these are; nil for others.
    var format: Int? { CipherSettings.formats.first { .sqlcipher(format: $0) == ofFile } }

    /// The settings without those that say nothing about files.
    var ofFile: CipherSettings {
        var settings = self
        settings.pageMemoSize = CipherSettings().pageMemoSize
        settings.keepsPageStates = CipherSettings().keepsPageStates
        return settings
    }

    /// The settings of SQLCipher 2 on machines that store the highest byte of a number first.
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

    /// What a file of SQLCipher 2 may have in place of the settings of its format.
    static let unusualFormats: [CipherSettings] = {
        var betaOfBigEndianMachines = ofFormat2Beta
        betaOfBigEndianMachines.hmacPageNumberOrder = .bigEndian
        return [ofBigEndianMachines, ofFormat2Beta, betaOfBigEndianMachines]
    }()
}

extension CipherSettings {
    /// Refuses settings that can never work with a key. A provider's key is checked when it is asked.
    func validate(with key: DatabaseKey) throws(KeyError) {
        if let problem { throw .failure(.invalidCipherSettings(problem)) }
        if plaintextHeaderSize > 0 && key.salt == nil && (!key.isProvider || key.isLocated) {
            throw .failure(.invalidCipherSettings(.plaintextHeaderWithoutSalt))
        }
    }

    private var problem: EncryptionFailure.CipherSettingsProblem? {
        let iterations = 1...Int(Int32.max)
        if let unknownFormat { return .unknownFormat(unknownFormat) }
        // SQLite and SQLCipher also know 512, but what SQLCipher writes with it cannot be read again.
        if !(1024...65536).contains(pageSize) || pageSize.nonzeroBitCount != 1 { return .pageSize(pageSize) }
        if !iterations.contains(kdfIterations) { return .kdfIterations(kdfIterations) }
        if !iterations.contains(hmacKeyIterations) { return .hmacKeyIterations(hmacKeyIterations) }
        // The database header ends at byte 100: what follows is content.
        if !(0...96).contains(plaintextHeaderSize) || !plaintextHeaderSize.isMultiple(of: 16) {
            return .plaintextHeaderSize(plaintextHeaderSize)
        }
        return nil
    }
}
