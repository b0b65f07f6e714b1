import Foundation
import Glibc
import SQLCipherBridge
import Testing

@testable import Coffer

/// Each test also checks that nothing was changed and that no descriptor stays open.
@Suite("Diagnosis of files that do not open")
struct OpeningDiagnosisTests {
    private func reason(
        _ file: EncryptedFile, key: DatabaseKey = .rawKey(rawKeyBytes),
        settings: CipherSettings = CipherSettings()
    ) throws -> EncryptionFailure? {
        let before = try file.bytes
        let result = failure { try file.run(KeyRing(key: key, settings: settings)) }
        #expect(try file.bytes == before)
        #expect(try file.openDescriptors == 0)
        return result
    }

    @Test("a file that is replaced during the diagnosis is not reported as damaged", arguments: [2, 4, 6])
    func replacedMeanwhile(looks: Int) throws {
        let (file, new) = (try EncryptedFile(), try EncryptedFile())
        try file.fill(KeyRing(key: .rawKey(rawKeyBytes.map { ~$0 })))
        try new.fill(KeyRing(key: .rawKey(rawKeyBytes)))
        var count = 0
        let error = #expect(throws: KeyError.self) {
            _ = try KeyRing(key: .rawKey(rawKeyBytes)).openKeyed { () throws(EngineError) in
                count += 1
                if count == looks + 1 { _ = unsafe rename(new.path, file.path) }
                return try file.open()
            }
        }
        // The caller opens it again.
        guard case .engine(let reason) = error else { return #expect(error == nil) }
        #expect(reason.code == EngineCode.databaseMoved)
        #expect(try file.run(KeyRing(key: .rawKey(rawKeyBytes))) == "1")
    }

    @Test("a wrong key of each kind")
    func wrongKey() throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .passphrase("right")))
        #expect(try reason(file, key: .passphrase("right ")) == .wrongKey)
        #expect(try reason(file) == .wrongKey)
        #expect(try reason(file, key: .rawKey(rawKeyBytes, salt: saltBytes)) == .wrongKey)
        #expect(try reason(file, key: .passphrase("right")) == nil)
    }

    @Test(
        "a wrong key for pages without MACs, with more or less of the header in the clear",
        arguments: [16, 32, 48, 64, 96])
    func clearHeaderWithoutCodes(size: Int) throws {
        var configuration = Configuration()
        configuration.key = .rawKey(rawKeyBytes, salt: saltBytes)
        configuration.cipher.usesHMAC = false
        configuration.cipher.plaintextHeaderSize = size
        let (file, other) = (
            try EncryptedFile(), DatabaseKey.rawKey(rawKeyBytes.map { ~$0 }, salt: saltBytes.map { ~$0 })
        )
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('kept')") }
        try queue.close()
        #expect(try reason(file, key: other, settings: configuration.cipher) == .wrongKey)
        // This error makes the queue try the other keys, and lets a rotation detect that the old key does not
        // open its copy.
        configuration.previousKeys = try [#require(configuration.key)]
        configuration.key = other
        let next = try DatabaseQueue(path: file.path, configuration: configuration)
        try next.rotateKey(to: other)
        #expect(try next.read { try String.fetchOne($0, sql: "SELECT a FROM t") } == "kept")
        try next.close()
        #expect(try reason(file, key: other, settings: configuration.cipher) == nil)
    }

    @Test("ciphertext after a plaintext header is not mistaken for a plaintext file")
    func ciphertextLikeRoot() {
        var start = DatabaseHeader.magic + [16, 0, 1, 1, 48, 64, 32, 32] + [UInt8](repeating: 0, count: 72)
        for type: UInt8 in [2, 5, 10, 13] {
            let ciphertext = (0..<156).map { UInt8(truncatingIfNeeded: $0 * 167 + 91) }
            start[96...] = [0, 46, 110, 81, type] + ciphertext
            let header = FileHeader(size: 8192, start: start)
            #expect(!header.isPlaintext(plaintextHeaderSize: 96))
            #expect(!header.isPlaintext(plaintextHeaderSize: 0))
        }
        // The root of an empty schema, on a page with 48 reserved bytes.
        start[100..<108] = [13, 0, 0, 0, 0, 15, 208, 0]
        #expect(FileHeader(size: 8192, start: start).isPlaintext(plaintextHeaderSize: 96))
    }

    @Test("a plaintext file, empty or not, with a key")
    func plaintext() throws {
        let file = try EncryptedFile()
        _ = try file.shell("CREATE TABLE t(x);")
        #expect(try reason(file) == .plaintextFile)
        #expect(try file.shell("SELECT count(*) FROM t;") == "0")
        var settings = CipherSettings()
        settings.plaintextHeaderSize = 32
        #expect(
            try reason(file, key: .rawKey(rawKeyBytes, salt: saltBytes), settings: settings) == .plaintextFile
        )
    }

    @Test("older formats, with a passphrase and with a raw key", arguments: 1...3, [true, false])
    func olderFormat(format: Int, isPassphrase: Bool) throws {
        let key: DatabaseKey = isPassphrase ? .passphrase("pw") : .rawKey(rawKeyBytes)
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: key, settings: .sqlcipher(format: format)))
        // Formats 2 and 3 differ only in the derivation from a passphrase.
        #expect(try reason(file, key: key) == .olderFormat(format == 2 && !isPassphrase ? 3 : format))
        #expect(try reason(file, key: .passphrase("other")) == .wrongKey)
    }

    @Test("a newer format than the configured one")
    func newerFormat() throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .rawKey(rawKeyBytes)))
        #expect(try reason(file, settings: .sqlcipher(format: 3)) == .newerFormat(4))
    }

    @Test(
        "content other than ciphertext",
        arguments: [
            Array("Lorem ipsum dolor sit amet. ".utf8), [0], Array("%PDF-1.7 0123456789 <<>> stream\n".utf8),
        ])
    func garbage(pattern: [UInt8]) throws {
        let file = try EncryptedFile()
        try file.write((0..<16384).map { pattern[$0 % pattern.count] })
        #expect(try reason(file) == .notADatabase)
    }

    @Test("files that are too short for a database", arguments: [2, 15, 16, 100, 511, 1000])
    func short(size: Int) throws {
        let file = try EncryptedFile()
        try file.write((0..<size).map { _ in UInt8.random(in: 0...255) })
        #expect(try reason(file) == .notADatabase)
    }

    @Test("random bytes cannot be distinguished from a wrong key")
    func random() throws {
        let file = try EncryptedFile()
        try file.write((0..<8192).map { _ in UInt8.random(in: 0...255) })
        #expect(try reason(file) == .wrongKey)
    }

    @Test("an empty file takes any key")
    func empty() throws {
        let file = try EncryptedFile()
        try file.write([])
        #expect(try reason(file) == nil)
    }

    @Test("a missing directory is the engine's error")
    func missingDirectory() throws {
        let file = try EncryptedFile("missing/test.sqlite")
        let error = #expect(throws: KeyError.self) { try file.run(KeyRing(key: .rawKey(rawKeyBytes))) }
        guard case .engine(let error) = error else { throw error ?? KeyError.failure(.noKey) }
        #expect(error.primaryCode == EngineCode.cantOpen)
    }

    @Test(
        "page 1 with a flipped byte, when another page verifies the key",
        arguments: [16, 100, 2000, 4015, 4016, 4031, 4032, 4095])
    func damagedFirstPage(offset: Int) throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .rawKey(rawKeyBytes)))
        try file.change { $0[offset] ^= 0x10 }
        #expect(try reason(file) == .damaged(pages: [1]))
    }

    @Test(
        "a damaged salt is detected with a raw key, and looks like a wrong key with a passphrase",
        arguments: [CipherSettings(), .sqlcipher(format: 3)])
    func damagedSalt(settings: CipherSettings) throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .rawKey(rawKeyBytes), settings: settings))
        try file.change { $0.replaceSubrange(0..<16, with: saltBytes) }
        #expect(try reason(file, settings: settings) == .damaged(pages: [1]))
        #expect(try reason(file, key: .rawKey(rawKeyBytes.reversed()), settings: settings) == .wrongKey)
        // The salt in the key may be the wrong one.
        let other = DatabaseKey.rawKey(rawKeyBytes, salt: saltBytes)
        #expect(try reason(file, key: other, settings: settings) == .wrongKey)
        let stretched = try EncryptedFile()
        try stretched.fill(KeyRing(key: .passphrase("pw"), settings: settings))
        try stretched.change { $0.replaceSubrange(0..<16, with: saltBytes) }
        #expect(try reason(stretched, key: .passphrase("pw"), settings: settings) == .wrongKey)
    }

    @Test("page 1 in the other settings that have authentication codes", arguments: [2, 3])
    func damagedFirstPageOfFormat(format: Int) throws {
        let file = try EncryptedFile()
        let settings = CipherSettings.sqlcipher(format: format)
        try file.fill(KeyRing(key: .passphrase("pw"), settings: settings))
        try file.change { $0[500] ^= 0x10 }
        #expect(try reason(file, key: .passphrase("pw"), settings: settings) == .damaged(pages: [1]))
    }

    @Test("the key is verified by later pages if the first ones are overwritten")
    func damagedStart() throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .rawKey(rawKeyBytes)), rows: 1000)
        try file.change { bytes in for index in 16..<40000 { bytes[index] = UInt8.random(in: 0...255) } }
        guard case .damaged(let pages) = try reason(file) else { Issue.record("not damaged"); return }
        #expect(pages.starts(with: 1...8))
    }

    @Test("another page of the schema with a flipped byte")
    func damagedSchema() throws {
        let file = try EncryptedFile()
        let ring = try KeyRing(key: .rawKey(rawKeyBytes))
        let tables = (0..<200).map { "CREATE TABLE table_with_a_long_name_\($0)(a, b, c, d, e);" }.joined()
        let connection = try ring.openKeyed(open: file.open)
        try connection.handle.execute(trusted: "BEGIN; \(tables) COMMIT;")
        let page =
            try connection.handle.firstText(
                trusted: "SELECT rootpage FROM sqlite_master ORDER BY rootpage LIMIT 1") ?? ""
        _ = consume connection
        #expect(Int(page) ?? 0 >= 2)
        // Other schema pages are scattered among the table pages, so the test damages all pages but page 1.
        try file.change { bytes in
            for index in stride(from: 4096, to: bytes.count / 2, by: 4096) { bytes[index + 50] ^= 1 }
        }
        guard case .damaged(let pages) = try reason(file) else { Issue.record("not damaged"); return }
        #expect(pages.contains(2) && !pages.contains(1))
    }

    @Test("a file cut inside a page, on a page boundary, and inside page 1")
    func truncated() throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .rawKey(rawKeyBytes)))
        let whole = try file.bytes
        try file.write(whole.prefix(4096 * 2 + 1000))
        #expect(try reason(file) == .damaged(pages: [3]))
        try file.write(whole.prefix(4096 * 2))
        #expect(try reason(file) == .damaged(pages: []), "the pages that are there are intact")
        try file.write(whole.prefix(3000))
        #expect(try reason(file) == .notADatabase)
    }

    @Test("a connection without a key distinguishes encrypted files from others")
    func withoutKey() throws {
        func reason(_ bytes: [UInt8]) throws -> EncryptionFailure? {
            let file = try EncryptedFile()
            try file.write(bytes)
            let connection = try file.open()
            return try FileHeader(connection.handle, count: 65536).reasonWithoutKey.failure
        }
        #expect(try reason((0..<4096).map { _ in UInt8.random(in: 0...255) }) == .noKey)
        #expect(try reason([UInt8](repeating: 7, count: 4096)) == .notADatabase)
        #expect(try reason([1, 2, 3]) == .notADatabase)
    }

    @Test("each failure gives advice, keeps SQLite's result code, and shows no key")
    func descriptions() {
        let failures: [EncryptionFailure] = [
            .noKey, .wrongKey, .plaintextFile, .olderFormat(3), .newerFormat(4), .notADatabase,
            .damaged(pages: [1, 7]),
            .engineWithoutCipher, .keyRotated, .invalidKey(.rawKeyLength(3)),
            .invalidCipherSettings(.pageSize(5)),
        ]
        #expect(Set(failures.map(\.description)).count == failures.count)
        for failure in failures { #expect(failure.description.hasSuffix(".")) }
        #expect(failures.filter { $0.engineCode == 26 }.count == 8)
    }
}
