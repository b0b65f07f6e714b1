import CofferTestSupport
import Foundation
import Testing

@Suite("Databases in a folder that is a symbolic link")
struct LinkedFolderTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `cur`, a link to a folder with a database, and with a backup that was made there.
    init() throws {
        tool = try Tool()
        _ = try tool.directory.makeFolder("real")
        try FileManager.default.createSymbolicLink(
            atPath: tool.directory.path("cur"), withDestinationPath: "real")
        try tool.makeDatabase("real/a.db")
        try tool.writeKey("new.key", 2)
        try run(["backup", "real/a.db", "real/safe.db"] + key)
    }

    private func run(_ arguments: [String]) throws {
        let result = try tool.run(arguments)
        try #require(result.status == 0, "\(arguments): \(result)")
    }

    private static let newKey = ["--new-key-file", "new.key", "--new-key-type", "raw"]

    @Test(
        "each command that changes or copies files works, and leaves no note",
        arguments: [
            ["rotate", "cur/a.db"] + newKey,
            ["rotate", "cur/a.db", "--keep-old", "cur/old.db"] + newKey,
            ["backup", "cur/a.db", "cur/copy.db"], ["backup", "cur/a.db", "--into", "cur"],
            ["restore", "cur/safe.db", "cur/a.db"], ["restore", "cur/safe.db", "cur/new.db"],
            ["vacuum", "cur/a.db"], ["recover", "cur/a.db", "cur/rescued.db"],
            ["decrypt", "cur/a.db", "cur/plain.db", "--yes-plaintext"],
        ])
    func commands(_ command: [String]) throws {
        try run(command + key)
        #expect(notes() == [])
    }

    @Test("a keyring is made, changed, kept, and destroyed with its database")
    func keyring() throws {
        let unlock = ["--unlock-file", "new.key", "--unlock-type", "raw"]
        try run(["key", "init", "cur/a.db"] + key + Self.newKey)
        try run(["key", "rotate", "cur/a.db"] + unlock)
        try run(["backup", "cur/a.db", "cur/b.db"] + unlock)
        try run(["restore", "cur/b.db", "cur/a.db", "--keep-old", "cur/old.db"] + unlock)
        #expect(notes() == [] && tool.exists("real/old.db.keys"))
        for name in ["a.db", "b.db"] { try run(["erase", "cur/\(name)", "--yes-erase", name]) }
        try run(["key", "destroy", "cur/old.db", "--yes-destroy", "old.db"])
        let names = tool.directory.fileNames().filter { !$0.hasPrefix("cur") }
        #expect(names == ["a.key", "new.key", "real/old.db", "real/safe.db"])
    }

    @Test("a plain database is encrypted in place")
    func encryption() throws {
        try run(["decrypt", "real/a.db", "real/plain.db", "--yes-plaintext"] + key)
        try run(["encrypt", "cur/plain.db"] + key)
        try run(["verify", "cur/plain.db"] + key)
        #expect(notes() == [])
    }

    private func notes() -> [String] {
        tool.directory.fileNames().filter { $0.contains(".coffer-") || $0.hasSuffix(".json") }
    }
}
