import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Decrypting and upgrading")
struct ConversionTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 50)
    }

    @Test("a plaintext copy is made only with --yes-plaintext")
    func decrypt() throws {
        #expect(try tool.run(["decrypt", "a.db", "plain.db"] + key).status == 64)
        #expect(try tool.run(["decrypt", "a.db", "plain.db", "--dry-run"] + key).status == 0)
        #expect(!tool.exists("plain.db"))
        #expect(
            try tool.run("decrypt", "a.db", "plain.db", "--yes-plaintext", "--key-stdin", input: "wrong")
                .status == 77)
        let result = try tool.run(["decrypt", "a.db", "plain.db", "--yes-plaintext"] + key)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.directory.bytes(of: "plain.db").starts(with: Array("SQLite format 3".utf8)))
        var configuration = Configuration()
        configuration.allowsPlaintext = true
        let queue = try DatabaseQueue(path: tool.directory.path("plain.db"), configuration: configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 50)
        try queue.close()
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("plain.db"))[
                .posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try tool.run(["decrypt", "a.db", "plain.db", "--yes-plaintext"] + key).status == 73)
        // Encrypt it again.
        #expect(try tool.run(["encrypt", "plain.db", "again.db"] + key).status == 0)
        #expect(try tool.shell("again.db").run("SELECT * FROM t;") == tool.shell().run("SELECT * FROM t;"))
    }

    @Test("a file is encrypted in place, its original is kept, and a second run changes nothing")
    func encryptionInPlace() throws {
        #expect(try tool.run(["decrypt", "a.db", "plain.db", "--yes-plaintext"] + key).status == 0)
        let before = try tool.directory.bytes(of: "plain.db")
        let plan = try tool.run(["encrypt", "plain.db", "--dry-run", "--json"] + key)
        #expect(try plan.status == 0 && Schema.problems(plan) == [], "\(plan)")
        #expect(try tool.directory.bytes(of: "plain.db") == before && !tool.exists("plain.db.plaintext"))
        let result = try tool.run(["encrypt", "plain.db", "--json", "--audit", "log"] + key)
        #expect(try result.status == 0 && Schema.problems(result) == [], "\(result)")
        #expect(try result.objects.contains { $0["content_digest"] is String }, "\(result)")
        #expect(try tool.directory.bytes(of: "plain.db.plaintext") == before)
        #expect(
            try tool.shell("plain.db").run("SELECT * FROM t;") == tool.shell().run("SELECT * FROM t;"))
        let encrypted = try tool.directory.bytes(of: "plain.db")
        let again = try tool.run(["encrypt", "plain.db"] + key)
        #expect(again.status == 0 && again.output.contains("already encrypted"), "\(again)")
        #expect(try tool.directory.bytes(of: "plain.db") == encrypted)
    }

    @Test("encryption in place refuses another key, a kept file that exists, and recipients")
    func refusedEncryptionInPlace() throws {
        try tool.writeKey("wrong.key", 0x55)
        let wrong = ["--key-file", "wrong.key", "--key-type", "raw"]
        let other = try tool.run(["encrypt", "a.db"] + wrong)
        #expect(other.status == 77 && other.errors.contains("the key does not open it"), "\(other)")
        #expect(try tool.run(["decrypt", "a.db", "plain.db", "--yes-plaintext"] + key).status == 0)
        let before = try tool.directory.bytes(of: "plain.db")
        try tool.write("precious", to: "plain.db.plaintext")
        #expect(try tool.run(["encrypt", "plain.db"] + key).status == 73)
        #expect(try tool.run(["encrypt", "none.db"] + key).status == 66)
        #expect(try tool.run(["encrypt", "plain.db", "b.db", "--keep-old", "x"] + key).status == 64)
        #expect(try tool.run(["encrypt", "plain.db", "--recipient", "x"]).status == 64)
        #expect(try tool.directory.bytes(of: "plain.db") == before)
        #expect(try tool.text(of: "plain.db.plaintext") == "precious" && !tool.exists("b.db"))
        #expect(try tool.run(["encrypt", "plain.db", "--keep-old", "old.db"] + key).status == 0)
        #expect(try tool.directory.bytes(of: "old.db") == before)
    }

    @Test(
        "errors name common settings, and upgrade detects them; others must be given as options")
    func upgradeOfOtherSettings() throws {
        try tool.write("words\n", to: "words")
        func make(_ name: String, _ change: (inout CipherSettings) -> Void) throws {
            var configuration = Configuration.passphrase("words")
            configuration.cipher = .sqlcipher(format: 3)
            change(&configuration.cipher)
            let queue = try tool.directory.makeQueue(name, configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try queue.close()
        }
        try make("common.db") {
            $0.pageSize = 4096; $0.kdfIterations = 1
        }
        let refused = try tool.run("query", "common.db", "SELECT a FROM t", "--key-file", "words")
        let options = ["--cipher-format", "3", "--page-size", "4096", "--kdf-iterations", "1"]
        #expect(refused.status == 65 && refused.errors.contains(options.joined(separator: " ")), "\(refused)")
        let given = try tool.run(["query", "common.db", "SELECT a FROM t", "--key-file", "words"] + options)
        #expect(given.status == 0, "\(given)")
        #expect(try tool.run("upgrade", "common.db", "--key-file", "words").status == 0)
        try make("other.db") {
            $0.kdfIterations = 777; $0.hmacAlgorithm = .sha256
        }
        #expect(try tool.run("upgrade", "other.db", "--key-file", "words").status == 77)
        let upgraded = try tool.run(
            "upgrade", "other.db", "--key-file", "words", "--cipher-format", "3", "--kdf-iterations", "777",
            "--hmac-algorithm", "sha256")
        #expect(upgraded.status == 0, "\(upgraded)")
        for name in ["common.db", "other.db"] {
            let result = try tool.run("query", name, "SELECT a FROM t", "--key-file", "words")
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test("older formats are upgraded to format 4, and a second upgrade changes nothing", arguments: 1...3)
    func upgrade(format: Int) throws {
        try tool.write("open sesame\n", to: "words")
        let old = SQLCipherShell(
            path: tool.directory.path("old.db"), passphrase: "open sesame",
            preparation: "PRAGMA cipher_compatibility = \(format);")
        _ = try old.run(
            "CREATE TABLE t (a); INSERT INTO t (rowid, a) VALUES (7, 'x'), (70, 'y'); PRAGMA user_version = 5;"
        )
        #expect(try tool.run("info", "old.db", "--key-file", "words").output.contains("SQLCipher \(format)"))
        #expect(try tool.run("upgrade", "old.db", "--dry-run", "--key-file", "words").status == 0)
        #expect(try old.run("SELECT count(*) FROM t;") == ["2"])
        let result = try tool.run("upgrade", "old.db", "--key-file", "words")
        #expect(result.status == 0, "\(result)")
        let new = SQLCipherShell(path: tool.directory.path("old.db"), passphrase: "open sesame")
        #expect(try new.run("SELECT rowid, a FROM t; PRAGMA user_version;") == ["7|x", "70|y", "5"])
        let second = try tool.run("upgrade", "old.db", "--key-file", "words", "--json")
        #expect(second.status == 0)
        #expect(try Schema.problems(second) == [])
        #expect(try second.objects.contains { $0["changed"] as? Bool == false })
    }
}
