import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

/// The code blocks of the article on keys, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on keys in practice", .timeLimit(.minutes(5)))
struct KeysInPracticeArticleTests {
    /// A secret store of a service.
    private struct Store: Sendable {
        struct Silent: Error {}

        let secrets: [String: [UInt8]]

        func secret(named name: String) throws -> [UInt8] {
            guard let secret = secrets[name] else { throw Silent() }
            return secret
        }
    }

    private final class Printer {
        private(set) var printed: [UInt8] = []

        func print(_ text: UnsafeRawBufferPointer) { printed = unsafe Array(text) }
    }

    private let directory: TestDirectory
    private var folder: String { directory.path }
    private var path: String { directory.path("vault.db") }

    init() throws {
        directory = try TestDirectory()
    }

    private func check(_ configuration: Configuration) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY)")
        }
        try queue.close()
    }

    @Test("a key of a file, and of a store")
    func keys() throws {
        try storeNewKey(at: folder + "/vault.key")
        #expect(throws: CocoaError.self) { try storeNewKey(at: folder + "/vault.key") }
        var configuration = Configuration()
        configuration.key = .keyFile(folder + "/vault.key")
        try check(configuration)
        let store = Store(secrets: ["vault": try directory.bytes(of: "vault.key")])
        configuration.key = .provider {
            .rawKey(try store.secret(named: "vault"))
        }
        try check(configuration)
        configuration.key = .credential("vault")
        let failure = #expect(throws: DatabaseError.self) { try check(configuration) }
        #expect(failure?.encryptionFailure == .invalidKey(.noCredential(name: "vault")))
        configuration.key = .keyFile("/run/secrets/vault", allowsInsecureMode: true)
        #expect(throws: DatabaseError.self) { try check(configuration) }
    }

    @Test("a keyring on a desktop")
    func keyrings() throws {
        let (typed, better) = ("correct horse", "battery staple")
        let (path, printer) = (path, Printer())
        var configuration = Configuration()
        let keyring = DatabaseKeyring(databasePath: path)
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        try keyring.make([
            .secret(.passphrase(typed), name: "Anna"),
            .secret(recovery.secret, name: "on paper"),
        ])
        unsafe recovery.withUnsafeText { text in unsafe printer.print(text) }

        configuration.key = .keyring(unlockedBy: .passphrase(typed))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY)") }
        try queue.close()
        try keyring.change(to: .passphrase(better), unlockedBy: .passphrase(typed))
        configuration.key = .keyring(unlockedBy: .passphrase(typed))
        #expect(throws: DatabaseError.self) { try check(configuration) }
        configuration.key = .keyring(unlockedBy: .passphrase(better))
        try check(configuration)
        configuration.key = .keyring(unlockedBy: .recoveryKey(printer.printed))
        try check(configuration)
    }

    @Test(
        "a running program changes the key",
        arguments: ["nothing", "the new key is stored", "the file has it"])
    func renewing(done: String) async throws {
        try storeNewKey(at: folder + "/vault.key")
        let folder = folder
        var configuration = Configuration()
        configuration.key = .keyFile(folder + "/vault.key")
        configuration.previousKeys = [.keyFile(folder + "/vault.key.next")]
        try check(configuration)
        let old = DatabaseKey.rawKey(try directory.bytes(of: "vault.key"))
        // The state of an earlier run that was killed.
        if done != "nothing" { try storeNewKey(at: folder + "/vault.key.next") }
        if done == "the file has it" {
            try DatabaseFile(path: path).rotate(from: old, to: .keyFile(folder + "/vault.key.next"))
        }

        let pool = try DatabasePool(path: path, configuration: configuration)
        try await renewKey(of: pool, in: folder, storeNewKey: storeNewKey(at:))
        #expect(try await pool.read { db in try db.tableExists("item") })
        try pool.close()
        #expect(directory.fileNames() == ["vault.db", "vault.key"])
        try check(configuration)
        var outdated = Configuration()
        outdated.key = old
        #expect(throws: DatabaseError.self) { try check(outdated) }
    }
}

/// Gives the database a new key. The key files are in a folder, and `storeNewKey` writes one durably.
func renewKey(of pool: DatabasePool, in folder: String, storeNewKey: (String) throws -> Void) async throws {
    let (current, next) = (folder + "/vault.key", folder + "/vault.key.next")
    if !FileManager.default.fileExists(atPath: next) {
        try storeNewKey(next)
    }
    do {
        try await pool.rotateKey(to: .keyFile(next))
    } catch let error as DatabaseFileError where error.reason == .sameKey {
        // An earlier run has rotated the key, and was killed before it renamed the key file.
    }
    try FileManager.default.replaceKeyFile(current, by: next)
}

/// Writes a random key to a new file that only the owner can read. Returns when it is on the disk.
@Sendable func storeNewKey(at path: String) throws {
    let file = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY, 0o600)
    guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
    defer { close(file) }
    let isWritten = unsafe DatabaseKey.random().withUnsafeRawKeyBytes { bytes in
        unsafe write(file, bytes.baseAddress, bytes.count) == bytes.count
    }
    guard isWritten == true, fsync(file) == 0 else { throw CocoaError(.fileWriteUnknown) }
}

extension FileManager {
    /// Replaces a key file with another one.
    func replaceKeyFile(_ current: String, by next: String) throws {
        guard unsafe rename(next, current) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
