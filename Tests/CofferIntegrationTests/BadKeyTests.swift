import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Keys that cannot work")
struct BadKeyTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    static let impossible: [(DatabaseKey, EncryptionFailure.KeyProblem)] = [
        (.passphrase(""), .emptyPassphrase),
        (.passphrase([UInt8]()), .emptyPassphrase),
        (.rawKey([UInt8]()), .rawKeyLength(0)),
        (.rawKey([UInt8](repeating: 1, count: 31)), .rawKeyLength(31)),
        (.rawKey([UInt8](repeating: 1, count: 33)), .rawKeyLength(33)),
        (.rawKey([UInt8](repeating: 1, count: 64)), .rawKeyLength(64)),
        (.rawKey([UInt8](repeating: 1, count: 32), salt: [UInt8]()), .saltLength(0)),
        (.rawKey([UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 1, count: 15)), .saltLength(15)),
        (.passphrase("x'\(String(repeating: "0a", count: 32))'"), .passphraseLooksLikeRawKey),
        (.passphrase("X'\(String(repeating: "0A", count: 48))'"), .passphraseLooksLikeRawKey),
        (.passphrase("x'0011'"), .passphraseLooksLikeRawKey),
        (.provider { .provider { .random() } }, .nestedProvider),
        (.provider { .passphrase("") }, .emptyPassphrase),
    ]

    @Test(
        "they are refused with their reason and a hint, and no file with content is created",
        arguments: Access.allCases)
    func refused(access: Access) throws {
        for (key, problem) in BadKeyTests.impossible {
            let configuration = Configuration().with { $0.key = key }
            let error = #expect(throws: DatabaseError.self) {
                try directory.make(access, "a.db", configuration)
            }
            #expect(error?.encryptionFailure == .invalidKey(problem))
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message?.hasSuffix(".") == true)
            #expect(directory.fileNames().allSatisfy { (try? directory.bytes(of: $0).isEmpty) == true })
        }
    }

    @Test("they do not harm an existing file", arguments: Access.allCases)
    func existingFile(access: Access) throws {
        try directory.make(access).write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        let bytes = try directory.bytes(of: "a.db")
        for (key, _) in BadKeyTests.impossible {
            #expect(throws: DatabaseError.self) {
                try directory.make(access, "a.db", Configuration().with { $0.key = key })
            }
            #expect(throws: DatabaseError.self) {
                try directory.make(
                    access, "a.db",
                    .rawKeyed(1).with {
                        $0.previousKeys = [key, .rawKey([UInt8](repeating: 0x42, count: 32))]
                    })
            }
        }
        #expect(try directory.bytes(of: "a.db") == bytes)
        #expect(try directory.make(access).int("SELECT a FROM t") == 1)
    }

    @Test(
        "the error of a provider is rethrown, and the next try asks again",
        arguments: Access.allCases)
    func provider(access: Access) throws {
        struct Locked: Error {}
        let configuration = Configuration().with { $0.key = .provider { throw Locked() } }
        #expect(throws: Locked.self) { try directory.make(access, "a.db", configuration) }
        #expect(try directory.make(access).int("SELECT 1") == 1)
        #expect(throws: Locked.self) { try directory.make(access, "a.db", configuration) }
    }

    @Test(
        "opening without a key fails, and leaves no file with content",
        arguments: Access.allCases)
    func noKey(access: Access) throws {
        let error = #expect(throws: DatabaseError.self) {
            try directory.make(access, "a.db", Configuration())
        }
        #expect(error?.encryptionFailure == .noKey)
        #expect(directory.fileNames().isEmpty)
        let prepared = Configuration().with { $0.prepareDatabase { _ in } }
        #expect(throws: DatabaseError.self) { try directory.make(access, "a.db", prepared) }
        let writing = Configuration().with {
            $0.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t (a)") }
        }
        #expect(throws: DatabaseError.self) { try directory.make(access, "b.db", writing) }
        #expect(directory.fileNames().allSatisfy { (try? directory.bytes(of: $0).isEmpty) == true })
    }

    @Test(
        "keys of all lengths and characters work, and the shell agrees",
        .enabled(if: SQLCipherShell.isAvailable))
    func unusualPassphrases() throws {
        for passphrase in ["'", "\"", "x'zz'", "é中𝄞", " ", "a\\", String(repeating: "long", count: 2000)] {
            let name = UUID().uuidString
            let configuration = Configuration.passphrase(passphrase).with { $0.cipher.kdfIterations = 1000 }
            try directory.makeQueue(name, configuration).write {
                try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            }
            let shell = SQLCipherShell(
                path: directory.path(name), passphrase: passphrase, preparation: "PRAGMA kdf_iter = 1000;")
            #expect(try shell.run("SELECT a FROM t;") == ["1"])
        }
    }

    @Test("a passphrase is not cut at a NUL character")
    func zero() throws {
        let configuration = { (bytes: [UInt8]) in Configuration().with { $0.key = .passphrase(bytes) } }
        try directory.makeQueue("a.db", configuration([97, 0, 98])).write {
            try $0.execute(sql: "CREATE TABLE t (a)")
        }
        for other in [[97], [97, 0]] as [[UInt8]] {
            #expect(throws: DatabaseError.self) { try directory.makeQueue("a.db", configuration(other)) }
        }
        #expect(
            try directory.makeQueue("a.db", configuration([97, 0, 98])).int("SELECT count(*) FROM t") == 0)
    }
}
