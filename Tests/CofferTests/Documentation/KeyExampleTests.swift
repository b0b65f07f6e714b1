import Coffer
import CofferTestSupport
import Foundation
import Testing

/// The documentation's examples of keys and keyrings. `Scripts/check-docs` looks for their lines in this
/// folder.
@Suite("Examples of keys", .timeLimit(.minutes(5)))
struct KeyExampleTests {
    private let directory: TestDirectory
    private let bytes = [UInt8](repeating: 0x42, count: 32)
    private let text = String(repeating: "42", count: 32)
    private let passphrase = "correct horse battery staple"
    private var path: String { directory.path("vault.db") }

    init() throws {
        directory = try TestDirectory()
    }

    /// Makes a database with one item.
    private func make(_ key: DatabaseKey, at path: String) throws {
        var configuration = Configuration()
        configuration.key = key
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (name TEXT); INSERT INTO item VALUES ('ring')")
        }
        try queue.close()
    }

    private func opens(_ configuration: Configuration, _ path: String? = nil) throws -> Bool {
        do {
            let queue = try DatabaseQueue(path: path ?? self.path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { db in try String.fetchOne(db, sql: "SELECT name FROM item") } == "ring"
        } catch let error as DatabaseError where error.encryptionFailure == .wrongKey {
            return false
        }
    }

    @Test("sources of a key")
    func keys() throws {
        let (digits, keyPath) = (Array(text.utf8), directory.path("vault.key"))
        @Sendable func answerOfStore() throws -> [UInt8] { Array("another passphrase".utf8) }
        try directory.write(digits, to: "vault.key")
        #expect(unsafe chmod(keyPath, 0o600) == 0)
        try make(.rawKey(bytes), at: path)
        var config = Configuration()
        config.key = .passphrase("correct horse battery staple")
        #expect(try !opens(config))
        config.key = .rawKey(bytes)
        #expect(try opens(config))
        config.key = .provider { try .passphrase(answerOfStore()) }
        #expect(try !opens(config))
        config.key = .hexadecimal(digits)
        #expect(try opens(config))
        config.key = .hexadecimal(text)
        #expect(try opens(config))
        config.key = .keyFile(keyPath)
        #expect(try opens(config))
    }

    @Test("keys that are derived from a master key")
    func derivedKeys() throws {
        var configuration = Configuration()
        do {
            let master = DatabaseKey.credential("master-key")
            configuration.key = .derived(from: master, info: "notes of tenant 7")
        }
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        let master = DatabaseKey.rawKey(bytes)
        let keys = KeyGenerations(of: "notes of tenant 7", from: master)
        configuration.setKey(keys, generation: 3)
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in try db.execute(sql: "CREATE TABLE item (name TEXT)") }
        try pool.rotateKey(to: keys[4])
        try pool.close()
        configuration.key = keys[5]
        configuration.previousKeys = keys.previous(to: 4, count: 2)
        #expect(configuration.previousKeys.count == 2)
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.encryptionFailure == .wrongKey)
        configuration.previousKeys = [keys[4]]
        #expect(throws: Never.self) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    @Test("a keyring")
    func keyrings() throws {
        let (better, office) = ("a better passphrase", try DatabaseKeyring.Identity.random().recipient)
        let keyring = DatabaseKeyring(databasePath: path)
        try keyring.make([
            .secret(.passphrase(passphrase), name: "Anna"),
            .recipient(office, name: "recovery office"),
        ])
        var config = Configuration()
        config.key = .keyring(unlockedBy: .passphrase(passphrase))
        do {
            let queue = try DatabaseQueue(path: path, configuration: config)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE item (name TEXT); INSERT INTO item VALUES ('ring')")
            }
            try queue.close()
        }
        do {
            let pool = try DatabasePool(path: path, configuration: config)
            #expect(try pool.read { db in try String.fetchOne(db, sql: "SELECT name FROM item") } == "ring")
            try pool.close()
        }
        // No page of the database is written:
        try keyring.change(slot: 1, to: .passphrase(better), unlockedBy: .passphrase(passphrase))
        config.key = .keyring(unlockedBy: .passphrase(better))
        #expect(try opens(config))
        config.key = .keyring(unlockedBy: .passphrase("correct horse battery staple"))
        #expect(throws: DatabaseError.self) { try opens(config) }
    }

    @Test("slots of other kinds")
    func slots() throws {
        let keyring = DatabaseKeyring(databasePath: path)
        var config = Configuration()
        try keyring.make([.secret(.passphrase(passphrase))])
        config.key = .keyring(unlockedBy: .passphrase(passphrase))
        try make(.keyring(unlockedBy: .passphrase(passphrase)), at: path)
        var (sheet, stored): ([UInt8], [UInt8]) = ([], [])
        func printSheet(_ text: UnsafeRawBufferPointer) { sheet = unsafe Array(text) }
        func store(_ text: UnsafeRawBufferPointer) { stored = unsafe Array(text) }
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        try keyring.add(.secret(recovery.secret, name: "safe"), unlockedBy: .passphrase(passphrase))
        unsafe recovery.withUnsafeText { text in unsafe printSheet(text) }  // now: it is not stored
        config.key = .keyring(unlockedBy: .recoveryKey(sheet))
        #expect(try opens(config))

        var printed: [String] = []
        func print(_ recipient: DatabaseKeyring.Recipient) { printed.append(recipient.description) }
        let identity = try DatabaseKeyring.Identity.random()
        unsafe identity.withUnsafeText { text in unsafe store(text) }  // a secret
        print(identity.recipient)  // not a secret
        let text = try #require(printed.first)
        let owner = try DatabaseKeyring.Recipient(text)
        try keyring.add(.recipient(owner), unlockedBy: .passphrase(passphrase))
        config.key = .keyring(unlockedBy: .identity(stored))
        #expect(try opens(config))

        let programPath = directory.path("vault-key")
        let program = """
            #!/bin/sh
            read title; read word; read _ challenge; read _ token
            echo "secret $(printf '%s' "$challenge" | sha256sum | cut -c1-64)"
            if [ $word = make ]; then echo "token 0a"; fi

            """
        try directory.write(program.utf8, to: "vault-key")
        #expect(unsafe chmod(programPath, 0o700) == 0)
        let service = DatabaseKeyring.Command(programPath, ["--region", "eu-1"], timeout: 10)
        try keyring.add(.secret(.command(service), name: "key service"), unlockedBy: .passphrase(passphrase))
        config.key = .keyring(unlockedBy: .command(service))
        #expect(try opens(config))
    }

    @Test("copies with their own keyrings")
    func copies() throws {
        let (key, owner) = (DatabaseKey.rawKey(bytes), try DatabaseKeyring.Identity.random().recipient)
        let (folder, backupPath) = (try directory.makeFolder("backups"), directory.path("copy.db"))
        try make(key, at: path)
        // A host that makes backups, and cannot read them afterwards:
        try DatabaseFile(path: path).backup(into: folder, key: key, slots: [.recipient(owner)])
        #expect(directory.fileNames().count { $0.hasPrefix("backups/vault.db.") } == 2)
        let queue = try DatabaseQueue(path: path, configuration: Configuration.rawKeyed)
        // A host that makes backups that it cannot read itself:
        try DatabaseKeyring(databasePath: backupPath).make([.recipient(owner)]) { key in
            try queue.vacuum(into: backupPath, key: key)
        }
        #expect(directory.fileNames().contains("copy.db.keys"))
        do {
            let backupPath = directory.path("file.db")
            // A host that makes backups, and cannot read them afterwards:
            try DatabaseFile(path: path).backup(to: backupPath, key: key, slots: [.recipient(owner)])
            #expect(directory.fileNames().contains("file.db.keys"))
        }
    }

    @Test("the cost of a passphrase, and the memory of keys")
    func costs() throws {
        let keyring = DatabaseKeyring(databasePath: path)
        // A device with little memory: at most 128 MiB, and no more than it can use in 0.6 seconds.
        let cost = DatabaseKeyring.PassphraseCost.measured(atLeast: .init(logarithm: 15))
        try keyring.make([.secret(.passphrase(passphrase, cost: cost))])
        #expect(try keyring.inspect().slots[0].passphraseCost == cost)

        var printed: [String] = []
        func print(_ text: String) { printed.append(text) }
        if DatabaseKey.memoryUse.unlockedByteCount > 0 {
            print("Keys may be swapped out. Raise RLIMIT_MEMLOCK, or encrypt the swap space.")
        }
        #expect(printed.isEmpty == (DatabaseKey.memoryUse.unlockedByteCount == 0))
    }

    @Test("restoring a backup over a database with a keyring")
    func restoring() throws {
        let (backupPath, backupKey) = (directory.path("backup.db"), DatabaseKey.rawKey(bytes))
        try make(backupKey, at: backupPath)
        try DatabaseKeyring(databasePath: path).make([.secret(.passphrase(passphrase))])
        do {
            let keyring = DatabaseKeyring(databasePath: path)
            let key = try keyring.keyForRestoring(unlockedBy: .passphrase(passphrase))
            try DatabaseFile(path: path).restore(from: backupPath, key: backupKey, newKey: key)
        }
        var configuration = Configuration()
        configuration.key = .keyring(unlockedBy: .passphrase(passphrase))
        #expect(try opens(configuration))
    }
}
