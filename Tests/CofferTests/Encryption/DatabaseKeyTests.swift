import Foundation
import KeyMaterial
import Testing

@testable import Coffer

@Suite("Database keys and cipher settings")
struct DatabaseKeyTests {
    private func problem(_ key: DatabaseKey) -> EncryptionFailure.KeyProblem? {
        guard case .invalidKey(let problem) = failure({ _ = try KeyRing(key: key) }) else { return nil }
        return problem
    }

    @Test("keys that can never work are refused when they are used")
    func invalid() {
        #expect(problem(.passphrase("")) == .emptyPassphrase)
        #expect(problem(.passphrase(Data())) == .emptyPassphrase)
        #expect(problem(.rawKey([1, 2, 3])) == .rawKeyLength(3))
        #expect(problem(.rawKey(rawKeyBytes + [0])) == .rawKeyLength(33))
        #expect(problem(.rawKey(rawKeyBytes, salt: [1])) == .saltLength(1))
        #expect(problem(.passphrase("pw".utf8, salt: [])) == .saltLength(0))
        #expect(problem(.passphrase("x'\(hexText(rawKeyBytes))'")) == .passphraseLooksLikeRawKey)
        #expect(problem(.passphrase("X'0011'")) == .passphraseLooksLikeRawKey)
        #expect(problem(.passphrase("x''")) == .passphraseLooksLikeRawKey)
        for text in ["x'00g1'", "x'", "'0011'", "x'0011' ", "xx'00'"] {
            #expect(problem(.passphrase(text)) == nil)
        }
        for key in [
            DatabaseKey.random(), .passphrase(Data([0])), .rawKey(Data(rawKeyBytes)), .provider { .random() },
        ] {
            #expect(problem(key) == nil)
        }
    }

    @Test("an invalid previous key, and a provider's invalid answer, are refused too")
    func invalidElsewhere() throws {
        #expect(
            failure { _ = try KeyRing(key: .random(), previousKeys: [.passphrase("")]) }
                == .invalidKey(.emptyPassphrase))
        let file = try EncryptedFile()
        #expect(
            failure { try file.run(KeyRing(key: .provider { .rawKey([]) })) } == .invalidKey(.rawKeyLength(0))
        )
        #expect(
            failure { try file.run(KeyRing(key: .provider { .provider { .random() } })) }
                == .invalidKey(.nestedProvider))
        #expect(try file.openDescriptors == 0)
        #expect(try file.bytes.isEmpty)
    }

    @Test("no description, mirror or dump shows a key")
    func redacted() {
        for key in [
            DatabaseKey.passphrase("hush-hush"), .rawKey(rawKeyBytes, salt: saltBytes),
            .provider { .passphrase("hush-hush") },
        ] {
            var dumped = ""
            dump(key, to: &dumped)
            for text in ["\(key)", String(reflecting: key), dumped, "\([key])", "\(Optional(key) as Any)"] {
                #expect(!text.contains("hush"))
                #expect(!text.contains("3, 10"))
                #expect(text.contains("redacted"))
            }
        }
    }

    @Test("the bytes of a random key can be stored, and a passphrase has no raw key bytes")
    func bytes() {
        let key = DatabaseKey.random()
        let bytes = unsafe key.withUnsafeRawKeyBytes { unsafe Array($0) }
        #expect(bytes?.count == 32)
        let ofPassphrase = unsafe DatabaseKey.passphrase("pw").withUnsafeRawKeyBytes { $0.count }
        #expect(ofPassphrase == nil)
        let others = unsafe DatabaseKey.random().withUnsafeRawKeyBytes { unsafe Array($0) }
        #expect(others != bytes)
    }

    @Test("SQLCipher's notation of a key is read as SQLCipher reads it")
    func notation() throws {
        func parts(_ text: String) -> (isRaw: Bool, bytes: [UInt8], salt: [UInt8]?) {
            switch DatabaseKey(sqlCipherText: SecretBytes(utf8: text)).kind {
            case .rawKey(let secret, let salt):
                (true, secret.bytes.withUnsafeBytes { unsafe Array($0) }, salt)
            case .passphrase(let secret, let salt):
                (false, secret.bytes.withUnsafeBytes { unsafe Array($0) }, salt)
            default: (false, [], nil)
            }
        }
        let raw = parts("x'\(hexText(rawKeyBytes))'")
        #expect(raw.isRaw && raw.bytes == rawKeyBytes && raw.salt == nil)
        let salted = parts("X'\(hexText(rawKeyBytes + saltBytes).uppercased())'")
        #expect(salted.isRaw && salted.bytes == rawKeyBytes && salted.salt == saltBytes)
        for text in [
            "secret", "x'0011'", "x'\(hexText(rawKeyBytes))", "x'\(hexText(rawKeyBytes).dropLast())z'", "",
        ] {
            let passphrase = parts(text)
            #expect(!passphrase.isRaw && passphrase.bytes == Array(text.utf8))
        }
        let file = try EncryptedFile()
        _ = try file.shell("PRAGMA key = \"x'0011'\"; CREATE TABLE t(x);")
        try file.run(
            KeyRing(key: DatabaseKey(sqlCipherText: SecretBytes(utf8: "x'0011'"))), "SELECT * FROM t")
    }

    @Test("settings that can never work are refused when they are used")
    func invalidSettings() {
        func problem(_ key: DatabaseKey = .random(), _ change: (inout CipherSettings) -> Void)
            -> EncryptionFailure?
        {
            var settings = CipherSettings()
            change(&settings)
            return failure { _ = try KeyRing(key: key, settings: settings) }
        }
        for size in [0, -4096, 256, 512, 1000, 131072, Int.min] {
            #expect(problem { $0.pageSize = size } == .invalidCipherSettings(.pageSize(size)))
        }
        #expect(problem { $0.kdfIterations = 0 } == .invalidCipherSettings(.kdfIterations(0)))
        #expect(problem { $0.kdfIterations = 1 << 31 } == .invalidCipherSettings(.kdfIterations(1 << 31)))
        #expect(problem { $0.hmacKeyIterations = -1 } == .invalidCipherSettings(.hmacKeyIterations(-1)))
        for size in [-16, 8, 33, 112, 256] {
            #expect(
                problem { $0.plaintextHeaderSize = size }
                    == .invalidCipherSettings(.plaintextHeaderSize(size)))
        }
        #expect(
            problem { $0.plaintextHeaderSize = 32 } == .invalidCipherSettings(.plaintextHeaderWithoutSalt))
        #expect(problem(.rawKey(rawKeyBytes, salt: saltBytes)) { $0.plaintextHeaderSize = 32 } == nil)
        for format in [0, 5, -1] {
            #expect(
                problem { $0 = .sqlcipher(format: format) } == .invalidCipherSettings(.unknownFormat(format)))
        }
        #expect(CipherSettings.sqlcipher(format: 4) == CipherSettings())
    }
}
