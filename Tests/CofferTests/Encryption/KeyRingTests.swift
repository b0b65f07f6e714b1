import CofferTestSupport
import Foundation
import KeyMaterial
import SQLCipherBridge
import Synchronization
import Testing

@testable import Coffer

@Suite("Keys of one queue or pool")
struct KeyRingTests {
    @Test("a passphrase is derived once for any number of connections")
    func oneDerivation() throws {
        let file = try EncryptedFile()
        let before = KeyDerivation.derivationCount
        let creator = try KeyRing(key: .passphrase("pw"))
        try file.fill(creator)
        for _ in 0..<5 { try file.run(creator) }
        #expect(creator.derivationCount == 1, "also when the file was new, and got its salt in between")

        let ring = try KeyRing(key: .passphrase("pw"))
        for _ in 0..<5 { #expect(try file.run(ring, "PRAGMA user_version") == "42") }
        #expect(ring.derivationCount == 1)
        #expect(KeyDerivation.derivationCount >= before + 2)
    }

    @Test("a raw key is never derived")
    func noDerivation() throws {
        let file = try EncryptedFile()
        let ring = try KeyRing(key: .rawKey(rawKeyBytes))
        try file.fill(ring)
        try file.run(ring)
        #expect(ring.derivationCount == 0)
    }

    @Test(
        "previous keys are tried in order after the current one, and the one that worked comes first afterwards"
    )
    func previousKeys() throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .passphrase("2024")))
        let ring = try KeyRing(
            key: .passphrase("2026"), previousKeys: [.passphrase("2025"), .passphrase("2024")])
        var opened = 0
        func open() throws(EngineError) -> EngineConnection {
            opened += 1
            return try file.open()
        }
        _ = try ring.openKeyed(open: open)
        #expect(ring.usedKeyIndex == 2)
        #expect(ring.derivationCount == 3)
        #expect(opened == 3, "one for each key")
        _ = try ring.openKeyed(open: open)
        #expect(ring.derivationCount == 3)
        #expect(opened == 4, "the wrong keys are not tried again")
        #expect(try file.openDescriptors == 0)
    }

    @Test(
        "a provider is asked once while its key works, again when the key was rotated, and its error is passed on"
    )
    func provider() throws {
        let file = try EncryptedFile()
        let asked = Mutex(0)
        let current = Mutex("old")
        struct Unavailable: Error {}
        let ring = try KeyRing(
            key: .provider {
                asked.withLock { $0 += 1 }
                let text = current.withLock { $0 }
                if text.isEmpty { throw Unavailable() }
                return .passphrase(text)
            })
        #expect(asked.withLock { $0 } == 0)
        try file.fill(ring)
        try file.run(ring)
        #expect(asked.withLock { $0 } == 1)

        // Rotated in place, so the salt stays the same.
        _ = try file.shell("PRAGMA key = 'old'; PRAGMA rekey = 'new';")
        current.withLock { $0 = "new" }
        #expect(try file.run(ring, "PRAGMA user_version") == "42")
        #expect(asked.withLock { $0 } == 2)

        // Rotated by copy, so the salt changes.
        let other = try EncryptedFile()
        try other.fill(KeyRing(key: .passphrase("newest")))
        try file.write(other.bytes)
        current.withLock { $0 = "newest" }
        try file.run(ring)
        #expect(asked.withLock { $0 } == 3)

        try file.write(file.bytes.map { $0 ^ 1 })
        current.withLock { $0 = "" }
        do {
            try file.run(ring)
            Issue.record("opened")
        } catch let error as KeyError {
            guard case .provider(let inner) = error else { throw error }
            #expect(inner is Unavailable)
        }
        #expect(try file.openDescriptors == 0)
    }

    @Test("a key that no longer opens the file is reported as rotated")
    func rotated() throws {
        let file = try EncryptedFile()
        let ring = try KeyRing(key: .passphrase("old"))
        try file.fill(ring)
        _ = try file.shell("PRAGMA key = 'old'; PRAGMA rekey = 'new';")
        #expect(failure { try file.run(ring) } == .keyRotated)
        let error = #expect(throws: KeyError.self) { try file.run(ring) }
        guard case .encryption(_, let code) = error else { return }
        #expect(code == EngineCode.notADatabase)
    }

    @Test(
        "the later of two creators of a file does not replace it, and can then open it",
        arguments: [true, false])
    func race(isPassphrase: Bool) throws {
        let file = try EncryptedFile()
        // Two keys, as in two processes. Copies of the same key would agree on the salt.
        func key() -> DatabaseKey { isPassphrase ? .passphrase("pw") : .rawKey(rawKeyBytes) }
        let first = try KeyRing(key: key())
        let second = try KeyRing(key: key())
        let a = try first.openKeyed(open: file.open)
        let b = try second.openKeyed(open: file.open)
        let (isFirstEmpty, isSecondEmpty) = (a.isFileEmpty, b.isFileEmpty)
        #expect(isFirstEmpty && isSecondEmpty)
        try a.handle.execute("PRAGMA auto_vacuum = 2")
        try a.handle.claimEmptyFile()
        #expect(try file.bytes.count == 4096)
        if isPassphrase {
            let handle = b.handle
            #expect(throws: EngineError.self) { try handle.claimEmptyFile() }
        } else {
            // For a raw key, SQLCipher reads the salt only when it needs it.
            try b.handle.claimEmptyFile()
        }
        _ = consume b
        try a.handle.execute("CREATE TABLE t(x)")
        #expect(try file.run(second, "SELECT count(*) FROM t") == "0")
        #expect(try file.run(second, "PRAGMA auto_vacuum") == "2")
        _ = consume a
        #expect(try file.openDescriptors == 0)
    }

    @Test("settings that SQLCipher does not accept are refused, and no file is written")
    func settingsAreProved() throws {
        let file = try EncryptedFile()
        let opened = try file.open()
        let handle = opened.handle
        try handle.setKey(rawKey: SecretBytes(rawKeyBytes), salt: nil)
        #expect(throws: EngineError.self) {
            try handle.proveCodec(settings: ["PRAGMA cipher_page_size = 8192;"])
        }
        #expect(try file.bytes.isEmpty)
    }

    @Test("a connection without a codec is not treated as encrypted, and an empty key is an error")
    func codecIsProved() throws {
        let file = try EncryptedFile()
        let opened = try file.open()
        let handle = opened.handle
        #expect(throws: EngineError.withoutCipher) { try handle.proveCodec(settings: []) }
        #expect(throws: EngineError.self) { try handle.setKey(text: SecretBytes(count: 0)) }
        #expect(throws: EngineError.self) { try handle.setKey(rawKey: SecretBytes([1, 2]), salt: nil) }
        #expect(throws: EngineError.self) { try handle.setKey(rawKey: SecretBytes(rawKeyBytes), salt: [1]) }
    }

    @Test("settings apply although the process-wide defaults of SQLCipher were changed")
    func explicitSettings() throws {
        let file = try EncryptedFile()
        try file.fill(KeyRing(key: .rawKey(rawKeyBytes)))
        let ring = try KeyRing(key: .rawKey(rawKeyBytes))
        let connection = try ring.openKeyed(open: file.open)
        let handle = connection.handle
        #expect(try handle.firstText(trusted: "PRAGMA cipher_page_size") == "4096")
        #expect(try handle.firstText(trusted: "PRAGMA fast_kdf_iter") == "2")
        #expect(try handle.firstText(trusted: "PRAGMA kdf_iter") == "256000")
    }

    @Test("the memory of a ring, its keys and its derived keys is wiped")
    func wiped() throws {
        let memory = RecordingMemory()
        let file = try EncryptedFile()
        try memory.recording {
            let ring = try KeyRing(key: .passphrase("pw"), previousKeys: [.rawKey(rawKeyBytes), .random()])
            try file.fill(ring)
            #expect(memory.live.contains(Array("pw".utf8)))
            #expect(memory.live.contains(rawKeyBytes))
            ring.removeDerivedKeys()
            try file.run(ring)
            #expect(ring.derivationCount == 1, "derived keys live as long as the passphrase")
        }
        #expect(memory.liveCount == 0)
        #expect(memory.released.count >= 6)
        #expect(memory.released.allSatisfy { $0.allSatisfy { $0 == 0 } })
    }

    @Test("keys that were derived from a provider's answer are wiped when the ring forgets it")
    func wipedAnswer() throws {
        let memory = RecordingMemory()
        let file = try EncryptedFile()
        try memory.recording {
            let ring = try KeyRing(key: .provider { .passphrase("pw") })
            try file.fill(ring)
            let before = memory.liveCount
            ring.removeDerivedKeys()
            #expect(memory.liveCount == before - 1)
        }
        #expect(memory.liveCount == 0)
    }

    @Test("copies of a key share derived keys, and equal keys do not")
    func sharedDerivation() throws {
        let file = try EncryptedFile()
        let key = DatabaseKey.passphrase("pw")
        let first = try KeyRing(key: key)
        try file.fill(first)
        let second = try KeyRing(key: key)
        try file.run(second)
        let other = try KeyRing(key: .passphrase("pw"))
        try file.run(other)
        #expect([first, second, other].map(\.derivationCount) == [1, 0, 1])

        var settings = CipherSettings()
        settings.kdfIterations = 1000
        let faster = try KeyRing(key: key, settings: settings)
        try EncryptedFile().fill(faster)
        #expect(faster.derivationCount == 1)
    }

    @Test(
        "all connections to an empty file use one salt; another file, and a recreated one, have another"
    )
    func saltsOfNewFiles() throws {
        let passphrase = Passphrase(SecretBytes(utf8: "pw"))
        let directory = try TestDirectory()
        func touch(_ name: String, _ content: String = "") throws {
            try Data(content.utf8).write(to: URL(fileURLWithPath: directory.path(name)))
        }
        try touch("a")
        try touch("b")
        let salt = try passphrase.salt(forNewFileAt: directory.path("a"))
        #expect(try passphrase.salt(forNewFileAt: directory.path("a")) == salt)
        #expect(try passphrase.salt(forNewFileAt: directory.path("b")) != salt)
        #expect(try passphrase.salt(forNewFileAt: nil) != salt)
        #expect(try passphrase.salt(forNewFileAt: directory.path("missing")) != salt)

        // A caller that inspected the file before the salt was written still gets it. An empty file counts as
        // a different file by then.
        passphrase.didWriteSalt(salt)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.path("a")))
        try handle.write(contentsOf: Data("content".utf8))
        #expect(try passphrase.salt(forNewFileAt: directory.path("a")) == salt)
        try handle.truncate(atOffset: 0)
        #expect(try passphrase.salt(forNewFileAt: directory.path("a")) != salt)
    }

    @Test("an in-memory database with a random key only accepts copies of encrypted databases")
    func memory() throws {
        let memory = try EngineConnection(path: ":memory:", flags: [.readWrite, .create])
        let handle = memory.handle
        try handle.setRandomKey(CipherSettings())
        try handle.execute("CREATE TABLE t(x)")
        #expect(try handle.firstText(trusted: "PRAGMA cipher_provider") == "openssl")
        #expect(try handle.fileSize() == nil)
        let ring = try KeyRing(key: .passphrase("pw"))
        let connection = try ring.openKeyed { () throws(EngineError) in
            try EngineConnection(path: ":memory:", flags: [.readWrite, .create])
        }
        let isFileEmpty = connection.isFileEmpty
        #expect(!isFileEmpty)
    }

    @Test("a hot journal is rolled back with the key, and survives tries with wrong keys")
    func hotJournal() throws {
        let file = try EncryptedFile()
        let ring = try KeyRing(key: .rawKey(rawKeyBytes))
        try file.fill(ring, rows: 200)
        let connection = try ring.openKeyed(open: file.open)
        try connection.handle.execute("PRAGMA cache_size = 5")
        try connection.handle.execute("BEGIN")
        try connection.handle.execute("UPDATE t SET x = zeroblob(500)")
        // The state after a crash: the partially written file and its journal.
        let crashed = try EncryptedFile()
        try crashed.write(file.bytes)
        try FileManager.default.copyItem(atPath: file.path + "-journal", toPath: crashed.path + "-journal")
        _ = consume connection
        #expect(failure { try crashed.run(KeyRing(key: .passphrase("wrong"))) } == .wrongKey)
        #expect(
            try crashed.run(
                KeyRing(key: .rawKey(rawKeyBytes)), "SELECT count(*) FROM t WHERE x = zeroblob(500)") == "0")
        #expect(try crashed.run(KeyRing(key: .rawKey(rawKeyBytes)), "PRAGMA integrity_check") == "ok")
    }

    @Test("a write-ahead log is neither lost nor checkpointed by tries with wrong keys and formats")
    func writeAheadLog() throws {
        let file = try EncryptedFile()
        let ring = try KeyRing(key: .rawKey(rawKeyBytes))
        try file.fill(ring)
        let connection = try ring.openKeyed(open: file.open)
        _ = try connection.handle.firstText(trusted: "PRAGMA journal_mode = WAL")
        try connection.handle.execute("PRAGMA user_version = 77")
        let crashed = try EncryptedFile()
        try crashed.write(file.bytes)
        try FileManager.default.copyItem(atPath: file.path + "-wal", toPath: crashed.path + "-wal")
        _ = consume connection
        #expect(failure { try crashed.run(KeyRing(key: .passphrase("wrong"))) } == .wrongKey)
        #expect(try crashed.run(KeyRing(key: .rawKey(rawKeyBytes)), "PRAGMA user_version") == "77")
    }
}
