import Coffer
import CofferTestSupport
import Testing

/// The blocks of the README, of the front page of the documentation and of the article on rotation that are
/// not tested elsewhere.
@Suite("The front page")
struct FrontPageTests {
    private let directory: TestDirectory
    private var path: String { directory.path("vault.db") }

    init() throws {
        directory = try TestDirectory()
    }

    @Test("an encrypted database is made, and a wrong key says so")
    func opening() throws {
        var configuration = Configuration()
        configuration.key = .passphrase("correct horse battery staple")
        let queue = try DatabaseQueue(path: path, configuration: configuration)

        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (name TEXT NOT NULL)")
            try db.execute(sql: "INSERT INTO item VALUES (?)", arguments: ["ring"])
        }
        let names = try queue.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM item")
        }
        #expect(names == ["ring"])
        try queue.close()

        var reason: EncryptionFailure?
        func open() throws {
            do {
                _ = try DatabaseQueue(path: path, configuration: configuration)
            } catch let error as DatabaseError where error.encryptionFailure == .wrongKey {
                // error.resultCode is SQLITE_NOTADB, as SQLite has it; the reason is Coffer's.
                reason = error.encryptionFailure
            }
        }
        try open()
        #expect(reason == nil)
        configuration.key = .passphrase("battery staple")
        try open()
        #expect(reason == .wrongKey)
        // Made by: coffer keygen --out /etc/vault/key
        configuration.key = .keyFile("/etc/vault/key")
        // For files whose key was not rotated yet.
        configuration.previousKeys = [.credential("former-key")]
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    @Test("a closed file and an open pool get other keys")
    func rotation() async throws {
        let path = path
        var configuration = Configuration()
        configuration.key = .passphrase("old")
        try DatabaseQueue(path: path, configuration: configuration).close()
        // A file that nobody has open.
        let result = try DatabaseFile(path: path).rotate(from: .passphrase("old"), to: .passphrase("new"))
        #expect(result.isChanged)
        configuration.key = .passphrase("new")
        let pool = try DatabasePool(path: path, configuration: configuration)
        let newKey = DatabaseKey.rawKey([UInt8](repeating: 7, count: 32))
        // A queue or a pool, while the program goes on.
        try await pool.rotateKey(to: newKey)
        configuration.key = newKey
        try pool.close()
        try DatabaseQueue(path: path, configuration: configuration).close()
    }
}
