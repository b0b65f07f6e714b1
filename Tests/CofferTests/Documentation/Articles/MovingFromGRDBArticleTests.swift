import Coffer
import CofferTestSupport
import Foundation
import Testing

/// The code blocks of the article on moving from GRDB, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on moving from GRDB")
struct MovingFromGRDBArticleTests {
    private let directory: TestDirectory
    private var path: String { directory.path("vault.db") }

    init() throws {
        directory = try TestDirectory()
    }

    func openVault(path: String, key: DatabaseKey) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.key = key
        do {
            return try DatabasePool(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.encryptionFailure == .plaintextFile {
            try DatabaseFile(path: path).encrypt(key: key)
            return try DatabasePool(path: path, configuration: configuration)
        }
    }

    @Test("the command replaces imports and module names, but not URLs")
    func imports() throws {
        let article =
            URL(fileURLWithPath: #filePath).pathComponents.prefix { $0 != "Tests" }
            + ["Sources", "Coffer", "Coffer.docc", "MovingFromGRDB.md"]
        let text = try String(contentsOfFile: NSString.path(withComponents: Array(article)), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        // The first shell block sets up a mirror.
        let start = try #require(text.lastIndex { $0.hasSuffix("```sh") })
        let command = text[(start + 1)...].prefix { !$0.hasSuffix("```") }
        #expect(!command.isEmpty)
        let lines = [
            "import GRDB", "@testable import GRDBDemo", "// See <https://github.com/groue/GRDB.swift>",
            "let writer: any GRDB.DatabaseWriter",
        ]
        _ = try directory.makeFolder("Sources/Demo")
        _ = try directory.makeFolder("Tests")
        try directory.write(lines.joined(separator: "\n").utf8, to: "Sources/Demo/Store.swift")
        try directory.write("@testable import GRDB".utf8, to: "Tests/StoreTests.swift")
        let script = "cd '\(directory.path)' && \(command.joined(separator: "\n"))"
        #expect(try ChildProcess.run("sh", ["-c", script]).status == 0)
        let changed = String(decoding: try directory.bytes(of: "Sources/Demo/Store.swift"), as: UTF8.self)
        #expect(
            changed.split(separator: "\n") == [
                "import Coffer", "@testable import GRDBDemo", "// See <https://github.com/groue/GRDB.swift>",
                "let writer: any Coffer.DatabaseWriter",
            ])
        let test = String(decoding: try directory.bytes(of: "Tests/StoreTests.swift"), as: UTF8.self)
        #expect(test == "@testable import Coffer")
    }

    @Test("a plaintext file is encrypted at its first opening")
    func plaintext() throws {
        var configuration = Configuration()
        configuration.allowsPlaintext = true
        let plain = try DatabaseQueue(path: path, configuration: configuration)
        try plain.write { db in
            try db.execute(sql: "CREATE TABLE item (name TEXT); INSERT INTO item VALUES ('ring')")
        }
        try plain.close()
        #expect(try directory.bytes(of: "vault.db").starts(with: Array("SQLite format 3".utf8)))
        let key = DatabaseKey.rawKey([UInt8](repeating: 7, count: 32))
        for _ in 1...2 {
            let pool = try openVault(path: path, key: key)
            #expect(try pool.read { db in try String.fetchOne(db, sql: "SELECT name FROM item") } == "ring")
            try pool.close()
        }
        #expect(try !directory.bytes(of: "vault.db").starts(with: Array("SQLite".utf8)))
    }

    @Test(
        "a file of the stock shell opens with a configured key and with a prepared passphrase",
        .enabled(if: SQLCipherShell.isAvailable),
        arguments: [false, true])
    func passphrase(byPreparation: Bool) throws {
        let shell = SQLCipherShell(path: path, passphrase: "correct horse battery staple")
        _ = try shell.run("CREATE TABLE item (name TEXT); INSERT INTO item VALUES ('ring');")
        var configuration = Configuration()
        if byPreparation {
            configuration.prepareDatabase { db in
                try db.usePassphrase("correct horse battery staple")
            }
        } else {
            configuration.key = .passphrase("correct horse battery staple")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        #expect(try pool.read { db in try String.fetchOne(db, sql: "SELECT name FROM item") } == "ring")
    }

    @Test("a file with a plaintext header needs a setting in the configuration, and the pragma can stay")
    func plaintextHeader() throws {
        let keySpec = "x'\(String(repeating: "0f", count: 48))'"
        for _ in 1...2 {
            var configuration = Configuration()
            configuration.cipher.plaintextHeaderSize = 32
            configuration.prepareDatabase { db in
                try db.usePassphrase(keySpec)
                try db.execute(sql: "PRAGMA cipher_plaintext_header_size = 32")
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.write { db in try db.execute(sql: "CREATE TABLE IF NOT EXISTS item (name TEXT)") }
            #expect(try pool.read { db in try db.tableExists("item") })
            try pool.close()
        }
        #expect(try directory.bytes(of: "vault.db").starts(with: Array("SQLite format 3".utf8)))
    }
}
