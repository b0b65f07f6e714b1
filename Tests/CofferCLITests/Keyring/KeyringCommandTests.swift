import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Keyrings with the tool")
struct KeyringCommandTests: KeyringToolSuite {
    let tool: Tool

    init() throws { tool = try Tool() }

    @Test("an existing database gets a keyring, and loses its former key")
    func adoption() throws {
        try tool.makeDatabase()
        try tool.writeKey("anna.key", 1)
        let slot = ["--new-key-file", "anna.key", "--new-key-type", "raw"]
        try expect(
            tool.run(["key", "init", "a.db", "--key-file", "anna.key", "--key-type", "raw"] + slot),
            status: 77)
        #expect(!tool.exists("a.db.keys"))
        try expect(tool.run(["key", "init", "a.db", "--key-file", "a.key", "--key-type", "raw"] + slot))
        try expect(tool.run(["query", "a.db", "SELECT text FROM t"] + anna), "row 1")
        try expect(
            tool.run("query", "a.db", "SELECT 1", "--key-file", "a.key", "--key-type", "raw"), status: 77)
        try expect(tool.run(["key", "init", "a.db"] + slot), status: 73)
    }

    @Test(
        "no database with a keyring is created under the name of another database's side file",
        arguments: ["b.db-journal", "b.db-wal", ".coffer-b.note", "a.db.keys"])
    func nameOfNewDatabase(name: String) throws {
        try make()
        let before = try tool.directory.bytes(of: "a.db.keys")
        try FileManager.default.removeItem(atPath: tool.directory.path("a.db.keys"))
        try expect(
            tool.run("key", "init", name, "--new-key", "file:anna.key"), status: 64, "cannot be created")
        #expect(!tool.exists(name) && !tool.exists("\(name).keys"))
        try tool.directory.write(before, to: "a.db.keys")
        #expect(try reads("anna.key"))
    }

    /// The state that a killed run leaves while it creates a database.
    enum Interrupted: CaseIterable {
        case empty, made, underWay
    }

    /// Leaves the files of a run that is killed after it has created the keyring of a.db.
    private func leaveNewKeyring(_ secret: DatabaseKeyring.Secret) throws {
        struct Killed: Error {}
        var files: [(name: String, bytes: [UInt8])] = []
        let keyring = DatabaseKeyring(databasePath: tool.directory.path("a.db"))
        #expect(throws: Killed.self) {
            try keyring.adopt([.secret(secret)]) { _ in
                files = try FileManager.default.contentsOfDirectory(atPath: tool.directory.path(""))
                    .filter { $0.hasPrefix(".") || $0 == "a.db.keys" }
                    .map { ($0, try tool.directory.bytes(of: $0)) }
                throw Killed()
            }
        }
        #expect(files.count == 2)
        for file in files { try tool.directory.write(file.bytes, to: file.name) }
    }

    @Test("an interrupted creation of a database is completed", arguments: Interrupted.allCases)
    func completesNewDatabase(_ state: Interrupted) throws {
        try tool.writeKey("anna.key", 1)
        try tool.writeKey("ben.key", 2)
        let secret = DatabaseKeyring.Secret.rawKey([UInt8](repeating: 1, count: 32))
        if state == .empty {
            try leaveNewKeyring(secret)
            try tool.directory.write([], to: "a.db")
        } else {
            try DatabaseKeyring(databasePath: tool.directory.path("a.db")).make([.secret(secret)])
            var configuration = Configuration()
            configuration.key = .keyring(unlockedBy: secret)
            try DatabaseQueue(path: tool.directory.path("a.db"), configuration: configuration).close()
        }
        if state == .underWay {
            // The journal of the first transaction, which records that the file had no pages: no records, a
            // random number, no pages, sectors of 512 bytes, pages of 4096 bytes.
            let header: [UInt8] = [
                0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 2,
                0,
                0, 0, 0x10, 0,
            ]
            try tool.directory.write(
                header + [UInt8](repeating: 0, count: 512 - header.count), to: "a.db-journal")
        }
        let slot = ["--new-key-file", "anna.key", "--new-key-type", "raw"]
        try expect(
            tool.run("key", "init", "a.db", "--new-key-file", "ben.key", "--new-key-type", "raw"), status: 73,
            "with the same secret")
        try expect(tool.run(["key", "init", "a.db"] + slot), "created, with a keyring")
        #expect(!tool.exists("a.db-journal"))
        try expect(tool.run(["verify", "a.db"] + anna), "intact")
        try expect(query("CREATE TABLE t (a); INSERT INTO t VALUES ('letter')", "anna.key"))
        #expect(try reads("anna.key"))
        // The database is in use now, and the secret opens it.
        try expect(tool.run(["key", "init", "a.db"] + slot), status: 73, "There is nothing to do")
        #expect(try reads("anna.key"))
    }

    @Test("an adoption that was interrupted asks for the former key again")
    func completesAdoption() throws {
        try tool.makeDatabase()
        try tool.writeKey("anna.key", 1)
        let secret = DatabaseKeyring.Secret.rawKey([UInt8](repeating: 1, count: 32))
        try leaveNewKeyring(secret)
        let command = ["key", "init", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw"]
        try expect(tool.run(command), status: 64, "--key file:")
        try expect(tool.run(command + ["--key-file", "a.key", "--key-type", "raw"]), "has a keyring now")
        try expect(tool.run(["query", "a.db", "SELECT text FROM t"] + anna), "row 1")
    }

    @Test("a change of a keyring waits for another one as long as the lock timeout says, and names it")
    func waitsForOtherChanges() throws {
        try tool.writeKey("anna.key", 1)
        try tool.writeKey("ben.key", 2)
        let secret = DatabaseKeyring.Secret.rawKey([UInt8](repeating: 1, count: 32))
        let new = ["--new-key-file", "ben.key", "--new-key-type", "raw"]
        let add = ["key", "add", "a.db"] + new + anna
        let waiting = try DatabaseKeyring(databasePath: tool.directory.path("a.db")).make([.secret(secret)]) {
            _ in
            for command in [
                add, ["key", "change", "a.db"] + new + anna,
                ["key", "init", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw"],
                ["key", "destroy", "a.db", "--yes-destroy", "a.db"],
            ] {
                let result = try tool.run(command + ["--lock-timeout", "0"])
                expect(result, status: 75, "The keyring is being changed")
                #expect(!result.description.contains(".lock"), "\(result)")
            }
            let waiting = try tool.start(add + ["--lock-timeout", "60"])
            // Long enough to reach the lock. On a slow machine it may not, and then it need not wait.
            usleep(500_000)
            return waiting
        }
        expect(waiting.wait(), "slot 2")
    }

    @Test("a file that only has the name of a keyring must be moved away before anything is erased")
    func thingsInPlaceOfKeyrings() throws {
        try make()
        try expect(tool.run("key", "export-header", "a.db", "a.header"))
        let path = tool.directory.path("a.db.keys")
        let commands = [
            ["key", "destroy", "a.db", "--yes-destroy", "a.db"], ["erase", "a.db", "--yes-erase", "a.db"],
        ]
        #expect(unsafe truncate(path, 1 << 30) == 0)
        for command in commands { try expect(tool.run(command), status: 64, "move it away") }
        #expect(tool.exists("a.db") && tool.exists("a.db.keys"))
        try expect(tool.run(["key", "restore-header", "a.db", "a.header"] + anna))
        #expect(try reads("anna.key"))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for command in commands + [["key", "restore-header", "a.db", "a.header"] + anna] {
            try expect(tool.run(command), status: 65, "move it away")
        }
        #expect(tool.exists("a.db") && tool.exists("a.db.keys"))
        try FileManager.default.moveItem(atPath: path, toPath: tool.directory.path("away"))
        try expect(tool.run(["key", "restore-header", "a.db", "a.header"] + anna))
        #expect(try reads("anna.key"))
        try expect(tool.run("erase", "a.db", "--yes-erase", "a.db"))
        #expect(!tool.exists("a.db") && !tool.exists("a.db.keys"))
    }

    @Test("headers are exported and put back, and destroying asks for the name")
    func headers() throws {
        try make()
        try expect(tool.run("key", "export-header", "a.db", "a.header"))
        try expect(tool.run("key", "destroy", "a.db"), status: 64, "--yes-destroy a.db")
        try expect(tool.run("key", "destroy", "a.db", "--yes-destroy", "b.db"), status: 65)
        #expect(try reads("anna.key"))
        try expect(tool.run("key", "destroy", "a.db", "--yes-destroy", "a.db"))
        try expect(tool.run(["query", "a.db", "SELECT 1"] + anna), status: 66, "The keyring is missing")
        try expect(tool.run(["key", "restore-header", "a.db", "a.header"] + anna))
        #expect(try reads("anna.key"))
        try tool.writeKey("ben.key", 2)
        try expect(
            tool.run(["key", "change", "a.db", "--new-key-file", "ben.key", "--new-key-type", "raw"] + anna))
        try expect(tool.run(["key", "restore-header", "a.db", "a.header"] + anna), status: 64, "older")
        try expect(tool.run(["key", "restore-header", "a.db", "a.header", "--yes-older"] + anna))
        #expect(try reads("anna.key") && !reads("ben.key"))
    }

    @Test("erasing a database destroys its keyring, and 'coffer rotate' is refused if there is a keyring")
    func otherCommands() throws {
        try make()
        try tool.writeKey("new.key", 2)
        try expect(
            tool.run(["rotate", "a.db", "--new-key-file", "new.key", "--new-key-type", "raw"] + anna),
            status: 64, "coffer key rotate")
        // The key of the keyring, given as the key of the file.
        for words in ["'coffer key rotate'", "open it with --unlock"] {
            try expect(
                tool.run("rotate", "a.db", "--key", "file:anna.key", "--new-key", "file:new.key"), status: 77,
                words)
        }
        #expect(try reads("anna.key"))
        try expect(tool.run("erase", "a.db", "--dry-run"), "a.db.keys")
        try expect(tool.run("erase", "a.db", "--yes-erase", "a.db"))
        #expect(!tool.exists("a.db") && !tool.exists("a.db.keys"))
        // The state after a run that ended between the two steps.
        try make()
        try FileManager.default.removeItem(atPath: tool.directory.path("a.db"))
        try expect(tool.run("erase", "a.db", "--yes-erase", "a.db"))
        #expect(!tool.exists("a.db.keys"))
    }

    @Test("info and each command with a wrong key report that the file has a keyring")
    func namesKeyring() throws {
        try make()
        try tool.makeDatabase("b.db")
        for options in [[], anna] {
            let info = try tool.run(["info", "a.db"] + options)
            expect(info, "a.db.keys, 1 slot")
            #expect(
                info.output.contains("kind") && info.output.contains("opened by the key") == !options.isEmpty)
        }
        let facts = try tool.run(["info", "a.db", "b.db", "--json"])
        #expect(try Schema.problems(facts) == [])
        #expect(try facts.objects.compactMap { $0["keyring_slots"] as? Int } == [1])
        try tool.write("a.db\nb.db\n", to: "list")
        let key = ["--key-file", "anna.key", "--key-type", "raw"]
        for arguments in [
            ["query", "a.db", "SELECT 1"], ["verify", "a.db"], ["backup", "a.db", "c.db"],
            ["diff", "a.db", "b.db"], ["batch", "verify", "--manifest", "list"],
        ] {
            let result = try tool.run(arguments + key)
            expect(
                result, status: arguments[0] == "batch" ? 3 : 77,
                "has a keyring (a.db.keys): open it with --unlock file:PATH")
        }
        let other = try tool.run(["verify", "b.db"] + key)
        expect(other, status: 77)
        #expect(!other.errors.contains("keyring"))
    }

    @Test(
        "damage of a keyring is found by doctor, verify and info", arguments: ["one copy", "both", "empty"])
    func damagedKeyring(kind: String) throws {
        try make()
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: tool.directory.path)
        let doctor = ["-c", "ulimit -c 0; exec '\(Tool.program)' doctor . --json"]
        func findings() throws -> [[String: Any]] {
            try tool.run(doctor, program: "/bin/sh").objects.filter { $0["check"] as? String == "keyring" }
        }
        #expect(try findings().isEmpty)
        // The raw key opens the database without its keyring.
        let keyring = DatabaseKeyring(databasePath: tool.directory.path("a.db"))
        let raw = try keyring.exportedKey(unlockedBy: .rawKey([UInt8](repeating: 1, count: 32)))
        let isExported: Bool? = try unsafe raw.withUnsafeRawKeyBytes { bytes in
            try unsafe tool.write(bytes.map { String(format: "%02x", $0) }.joined(), to: "exported.key")
            return true
        }
        #expect(isExported == true)
        var bytes = try tool.directory.bytes(of: "a.db.keys")
        switch kind {
        case "one copy": bytes[60] ^= 1
        case "both":
            bytes[60] ^= 1
            bytes[bytes.count / 2 + 60] ^= 1
        default: bytes = []
        }
        try tool.directory.write(bytes, to: "a.db.keys")
        let words = kind == "one copy" ? "is damaged in one of its two copies" : "cannot be used"
        let found = try findings()
        #expect(found.count == 1 && found[0]["path"] as? String == "./a.db.keys")
        #expect((found.first?["finding"] as? String)?.contains(words) == true)
        try expect(tool.run("info", "a.db"), words)
        let options = kind == "one copy" ? anna : ["--key-file", "exported.key", "--key-type", "raw"]
        let verified = try tool.run(["verify", "a.db", "--json"] + options)
        expect(verified)
        #expect(try Schema.problems(verified) == [])
        #expect(verified.errors.contains("warning: a.db: its keyring (a.db.keys) \(words)"), "\(verified)")
        #expect(
            verified.errors.contains("only the database's own key opens it") == (kind != "one copy"),
            "\(verified)")
        guard kind == "one copy" else { return }
        // The remedy that is named, with the same secret.
        try expect(
            tool.run(
                ["key", "change", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw"] + anna))
        #expect(try findings().isEmpty)
    }

    @Test("one manifest has raw keys, and keyrings with different secrets")
    func mixedManifest() throws {
        try make()
        try tool.makeDatabase("b.db")
        try tool.write("the passphrase of the third\n", to: "c.txt")
        try expect(tool.run("key", "init", "c.db", "--new-key-file", "c.txt"))
        let lines = [
            #"{"path": "a.db", "unlock-file": "anna.key", "unlock-type": "raw"}"#,
            #"{"path": "b.db", "key-file": "a.key", "key-type": "raw"}"#,
            #"{"path": "c.db", "unlock-command": "cat c.txt"}"#,
        ]
        try tool.write(lines.joined(separator: "\n"), to: "list")
        let verified = try tool.run("batch", "verify", "--manifest", "list")
        expect(verified, "3 of 3 files done")
        try expect(tool.run("batch", "backup", "--manifest", "list", "--into", "safe"), "3 of 3 files done")
        let new = ["--new-key-file", "anna.key", "--new-key-type", "raw"]
        let rotated = try tool.run(["batch", "rotate", "--manifest", "list"] + new)
        expect(rotated, status: 3, "coffer key rotate")
        #expect(rotated.output.contains("b.db: rotated") && rotated.errors.contains("2 failed"), "\(rotated)")
        for bad in [
            #"{"path": "a.db", "unlock-file": "anna.key", "key-file": "a.key"}"#,
            #"{"path": "a.db", "unlock-file": "anna.key", "unlock-env": "X"}"#,
            #"{"path": "a.db", "unlock-file": "anna.key", "unlock-type": "raw+salt"}"#,
            #"{"path": "a.db", "unlock-file": "anna.key", "unlock-type": "command"}"#,
            #"{"path": "a.db", "unlock-type": "raw"}"#,
        ] {
            try tool.write(bad, to: "list")
            try expect(
                tool.run("batch", "verify", "--manifest", "list"), status: 78, "Line 1 of the manifest")
        }
        try tool.write(lines[0], to: "list")
        try expect(tool.run("batch", "encrypt", "--manifest", "list"), status: 78, "no keyring")
    }
}
