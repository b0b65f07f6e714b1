import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Keyrings whose database is not the one at their path")
struct DisplacedKeyringTests: KeyringToolSuite {
    let tool: Tool
    private let raw = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `a.db` with a keyring for Anna, and `raw.db` with a raw key.
    init() throws {
        tool = try Tool()
        try make()
        try tool.makeDatabase("raw.db")
    }

    private func kept() -> [String] {
        tool.directory.fileNames().filter { $0.contains(".replaced-") && $0.hasSuffix("Z") }
    }

    /// Puts the keyring of a moved database at the path of the keyring of `raw.db`.
    private func displace() throws -> [UInt8] {
        let keys = try tool.directory.bytes(of: "a.db.keys")
        try tool.directory.write(keys, to: "raw.db.keys")
        try FileManager.default.removeItem(atPath: tool.directory.path("a.db.keys"))
        return keys
    }

    @Test("a database that a backup with a key of its own replaces is kept with its keyring")
    func keptWithKeyring() throws {
        try expect(tool.run(["restore", "raw.db", "a.db"] + raw), "which has a copy of it")
        let name = try #require(kept().first)
        #expect(try reads("anna.key", name))
        // The file that is replaced now never had that keyring.
        try expect(tool.run(["restore", "raw.db", "a.db"] + raw), "does not belong to it")
        #expect(kept().count == 2)
        #expect(
            tool.directory.fileNames().filter { $0.contains(".replaced-") && $0.hasSuffix(".keys") }.count
                == 1)
        // The keyring at the path of the restored database may also be needed elsewhere.
        try expect(tool.run(["erase", "a.db", "--yes-erase", "a.db"]), status: 64, "another database")
        try expect(tool.run(["key", "destroy", "a.db", "--yes-destroy", "a.db"]), status: 64, "'a.db.keys'")
        try expect(tool.run(["query", "a.db", "SELECT 1"] + raw))
        try expect(tool.run(["key", "destroy", "a.db", "--yes-destroy", "a.db.keys"]))
        try expect(tool.run(["erase", "a.db", "--yes-erase", "a.db"]))
        #expect(try reads("anna.key", name))
    }

    @Test("an operation that would destroy the keyring of a database elsewhere is refused")
    func ofAnotherDatabase() throws {
        try tool.writeKey("ben.key", 2)
        try expect(
            tool.run("key", "init", "b.db", "--new-key-file", "ben.key", "--new-key-type", "raw"))
        try expect(tool.run("key", "export-header", "b.db", "b.header"))
        let keys = try displace()
        let before = try tool.directory.snapshotOfFiles()
        let ben = ["--unlock-file", "ben.key", "--unlock-type", "raw"]
        for arguments in [
            ["erase", "raw.db", "--yes-erase", "raw.db"], ["erase", "raw.db", "--dry-run"],
            ["key", "destroy", "raw.db", "--yes-destroy", "raw.db"],
        ] {
            try expect(tool.run(arguments), status: 64, "another database")
            #expect(try tool.directory.snapshotOfFiles() == before)
        }
        // Also while the database itself was moved away.
        for path in ["b.db", "missing.db"] {
            try tool.directory.write(keys, to: "\(path).keys")
            try expect(
                tool.run(["key", "restore-header", path, "b.header", "--yes-older"] + ben), status: 64,
                "another database")
            #expect(try tool.directory.bytes(of: "\(path).keys") == keys)
        }
        try FileManager.default.removeItem(atPath: tool.directory.path("b.db.keys"))
        try expect(tool.run(["key", "restore-header", "b.db", "b.header"] + ben))
    }

    @Test("the doctor names keyrings that are displaced, open to others, or not regular files")
    func doctor() throws {
        func finding() throws -> String {
            let result = try tool.run("doctor", ".")
            return result.output.split(separator: "\n").first { $0.contains("db.keys") }.map(String.init)
                ?? ""
        }
        #expect(try finding() == "")
        let path = tool.directory.path("a.db.keys")
        for (mode, words) in [(0o666, "others can write to it"), (0o644, "others can copy it")] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(try finding().contains("a.db.keys: \(words)"))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try finding() == "")
        let keys = try displace()
        #expect(try finding().contains("raw.db.keys: belongs to another database than raw.db"))
        try FileManager.default.removeItem(atPath: tool.directory.path("raw.db.keys"))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "kept")
        try tool.directory.write(keys, to: "kept")
        #expect(try finding().contains("a.db.keys: is not a regular file"))
        try FileManager.default.removeItem(atPath: path)
        _ = try tool.directory.makeFolder("a.db.keys")
        #expect(try finding().contains("a.db.keys: is not a regular file"))
        try FileManager.default.removeItem(atPath: path)
        try tool.directory.write(keys, to: "a.db.keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)

        // The copy has its name, and the keyring still has both data keys.
        let killed = try tool.run(
            ["key", "rotate", "a.db"] + anna, environment: ["COFFER_FAIL_POINT": "copied"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        let output = try tool.run("doctor", ".").output
        #expect(
            output.contains("a.db.keys: has two data keys: a rotation is active or was interrupted"),
            "\(output)")
    }

    @Test("a slot for several recipients is added for all or for none")
    func severalRecipients() throws {
        for name in ["x", "y"] {
            try tool.write(
                tool.run("keygen", "--recipient", "--out", "\(name).identity").output, to: "\(name).pub")
        }
        let recipients = ["--recipient", "x.pub", "--recipient", "y.pub"]
        for index in 2...31 {
            try tool.writeKey("\(index).key", UInt8(index))
            try expect(
                tool.run(["key", "add", "a.db", "--new-key", "raw:file:\(index).key"] + anna))
        }
        let keys = try tool.directory.bytes(of: "a.db.keys")
        try expect(tool.run(["key", "add", "a.db"] + recipients + anna), status: 64)
        #expect(try tool.directory.bytes(of: "a.db.keys") == keys)
        try expect(tool.run(["key", "remove", "a.db", "--slot", "31"] + anna))
        try expect(tool.run(["key", "add", "a.db"] + recipients + anna))
    }

    @Test("a damaged database's keyring is not mistaken for one that a killed restore made")
    func olderKeyring() throws {
        try expect(tool.run(["backup", "a.db", "safe.db"] + anna))
        var bytes = try tool.directory.bytes(of: "a.db")
        for index in 0..<16 { bytes[index] ^= 0xff }
        try tool.directory.write(bytes, to: "a.db")
        let keys = try tool.directory.bytes(of: "a.db.keys")
        let killed = try tool.run(
            ["restore", "safe.db", "a.db"] + anna, environment: ["COFFER_FAIL_POINT": "copied"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        try tool.write(tool.run("keygen", "--recipient", "--out", "office.identity").output, to: "office.pub")
        try expect(
            tool.run(["restore", "safe.db", "a.db", "--recipient", "office.pub"] + anna), status: 73,
            "The database has another key")
        #expect(try tool.directory.bytes(of: "a.db.keys") == keys)
        try expect(tool.run(["restore", "safe.db", "a.db"] + anna))
        let name = try #require(kept().first)
        #expect(try tool.directory.bytes(of: "\(name).keys") == keys)
    }

    @Test("a restore that gives a database its keyring keeps no copy of that keyring", arguments: [1, 2])
    func completedAdoption(_ killCount: Int) throws {
        let arguments = ["restore", "a.db", "raw.db"] + anna
        for _ in 0..<killCount {
            let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": "copied"])
            #expect(killed.status == -SIGKILL, "\(killed)")
        }
        try expect(tool.run("doctor", "."), status: 1, "raw.db.keys: was made for the database by a run")
        try expect(tool.run(arguments))
        let name = try #require(kept().first)
        #expect(!tool.exists("\(name).keys"))
        try expect(tool.run(["query", name, "SELECT 1"] + raw))
        #expect(try reads("anna.key", "raw.db"))
    }

    @Test("a database whose keyring came from a restore killed at its end is kept with that keyring")
    func markOfCompleteAdoption() throws {
        let arguments = ["restore", "a.db", "raw.db"] + anna
        let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": "audited"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        #expect(try reads("anna.key", "raw.db"))
        try expect(tool.run(arguments))
        let names = kept().filter { tool.exists("\($0).keys") }
        #expect(names.count == 1 && kept().count == 2)
        for name in names + ["raw.db"] { #expect(try reads("anna.key", name)) }
    }

    @Test("destroying a keyring through a symbolic link must be confirmed with the keyring's own name")
    func throughLink() throws {
        _ = try displace()
        try FileManager.default.createSymbolicLink(
            atPath: tool.directory.path("link.db"), withDestinationPath: "raw.db")
        try expect(
            tool.run("key", "destroy", "link.db", "--yes-destroy", "link.db"), status: 64, "'raw.db.keys'")
        try expect(tool.run("key", "destroy", "link.db", "--yes-destroy", "raw.db.keys"))
        #expect(!tool.exists("raw.db.keys"))
    }

    @Test("no backup is restored over the keyring or the log of a database")
    func overCompanions() throws {
        try tool.directory.write([], to: "a.db-wal")
        let before = try tool.directory.snapshotOfFiles()
        for name in ["a.db.keys", "a.db-wal"] {
            let result = try tool.run(["restore", "raw.db", name] + raw)
            #expect(result.status != 0, "\(result)")
            #expect(try tool.directory.snapshotOfFiles() == before)
        }
        #expect(try reads("anna.key"))
    }

    @Test(
        "a restore for recipients that was killed is completed by the same command",
        arguments: ["copied", "verified", "old-kept", "locked"])
    func killedForRecipients(_ point: String) throws {
        try tool.write(tool.run("keygen", "--recipient", "--out", "office.identity").output, to: "office.pub")
        let arguments =
            ["restore", "a.db", "raw.db", "--recipient", "office.pub"] + anna
        let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": point])
        #expect(killed.status == -SIGKILL, "\(killed)")
        try expect(tool.run(arguments), "Removed the keyring of an interrupted run")
        let office = ["--unlock", "file:office.identity"]
        try expect(tool.run(["query", "raw.db", "SELECT a FROM t"] + office), "letter")
        #expect(!tool.directory.fileNames().contains { $0.contains(".coffer-") })
        #expect(kept().count == 1)
    }

    @Test("a restore for recipients that was killed after the replacement says that it is complete")
    func completeForRecipients() throws {
        try tool.write(tool.run("keygen", "--recipient", "--out", "office.identity").output, to: "office.pub")
        let arguments = ["restore", "a.db", "raw.db", "--recipient", "office.pub"] + anna
        let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": "audited"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        try expect(tool.run(arguments), status: 73, "the run is complete")
        let office = ["--unlock", "file:office.identity"]
        try expect(tool.run(["query", "raw.db", "SELECT a FROM t"] + office), "letter")
    }

    @Test(
        "a restore with a name for the old file that was killed is completed by the same command",
        arguments: ["old-kept", "locked"], [true, false])
    func killedWithName(_ point: String, isDryRun: Bool) throws {
        try expect(tool.run(["backup", "raw.db", "safe.db"] + raw))
        let arguments = ["restore", "safe.db", "raw.db", "--keep-old", "old.db"] + raw
        let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": point])
        #expect(killed.status == -SIGKILL && tool.exists("old.db"), "\(killed)")
        if isDryRun { try expect(tool.run(arguments + ["--dry-run"])) }
        try expect(tool.run(arguments))
        for name in ["old.db", "raw.db"] { try expect(tool.run(["query", name, "SELECT 1"] + raw)) }
        // A file that is not of that run is not replaced.
        try expect(tool.run(arguments), status: 73, "old.db")
    }
}
