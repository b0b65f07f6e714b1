import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Copies with a keyring whose run was killed")
struct KilledCopyTests {
    private let tool: Tool
    private let anna = ["--unlock-file", "anna.key", "--unlock-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("anna.key", 1)
        let made = try tool.run(
            "key", "init", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw")
        try #require(made.status == 0, "\(made)")
        let filled = try tool.run(
            ["query", "a.db", "CREATE TABLE t (a); INSERT INTO t VALUES ('letter')", "--write"] + anna)
        try #require(filled.status == 0, "\(filled)")
    }

    enum Work: String, CaseIterable {
        case backup, vacuum, recover, encrypt, load
    }

    /// Returns the arguments that make `b.db` with a keyring.
    private func arguments(_ work: Work) throws -> [String] {
        switch work {
        case .backup: return ["backup", "a.db", "b.db"] + anna
        case .vacuum: return ["vacuum", "a.db", "b.db"] + anna
        case .recover: return ["recover", "a.db", "b.db"] + anna
        case .encrypt:
            _ = try SQLCipherShell(plaintextPath: tool.directory.path("plain.db")).run(
                "CREATE TABLE t (a); INSERT INTO t VALUES ('letter');")
            return ["encrypt", "plain.db", "b.db", "--recipient", try recipient()]
        case .load:
            try tool.write("CREATE TABLE t (a); INSERT INTO t VALUES ('letter');\n", to: "a.sql")
            return ["load", "b.db", "--from", "a.sql", "--recipient", try recipient()]
        }
    }

    private func recipient() throws -> String {
        if !tool.exists("office.pub") {
            let made = try tool.run("keygen", "--recipient", "--out", "office.identity")
            try tool.write(made.output, to: "office.pub")
        }
        return "office.pub"
    }

    private func reads(_ name: String, _ work: Work = .backup) throws -> Bool {
        let unlock =
            [.encrypt, .load].contains(work)
            ? ["--unlock-file", "office.identity", "--unlock-type", "identity"] : anna
        return try tool.run(["query", name, "SELECT a FROM t"] + unlock).output.contains("letter")
    }

    private static let points = [
        "copy-created", "copied", "verified", "copy-synchronized", "renamed", "directory-synchronized",
    ]

    private func kill(_ arguments: [String], at point: String) throws {
        let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": point])
        #expect(killed.status == -SIGKILL || killed.status == 128 + SIGKILL, "\(point): \(killed)")
    }

    private func litter() -> [String] {
        let names = tool.directory.fileNames()
        return names.filter { name in
            name.contains(".coffer-")
                || name.hasSuffix(".keys") && !names.contains(String(name.dropLast(".keys".count)))
        }
    }

    @Test(
        "the same command completes a killed copy, and leaves nothing else", arguments: Work.allCases, points)
    func completes(_ work: Work, _ point: String) throws {
        let arguments = try arguments(work)
        try kill(arguments, at: point)
        #expect(!tool.exists("b.db"))
        if work == .backup {
            let plan = try tool.run(arguments + ["--dry-run"])
            #expect(plan.status == 0, "\(plan)")
        }
        let again = try tool.run(arguments)
        #expect(again.status == 0, "\(again)")
        #expect(try reads("b.db", work))
        #expect(litter() == [])
    }

    @Test(
        "the next backup into the folder removes killed ones, with a keyring or without", arguments: points,
        [true, false])
    func dated(_ point: String, _ hasKeyring: Bool) throws {
        _ = try tool.directory.makeFolder("safe")
        let arguments = ["backup", "a.db", "--into", "safe"] + anna
        for _ in 0..<2 { try kill(arguments, at: point) }
        try tool.writeKey("other.key", 5)
        let next =
            hasKeyring ? arguments : arguments + ["--new-key-file", "other.key", "--new-key-type", "raw"]
        let again = try tool.run(next)
        #expect(again.status == 0, "\(again)")
        #expect(litter() == [])
        let backups = tool.directory.fileNames().filter { $0.hasSuffix(".backup") }
        #expect(backups.count == 1)
        if hasKeyring { #expect(try reads(backups[0])) }
    }

    @Test("after a killed copy, the keyring of a database that was moved away is not removed")
    func moved() throws {
        #expect(try tool.run(try arguments(.backup)).status == 0)
        try FileManager.default.moveItem(
            atPath: tool.directory.path("b.db"), toPath: tool.directory.path("moved.db"))
        let keyring = try tool.directory.bytes(of: "b.db.keys")
        // Another copy to the same path was killed; its salt differs from the keyring's.
        try tool.writeKey("other.key", 5)
        let other = ["--new-key-file", "other.key", "--new-key-type", "raw"]
        try kill(try arguments(.backup) + other, at: "verified")
        let again = try tool.run(try arguments(.backup))
        #expect(again.status == 73 && again.errors.contains("without its database"), "\(again)")
        #expect(try tool.directory.bytes(of: "b.db.keys") == keyring)
        try FileManager.default.moveItem(
            atPath: tool.directory.path("moved.db"), toPath: tool.directory.path("b.db"))
        #expect(try reads("b.db"))
    }

    @Test("the keyring of a killed copy with a second hard link stays")
    func linked() throws {
        try kill(try arguments(.backup), at: "renamed")
        let temporary = try #require(tool.directory.fileNames().first { $0.hasSuffix(".tmp") })
        try FileManager.default.linkItem(
            atPath: tool.directory.path(temporary), toPath: tool.directory.path("second.db"))
        #expect(try tool.run(try arguments(.backup)).status == 73)
        #expect(tool.exists("b.db.keys"))
    }

    @Test("a keyring whose backup was removed by hand is named by --keep, and stays")
    func stray() throws {
        _ = try tool.directory.makeFolder("safe")
        let arguments = ["backup", "a.db", "--into", "safe"] + anna
        #expect(try tool.run(arguments).status == 0)
        let name = try #require(tool.directory.fileNames().first { $0.hasSuffix(".backup") })
        try FileManager.default.removeItem(atPath: tool.directory.path(name))
        let result = try tool.run(arguments + ["--keep", "1y"])
        #expect(result.status == 0 && result.errors.contains("\(name).keys: is kept"), "\(result)")
        let object = try tool.run(arguments + ["--keep", "1y", "--json"]).objects.first {
            $0["stray_keyrings"] != nil
        }
        #expect((object?["stray_keyrings"] as? [String])?.count == 1)
        #expect(tool.exists("\(name).keys"))
    }
}
