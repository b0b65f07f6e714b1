import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// SQLCipher has one HMAC salt mask for the whole process, which must not change while files with a different
/// mask are in use.
@Suite(
    "Files with another HMAC salt mask",
    .enabled(if: OtherMask.isPossible, "SQLCipher since 4.7 ignores a salt after the first use of the key"))
struct SaltMaskTests {
    private static let shellSettings = CipherInteroperabilityTests.betaSettings

    private static func configuration(_ settings: CipherSettings = .ofFormat2Beta) -> Configuration {
        var configuration = Configuration()
        configuration.key = .passphrase("pw")
        configuration.cipher = settings
        return configuration
    }

    /// Returns the result of a query that the stock shell runs on a file of the beta.
    private static func judged(_ file: EncryptedFile, _ query: String) throws -> String {
        try file.shell("PRAGMA key = 'pw'; \(shellSettings) \(query)")
    }

    @Test(
        "a queue or pool writes to such a file, and the shell verifies every page", arguments: Access.allCases
    )
    func work(_ access: Access) throws {
        let file = try EncryptedFile()
        let salt: [UInt8]
        do {
            let made = try Self.judged(file, "CREATE TABLE t(x); INSERT INTO t VALUES ('old');")
            #expect(made == "")
            salt = try Array(file.bytes.prefix(16))
        }
        let database: any DatabaseWriter =
            switch access {
            case .queue: try DatabaseQueue(path: file.path, configuration: Self.configuration())
            case .pool: try DatabasePool(path: file.path, configuration: Self.configuration())
            }
        for number in 1...50 {
            // These writes include page 1, which contains the salt.
            try database.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (hex(randomblob(2000)))")
                try db.execute(sql: "PRAGMA user_version = \(number)")
            }
        }
        try database.vacuum()
        let copy = try EncryptedFile("copy.sqlite")
        try database.vacuum(into: copy.path)
        #expect(try Self.judged(copy, "SELECT count(*) FROM t; PRAGMA cipher_integrity_check;") == "51")
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 51)
        try database.close()
        #expect(try Array(file.bytes.prefix(16)) == salt)
        #expect(
            try Self.judged(
                file, "SELECT count(*) FROM t; PRAGMA user_version; PRAGMA cipher_integrity_check;")
                == "51\n50")
    }

    @Test("the process keeps its mask, and files of both kinds are opened at the same time")
    func sharedProcess() throws {
        let (old, new) = try (EncryptedFile("old.sqlite"), EncryptedFile("new.sqlite"))
        for (file, settings) in [(old, CipherSettings.ofFormat2Beta), (new, .sqlcipher(format: 2))] {
            let queue = try DatabaseQueue(path: file.path, configuration: Self.configuration(settings))
            try queue.write { try $0.execute(sql: "CREATE TABLE t(x); INSERT INTO t VALUES ('found')") }
            try queue.close()
        }
        let paths = [(old.path, CipherSettings.ofFormat2Beta), (new.path, .sqlcipher(format: 2))]
        DispatchQueue.concurrentPerform(iterations: 40) { index in
            let (path, settings) = paths[index % 2]
            #expect(throws: Never.self) {
                let queue = try DatabaseQueue(path: path, configuration: Self.configuration(settings))
                #expect(try queue.read { try String.fetchOne($0, sql: "SELECT x FROM t") } == "found")
                #expect(
                    try queue.read { try String.fetchOne($0, sql: "PRAGMA cipher_hmac_salt_mask") } == "3a")
            }
        }
    }

    @Test("a hot journal of one is played back, and its page 1 keeps the salt")
    func hotJournal() throws {
        let file = try EncryptedFile()
        #expect(try Self.judged(file, "CREATE TABLE t(x); INSERT INTO t VALUES ('committed');") == "")
        let before = try file.bytes
        let (copy, journal) = try { () throws -> ([UInt8], [UInt8]) in
            let queue = try DatabaseQueue(path: file.path, configuration: Self.configuration())
            var found: ([UInt8], [UInt8]) = ([], [])
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA cache_size = 1; BEGIN; PRAGMA user_version = 7")
                for _ in 0..<40 { try db.execute(sql: "INSERT INTO t VALUES (hex(randomblob(400)))") }
                found = try (
                    file.bytes, Array(Data(contentsOf: URL(fileURLWithPath: file.path + "-journal")))
                )
                try db.execute(sql: "ROLLBACK")
            }
            try queue.close()
            return found
        }()
        #expect(copy.count > before.count)
        // As after a power loss in the middle of the transaction.
        try file.write(copy)
        try Data(journal).write(to: URL(fileURLWithPath: file.path + "-journal"))
        let queue = try DatabaseQueue(path: file.path, configuration: Self.configuration())
        #expect(
            try queue.read { try String.fetchOne($0, sql: "SELECT group_concat(x) FROM t") } == "committed")
        try queue.close()
        #expect(try file.bytes.prefix(16) == before.prefix(16))
        #expect(try Self.judged(file, "SELECT x FROM t; PRAGMA cipher_integrity_check;") == "committed")
    }

    @Test("its key is rotated by a copy, and not in place")
    func rotation() throws {
        let file = try EncryptedFile()
        #expect(try Self.judged(file, "CREATE TABLE t(x); INSERT INTO t VALUES ('kept');") == "")
        let queue = try DatabaseQueue(path: file.path, configuration: Self.configuration())
        var options = DatabaseFile.RotationOptions()
        options.method = .inPlace
        #expect(throws: DatabaseFileError.self) {
            try queue.rotateKey(to: .passphrase("new"), options: options)
        }
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT x FROM t") } == "kept")
        try queue.rotateKey(to: .passphrase("new"))
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT x FROM t") } == "kept")
        try queue.close()
        let seen = try file.shell(
            "PRAGMA key = 'new'; \(Self.shellSettings) SELECT x FROM t; PRAGMA cipher_integrity_check;")
        #expect(seen == "kept")
    }

    @Test("its pragma does nothing if the mask is already set, and is refused otherwise")
    func pragma() throws {
        let file = try EncryptedFile()
        let queue = try DatabaseQueue(path: file.path, configuration: Self.configuration())
        try queue.write { db in
            try db.execute(sql: "PRAGMA cipher_hmac_salt_mask = \"x'00'\"")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "PRAGMA cipher_hmac_salt_mask = \"x'3a'\"")
            }
            #expect(error?.resultCode == .SQLITE_AUTH)
            #expect(try String.fetchOne(db, sql: "PRAGMA cipher_hmac_salt_mask") == "3a")
        }
    }
}

/// Trial of the engine with a file that needs another mask.
enum OtherMask {
    /// True unless the engine refuses such files. The tests of them fail for any other error.
    static let isPossible: Bool = {
        do {
            let file = try EncryptedFile()
            let ring = try KeyRing(key: .rawKey(rawKeyBytes), settings: .ofFormat2Beta)
            try file.run(ring, "CREATE TABLE t(x)")
            try file.run(ring)
            return true
        } catch let error as KeyError where error.failure == MaskedSalt.refusal {
            print("this engine cannot use another salt mask: tests of such files are left out")
            return false
        } catch {
            return true
        }
    }()
}

/// The refusal of an engine that ignores the salt of the file after the first use of the key.
@Suite("Files of another mask with an engine that cannot use them")
struct RefusedSaltMaskTests {
    private static let configuration = {
        var configuration = Configuration()
        configuration.key = .passphrase("pw")
        configuration.cipher = .ofFormat2Beta
        return configuration
    }()

    @Test("only engines of SQLCipher 4.7 and later refuse them")
    func engines() {
        #expect(OtherMask.isPossible == (Engine.sqliteVersionNumber < 3_049_001))
    }

    @Test(
        "the settings are recognized, the refusal has its own type, and the file is unchanged",
        .enabled(if: !OtherMask.isPossible, "this engine can use them"))
    func refusal() throws {
        let file = try EncryptedFile()
        let settings = CipherInteroperabilityTests.betaSettings
        #expect(try file.shell("PRAGMA key = 'pw'; \(settings) CREATE TABLE t(x);") == "")
        let before = try file.bytes
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: file.path, configuration: Self.configuration)
        }
        #expect(error?.encryptionFailure == MaskedSalt.refusal)
        #expect(error?.message?.contains("4.6") == true, "\(error as Any)")
        #expect(failure { try file.run(KeyRing(key: .passphrase("pw"))) } == .otherSettings(.ofFormat2Beta))
        #expect(failure { try file.run(KeyRing(key: .passphrase("another"))) } == .wrongKey)
        let another = try KeyRing(key: .passphrase("another"), settings: .ofFormat2Beta)
        #expect(failure { try file.run(another) } == .wrongKey)
        #expect(throws: (any Error).self) {
            try DatabaseFile(path: file.path).upgrade(key: .passphrase("pw"))
        }
        #expect(try file.bytes == before)
    }

    @Test(
        "no new file is written either, because it could not be opened again",
        .enabled(if: !OtherMask.isPossible, "this engine can use them"))
    func newFile() throws {
        let file = try EncryptedFile()
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: file.path, configuration: Self.configuration)
        }
        #expect(error?.encryptionFailure == MaskedSalt.refusal)
        #expect(try file.bytes == [])
    }
}
