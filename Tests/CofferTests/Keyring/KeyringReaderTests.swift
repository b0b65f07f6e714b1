import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

private let hasCryptography = (try? ChildProcess.run("python3", ["-c", "import cryptography"]).status) == 0

/// `Tests/keyring/keyring.py` was written independently, from the article on the format.
@Suite(
    "Interoperability of keyrings with a Python implementation",
    .enabled(if: hasCryptography, "python3 has no package cryptography here"))
struct KeyringReaderTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../keyring/keyring.py").standardizedFileURL.path

    let fixture: KeyringFixture

    init() throws { fixture = try KeyringFixture() }

    /// Returns the epoch, the data key and the salt that the script prints.
    private func run(_ work: String, _ kind: String, _ secret: String) throws -> [[String]] {
        let result = try ChildProcess.run(
            "python3", [Self.script, work, fixture.keyring.path, kind], input: Data(secret.utf8))
        try #require(result.status == 0, "\(result.errorText)")
        return result.outputText.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    @Test("a keyring of Coffer is read, by each kind of slot")
    func reads() throws {
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        let office = try DatabaseKeyring.Identity.random()
        let digits = String(repeating: "5a", count: 32)
        let program = DatabaseKeyring.Secret.command(.init("printf", ["secret \(digits)\\ntoken 0a"]))
        try fixture.make([
            .secret(KeyringFixture.passphrase("correct horse")), .secret(recovery.secret),
            .recipient(office.recipient),
            .secret(program),
        ])
        try fixture.keyring.rotateDataKey(unlockedBy: KeyringFixture.anna)
        let exported = unsafe try fixture.keyring.exportedKey(unlockedBy: KeyringFixture.anna)
            .withUnsafeRawKeyBytes { unsafe Array($0) }
        let key = try #require(exported).hexadecimal
        let salt = try fixture.directory.bytes(of: "items.db").prefix(16).hexadecimal
        let groups = unsafe recovery.withUnsafeText { unsafe String(decoding: $0, as: UTF8.self) }
        let identity = unsafe office.withUnsafeText { unsafe String(decoding: $0, as: UTF8.self) }
        let raw = String(repeating: "01", count: 32)
        for (kind, secret) in [
            ("raw", raw), ("passphrase", "correct horse\n"), ("recovery", groups), ("identity", identity),
            ("command", digits),
        ] {
            #expect(try run("read", kind, secret) == [["2", key, salt]], "\(kind)")
        }
    }

    @Test("a keyring written in Python opens a database", arguments: ["raw", "passphrase"])
    func writes(_ kind: String) throws {
        let printed = try run(
            "write", kind, kind == "raw" ? String(repeating: "01", count: 32) : "correct horse")
        let secret: DatabaseKeyring.Secret =
            kind == "raw" ? KeyringFixture.anna : .passphrase("correct horse")
        let queue = try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(secret))
        try queue.write {
            try $0.execute(sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter')")
        }
        try queue.close()
        #expect(try fixture.directory.bytes(of: "items.db").prefix(16).hexadecimal == printed[0][2])
        #expect(try fixture.items(secret) == ["letter"])
        try fixture.keyring.add(.secret(KeyringFixture.ben), unlockedBy: secret)
        #expect(try fixture.items(KeyringFixture.ben) == ["letter"])
        #expect(try fixture.keyring.inspect().slots.map(\.name) == ["made by Python", ""])
    }
}
