import CofferTestSupport
import Foundation
import Testing

@Suite("Restoring with a keyring after a killed run")
struct KilledRestoreTests {
    private let tool: Tool
    private let anna = ["--unlock-file", "anna.key", "--unlock-type", "raw"]
    private let raw = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `safe.db`, a backup of `a.db` with a keyring; `a.db` has one row more. `r.db` has a raw key.
    init() throws {
        tool = try Tool()
        try tool.writeKey("anna.key", 1)
        try tool.makeDatabase("r.db")
        for arguments in [
            ["key", "init", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw"],
            ["query", "a.db", "CREATE TABLE t (a); INSERT INTO t VALUES ('letter')", "--write"] + anna,
            ["backup", "a.db", "safe.db"] + anna,
            ["query", "a.db", "INSERT INTO t VALUES ('later')", "--write"] + anna,
        ] {
            let result = try tool.run(arguments)
            try #require(result.status == 0, "\(result)")
        }
    }

    private static let points = [
        "copy-created", "copied", "verified", "copy-synchronized", "old-kept", "locked", "renamed",
        "directory-synchronized", "audited",
    ]

    private func kill(_ arguments: [String], at point: String) throws {
        let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": point])
        #expect(killed.status == -SIGKILL, "\(point): \(killed)")
    }

    private func litter() -> [String] {
        let names = tool.directory.fileNames()
        return names.filter { name in
            name.contains(".coffer-")
                || name.hasSuffix(".keys") && !names.contains(String(name.dropLast(".keys".count)))
        }
    }

    private func kept() -> [String] {
        tool.directory.fileNames().filter { $0.contains(".replaced-") && $0.hasSuffix("Z") }
    }

    private func content(_ name: String) throws -> String {
        try tool.run(["query", name, "SELECT a FROM t"] + anna).output
    }

    @Test("the kept file has its keyring at each moment, and opens after a rotation", arguments: points)
    func over(_ point: String) throws {
        let arguments = ["restore", "safe.db", "a.db"] + anna
        try kill(arguments, at: point)
        for name in kept() { #expect(tool.exists("\(name).keys"), "\(point): \(name)") }
        let again = try tool.run(arguments)
        #expect(again.status == 0, "\(again)")
        #expect(litter() == [])
        #expect(try tool.run(["key", "rotate", "a.db"] + anna).status == 0)
        #expect(try !content("a.db").contains("later") && content("a.db").contains("letter"))
        let contents = try kept().map(content)
        #expect(contents.allSatisfy { $0.contains("letter") }, "\(contents)")
        #expect(contents.contains { $0.contains("later") }, "\(contents)")
    }

    @Test(
        "a database that gets its keyring by it is completed, and nothing else is left",
        arguments: ["new.db", "r.db"], points)
    func gettingKeyring(_ name: String, _ point: String) throws {
        let arguments = ["restore", "safe.db", name] + anna
        // These steps need an old file.
        if name == "new.db", ["old-kept", "locked"].contains(point) { return }
        try kill(arguments, at: point)
        let again = try tool.run(arguments)
        #expect(again.status == 0, "\(again)")
        #expect(litter() == [])
        #expect(try content(name).contains("letter"))
    }

    @Test(
        "a step that fails leaves neither the kept file nor its keyring", arguments: ["old-kept", "locked"])
    func failures(_ point: String) throws {
        let names = tool.directory.fileNames()
        let result = try tool.run(
            ["restore", "safe.db", "a.db"] + anna, environment: ["COFFER_FAIL_POINT": "\(point):error"])
        #expect(result.status == 74, "\(result)")
        #expect(tool.directory.fileNames() == names)
    }

    @Test("the names of the kept file and of its keyring must be free")
    func takenName() throws {
        try tool.write("mine", to: "old.db.keys")
        let result = try tool.run(["restore", "safe.db", "a.db", "--keep-old", "old.db"] + anna)
        #expect(result.status == 73 && result.errors.contains("old.db.keys"), "\(result)")
        #expect(try tool.text(of: "old.db.keys") == "mine" && content("a.db").contains("later"))
    }
}
