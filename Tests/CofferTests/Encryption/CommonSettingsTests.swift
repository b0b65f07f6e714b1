import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// Files that the stock shell makes with settings that programs use without documenting them.
@Suite("Common cipher settings that match no SQLCipher format")
struct CommonSettingsTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let pragmas: String
        /// The settings that a program needs for a passphrase.
        let spelling: String
        var hasClearHeader = false
        /// True if only a passphrase shows the difference, because a raw key is not stretched.
        var isOfPassphrase = false
    }

    private static let sizes = [1024, 2048, 8192, 16384, 32768, 65536].map { size in
        Case(
            testDescription: "format 4 with pages of \(size) bytes",
            pragmas: "PRAGMA cipher_page_size = \(size);",
            spelling: ".sqlcipher(format: 4) with pageSize = \(size)")
    }

    static let cases =
        sizes + [
            Case(
                testDescription: "format 3 with pages of 4096 bytes",
                pragmas: "PRAGMA cipher_compatibility = 3; PRAGMA cipher_page_size = 4096;",
                spelling: ".sqlcipher(format: 3) with pageSize = 4096"),
            Case(
                testDescription: "format 3 with pages of 4096 bytes and one round",
                pragmas:
                    "PRAGMA cipher_compatibility = 3; PRAGMA cipher_page_size = 4096; PRAGMA kdf_iter = 1;",
                spelling: ".sqlcipher(format: 3) with pageSize = 4096, kdfIterations = 1",
                isOfPassphrase: true),
            Case(
                testDescription: "format 4 with one round", pragmas: "PRAGMA kdf_iter = 1;",
                spelling: ".sqlcipher(format: 4) with kdfIterations = 1", isOfPassphrase: true),
            Case(
                testDescription: "format 4 with SHA-1",
                pragmas:
                    "PRAGMA cipher_hmac_algorithm = HMAC_SHA1; PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA1;",
                spelling: ".sqlcipher(format: 4) with kdfAlgorithm = .sha1, hmacAlgorithm = .sha1",
                isOfPassphrase: true),
            Case(
                testDescription: "format 4 with SHA-256",
                pragmas:
                    "PRAGMA cipher_hmac_algorithm = HMAC_SHA256; PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA256;",
                spelling: ".sqlcipher(format: 4) with kdfAlgorithm = .sha256, hmacAlgorithm = .sha256"),
            Case(
                testDescription: "format 4 with codes of SHA-1",
                pragmas: "PRAGMA cipher_hmac_algorithm = HMAC_SHA1;",
                spelling: ".sqlcipher(format: 4) with hmacAlgorithm = .sha1"),
            Case(
                testDescription: "format 4 without codes", pragmas: "PRAGMA cipher_use_hmac = OFF;",
                spelling: ".sqlcipher(format: 4) with usesHMAC = false", isOfPassphrase: true),
            Case(
                testDescription: "a plaintext header of 32 bytes",
                pragmas: "PRAGMA cipher_plaintext_header_size = 32;",
                spelling: ".sqlcipher(format: 4) with plaintextHeaderSize = 32", hasClearHeader: true),
        ]

    @Test(
        "are detected, named with the configuration to set, verified, recovered and upgraded",
        arguments: cases,
        [false, true])
    func areFound(sample: Case, isPassphrase: Bool) throws {
        let file = try EncryptedFile()
        // With a plaintext header, the file has no room for a salt. In the shell, only a raw key supplies
        // one.
        if sample.hasClearHeader && isPassphrase { return }
        let salt = sample.hasClearHeader ? saltBytes : nil
        let rawKey = salt.map { DatabaseKey.rawKey(rawKeyBytes, salt: $0) } ?? .rawKey(rawKeyBytes)
        let key = isPassphrase ? DatabaseKey.passphrase("pw") : rawKey
        let shellKey = isPassphrase ? "'pw'" : "\"x'\(hexText(rawKeyBytes + (salt ?? [])))'\""
        let setting = "PRAGMA key = \(shellKey); \(sample.pragmas)"
        _ = try file.shell(
            """
            \(setting)
            CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB); PRAGMA user_version = 42;
            WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO t SELECT i, randomblob(400) FROM n;
            """)
        let refusal = failure { try file.run(KeyRing(key: key)) }
        guard case .otherSettings(let settings)? = refusal else {
            // Without key stretching, some settings match a format.
            #expect(refusal == nil && !isPassphrase && sample.isOfPassphrase, "\(refusal as Any)")
            return
        }
        if isPassphrase || !sample.isOfPassphrase { #expect(settings.spelling == sample.spelling) }
        #expect(refusal?.description.contains(settings.spelling) == true)
        #expect(try file.run(KeyRing(key: key, settings: settings), "PRAGMA user_version") == "42")
        let database = DatabaseFile(path: file.path)
        let found = try database.verify(key: key)
        #expect(found.isIntact && found.cipher == settings, "\(found)")
        let salvage = try database.salvage(key: key, to: file.path + ".salvaged")
        #expect(salvage.isComplete && salvage.cipher == settings, "\(salvage)")
        #expect(try database.upgradePlan(key: key).isAlreadyDone == false)
        #expect(try database.upgrade(key: key).isChanged)
        #expect(
            try file.shell("PRAGMA key = \(shellKey); SELECT count(*) FROM t;")
                == "300")
        #expect(try !database.upgrade(key: key).isChanged)
    }

    @Test("other settings are upgraded when they are given")
    func given() throws {
        let file = try EncryptedFile()
        var settings = CipherSettings.sqlcipher(format: 3)
        settings.kdfIterations = 12_345
        try file.fill(KeyRing(key: .passphrase("pw"), settings: settings))
        let database = DatabaseFile(path: file.path)
        #expect(reason { try database.upgrade(key: .passphrase("pw")) } == .key(.wrongKey))
        var options = DatabaseFile.ConversionOptions()
        options.cipher = settings
        #expect(try database.upgrade(key: .passphrase("pw"), options: options).isChanged)
        #expect(try database.verify(key: .passphrase("pw")).cipher == CipherSettings())
        #expect(try !database.upgrade(key: .passphrase("pw"), options: options).isChanged)
    }

    @Test("a plaintext header with a key without a salt is reported, and so is a plaintext file")
    func clearHeaderWithoutSalt() throws {
        let file = try EncryptedFile()
        _ = try file.shell(
            """
            PRAGMA key = \"x'\(hexText(rawKeyBytes + saltBytes))'\"; PRAGMA cipher_plaintext_header_size = 32;
            CREATE TABLE t (x); INSERT INTO t VALUES (1);
            """)
        for key in [DatabaseKey.rawKey(rawKeyBytes), .passphrase("pw")] {
            #expect(
                failure { try file.run(KeyRing(key: key)) }
                    == .invalidCipherSettings(.plaintextHeaderWithoutSalt))
        }
        let other = DatabaseKey.rawKey(rawKeyBytes.reversed(), salt: saltBytes)
        #expect(failure { try file.run(KeyRing(key: other)) } == .wrongKey)
        let plain = try EncryptedFile()
        _ = try plain.shell("CREATE TABLE t (x); INSERT INTO t VALUES (1);")
        #expect(failure { try plain.run(KeyRing(key: other)) } == .plaintextFile)
    }
}
