import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// A vault of items whose keyring has slots for programs, which need no key stretching.
struct KeyringFixture {
    let directory: TestDirectory
    let path: String

    static let anna = secret(1)
    static let ben = secret(2)

    static func secret(_ byte: UInt8) -> DatabaseKeyring.Secret {
        .rawKey([UInt8](repeating: byte, count: 32))
    }

    /// Returns a passphrase whose slots take a hundredth of the standard time.
    static func passphrase(_ text: String) -> DatabaseKeyring.Secret {
        .passphrase(text, cost: DatabaseKeyring.PassphraseCost(logarithm: 10))
    }

    init() throws {
        directory = try TestDirectory()
        path = directory.path("items.db")
    }

    /// Creates a fixture for another database in the same directory.
    init(directory: TestDirectory, path: String) { (self.directory, self.path) = (directory, path) }

    var keyring: DatabaseKeyring { DatabaseKeyring(databasePath: path) }

    func configuration(_ secret: DatabaseKeyring.Secret) -> Configuration {
        var configuration = Configuration()
        configuration.key = .keyring(unlockedBy: secret)
        return configuration
    }

    /// Makes a keyring for Anna and a database with two items.
    func make(_ more: [DatabaseKeyring.NewSlot] = []) throws {
        try keyring.make([.secret(Self.anna, name: "Anna")] + more)
        let queue = try DatabaseQueue(path: path, configuration: configuration(Self.anna))
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter'), ('photo')")
        }
        try queue.close()
    }

    /// Returns the items of the database that a secret opens.
    func items(_ secret: DatabaseKeyring.Secret) throws -> [String] {
        let queue = try DatabaseQueue(path: path, configuration: configuration(secret))
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT title FROM item ORDER BY title") }
    }

    /// Returns the keyring problem that opening the database reports, or nil if there is none.
    func problem(_ secret: DatabaseKeyring.Secret = anna) -> EncryptionFailure.KeyringProblem? {
        KeyringFixture.problem { _ = try items(secret) }
    }

    static func problem(_ body: () throws -> Void) -> EncryptionFailure.KeyringProblem? {
        do {
            try body()
            return nil
        } catch {
            let failure =
                switch error {
                case let error as DatabaseFileError:
                    if case .key(let failure) = error.reason { failure } else { nil as EncryptionFailure? }
                case let error as DatabaseError: error.encryptionFailure
                default: nil as EncryptionFailure?
                }
            if case .keyring(_, let problem) = failure { return problem }
            Issue.record("another error: \(error)")
            return nil
        }
    }
}
