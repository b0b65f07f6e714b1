import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// The stock shell and Coffer open each other's files.
@Suite("Files that the sqlcipher shell reads and writes")
struct CipherInteroperabilityTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        let key: DatabaseKey
        let shellKey: String
        var settings = CipherSettings()
        var shellSettings = ""
        var testDescription: String { name }
    }

    static let keys: [Case] = [
        Case(name: "passphrase", key: .passphrase("se'cret ünïcode 🗝"), shellKey: "'se''cret ünïcode 🗝'"),
        Case(name: "passphrase as bytes", key: .passphrase(Array("pass".utf8)), shellKey: "'pass'"),
        Case(name: "raw key", key: .rawKey(rawKeyBytes), shellKey: "\"x'\(hexText(rawKeyBytes))'\""),
        Case(
            name: "raw key and salt", key: .rawKey(rawKeyBytes, salt: saltBytes),
            shellKey: "\"x'\(hexText(rawKeyBytes + saltBytes))'\""),
    ]

    static let formats: [Case] = (1...4).flatMap { format in
        [
            Case(
                name: "format \(format), passphrase", key: .passphrase("pw"), shellKey: "'pw'",
                settings: .sqlcipher(format: format),
                shellSettings: "PRAGMA cipher_compatibility = \(format);"),
            Case(
                name: "format \(format), raw key", key: .rawKey(rawKeyBytes),
                shellKey: "\"x'\(hexText(rawKeyBytes))'\"",
                settings: .sqlcipher(format: format),
                shellSettings: "PRAGMA cipher_compatibility = \(format);"),
        ]
    }

    static let pageSizes: [Case] = (10...16).map { exponent in
        var settings = CipherSettings()
        settings.pageSize = 1 << exponent
        return Case(
            name: "page size \(settings.pageSize)", key: .rawKey(rawKeyBytes),
            shellKey: "\"x'\(hexText(rawKeyBytes))'\"",
            settings: settings, shellSettings: "PRAGMA cipher_page_size = \(settings.pageSize);")
    }

    static let others: [Case] = {
        var algorithms = CipherSettings()
        algorithms.kdfAlgorithm = .sha256
        algorithms.kdfIterations = 1000
        algorithms.hmacAlgorithm = .sha256
        var fast = CipherSettings()
        fast.hmacKeyIterations = 10
        var header = CipherSettings()
        header.plaintextHeaderSize = 32
        var masked = CipherSettings()
        masked.hmacSaltMask = 0xc5
        var maskedHeader = header
        maskedHeader.hmacSaltMask = 0xc5
        let salt =
            "PRAGMA cipher_plaintext_header_size = 32; PRAGMA cipher_salt = \"x'\(hexText(saltBytes))'\";"
        return [
            Case(
                name: "other algorithms", key: .passphrase("pw"), shellKey: "'pw'", settings: algorithms,
                shellSettings: """
                    PRAGMA kdf_iter = 1000; PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA256;
                    PRAGMA cipher_hmac_algorithm = HMAC_SHA256;
                    """),
            Case(
                name: "iterations of the HMAC key", key: .passphrase("pw"), shellKey: "'pw'", settings: fast,
                shellSettings: "PRAGMA fast_kdf_iter = 10;"),
            Case(
                name: "beta of SQLCipher 2, raw key", key: .rawKey(rawKeyBytes),
                shellKey: "\"x'\(hexText(rawKeyBytes))'\"",
                settings: .ofFormat2Beta, shellSettings: betaSettings),
            Case(
                name: "another mask, raw key and salt", key: .rawKey(rawKeyBytes, salt: saltBytes),
                shellKey: "\"x'\(hexText(rawKeyBytes + saltBytes))'\"", settings: masked,
                shellSettings: "PRAGMA cipher_hmac_salt_mask = \"x'c5'\";"),
            Case(
                name: "another mask, plaintext header", key: .rawKey(rawKeyBytes, salt: saltBytes),
                shellKey: "\"x'\(hexText(rawKeyBytes + saltBytes))'\"", settings: maskedHeader,
                shellSettings:
                    "PRAGMA cipher_plaintext_header_size = 32; PRAGMA cipher_hmac_salt_mask = \"x'c5'\";"),
            Case(
                name: "plaintext header, raw key", key: .rawKey(rawKeyBytes, salt: saltBytes),
                shellKey: "\"x'\(hexText(rawKeyBytes + saltBytes))'\"", settings: header,
                shellSettings: "PRAGMA cipher_plaintext_header_size = 32;"),
            Case(
                name: "plaintext header, passphrase", key: .passphrase("pw".utf8, salt: saltBytes),
                shellKey: "'pw'", settings: header,
                shellSettings: salt),
        ]
    }()

    static let betaSettings =
        "PRAGMA cipher_compatibility = 2; PRAGMA fast_kdf_iter = 4000; PRAGMA cipher_hmac_salt_mask = \"x'00'\";"

    static let cases = keys + formats + pageSizes + ofThisEngine(others) + unusual

    /// Leaves out the cases with another salt mask if the engine refuses them: see ``RefusedSaltMaskTests``.
    private static func ofThisEngine(_ cases: [Case]) -> [Case] {
        cases.filter { $0.settings.hmacSaltMask == CipherSettings().hmacSaltMask || OtherMask.isPossible }
    }

    @Test("a file made by Coffer opens in the shell", arguments: cases)
    func coffersFile(_ item: Case) throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: item.key, settings: item.settings))
        let start = try file.bytes.prefix(16)
        #expect(start.elementsEqual("SQLite format 3\0".utf8) == (item.settings.plaintextHeaderSize > 0))
        let output = try file.shell(
            "PRAGMA key = \(item.shellKey); \(item.shellSettings) SELECT count(*), sum(length(x)) FROM t; ")
        #expect(output == "20|10000")
        let wrong = try file.shell("PRAGMA key = 'wrong'; \(item.shellSettings) SELECT count(*) FROM t;")
        // With a header in the clear, SQLCipher 4.19 calls the pages behind it malformed.
        let isMalformed = item.settings.plaintextHeaderSize > 0 && wrong.contains("malformed")
        #expect(
            wrong.contains("not a database") || wrong.contains("SQL logic error") || isMalformed, "\(wrong)")
    }

    @Test(
        "a file made by the shell opens in Coffer, is written, and still opens in the shell", arguments: cases
    )
    func shellsFile(_ item: Case) throws {
        let file = try EncryptedFile()
        let keyed = "PRAGMA key = \(item.shellKey); \(item.shellSettings)"
        let made = try file.shell("\(keyed) CREATE TABLE t(x); INSERT INTO t VALUES('from the shell');")
        #expect(made == "")
        let ring = try KeyRing(key: item.key, settings: item.settings)
        #expect(try file.run(ring, "SELECT x FROM t") == "from the shell")
        try file.run(ring, "INSERT INTO t VALUES ('from Coffer')")
        #expect(try file.shell("\(keyed) SELECT group_concat(x) FROM t;") == "from the shell,from Coffer")
    }

    static let unusual = ofThisEngine([
        Case(
            name: "big-endian machine", key: .passphrase("pw"), shellKey: "'pw'",
            settings: .ofBigEndianMachines,
            shellSettings: "PRAGMA cipher_compatibility = 2; PRAGMA cipher_hmac_pgno = be;"),
        Case(
            name: "beta of SQLCipher 2, passphrase", key: .passphrase("pw"), shellKey: "'pw'",
            settings: .ofFormat2Beta,
            shellSettings: betaSettings),
        Case(
            name: "beta on a big-endian machine", key: .passphrase("pw"), shellKey: "'pw'",
            settings: CipherSettings.unusualFormats[2],
            shellSettings: betaSettings + "PRAGMA cipher_hmac_pgno = be;"),
    ])

    @Test("an unusual file of SQLCipher 2 is recognized, verified and upgraded", arguments: unusual)
    func unusualFile(_ item: Case) throws {
        let file = try EncryptedFile()
        let made = try file.shell(
            """
            PRAGMA key = 'pw'; \(item.shellSettings)
            CREATE TABLE t(x); INSERT INTO t VALUES('from afar');
            """)
        #expect(made == "")
        let found = failure { try file.run(KeyRing(key: .passphrase("pw"))) }
        #expect(found == .otherSettings(item.settings))
        #expect(failure { try file.run(KeyRing(key: .passphrase("another"))) } == .wrongKey)

        let database = DatabaseFile(path: file.path)
        let verification = try database.verify(key: .passphrase("pw"))
        #expect(verification.isIntact)
        #expect(verification.cipher == item.settings)
        #expect(try database.upgradePlan(key: .passphrase("pw")).format == 2)
        #expect(try database.upgrade(key: .passphrase("pw")).isChanged)
        #expect(try file.run(KeyRing(key: .passphrase("pw")), "SELECT x FROM t") == "from afar")
        #expect(try file.shell("PRAGMA key = 'pw'; SELECT x FROM t;") == "from afar")
    }

    @Test("no plaintext reaches the file, with any settings", arguments: cases)
    func ciphertext(_ item: Case) throws {
        let file = try EncryptedFile()
        let ring = try KeyRing(key: item.key, settings: item.settings)
        try file.run(ring, "CREATE TABLE revealing_name(x)")
        try file.run(
            ring, "INSERT INTO revealing_name VALUES ('\(String(repeating: "conspicuous ", count: 100))')")
        let data = try Data(file.bytes)
        #expect(data.range(of: Data("conspicuous".utf8)) == nil)
        #expect(data.range(of: Data("revealing_name".utf8)) == nil)
        #expect(data.count > 1000)
    }
}
