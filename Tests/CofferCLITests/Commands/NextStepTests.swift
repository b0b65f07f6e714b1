import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("The next step in messages")
struct NextStepTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func makePlaintext(_ name: String) throws {
        _ = try SQLCipherShell(plaintextPath: tool.directory.path(name)).run("CREATE TABLE t (a);")
    }

    private func erase(_ name: String, _ options: String...) throws -> Tool.Result {
        try tool.run(["erase", name, "--yes-erase", name] + options)
    }

    // MARK: Erasing

    @Test(
        "a file that is not a database is erased only with --any-file",
        arguments: [
            "a text\n", String(repeating: "ä", count: 6000), String(repeating: "x", count: 512), "\0\u{1}\0",
        ])
    func otherFile(text: String) throws {
        try tool.write(text, to: "notes.txt")
        for result in try [erase("notes.txt"), tool.run("erase", "notes.txt", "--dry-run")] {
            #expect(
                result.status == 65 && result.errors.contains("'notes.txt' is not a database"), "\(result)")
        }
        #expect(try tool.text(of: "notes.txt") == text)
        #expect(try erase("notes.txt", "--any-file").status == 0)
        #expect(!tool.exists("notes.txt"))
    }

    @Test("the plaintext and the old files that other commands have kept are named when a database is erased")
    func keptFiles() throws {
        try makePlaintext("p.db")
        let encrypted = try tool.run(["encrypt", "p.db"] + key)
        let command = "coffer erase p.db.plaintext --yes-erase p.db.plaintext"
        #expect(encrypted.status == 0 && encrypted.errors.contains(command), "\(encrypted)")
        #expect(try tool.run(["restore", "a.db", "p.db"] + key).status == 0)
        let old = try #require(tool.directory.fileNames().first { $0.hasPrefix("p.db.replaced-") })
        for result in try [tool.run("erase", "p.db", "--dry-run"), erase("p.db")] {
            #expect(result.status == 0 && result.errors.contains(command), "\(result)")
            #expect(result.errors.contains("'\(old)' is an old file of it"), "\(result)")
        }
        let plaintext = try erase("p.db.plaintext")
        #expect(plaintext.status == 0 && !plaintext.errors.contains("is an old file"), "\(plaintext)")
    }

    @Test("the encrypted file that a batch has kept is named when the decrypted database is erased")
    func keptEncryptedFile() throws {
        try tool.write("a.db\n", to: "list")
        let decrypted = try tool.run(
            ["batch", "decrypt", "--manifest", "list", "--yes-plaintext"] + key)
        #expect(decrypted.status == 0, "\(decrypted)")
        let result = try erase("a.db")
        #expect(
            result.status == 0 && result.errors.contains("'a.db.encrypted' is an old file of it, and stays"),
            "\(result)")
    }

    @Test("old files under chosen names are found by the audit log when the database is erased")
    func keptFilesInLog() throws {
        try tool.writeKey("b.key", 0x43)
        let log = ["--audit", "log"]
        let rotated = try tool.run(
            ["rotate", "a.db", "--keep-old", "old one.db", "--new-key", "file:b.key"] + key + log)
        #expect(rotated.status == 0, "\(rotated)")
        try tool.makeDatabase("b.db", rows: 2)
        #expect(
            try tool.run(["rotate", "b.db", "--keep-old", "other.db", "--new-key", "file:b.key"] + key + log)
                .status == 0)
        let command = "--yes-erase 'old one.db'"
        let unlogged = try tool.run("erase", "a.db", "--dry-run")
        #expect(unlogged.status == 0 && !unlogged.errors.contains("old one.db"), "\(unlogged)")
        for result in try [tool.run(["erase", "a.db", "--dry-run"] + log), erase("a.db", "--audit", "log")] {
            #expect(result.status == 0 && result.errors.contains(command), "\(result)")
            #expect(result.errors.contains("is an old file of it, and stays"), "\(result)")
            #expect(!result.errors.contains("other.db"), "\(result)")
        }
        #expect(try erase("old one.db").status == 0)
        try tool.makeDatabase()
        let last = try tool.run(["erase", "a.db", "--dry-run"] + log)
        #expect(last.status == 0 && !last.errors.contains("old one.db"), "\(last)")
    }

    @Test("erasing a large plaintext database warns that its content may remain")
    func plaintext() throws {
        try makePlaintext("small.db")
        #expect(try !erase("small.db").errors.contains("not encrypted"))
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("p.db")).run(
            "CREATE TABLE t AS SELECT zeroblob(90000) AS a;")
        #expect(try erase("p.db").errors.contains("'p.db' was not encrypted"))
    }

    // MARK: Keys and damage

    @Test("another key for a file that is encrypted already is a wrong key")
    func encryptedAlready() throws {
        try tool.writeKey("b.key", 0x43)
        for options in [[], ["--dry-run"]] {
            let result = try tool.run(["encrypt", "a.db", "--key", "file:b.key"] + options)
            #expect(result.status == 77 && result.errors.contains("encrypted already"), "\(result)")
            #expect(!result.errors.contains("no key was given"), "\(result)")
        }
    }

    @Test("a missing keyring is reported with 'coffer key init' as the next step")
    func withoutKeyring() throws {
        let result = try tool.run("key", "list", "a.db")
        #expect(result.status == 66 && result.errors.contains("The keyring is missing (a.db.keys)"))
        #expect(result.errors.contains("'coffer key init'"), "\(result)")
    }

    @Test("the error for a damaged file suggests 'coffer recover'", arguments: ["verify", "backup"])
    func damage(command: String) throws {
        try tool.makeDatabase("big.db", rows: 500)
        var bytes = try tool.directory.bytes(of: "big.db")
        bytes[5000] ^= 1
        try tool.directory.write(bytes, to: "big.db")
        let result = try tool.run([command, "big.db"] + (command == "backup" ? ["copy.db"] : []) + key)
        #expect(result.status == 65 && result.errors.contains("'coffer recover'"), "\(result)")
    }

    // MARK: Folders and output

    @Test(
        "a folder given instead of a file is refused with the commands that take folders",
        arguments: ["vacuum", "erase"])
    func folder(command: String) throws {
        _ = try tool.directory.makeFolder("dbs")
        let result = try command == "erase" ? erase("dbs") : tool.run([command, "dbs"] + key)
        #expect(result.status == 66 && result.errors.contains("'coffer batch'"), "\(result)")
    }

    @Test("a dump to a file that others can read names the options for a private one, if there is a dump")
    func dump() throws {
        let script = """
            umask 022; '\(Tool.program)' dump a.db --key-file a.key --key-type raw > a.sql
            '\(Tool.program)' dump a.db none --key-file a.key --key-type raw > none.sql
            """
        let result = try tool.run(["-c", script], program: "/bin/sh")
        #expect(result.errors.components(separatedBy: "--out FILE --yes-plaintext").count == 2, "\(result)")
        #expect(result.errors.contains("There is no table 'none'"), "\(result)")
    }

    @Test("the plaintext that an encryption has kept is a finding with the command that erases it")
    func doctor() throws {
        _ = try tool.directory.makeFolder("dbs")
        try makePlaintext("dbs/p.db.plaintext")
        try #require(unsafe chmod(tool.directory.path("dbs/p.db.plaintext"), 0o644) == 0)
        let result = try tool.run("doctor", "dbs")
        #expect(result.output.contains("coffer erase dbs/p.db.plaintext"), "\(result)")
        #expect(!result.output.contains("try keys on the copy"), "\(result)")
    }
}
