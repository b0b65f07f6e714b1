import Coffer
import CofferTestSupport
import Foundation
import KeyMaterial
import Testing

@testable import CofferCLI

@Suite("Making keys")
struct KeygenTests {
    @Test("a raw key has 64 digits, or 96 with its salt, and opens the database made with it")
    func rawKeys() throws {
        let tool = try Tool()
        let key = try tool.run("keygen")
        #expect(key.output.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
        #expect(key.errors.contains("256 bits"))
        #expect(try tool.run("keygen").output != key.output)
        #expect(try tool.run("keygen", "--with-salt").output.wholeMatch(of: /[0-9a-f]{96}\n/) != nil)
        #expect(try tool.run("keygen", "--out", "k").status == 0)
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("k"))[.posixPermissions]
            as? Int
        #expect(mode == 0o600)
        #expect(try tool.run("create", "a.db", "--key-file", "k", "--key-type", "raw").status == 0)
        var configuration = Configuration()
        configuration.key = .keyFile(tool.directory.path("k"))
        configuration.readonly = true
        _ = try DatabaseQueue(path: tool.directory.path("a.db"), configuration: configuration)
        #expect(try tool.run("keygen", "--out", "b", "--binary").status == 0)
        #expect(try tool.directory.bytes(of: "b").count == 32)
    }

    @Test("a key that a shell writes to a file is a key file, with a warning if others can read it")
    func redirection() throws {
        let tool = try Tool()
        func run(_ script: String) throws -> Tool.Result {
            try tool.run(["-c", script, Tool.program], program: "/bin/sh")
        }
        let made = try run("umask 022; \"$0\" keygen --quiet >a.key")
        #expect(made.status == 0 && made.errors.contains("(mode 644)"), "\(made)")
        let other = try run("umask 077; \"$0\" keygen --quiet >b.key && \"$0\" keygen --quiet | cat >c.key")
        #expect(other.status == 0 && other.errors.isEmpty, "\(other)")
        let recovery = try run(
            """
            umask 077; "$0" key init a.db --new-key file:b.key --recovery >sheet 2>messages
            "$0" verify a.db --unlock file:sheet
            """)
        #expect(recovery.status == 0, "\(recovery)")
        #expect(try !tool.text(of: "messages").contains("chmod"))
    }

    @Test("a key that cannot be written is an error", arguments: [">/dev/full", ">&-"])
    func lostKey(output: String) throws {
        let result = try Tool().run(
            ["-c", "exec \"$0\" keygen \(output)", Tool.program], program: "/bin/sh")
        #expect(result.status == 74 && result.errors.contains("The key cannot be written"), "\(result)")
        #expect(!result.errors.contains("256 bits"), "\(result)")
    }

    @Test("an existing file is not overwritten, and JSON never carries a key")
    func refusals() throws {
        let tool = try Tool()
        try tool.write("precious", to: "k")
        #expect(try tool.run("keygen", "--out", "k").status == 73)
        #expect(try tool.text(of: "k") == "precious")
        #expect(try tool.run("keygen", "--json").status == 64)
        let result = try tool.run("keygen", "--json", "--out", "new")
        #expect(result.status == 0)
        #expect(!result.output.contains(try tool.text(of: "new").dropLast()))
        #expect(result.output.contains(#""bits":256"#) || result.output.contains(#""bits": 256"#))
        #expect(try tool.run("keygen", "--words", "4").status == 64)
        #expect(try tool.run("keygen", "--binary").status == 64)
        for option in ["--with-salt", "--binary"] {
            #expect(try tool.run("keygen", "--words", "6", option, "--out", "both").status == 64)
        }
        // A dash means standard output elsewhere, so no file gets that name.
        #expect(try tool.run("keygen", "--out", "-").status == 64)
        for name in ["-", "both"] {
            #expect(!FileManager.default.fileExists(atPath: tool.directory.path(name)))
        }
        #expect(try tool.run("keygen", "--out", "no/such/folder").status == 73)
    }

    @Test("no key file gets the name of the keyring of a database that exists")
    func nameOfKeyring() throws {
        let tool = try Tool()
        let alone = try tool.run("keygen", "--out", "b.keys")
        #expect(alone.status == 0, "\(alone)")
        try tool.makeDatabase("a.db")
        let refused = try tool.run("keygen", "--out", "a.db.keys")
        #expect(refused.status == 64 && refused.errors.contains("the keyring of 'a.db'"), "\(refused)")
        #expect(!tool.exists("a.db.keys"))
    }

    @Test("different random bytes always give different words")
    func wordsAreDistinct() {
        var seen: Set<String> = []
        for number in 0...UInt16.max {
            let random = SecretBytes([UInt8(number >> 8), UInt8(number & 0xff)])
            let text = WordPassphrase.text(from: random).withUnsafeBytes {
                unsafe String(decoding: $0, as: UTF8.self)
            }
            seen.insert(text)
        }
        #expect(seen.count == 65536)
    }

    @Test("words form a passphrase with the stated number of bits")
    func words() throws {
        let tool = try Tool()
        let result = try tool.run("keygen", "--words", "6")
        #expect(result.output.wholeMatch(of: /([a-z]{4,6}-){5}[a-z]{4,6}\n/) != nil)
        #expect(result.errors.contains("96 bits"))
        #expect(try tool.run("create", "a.db", "--key-stdin", input: result.output).status == 0)
    }
}
